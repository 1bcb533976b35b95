"""Validation reports: reading from JSON files, display in the terminal, and tables of all properties."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError
from rich.console import Group
from rich.text import Text

import trace_gym
from trace_gym.errors import ReadError
from trace_gym.parsing import read_json
from trace_gym.tables import Grid
from trace_gym.types import FORMAT_VERSION, Finding, FindingVerdict, Report
from trace_gym.validation.properties import PROPERTIES, Property
from trace_gym.validation.remedies import remedy
from trace_gym.validation.task_files import call_checks, information_checks  # noqa: F401  # register the properties
from trace_gym.validation.task_files.registry import TASK_PROPERTIES
from trace_gym.validation.third_party.checks import statement_for
from trace_gym.validation.third_party.remedies import how_to_add_reference

MARKS: dict[FindingVerdict, tuple[str, str]] = {
    "passed": ("ok", "green"),
    "skipped": ("n/a", "dim"),
    "failed": ("fails", "red"),
    "unfinished": ("open", "yellow"),
    "warning": ("warns", "yellow"),
}
"""Word and color for each verdict."""


def read(path: str | Path) -> Report:
    """Return the report stored in a JSON file or in the manifest of an environment.

    Reports of format version 1 are upgraded.

    Raises:
        ReadError: The file cannot be read, or does not contain a report of a supported format version.
    """
    fix = f"To write one, run trace-gym validate ENV --out {path}"
    try:
        data: Any = read_json(path)
    except ReadError as error:
        raise ReadError(f"the report cannot be read: {error}. {fix}") from None
    report = data.get("report", data) if isinstance(data, dict) else None
    if not isinstance(report, dict) or "findings" not in report:
        raise ReadError(f"{path} is not a report, because it has no findings. {fix}")
    version = report.get("version")
    if isinstance(version, int) and version > FORMAT_VERSION:
        supported = f"trace-gym {trace_gym.__version__} supports only versions 1 to {FORMAT_VERSION}"
        raise ReadError(f"{path} has format version {version}, but {supported}. Run pip install -U trace-gym")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        found = "no format version" if version is None else f"format version {version!r}"
        raise ReadError(f"{path} has {found}, expected a version from 1 to {FORMAT_VERSION}. {fix}")
    try:
        return Report.model_validate(report)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ReadError(f"{path} is not a valid report ({where}: {first['msg']}). {fix}") from None


def render(report: Report) -> Group:
    """Return a report for the terminal: a table of the properties, and the counterexamples of the failures.

    Properties that do not apply are listed below the table, those with the same reason together.
    """
    failed = any(f.verdict == "failed" for f in report.findings)
    heading_word, colour = (
        ("failed", "red") if failed else ("passed", "green") if report.passed else ("unfinished", "yellow")
    )
    heading = f"{heading_word} on {report.scenarios} scenarios, profile {report.profile}"
    title = Text("; ".join(filter(None, (heading, _untested(report)))), f"bold {colour}")
    applied = [f for f in report.findings if f.verdict != "skipped"]
    rows = [(f.code, f.property, Text(*MARKS[f.verdict]), _finding_text(f, report.env)) for f in applied]
    table = Grid(("code", "property", "", "finding"), rows, title=title, head=3)
    shown = [part for f in report.findings if f.counterexample for part in _snippet(f)]
    return Group(table, *_skipped(report), *shown, *([Text(""), title] if shown else []))


def _untested(report: Report) -> str:
    """Return a note for the title if the environment has no reference and gave no reward; otherwise an empty string."""
    untested = any(f.code == "TG303" and f.verdict == "warning" for f in report.findings)
    return (
        ": ".join(filter(None, ("no correct answer was tested", how_to_add_reference(report.env)))) if untested else ""
    )


def _skipped(report: Report) -> list[Text]:
    """Return one line for each reason why properties do not apply."""
    codes: dict[str, list[str]] = {}
    for finding in report.findings:
        if finding.verdict == "skipped":
            codes.setdefault(finding.message, []).append(finding.code)
    return [Text(f"n/a   {', '.join(own)}: {message}", "dim") for message, own in codes.items()]


def _finding_text(finding: Finding, env: str) -> Text:
    """Return the message of a finding and, for a failure, the fix."""
    if finding.verdict in ("passed", "skipped"):
        return Text(finding.message)
    fix = remedy(finding, env)
    return Text("\n").join([Text(finding.message, MARKS[finding.verdict][1]), *([Text(f"Fix: {fix}")] if fix else [])])


def _snippet(finding: Finding) -> tuple[Text, Text]:
    """Return the heading and the counterexample without indentation or line wrapping, so that it can be copied."""
    heading = Text(f"\n# {finding.code} {finding.property}", "bold")
    return heading, Text(finding.counterexample.rstrip(), no_wrap=True, overflow="ignore")


def listing() -> Grid:
    """Return a table of the properties of environments and of task files with code, name and statement."""
    native = [PROPERTIES[code] for code in sorted(PROPERTIES)]
    of_files = [TASK_PROPERTIES[code] for code in sorted(TASK_PROPERTIES)]
    rows = [(p.code, p.name, _statements(p)) for p in native]
    rows += [(p.code, p.name, p.statement) for p in of_files]
    return Grid(("code", "property", "statement"), rows, head=2)


def _statements(found: Property) -> str:
    """Return the statement for environments of trace_gym, and the one for other libraries if there is one."""
    other = statement_for(found.code)
    return f"{found.statement}\nOther libraries: {other}" if other else found.statement


def markdown() -> str:
    """Return the Markdown table of properties for ``docs/guides/validate.md``."""
    rows = ["| Code | Property | Statement | Reason | Fix |", "|---|---|---|---|---|"]
    for code in sorted(PROPERTIES):
        p = PROPERTIES[code]
        rows.append(f"| {code} | `{p.name}` | {p.statement} | {p.reason} | {p.fix} |")
    return "\n".join(rows) + "\n"
