"""Reports and the list of properties as tables, for the terminal and for the documentation."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from trace_gym.types import Report
from trace_gym.validate.properties import PROPERTIES


def render(report: Report) -> Table:
    """A report as a table: one row a property, failures with their counterexample and what to do."""
    word = "passed" if report.passed else "failed"
    table = Table(
        title=f"{word} on {report.scenarios} scenarios, profile {report.profile}",
        title_style="bold green" if report.passed else "bold red",
        title_justify="left",
        box=None,
        header_style="bold",
    )
    table.add_column("code", no_wrap=True)
    table.add_column("property", no_wrap=True)
    table.add_column("")
    table.add_column("what was found", overflow="fold")
    for finding in report.findings:
        says = Text(finding.says)
        if not finding.passed:
            mend = PROPERTIES[finding.code].mend if finding.code in PROPERTIES else ""
            says = Text("\n").join([Text(finding.says, "red"), *([Text(mend)] if mend else [])])
            if finding.counterexample:
                says = Text("\n").join([says, Text(finding.counterexample, "dim")])
        mark = Text("ok", "green") if finding.passed else Text("fails", "red")
        table.add_row(finding.code, finding.property, mark, says)
    return table


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
