"""Reports and the list of properties as tables, for the terminal and for the documentation."""

from __future__ import annotations

from rich.console import Group
from rich.table import Table
from rich.text import Text

from trace_gym.types import Finding, Report
from trace_gym.validate.properties import PROPERTIES


def render(report: Report) -> Group:
    """A report for the terminal: a table with one row a property, then what shows each failure, to be pasted."""
    word, colour = ("passed", "green") if report.passed else ("failed", "red")
    table = Table(
        title=f"{word} on {report.scenarios} scenarios, profile {report.profile}",
        title_style=f"bold {colour}",
        title_justify="left",
        box=None,
        header_style="bold",
    )
    table.add_column("code", no_wrap=True)
    table.add_column("property", no_wrap=True)
    table.add_column("")
    table.add_column("what was found", overflow="fold")
    for finding in report.findings:
        mark = Text("ok", "green") if finding.passed else Text("fails", "red")
        table.add_row(finding.code, finding.property, mark, _found(finding))
    shown = [f for f in report.findings if f.counterexample]
    return Group(table, *(part for finding in shown for part in _snippet(finding)))


def _found(finding: Finding) -> Text:
    """What was found and, of a failure, what to do."""
    if finding.passed:
        return Text(finding.says)
    mend = PROPERTIES[finding.code].mend if finding.code in PROPERTIES else ""
    return Text("\n").join([Text(finding.says, "red"), *([Text(mend)] if mend else [])])


def _snippet(finding: Finding) -> tuple[Text, Text]:
    """The counterexample without indent and unbroken, as a table would not leave it."""
    heading = Text(f"\n# {finding.code} {finding.property}", "bold")
    return heading, Text(finding.counterexample.rstrip(), no_wrap=True, overflow="ignore")


def listing() -> Table:
    """The properties as a table: code, name, what must hold."""
    table = Table("code", "property", "what must hold", box=None, header_style="bold")
    for code in sorted(PROPERTIES):
        table.add_row(code, PROPERTIES[code].name, PROPERTIES[code].statement)
    return table


def markdown() -> str:
    """The properties as the table of ``docs/validate.md``."""
    rows = ["| Code | Property | What must hold | Why | When it fails |", "|---|---|---|---|---|"]
    for code in sorted(PROPERTIES):
        p = PROPERTIES[code]
        rows.append(f"| {code} | `{p.name}` | {p.statement} | {p.reason} | {p.mend} |")
    return "\n".join(rows) + "\n"
