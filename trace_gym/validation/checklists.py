"""Checklists for benchmarks, with the properties that test each item, and the verdict of each item for a report.

The Agentic Benchmark Checklist (ABC) is from Zhu et al., "Establishing Best Practices for Building Rigorous Agentic
Benchmarks", arXiv:2507.02825. Its items are restated here; the original wording is in the paper and in the repository
``uiuc-kang-lab/agentic-benchmarks``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rich.console import Group
from rich.text import Text

from trace_gym.errors import expect_choice
from trace_gym.tables import Grid
from trace_gym.types import Report
from trace_gym.validation.checklist_items import ABC, Item
from trace_gym.validation.report import MARKS

CHECKLISTS: dict[str, tuple[Item, ...]] = {"abc": ABC}
"""Items of each checklist, by name."""
ItemVerdict = Literal["passed", "failed", "unfinished", "manual"]
DECISIVE: dict[str, ItemVerdict] = {
    "failed": "failed",
    "unfinished": "unfinished",
    "not checked": "unfinished",
    "passed": "passed",
}
"""Mapping from the result of a property to the verdict of an item, most important result first."""
MANUAL = ("review", "dim")
"""Word and color for an item that no property decides."""


@dataclass(frozen=True, slots=True)
class ItemResult:
    """Verdict of one item for one environment, and the properties that determine it."""

    item: Item
    verdict: ItemVerdict
    detail: str
    """Codes by result, or the reason for the manual review."""


def items(name: str) -> tuple[Item, ...]:
    """Return the items of a checklist.

    Raises:
        ConfigError: There is no checklist of this name.
    """
    expect_choice("checklist", name, CHECKLISTS)
    return CHECKLISTS[name]


def evaluate_checklist(report: Report, name: str = "abc") -> tuple[ItemResult, ...]:
    """Return the verdict of each item of a checklist for the environment of a report.

    An item fails if one of its properties failed. It is unfinished if one of its properties was not checked or did not
    finish. It passes if at least one of its properties passed and the others do not apply. All other items require a
    manual review.

    Raises:
        ConfigError: There is no checklist of this name.
    """
    verdicts = {finding.code: finding.verdict for finding in report.findings}
    return tuple(_evaluate(item, verdicts) for item in items(name))


def _evaluate(item: Item, verdicts: Mapping[str, str]) -> ItemResult:
    groups: dict[str, list[str]] = {}
    for code in item.codes:
        groups.setdefault(verdicts.get(code, "not checked"), []).append(code)
    found: ItemVerdict = next((verdict for group, verdict in DECISIVE.items() if group in groups), "manual")
    order = {**{group: group for group in DECISIVE}, "skipped": "not applicable"}
    parts = [f"{shown}: {', '.join(groups[group])}" for group, shown in order.items() if group in groups]
    if item.review:
        parts.append(f"to review: {item.review}" if item.codes else item.review)
    return ItemResult(item, found, "; ".join(parts))


def render_checklist(report: Report, name: str) -> Group:
    """Return the table of a checklist for the terminal, with the verdict of each item for an environment.

    Raises:
        ConfigError: There is no checklist of this name.
    """
    results = evaluate_checklist(report, name)
    rows = [
        (r.item.id, Text(*_mark(r.verdict)), r.item.statement, Text(r.detail, _mark(r.verdict)[1])) for r in results
    ]
    counts = {v: sum(r.verdict == v for r in results) for v in ("passed", "failed", "unfinished", "manual")}
    notes = ", ".join(
        f"{count} {verdict if verdict != 'manual' else 'for review'}" for verdict, count in counts.items()
    )
    return Group(Text(), Grid(("item", "", "requirement", "properties"), rows, title=_title(name), notes=notes, head=2))


def _mark(verdict: ItemVerdict) -> tuple[str, str]:
    return MANUAL if verdict == "manual" else MARKS[verdict]


def checklist_table(name: str) -> Grid:
    """Return the table of a checklist for the terminal: each item with its properties or the reason for a review.

    Raises:
        ConfigError: There is no checklist of this name.
    """
    rows = [(item.id, item.statement, _tested_by(item)) for item in items(name)]
    return Grid(("item", "requirement", "tested by"), rows, title=_title(name))


def checklist_markdown(name: str = "abc") -> str:
    """Return the Markdown table of a checklist for ``docs/reference/checklist.md``."""
    rows = [f"| {item.id} | {item.statement} | {_tested_by(item)} |\n" for item in items(name)]
    return f"| Item | Requirement | Tested by |\n|---|---|---|\n{''.join(rows)}"


def _title(name: str) -> str:
    return {"abc": "Agentic Benchmark Checklist (arXiv:2507.02825)"}[name]


def _tested_by(item: Item) -> str:
    if not item.codes:
        return f"manual review: {item.review}"
    return f"{', '.join(item.codes)}. To review: {item.review}" if item.review else ", ".join(item.codes)
