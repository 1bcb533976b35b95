"""Bugs by outside authors: they apply to the shipped modules, and the documentation reports the results by group."""

from __future__ import annotations

import ast
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
OBSOLETE: dict[str, str] = {}
"""Mapping from the key of each bug that no longer applies to its module to the reason."""


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import bench_outsiders

    return bench_outsiders


def test_every_bug_applies_to_the_shipped_module(bench: Any) -> None:
    bugs = bench.load_bugs()
    failed = {}
    for bug in bugs:
        try:
            ast.parse(bug.source())
        except (ValueError, SyntaxError) as error:
            failed[bug.key] = f"{bug.author}: {error}"
    assert all(old != new for bug in bugs for old, new in bug.edits)
    unexpected = [message for key, message in failed.items() if key not in OBSOLETE]
    assert not unexpected, "correct `old` and `new`, or list the bug in OBSOLETE:\n" + "\n".join(unexpected)
    assert OBSOLETE.keys() <= failed.keys(), "remove the bugs from OBSOLETE that apply"


def test_bugs_and_results_are_complete(bench: Any) -> None:
    bugs = bench.load_bugs()
    keys = {bug.key for bug in bugs}
    assert len(keys) == len(bugs) == 128
    rows = list(bench.read(bench.FOLDER / "review.jsonl"))
    reviewed = Counter(row["key"] for row in rows if not row["key"].startswith("shipped "))
    assert reviewed.keys() <= keys and set(reviewed.values()) == {1}
    excluded = json.loads((bench.FOLDER / "equivalent.json").read_text(encoding="utf-8"))
    assert keys.isdisjoint(row["key"] for row in excluded)


def test_every_bug_belongs_to_a_documented_group(bench: Any) -> None:
    page = (ROOT / "docs" / "notes" / "outsiders.md").read_text(encoding="utf-8")
    assert {bug.group for bug in bench.load_bugs()} == bench.GROUPS.keys()
    assert all(f"| {group} | {criterion} |" in page for group, criterion in bench.GROUPS.items())


def test_documentation_contains_the_table_of_groups(bench: Any) -> None:
    results = {row["key"]: bench.detected(row) for row in bench.read(bench.FOLDER / "review.jsonl")}
    page = (ROOT / "docs" / "notes" / "outsiders.md").read_text(encoding="utf-8")
    assert bench.group_table(bench.load_bugs(), results) in page


def test_group_table_counts_only_bugs_with_a_result(bench: Any) -> None:
    [first, second, third, *_] = [b for b in bench.load_bugs() if b.half == "unseen" and b.group == "shortcut"]
    table = bench.group_table([first, second, third], {first.key: True, second.key: False, "other": True})
    assert "| Group | unseen half |" in table
    assert "| shortcut | 1 of 2 (9% to 91%) |" in table
    assert "| leak | not measured |" in table


@pytest.mark.parametrize(
    ("row", "detected"),
    (
        ({"failed": {"TG211": "hidden"}}, True),
        ({"failed": {}}, False),
        ({"verdict": "failed"}, True),
        ({"verdict": "error"}, False),
    ),
)
def test_detection_is_read_from_both_kinds_of_results(bench: Any, row: dict[str, Any], detected: bool) -> None:
    assert bench.detected(row) is detected
