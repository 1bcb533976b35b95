"""Tests of TG5: group statistics, computed exactly and from samples, and the sequential test."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable, Iterable
from itertools import product
from math import comb
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
from mutants.hotel import Hotel
from mutants.variance import MUTANTS
from toy_world import ToyBoxes

from trace_gym import registry
from trace_gym.episode import Action, Episode
from trace_gym.errors import ConfigError, EnvBug, MissingExtra, PolicyError, ReadError
from trace_gym.models import policy_uri
from trace_gym.policies import ExpertMixture, Oracle
from trace_gym.policies.openai import OpenAIPolicy
from trace_gym.rollouts import rollout
from trace_gym.trainers.advantage import advantages
from trace_gym.types import Curves, Finding, Scenario
from trace_gym.validation import Context, policy_groups
from trace_gym.validation.context import NO_INPUTS, PROFILES, ValidationInputs
from trace_gym.validation.learning import recorded_verdicts, sample_of_size
from trace_gym.validation.policy_groups import (
    check_policy,
    env_and_level,
    open_policy_or_groups,
    read_groups,
    rollout_groups,
)
from trace_gym.validation.properties import PROPERTIES
from trace_gym.validation.selection import sample
from trace_gym.validation.source import load
from trace_gym.validation.variance import COMPETENCES, ExpertPair, RewardGroup, group_statistics, mixture_statistics
from trace_gym.validation.variance_verdict import (
    CONFIDENCE,
    LOOKS,
    TARGET_RANGES,
    IntervalEstimate,
    interval,
    sequential_variance_verdict,
    variance_verdict,
)
from trace_gym.world import World

HEALTHY: tuple[type[World] | Path, ...] = (registry.module_path("tau2_precondition"), Hotel, ToyBoxes)
PAIRS = [
    ExpertPair(1.0, 0.25),
    ExpertPair(1.0, 0.0),
    ExpertPair(1.0, 1.0, True, True),
    ExpertPair(0.5, 0.0, False, False),
]


def check(target: type[World] | Path, code: str, profile: str = "gate", policy: str = "") -> Finding:
    world, reference = load(target)
    context = Context(world, reference, PROFILES[profile], ValidationInputs(policy=policy))
    return PROPERTIES[code](world, sample(world, PROFILES[profile].seeds_per_level), context)


def run(snippet: str) -> str:
    """Return the output of a counterexample."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(EnvBug):
        exec(compile(snippet, "counterexample", "exec"), {})
    return out.getvalue()


def groups(rewards: Iterable[Iterable[float]], told: bool = True) -> list[RewardGroup]:
    rows = [tuple(r) for r in rewards]
    return [RewardGroup(f"p{n}", r, tuple(x == 1 for x in r) if told else None) for n, r in enumerate(rows)]


@pytest.mark.parametrize("target", HEALTHY, ids=lambda t: getattr(t, "stem", None) or t.__name__)
@pytest.mark.parametrize("profile", ["gate", "quick"])
def test_valid_environments_have_reward_variance(target: type[World] | Path, profile: str) -> None:
    found = check(target, "TG501", profile)
    assert found.verdict == "passed", found.message
    levels = [k.partition("_")[2] for k in found.metrics if k.startswith("from_")]
    assert levels and all(found.metrics[f"to_{n}"] - found.metrics[f"from_{n}"] >= 0.2 - 1e-9 for n in levels)
    assert profile == "gate" or found == check(target, "TG501", profile)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: f"{m.rejected_by}-{m.__name__}")
def test_each_mutant_fails(mutant: type[World]) -> None:
    code: str = mutant.rejected_by  # type: ignore[attr-defined]
    found = check(mutant, code, "quick", getattr(mutant, "given", NO_INPUTS).policy)
    assert (found.verdict, found.code) == ("failed", code) and found.message
    if code == "TG501":
        assert run(found.counterexample)


