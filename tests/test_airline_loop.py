"""Replay of the diagnosis of 100 real episodes by a language model, and of the environments for its result."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

import pytest

from trace_gym.diagnosis import RuleAnalyst, diagnose, markdown
from trace_gym.diagnosis.analyst import AnalystOptions, ModelAnalyst
from trace_gym.llm import open_model_uri
from trace_gym.records import read_records
from trace_gym.synthesis import ValidationConfig
from trace_gym.synthesis.synthesize_many import SynthesisRequest, write_all
from trace_gym.targets.results import read_results
from trace_gym.types import Capability, Label, Manifest, Trajectory

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
LOOP = ROOT / "benchmarks" / "airline_loop"
REAL = ROOT.parent / "shared" / "data" / "tau_bench_airline_gpt4o.json.gz"
SELECTED = {"confirm_full_details", "enforce_modification_rules"}

with_data = pytest.mark.skipif(not REAL.exists(), reason="the recorded episodes of gpt-4o are not on this machine")


class Recorded:
    """Analyst with the labels of an earlier analysis."""

    name = "recorded"

    def __init__(self, runs: Sequence[Mapping[str, Mapping[str, Label]]], descriptions: Mapping[str, str]) -> None:
        self.runs, self.descriptions = runs, descriptions

    def label(self, trajectories: Sequence[Trajectory]) -> list[dict[str, Mapping[str, Label]]]:
        return [dict(run) for run in self.runs]


@pytest.fixture(scope="module")
def episodes() -> list[Trajectory]:
    return list(read_results(str(REAL)))


@pytest.fixture(scope="module")
def analyst(episodes: list[Trajectory]) -> tuple[ModelAnalyst, Recorded]:
    model = open_model_uri(f"replay-purpose:{LOOP / 'diagnosis'}")
    found = ModelAnalyst(model, AnalystOptions(runs=3))
    runs = found.label(episodes)
    return found, Recorded(runs, found.descriptions)


@with_data
def test_model_selects_two_capabilities_without_an_environment(
    episodes: list[Trajectory], analyst: tuple[ModelAnalyst, Recorded]
) -> None:
    model, recorded = analyst
    report = model.report()
    assert (len(report.capabilities), len(report.not_labeled)) == (10, 0)
    assert report.kappa is not None and round(report.kappa, 2) == 0.94
    selected = diagnose(episodes, analyst=recorded).selected
    assert {c.name for c in selected} == SELECTED
    assert not any(c.matched for c in report.capabilities if c.name in SELECTED)


@with_data
def test_shuffled_outcomes_select_nothing(episodes: list[Trajectory], analyst: tuple[ModelAnalyst, Recorded]) -> None:
    rules = RuleAnalyst()
    for own in (analyst[1], Recorded(rules.label(episodes), rules.descriptions)):
        assert _selections_by_chance(episodes, own) <= 1


def _selections_by_chance(episodes: Sequence[Trajectory], analyst: Recorded) -> int:
    """Return the number of seeds of 20 for which shuffled outcomes select a capability."""
    chosen = 0
    for seed in range(20):
        outcomes = [t.success for t in episodes]
        Random(seed).shuffle(outcomes)
        shuffled = [t.model_copy(update={"success": s}) for t, s in zip(episodes, outcomes, strict=True)]
        chosen += bool(diagnose(shuffled, analyst=analyst, permutations=500, seed=seed).selected)
    return chosen


def test_shuffled_outcomes_of_the_trial_select_nothing() -> None:
    folder = ROOT / "tests" / "data" / "analyst_trial"
    episodes = read_records(folder / "episodes.jsonl")
    options = AnalystOptions(runs=1, label_batch=5, discovery_batch=14, discovery_batches=3, temperature=0.0)
    model = ModelAnalyst(open_model_uri(f"replay-purpose:{folder / 'recordings' / 'files'}"), options)
    assert _selections_by_chance(episodes, Recorded(model.label(episodes), model.descriptions)) <= 1


@with_data
def test_checked_labels_of_the_rules_are_those_of_the_rules(episodes: list[Trajectory]) -> None:
    folder = ROOT / "benchmarks" / "reviews" / "labels"
    judged = {}
    for name in ("rules_judge_1.tsv", "rules_judge_2.tsv"):
        for line in (folder / name).read_text().splitlines():
            number, label, *_ = line.split("\t")
            judged[int(number)] = label
    [run], right = RuleAnalyst().label(episodes), Counter[str]()
    for item in json.loads((folder / "rules_labels.json").read_text()):
        assert run[item["trajectory"]][item["capability"]] == item["label"]
        right[item["label"]] += judged[item["item"]] == item["label"]
    assert right == {"LACKING": 19, "PRESENT": 9, "NA": 7}


@with_data
def test_checked_labels_are_those_of_the_analysis(analyst: tuple[ModelAnalyst, Recorded]) -> None:
    folder = ROOT / "benchmarks" / "reviews" / "labels"
    judged = {}
    for name in ("judge_1.tsv", "judge_2.tsv"):
        for line in (folder / name).read_text().splitlines():
            number, label, *_ = line.split("\t")
            judged[int(number)] = label
    right: Counter[str] = Counter()
    for item in json.loads((folder / "labels.json").read_text()):
        votes = [run[item["trajectory"]][item["capability"]] for run in analyst[1].runs]
        assert Counter(votes).most_common(1)[0][0] == item["label"]
        right[item["label"]] += judged[item["item"]] == item["label"]
    assert right == {"LACKING": 20, "PRESENT": 7, "NA": 10}


@with_data
def test_guide_shows_the_diagnosis_by_rules(episodes: list[Trajectory]) -> None:
    title, table, *_ = markdown(diagnose(episodes)).split("\n\n")
    guide = (ROOT / "docs" / "guides" / "diagnose.md").read_text()
    assert title in guide and table in guide


@with_data
def test_outcome_aware_labels_select_the_same_capabilities(episodes: list[Trajectory]) -> None:
    model = open_model_uri(f"replay-purpose:{LOOP / 'outcome_aware'}")
    found = diagnose(episodes, analyst=ModelAnalyst(model, AnalystOptions(runs=1, outcome_aware=True)))
    assert {c.name: round(c.coverage, 2) for c in found.selected} == {
        "confirm_full_details": 0.40,
        "enforce_modification_rules": 0.39,
    }


@pytest.mark.parametrize("name", sorted(SELECTED))
def test_recorded_answers_give_admitted_environments(name: str, tmp_path: Path, clean_registry: None) -> None:
    capability = Capability(
        name=name, description="Recorded.", coverage=0.4, er_failed=0.5, er_passed=0.0, gap=0.5, selected=True
    )
    model, said = open_model_uri(f"replay-purpose:{LOOP / 'environments'}"), list[str]()
    validation = ValidationConfig("quick", budget=300, workers=1, only=("TG101", "TG201", "TG301", "TG413"))
    request = SynthesisRequest([capability], "tau2_airline", model, tmp_path, validation, repairs=4)
    [card] = write_all(request, 1, said.append).values()
    assert isinstance(card, Manifest), f"{card}: {said}"
    assert card.id == f"tau2_{name}" and card.author.startswith("llm:")
    assert card.report is not None and card.report.passed
