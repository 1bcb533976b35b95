"""Tests of the benchmark of diagnosis on agents with planted deficits."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

import bench_diagnose as bench  # noqa: E402

from trace_gym.diagnosis import RuleAnalyst  # noqa: E402

PLANTED, OTHER = "tau2_precondition", "tau2_multi_step"


@pytest.fixture(scope="module")
def episodes() -> bench.Episodes:
    return bench.Episodes([PLANTED, OTHER], 24, 0)


def test_agent_fails_only_with_its_deficit(episodes: bench.Episodes) -> None:
    sample, lacking = episodes.of(bench.Agent((PLANTED,), (OTHER,), 0.6), 100)
    assert {t.id for t in sample if not t.success} == lacking
    assert {t.task.split("/")[0] for t in sample if t.id in lacking} == {PLANTED}
    assert len({t.id for t in sample}) == 100
    healthy, none = episodes.of(bench.Agent((), (OTHER,)), 50)
    assert all(t.success for t in healthy)
    assert not none


def test_noise_fails_episodes_that_lack_nothing(episodes: bench.Episodes) -> None:
    sample, lacking = episodes.of(bench.Agent((), (PLANTED, OTHER), noise=bench.NOISE), 200)
    assert not lacking
    assert 5 <= sum(not t.success for t in sample) <= 40


def test_shuffling_keeps_the_number_of_failures(episodes: bench.Episodes) -> None:
    agent = bench.Agent((PLANTED,), (OTHER,), 0.6)
    shuffled = bench.Agent((PLANTED,), (OTHER,), 0.6, shuffled=True)
    sample, lacking = episodes.of(shuffled, 100)
    assert any(t.success for t in sample if t.id in lacking)
    assert bench.measure(RuleAnalyst(), episodes, shuffled, 100).truth == frozenset()
    assert bench.measure(RuleAnalyst(), episodes, agent, 100).truth == {"precondition_verification"}


def test_rules_find_the_deficit_and_random_labels_do_not(episodes: bench.Episodes) -> None:
    recorded = [t for found in episodes.by_expert.values() for t in found]
    agent = bench.Agent((PLANTED,), (OTHER,), 0.6)
    rules = bench.measure(bench.Remembering(RuleAnalyst(), recorded), episodes, agent, 100)
    assert rules.named == {"precondition_verification"}
    assert bench.scores([rules]) == (1.0, 1.0)
    # In a part of the scenarios, the customer must be handed over, which is another capability.
    assert rules.coverage_errors == pytest.approx((0.0,), abs=0.35)
    assert rules.gap_errors == pytest.approx((0.0,), abs=0.3)
    random = bench.measure(bench.Remembering(bench.RandomAnalyst(), recorded), episodes, agent, 100)
    assert bench.scores([random])[1] == 0.0


def test_tables_contain_every_group(episodes: bench.Episodes, capsys: pytest.CaptureFixture[str]) -> None:
    agents = [bench.Agent((PLANTED,), (OTHER,), 0.6), bench.Agent((), (PLANTED, OTHER), noise=bench.NOISE)]
    bench.report(RuleAnalyst(), [bench.measure(RuleAnalyst(), episodes, a, 200) for a in agents])
    shown = capsys.readouterr().out
    assert "| 200 | 1 | 1.00 | 1.00 | 0.00 |" in shown
    assert f"| {PLANTED} | precondition_verification (1) of 1 |" in shown