def test_finding_states_range_and_plots_every_level() -> None:
    found = check(Hotel, "TG501")
    assert (found.metrics["from_0"], found.metrics["to_0"]) == (0.2, 0.4)  # the ablated expert earns a third
    assert "competence from 0.20 to 0.40" in found.message
    curves = [c for c in found.exhibits if isinstance(c, Curves)]
    assert [c.target_range for c in curves] == [
        TARGET_RANGES["mean"],
        TARGET_RANGES["informative"],
        TARGET_RANGES["all_zero"],
        None,
    ]
    assert all({"level 0", "level 1"} <= c.series.keys() for c in curves)
    assert [x for x, _ in curves[0].series["level 0"]] == list(COMPETENCES)
    assert dict(curves[0].series["level 0"])[0.5] == pytest.approx(2 / 3)


def test_only_problems_that_need_capability_are_evaluated() -> None:
    found = check(registry.module_path("tau2_precondition"), "TG501")
    assert 0.2 < found.metrics["needs_1"] < 0.8
    assert found.metrics["informative_8"] > 0.9 > 0.6 > found.metrics["every_informative_8"]
    assert found.metrics["needs_1_low"] < found.metrics["needs_1"] < found.metrics["needs_1_high"]


@pytest.mark.parametrize("p", [0.0, 0.3, 0.5, 1.0])
def test_mixture_equals_average_over_all_groups(p: float) -> None:
    k = 4
    expected: dict[str, float] = dict.fromkeys(("mean", "success", "std", "informative", "all_zero", "all_one"), 0.0)
    expected |= {"signal": 0.0, "pass_2": 0.0, "pass_4": 0.0}
    for pair in PAIRS:
        for expert in product((True, False), repeat=k):
            rewards = tuple(pair.oracle if e else pair.ablated for e in expert)
            right = tuple(pair.oracle_succeeds if e else pair.ablated_succeeds for e in expert)
            found = group_statistics([RewardGroup("x", rewards, right)])
            weight = p ** sum(expert) * (1 - p) ** (k - sum(expert)) / len(PAIRS)
            told = found.model_dump() | {"pass_2": found.pass_at[2], "pass_4": found.pass_at[4]}
            expected = {name: value + weight * told[name] for name, value in expected.items()}
    exact = mixture_statistics(PAIRS, p, k)
    told = exact.model_dump() | {"pass_2": exact.pass_at[2], "pass_4": exact.pass_at[4]}
    assert {name: told[name] for name in expected} == pytest.approx(expected, abs=1e-12)


def test_signal_equals_trainer_advantage() -> None:
    rng = np.random.default_rng(3)
    rewards = rng.choice([0.0, 0.25, 1.0], size=(40, 8))
    rewards[:3], rewards[3:5], rewards[5] = 0.0, 1.0, 0.25
    theirs = advantages(rewards)
    ours = group_statistics(groups(rewards.tolist()))
    assert ours.signal == pytest.approx(np.abs(theirs.values_GK).mean())
    assert ours.informative == theirs.kept_G.mean()
    assert (ours.all_zero, ours.all_one) == (theirs.all_zero / 40, theirs.all_best / 40)


def test_groups_of_different_sizes_have_equal_weight() -> None:
    found = group_statistics(groups([(1, 1, 0, 0), (0, 0), (1, 0, 0, 0, 0, 0)]))
    assert found.mean == pytest.approx(fmean([0.5, 0, 1 / 6]))
    assert found.pass_at.keys() == {1, 2}
    assert found.pass_at[2] == pytest.approx(fmean([1 - comb(2, 2) / comb(4, 2), 0, 1 - comb(5, 2) / comb(6, 2)]))
    assert group_statistics(groups([(1, 0)], told=False)).success is None


