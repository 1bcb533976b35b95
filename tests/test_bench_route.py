"""The routing benchmark grades choices against needs, compares with controls, and reads the proof of a run."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from snippets import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
pytest.importorskip("torch")
import bench_route

from trace_gym import registry


def test_choice_is_correct_if_needed_or_base_where_nothing_offered_is_needed() -> None:
    offered = ["a", "b", "none"]
    assert bench_route.graded(["a", "b", "none", "a"], [{"a"}, {"a"}, {"c"}, set()], offered) == [
        True,
        False,
        True,
        False,
    ]


def test_summary_has_an_interval_and_the_range_over_orders() -> None:
    assert bench_route.summary([[True] * 8 + [False] * 2]) == "0.80 (0.49 to 0.94)"
    several = bench_route.summary([[True] * 10, [False] * 10])
    assert several.startswith("0.50 (") and several.endswith("single orders 0.00 to 1.00")


def test_rows_compare_the_trained_order_with_random_orders_and_controls() -> None:
    router = bench_route.build(["tau2_multi_step", "tau2_precondition"])
    scenarios = registry.scenarios("tau2_airline_desk", "test", 6, levels=[0])
    rows = dict(bench_route.measure(router, scenarios, 2))
    assert [len(grades) for grades in rows.values()] == [1, 2, 1, 2, 1]
    assert all(len(order) == 6 for grades in rows.values() for order in grades)
    always = next(grades for label, [grades, *_] in rows.items() if label.startswith("control: always"))
    assert sum(always) >= 2, "the best of three constant answers is right in a third of the tasks"


def test_learned_capabilities_are_printed_for_each_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"capability": name, "seed": seed, "before": 0.4, "after": after, "heldout": 100}
        for name, pair in {"one": (0.9, 0.45), "two": (0.9, 0.8)}.items()
        for seed, after in enumerate(pair)
    ]
    (tmp_path / "proof.json").write_text(json.dumps(rows))
    bench_route.print_learned(tmp_path)
    header, one, two, total = capsys.readouterr().out.splitlines()
    assert "seed 0" in header and "seed 1" in header
    assert one.count("improved") == 1 and two.count("improved") == 2
    assert total.split() == ["improved", "2", "1"]
