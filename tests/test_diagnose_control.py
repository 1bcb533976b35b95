"""Tests of the criteria of a selected capability: permutation test, intervals, label runs and labels from files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from diagnosis_cases import episode
from hypothesis import given
from hypothesis import strategies as st

from trace_gym.diagnosis import Diagnosis, GivenLabels, diagnose
from trace_gym.diagnosis.resampling import Outcomes, holm
from trace_gym.errors import ReadError
from trace_gym.types import Label, Trajectory


class Table:
    """Analyst with fixed label runs. The labels of `n` capabilities are drawn at random if no runs are given."""

    name = "table"

    def __init__(self, *runs: Mapping[str, Mapping[str, Label]], names: Sequence[str] = ("skill",)) -> None:
        self.runs = runs
        self.descriptions: Mapping[str, str] = dict.fromkeys(names, "")

    def label(self, trajectories: Iterable[Trajectory]) -> Sequence[Mapping[str, Mapping[str, Label]]]:
        return self.runs


def trajectories(failed: int, passed: int, trials: int = 1) -> list[Trajectory]:
    return [episode([], success=n >= failed, name=f"t{n}", task=f"task{n // trials}") for n in range(failed + passed)]


def labeled(made: Sequence[Trajectory], lacking_failed: int, lacking_passed: int) -> dict[str, dict[str, Label]]:
    """Label the first failed and the first passed trajectories LACKING, and all others PRESENT."""
    left = {False: lacking_failed, True: lacking_passed}
    found: dict[str, dict[str, Label]] = {}
    for t in made:
        left[bool(t.success)] -= 1
        found[t.id] = {"skill": "LACKING" if left[bool(t.success)] >= 0 else "PRESENT"}
    return found


def only(found: Diagnosis) -> Any:
    return found.capabilities[0]


def test_a_gap_by_chance_is_not_selected() -> None:
    made = trajectories(5, 5)
    found = diagnose(made, analyst=Table(labeled(made, 3, 1)))
    assert only(found).gap == pytest.approx(0.4)
    assert not only(found).selected
    assert found.remarks["skill"].startswith("corrected p 0.")
    assert "so chance explains the gap" in found.remarks["skill"]
    assert only(diagnose(made, analyst=Table(labeled(made, 3, 1)), alpha=1)).selected


def test_few_tasks_with_many_trials_are_not_selected() -> None:
    made = trajectories(40, 40, trials=40)
    found = diagnose(made, analyst=Table(labeled(made, 40, 0)))
    assert only(found).gap == 1.0
    assert not only(found).selected
    made = trajectories(40, 40, trials=2)
    assert only(diagnose(made, analyst=Table(labeled(made, 40, 0)))).selected


def test_p_is_corrected_for_the_number_of_capabilities() -> None:
    made, rng = trajectories(12, 12), Random(0)
    one = labeled(made, 9, 3)
    assert only(found := diagnose(made, analyst=Table(one))).selected, found.remarks
    names = ["skill", *(f"other{n}" for n in range(9))]
    values: tuple[Label, ...] = ("PRESENT", "LACKING")
    many = {i: {**given, **{name: rng.choice(values) for name in names[1:]}} for i, given in one.items()}
    found = diagnose(made, analyst=Table(many, names=names))
    assert found.control["skill"].corrected == pytest.approx(10 * (found.control["skill"].p or 0))
    assert not found.selected


@pytest.mark.parametrize("strength", [0.0, 1.0])
def test_shuffled_outcomes_select_nothing(strength: float) -> None:
    """The labels have a perfect relation with the original outcomes, or none, and several capabilities compete."""
    values: tuple[Label, ...] = ("NA", "PRESENT", "LACKING")
    selected = 0
    for seed in range(20):
        rng = Random(seed)
        made = trajectories(60, 60)
        names = [f"skill{n}" for n in range(6)]
        labels = {
            t.id: {
                name: ("PRESENT" if t.success else "LACKING") if rng.random() < strength else rng.choice(values)
                for name in names
            }
            for t in made
        }
        outcomes = [t.success for t in made]
        rng.shuffle(outcomes)
        made = [t.model_copy(update={"success": s}) for t, s in zip(made, outcomes, strict=True)]
        selected += bool(diagnose(made, analyst=Table(labels, names=names), permutations=400).selected)
    assert selected <= 1


def test_a_total_deficit_is_tested_by_its_coverage() -> None:
    made = trajectories(20, 20)
    labels: dict[str, dict[str, Label]] = {t.id: {"skill": "NA" if t.success else "LACKING"} for t in made}
    found = diagnose(made, analyst=Table(labels))
    assert found.control["skill"].statistic == "coverage"
    assert only(found).selected
    few = trajectories(2, 1)
    labels = {t.id: {"skill": "NA" if t.success else "LACKING"} for t in few}
    found = diagnose(few, analyst=Table(labels))
    assert not only(found).selected
    assert "so chance explains the coverage" in found.remarks["skill"]


def test_the_most_frequent_label_counts_and_the_frequency_is_binding() -> None:
    made = trajectories(20, 20)
    strong, weak = labeled(made, 15, 2), labeled(made, 5, 5)
    found = diagnose(made, analyst=Table(strong, strong, strong, weak, strong))
    assert (found.runs, only(found).frequency, only(found).selected) == (5, 0.8, True)
    assert found.labels == strong
    found = diagnose(made, analyst=Table(strong, strong, strong, weak, weak))
    assert only(found).frequency == 0.6
    assert found.remarks["skill"] == "reached the thresholds in 60% of the label runs, which is below 80%"
    assert only(diagnose(made, analyst=Table(strong, strong, strong, weak, weak), consistent=0.5)).selected
    tie = diagnose(made, analyst=Table(strong, weak)).labels
    assert tie["t0"] == {"skill": "LACKING"}
    assert tie["t10"] == {"skill": "NA"}


@given(st.dictionaries(st.text(max_size=3), st.none() | st.floats(0, 1), max_size=8))
def test_holm_never_decreases_a_p_value_and_keeps_the_order(p_values: dict[str, float | None]) -> None:
    corrected = holm(p_values)
    assert corrected.keys() == p_values.keys()
    ranked = sorted((p, corrected[name]) for name, p in p_values.items() if p is not None)
    assert all(c is not None and p <= c <= 1 for p, c in ranked)
    assert [c for _, c in ranked] == sorted(c for _, c in ranked if c is not None)


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=30), st.integers(0, 9))
def test_permutations_keep_the_outcomes_of_tasks_together(drawn: list[tuple[int, bool]], seed: int) -> None:
    made = [episode([], success=ok, name=f"t{n}", task=str(task)) for n, (task, ok) in enumerate(drawn)]
    outcomes = Outcomes.of(made)

    def groups(passed: Any) -> list[list[bool]]:
        return sorted([list(passed[outcomes.task_N == t]) for t in range(outcomes.tasks)])

    for row in outcomes.permuted(np.random.default_rng(seed), 3):
        assert groups(row) == groups(outcomes.passed_N)


def test_labels_of_files_reproduce_the_selection(tmp_path: Path) -> None:
    made = trajectories(20, 20)
    first = diagnose(made, analyst=Table(labeled(made, 15, 2)))
    own, lists = tmp_path / "own.json", tmp_path / "run_01.json"
    own.write_text(first.model_dump_json())
    ids: dict[str, list[str]] = {}
    for t in made:
        ids.setdefault(f"{first.labels[t.id]['skill'].lower()}_{'passed' if t.success else 'failed'}", []).append(
            t.task
        )
    lists.write_text(json.dumps({"attempt": 1, "totals": {}, "labels": {"skill": ids}}))
    for path in (own, lists):
        again = diagnose(made, analyst=GivenLabels([path]))
        assert again.labels == first.labels
        assert again.control == first.control
        assert [c.name for c in again.selected] == ["skill"]
    assert diagnose(made, analyst=GivenLabels([own, lists])).runs == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "contains no valid labels"),
        ('{"labels": {"t0": {"skill": "MAYBE"}}}', "contains no valid labels"),
        ('{"labels": {"skill": {"lacking_failed": ["t0"], "na_failed": ["t0"]}}}', "the id t0 is in two lists"),
        ('{"labels": {"skill": {"lacking_passed": ["t0"]}}}', "contradict the outcome of t0"),
        ('{"labels": {"skill": {"lacking_failed": ["x"]}}}', "contains no labels for these trajectories"),
        ('{"labels": {"x": {"skill": "NA"}}}', "contains no labels for these trajectories"),
    ],
)
def test_wrong_files_of_labels_are_refused(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "labels.json"
    path.write_text(content)
    with pytest.raises(ReadError, match=message):
        diagnose(trajectories(2, 2), analyst=GivenLabels([path]))