def test_verdict_names_violated_range() -> None:
    good = variance_verdict(groups([(1, 0, 0, 1), (0, 0.5, 1, 0)] * 50))
    assert good.passed and good.clear and "undecided" not in good.message
    assert good.estimates["informative"].low > 0.5
    easy = variance_verdict(groups([(1, 1), (1, 1), (1, 0)] * 40))
    assert not easy.passed and "mean 0.83 is above 0.6" in easy.message and "all-one 0.67 is above 0.2" in easy.message
    few = variance_verdict(groups([(1, 0, 0, 1), (0, 0.5, 1, 0)] * 2))
    assert few.passed and not few.clear and "undecided" in few.message
    unknown = variance_verdict(groups([(1, 0, 0, 1)] * 60, told=False))
    assert unknown.passed and "success" not in unknown.estimates
    wide = variance_verdict(groups([(1, 1)] * 3), {"mean": (0.0, 1.0)})
    assert wide.passed and wide.estimates.keys() == {"mean"}


def test_single_rollouts_raise_config_error() -> None:
    assert variance_verdict([*groups([(1.0, 0.0)]), RewardGroup("alone", (1.0,))]).groups == 1
    with pytest.raises(ConfigError, match="no problem has two or more rollouts"):
        variance_verdict([RewardGroup("alone", (1.0,), (True,))])


def test_interval_of_mean_contains_neighbor_intervals() -> None:
    half, quarter = (variance_verdict(groups([r] * 10)).estimates["mean"] for r in ((0.5, 0.5), (0.25, 0.25)))
    assert half.low == pytest.approx(0.2366, abs=1e-4) and half.high == pytest.approx(
        0.7634, abs=1e-4
    )  # Wilson, 5 of 10
    assert quarter.low < 0.1 and quarter.high > 0.55  # 2 and 3 of 10
    assert not IntervalEstimate(value=0.3, low=0.1, high=0.4, target_range=(0.2, 0.6)).clear
    assert IntervalEstimate(value=0.7, low=0.61, high=0.8, target_range=(0.2, 0.6)).clear


def drawing(rewards: Callable[[int], tuple[float, ...]]) -> tuple[list[int], Callable[[int, int], list[RewardGroup]]]:
    asked: list[int] = []

    def draw(first: int, last: int) -> list[RewardGroup]:
        asked.extend(range(first, last))
        return groups(rewards(n) for n in range(first, last))

    return asked, draw


def test_sequential_test_stops_when_clear() -> None:
    asked, draw = drawing(lambda n: (1.0,) * 4)
    assert not sequential_variance_verdict(draw).passed and asked == list(range(LOOKS[0]))
    asked, draw = drawing(lambda n: ((1, 0, 0, 0), (1, 1, 0, 0), (1, 0, 0, 1))[n % 3])
    verdict = sequential_variance_verdict(draw)
    assert verdict.passed and verdict.clear and asked == list(range(verdict.groups)) and verdict.groups in LOOKS[1:]
    asked, draw = drawing(lambda n: (1, 1, 1, 0, 0) if n % 5 else (0.6,) * 5)
    last = sequential_variance_verdict(draw)
    assert last.groups == LOOKS[-1] and asked == list(range(LOOKS[-1]))
    estimate = last.estimates["informative"]
    each = 1 - (1 - CONFIDENCE) / (len(LOOKS) * len(TARGET_RANGES))
    assert (estimate.low, estimate.high) == interval(estimate.value, LOOKS[-1], each)


@pytest.mark.parametrize("edge", [0.2, 0.5, 0.6])
def test_sequential_test_has_stated_error_rate(edge: float) -> None:
    """The probability that an interval of any look misses the true value is computed exactly."""
    each = 1 - (1 - CONFIDENCE) / (len(LOOKS) * len(TARGET_RANGES))
    alive, before, missed, naive = np.ones(1), 0, 0.0, 0.0
    for look in LOOKS:
        step = look - before
        chances = np.array([comb(step, n) * edge**n * (1 - edge) ** (step - n) for n in range(step + 1)])
        alive, before = np.convolve(alive, chances), look
        for count in range(look + 1):
            low, high = interval(count / look, look, each)
            if not low <= edge <= high:
                missed += alive[count]
                alive[count] = 0.0
        naive += 1 - CONFIDENCE
    assert 0.001 < missed < (1 - CONFIDENCE) / len(TARGET_RANGES) < naive


