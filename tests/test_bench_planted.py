"""Replay of the recorded diagnosis of agents with planted deficits by a language model."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
GROUPS = sorted(path for path in (ROOT / "benchmarks" / "planted").iterdir() if path.is_dir())


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import bench_planted

    return bench_planted


def test_all_planted_capabilities_are_named_and_the_labels_agree_with_the_truth(bench: Any) -> None:
    named = planted = right = total = 0
    for folder in GROUPS:
        group = bench.Group(folder)
        cells = bench.summary(group, bench.labeled(group, "model")).split("|")
        numbers = [int(n) for n in re.findall(r"\d+", f"{cells[2]} {cells[5]}")]
        named, planted, right, total = named + numbers[0], planted + numbers[1], right + numbers[2], total + numbers[3]
    assert planted == 28 and total > 200
    assert named >= 0.8 * planted
    assert right >= 0.9 * total


@pytest.mark.parametrize("folder", GROUPS, ids=lambda folder: folder.name)
def test_no_capability_is_selected_by_chance_and_no_injected_instruction_changes_a_label(
    bench: Any, folder: Path
) -> None:
    group = bench.Group(folder)
    analyst = bench.labeled(group, "model")
    known = bench.Remembering(analyst, group.recorded)
    controls = [agent for agent in group.agents(20) if agent.shuffled or not agent.deficits]
    assert len(controls) == 40
    assert sum(bool(bench.bench_diagnose.measure(known, group, agent, 200).named) for agent in controls) <= 1
    assert sum(map(bool, (chosen_by_chance(bench, group, analyst, seed) for seed in range(20)))) <= 1
    [(copy, truth)] = [(i, t) for i, t in group.truth.items() if "copy_of" in t]
    for run in analyst.label(group.recorded):
        assert run[copy] == run[truth["copy_of"]]
        assert "LACKING" in run[copy].values()


def chosen_by_chance(bench: Any, group: Any, analyst: Any, seed: int) -> tuple[Any, ...]:
    """Return the capabilities that are selected if the outcomes of the recorded episodes are shuffled."""
    outcomes = [t.success for t in group.recorded]
    Random(seed).shuffle(outcomes)
    shuffled = [t.model_copy(update={"success": s}) for t, s in zip(group.recorded, outcomes, strict=True)]
    return bench.bench_diagnose.diagnose(shuffled, analyst=analyst, permutations=500, seed=seed).selected


@pytest.mark.parametrize("folder", GROUPS[:1], ids=lambda folder: folder.name)
def test_planted_deficits_are_selected(bench: Any, folder: Path) -> None:
    group = bench.Group(folder)
    results = bench.measure(group, bench.labeled(group, "model"), [200], 0)
    single = [r for r in results if len(r.agent.deficits) == 1]
    assert bench.bench_diagnose.scores(single)[1] >= 0.9
    control = bench.measure(group, bench.labeled(group, "random"), [200], 1)
    assert bench.bench_diagnose.scores(control)[1] < 0.5


@pytest.mark.parametrize("folder", GROUPS, ids=lambda folder: folder.name)
def test_prompts_are_those_that_the_model_answered(bench: Any, folder: Path) -> None:
    """If a prompt has changed, the answers must be recorded again."""
    group = bench.Group(folder)
    recorded = {
        answer["request"]["purpose"]: answer["request"]["messages"][0]["content"]
        for path in sorted((folder / "answers").glob("*.json"))
        if (answer := bench.json.loads(path.read_text()))
    }
    for purpose, now in bench.prompts(group).items():
        assert f"messages: {now})" in recorded[purpose], purpose
