"""Reports, read back from JSON and shown as tables; the list of properties, for the terminal and the documentation."""

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
from trace_gym.types import Finding, Report, Verdict
from trace_gym.validate.properties import PROPERTIES, remedy

VERSION: int = Report.model_fields["version"].default
"""Of the format that is written and read; ``docs/report.md`` describes it."""


MARKS: dict[Verdict, tuple[str, str]] = {
    "passed": ("ok", "green"),
    "inapplicable": ("n/a", "dim"),
    "failed": ("fails", "red"),
    "unfinished": ("open", "yellow"),
}
"""How a verdict is shown: a word and its colour."""


def read(path: str | Path) -> Report:
    """The report in a JSON file, or in the manifest of an environment.

    Raises:
        ReadError: It cannot be read, holds no report, or one of another version of the format.
    """
    again = f"write one with trace-gym validate ENV --out {path}"
    try:
        data: Any = read_json(path)
    except ReadError as error:
        raise ReadError(f"{path} is no report ({error}); {again}") from None
    report = data.get("report", data) if isinstance(data, dict) else None
    if not isinstance(report, dict) or "findings" not in report:
        raise ReadError(f"{path} is no report (it has no findings); {again}")
    version = report.get("version")
    if isinstance(version, int) and version > VERSION:
        ours = f"trace-gym {trace_gym.__version__} reads version {VERSION}"
        raise ReadError(f"{path} is a report of version {version}, and {ours}; pip install -U trace-gym")
    if version != VERSION or isinstance(version, bool):
        found = "no version" if version is None else f"version {version!r}"
        raise ReadError(f"{path} is a report of {found}, and {VERSION} is read; {again}")
    try:
        return Report.model_validate(report)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ReadError(f"{path} is no report of version {VERSION} ({where}: {first['msg']}); {again}") from None


def render(report: Report) -> Group:
    """A report for the terminal: a table with one row a property, then what shows each failure, to be pasted."""
    failed = any(f.verdict == "failed" for f in report.findings)
    word, colour = ("failed", "red") if failed else ("passed", "green") if report.passed else ("unfinished", "yellow")
    title = Text(f"{word} on {report.scenarios} scenarios, profile {report.profile}", f"bold {colour}")
    rows = [(f.code, f.property, Text(*MARKS[f.verdict]), _found(f, report.env)) for f in report.findings]
    table = Grid(("code", "property", "", "what was found"), rows, title=title, head=3)
    shown = [f for f in report.findings if f.counterexample]
    return Group(table, *(part for finding in shown for part in _snippet(finding)))


def _found(finding: Finding, env: str) -> Text:
    """What was found and, of a failure, what to do."""
    if finding.passed:
        return Text(finding.says)
    mend = remedy(finding, env)
    return Text("\n").join([Text(finding.says, MARKS[finding.verdict][1]), *([Text(mend)] if mend else [])])


def _snippet(finding: Finding) -> tuple[Text, Text]:
    """The counterexample without indent and unbroken, as a table would not leave it."""
    heading = Text(f"\n# {finding.code} {finding.property}", "bold")
    return heading, Text(finding.counterexample.rstrip(), no_wrap=True, overflow="ignore")


def listing() -> Grid:
    """Return the properties as a table: code, name, what must hold."""
    rows = [(code, PROPERTIES[code].name, PROPERTIES[code].statement) for code in sorted(PROPERTIES)]
    return Grid(("code", "property", "what must hold"), rows, head=2)


def markdown() -> str:
    """The properties as the table of ``docs/validate.md``."""
    rows = ["| Code | Property | What must hold | Why | When it fails |", "|---|---|---|---|---|"]
    for code in sorted(PROPERTIES):
        p = PROPERTIES[code]
        rows.append(f"| {code} | `{p.name}` | {p.statement} | {p.reason} | {p.mend} |")
    return "\n".join(rows) + "\n"