def test_logs_of_other_trainers_are_read(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    rows = [
        {"group": 7, "reward": 1, "success": True, "loss": 0.1},
        {"group": 7, "reward": -1.0, "success": False},
        {"prompt_id": "b", "reward": 0.0},
        {"prompt_id": "b", "reward": None, "success": None},
        {"task": "c", "rewards": [1.0, 0.0, None], "successes": [True, False, None]},
    ]
    log.write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    assert read_groups(log, -1, 1) == [
        RewardGroup("7", (1.0, 0.0), (True, False)),
        RewardGroup("b", (0.5,), None),
        RewardGroup("c", (1.0, 0.5), (True, False)),
    ]
    assert open_policy_or_groups(f"rollouts:{log}@-1..1") == read_groups(log, -1, 1)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "log.jsonl, line 1 is truncated"),
        ("[1]", "is not a valid rollout: expected the field 'reward'"),
        ('{"reward": 1}', "the problem id in one of the fields group, scenario"),
        ('{"group": 1}', "expected the field 'reward'"),
        ('{"group": 1, "reward": "1"}', "found '1', expected a finite number"),
        ('{"group": 1, "reward": NaN}', "NaN is not a valid JSON number"),
        ('{"group": 1, "reward": true}', "expected a finite number"),
        (
            '{"group": 1, "reward": 3}',
            "log.jsonl:1: found 3, expected 0 to 1. Specify the range of the rewards: rollouts:",
        ),
        ('{"group": 1, "rewards": 3}', "must be lists"),
        ('{"group": 1, "rewards": [1, 0], "successes": [true]}', "2 rewards and 1 successes"),
        ('{"group": 1, "reward": null}', "contains no rollouts with a reward"),
        ("", "contains no rollouts with a reward"),
    ],
)
def test_invalid_log_error_names_line(tmp_path: Path, line: str, message: str) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(line + "\n")
    with pytest.raises(ReadError, match="log.jsonl") as error:
        read_groups(log)
    assert message in str(error.value)


def test_missing_logs_and_empty_ranges_raise(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="the file .* does not exist"):
        read_groups(tmp_path / "none.jsonl")
    with pytest.raises(ConfigError, match="the minimum must be less than the maximum"):
        read_groups(tmp_path / "none.jsonl", 1, 0)


def test_policy_specifications_are_resolved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert open_policy_or_groups("mixture:0.4") == ExpertMixture(0.4) and open_policy_or_groups(
        "mixture:.5"
    ) == ExpertMixture(0.5)
    assert getattr(open_policy_or_groups("everything"), "name", "") == "everything"
    remote = open_policy_or_groups("openai:qwen@http://127.0.0.1:9/v1")
    assert isinstance(remote, OpenAIPolicy) and remote.name == "qwen"
    assert str(remote.client.base_url) == "http://127.0.0.1:9/v1/" and remote.options == {"temperature": 1.0}
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for text in ("nobody", "mixture:2", "mixture:", "openai:", "openai:gpt-4o"):
        with pytest.raises(ConfigError):
            open_policy_or_groups(text)
    with pytest.raises(ReadError, match="none with adapter lora"):
        open_policy_or_groups(f"hf:{tmp_path}/none+lora")


def test_a_policy_is_checked_without_loading_a_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(policy_uri, "load_policy", lambda *_: pytest.fail("a model is loaded"))
    (tmp_path / "base").mkdir()
    for text in (f"hf:{tmp_path}/base", f"hf:{tmp_path}/none"):
        with pytest.raises(ReadError, match=r"does not contain config\.json"):
            check_policy(text)
    with pytest.raises(ReadError, match=f"{tmp_path}/lora is not an adapter folder"):
        check_policy(f"hf:org/model+{tmp_path}/lora")
    (tmp_path / "base" / "config.json").write_text("{}")
    check_policy(f"hf:{tmp_path}/base")
    check_policy("hf:org/model")  # what is not here may be on the hub
    check_policy("mixture:0.4")
    with pytest.raises(ConfigError, match="unknown policy: found 'hf:'"):
        check_policy("hf:")
    monkeypatch.setattr(policy_uri, "find_spec", lambda name: None if name == "peft" else True)
    check_policy(f"hf:{tmp_path}/base")
    with pytest.raises(MissingExtra, match="the package peft is not installed"):
        check_policy(f"hf:{tmp_path}/base+org/lora")


def test_policy_is_evaluated_on_every_level() -> None:
    found = check(Hotel, "TG502", policy="mixture:0.35")
    assert found.verdict == "passed" and "can be trained on level 0" in found.message
    assert {"mean_0", "success_low_1", "groups_1", "signal_0", "pass_at_8_1"} <= found.metrics.keys()
    easy = check(Hotel, "TG502", policy="oracle")
    assert easy.verdict == "failed" and "all-one 1.00 is above 0.2 over 16 groups" in easy.message
    assert easy == check(Hotel, "TG502", policy="oracle")


def test_policy_property_is_skipped_without_policy() -> None:
    found = check(Hotel, "TG502")
    assert (found.verdict, found.passed) == ("skipped", True) and "--policy" in found.message
    assert check(Hotel, "TG502", policy="nobody").verdict == "skipped"


class Unreachable:
    name = "unreachable"

    def act(self, episode: Episode) -> Action:
        raise PolicyError("the endpoint is down")


def test_endpoint_failure_skips_property(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(policy_uri.SCRIPTED, "down", Unreachable)
    found = check(Hotel, "TG502", "quick", "down")
    assert found.verdict == "skipped" and "none of the 128 rollouts was scored" in found.message


def test_environment_failure_fails_property(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: Hotel, text: str) -> str:
        raise KeyError(text)

    monkeypatch.setattr(Hotel, "reply", fails)
    found = check(Hotel, "TG502", "quick", "oracle")
    assert found.verdict == "failed" and "KeyError" in found.message


def test_native_rollouts_are_evaluated_by_level(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    world = load(Hotel)[0]
    scenarios = sample_of_size([Scenario(env="hotel", level=1, seed=0)], 1, 40)
    rollout(
        ExpertMixture(0.3), scenarios, path=path, samples=8, progress=False, open_episode=lambda s: Episode(world, s)
    )
    found = check(Hotel, "TG502", policy=f"rollouts:{path}")
    assert found.verdict == "passed" and f"{path} can be trained on level 1; level 1: mean" in found.message
    assert found.metrics["groups_1"] == 40
    other = check(ToyBoxes, "TG502", policy=f"rollouts:{path}")
    assert other.verdict == "skipped" and "no rollouts of the environment 'toy_boxes'" in other.message
    assert recorded_verdicts([RewardGroup("math-7", (0.0, 1.0))], "hotel").keys() == {"all recorded groups"}


def test_group_has_one_problem_and_different_rollouts() -> None:
    scenarios = [Scenario(env="toy_boxes", level=2, seed=seed) for seed in range(12)]
    made = rollout_groups(ExpertMixture(0.5), ToyBoxes, scenarios)
    assert [g.problem for g in made] == [str(s) for s in scenarios]
    assert all(len(g.rewards) == policy_groups.ROLLOUTS_PER_PROBLEM and g.successes is not None for g in made)
    assert group_statistics(made).informative > 0.5
    assert group_statistics(rollout_groups(Oracle(), ToyBoxes, scenarios)).all_one == 1
    assert env_and_level("toy_boxes/2/7") == ("toy_boxes", 2) and env_and_level("math-7") is None


@pytest.mark.slow
def test_hugging_face_policy_is_run(tmp_path: Path) -> None:
    from tiny_model import save_tiny  # imports torch

    policy = open_policy_or_groups(f"hf:{save_tiny(tmp_path / 'tiny')}")
    assert not isinstance(policy, list)
    made = rollout_groups(policy, ToyBoxes, [Scenario(env="toy_boxes", level=0, seed=0)])
    assert len(made[0].rewards) == policy_groups.ROLLOUTS_PER_PROBLEM
    assert made == rollout_groups(policy, ToyBoxes, [Scenario(env="toy_boxes", level=0, seed=0)])
