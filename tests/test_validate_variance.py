"""TG5: what groups of attempts are like, exactly, measured, and judged with a valid stopping rule."""

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
from trace_gym.policies import Mixture, Oracle
from trace_gym.policies.hf import HFPolicy
from trace_gym.policies.openai import OpenAIPolicy
from trace_gym.rollout import collect
from trace_gym.trainers.advantage import advantages
from trace_gym.types import Curves, Finding, Scenario
from trace_gym.validate import Context, policies
from trace_gym.validate.context import NOTHING, PROFILES, Given
from trace_gym.validate.gate import sample
from trace_gym.validate.learning import at_least, by_part
from trace_gym.validate.measure import BANDS, CONFIDENCE, LOOKS, Estimate, interval, measure, measure_until_clear
from trace_gym.validate.policies import known, place, played, recorded, resolve
from trace_gym.validate.properties import PROPERTIES
from trace_gym.validate.source import load
from trace_gym.validate.variance import COMPETENCES, Group, Pair, mixture, spread_of
from trace_gym.world import World

HEALTHY: tuple[type[World] | Path, ...] = (registry.module_path("tau2_precondition"), Hotel, ToyBoxes)
PAIRS = [Pair(1.0, 0.25), Pair(1.0, 0.0), Pair(1.0, 1.0, True, True), Pair(0.5, 0.0, False, False)]


def check(target: type[World] | Path, code: str, profile: str = "gate", policy: str = "") -> Finding:
    world, reference = load(target)
    context = Context(world, reference, PROFILES[profile], Given(policy=policy))
    return PROPERTIES[code](world, sample(world, PROFILES[profile].seeds_per_level), context)


def run(snippet: str) -> str:
    """What a counterexample prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(EnvBug):
        exec(compile(snippet, "counterexample", "exec"), {})
    return out.getvalue()


def groups(rewards: Iterable[Iterable[float]], told: bool = True) -> list[Group]:
    rows = [tuple(r) for r in rewards]
    return [Group(f"p{n}", r, tuple(x == 1 for x in r) if told else None) for n, r in enumerate(rows)]


@pytest.mark.parametrize("target", HEALTHY, ids=lambda t: getattr(t, "stem", None) or t.__name__)
@pytest.mark.parametrize("profile", ["gate", "quick"])
def test_healthy_environments_spread(target: type[World] | Path, profile: str) -> None:
    found = check(target, "TG501", profile)
    assert found.verdict == "passed", found.says
    levels = [k.partition("_")[2] for k in found.figures if k.startswith("from_")]
    assert levels and all(found.figures[f"to_{n}"] - found.figures[f"from_{n}"] >= 0.2 - 1e-9 for n in levels)
    assert profile == "gate" or found == check(target, "TG501", profile)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: f"{m.rejected_by}-{m.__name__}")
def test_each_mutant_is_rejected(mutant: type[World]) -> None:
    code: str = mutant.rejected_by  # type: ignore[attr-defined]
    found = check(mutant, code, "quick", getattr(mutant, "given", NOTHING).policy)
    assert (found.verdict, found.code) == ("failed", code) and found.says
    if code == "TG501":
        assert run(found.counterexample)


def test_the_finding_names_the_range_and_draws_every_level() -> None:
    found = check(Hotel, "TG501")
    assert (found.figures["from_0"], found.figures["to_0"]) == (0.2, 0.4)  # the ablated expert earns a third
    assert "competence from 0.20 to 0.40" in found.says
    curves = [c for c in found.exhibits if isinstance(c, Curves)]
    assert [c.band for c in curves] == [BANDS["mean"], BANDS["informative"], BANDS["all_zero"], None]
    assert all({"level 0", "level 1"} <= c.series.keys() for c in curves)
    assert [x for x, _ in curves[0].series["level 0"]] == list(COMPETENCES)
    assert dict(curves[0].series["level 0"])[0.5] == pytest.approx(2 / 3)


def test_only_problems_that_need_the_capability_are_judged() -> None:
    found = check(registry.module_path("tau2_precondition"), "TG501")
    assert 0.2 < found.figures["needs_1"] < 0.8
    assert found.figures["informative_8"] > 0.9 > 0.6 > found.figures["every_informative_8"]
    assert found.figures["needs_1_low"] < found.figures["needs_1"] < found.figures["needs_1_high"]


@pytest.mark.parametrize("p", [0.0, 0.3, 0.5, 1.0])
def test_a_mixture_is_the_average_over_all_its_groups(p: float) -> None:
    k = 4
    expected: dict[str, float] = dict.fromkeys(("mean", "success", "std", "informative", "all_zero", "all_one"), 0.0)
    expected |= {"signal": 0.0, "pass_2": 0.0, "pass_4": 0.0}
    for pair in PAIRS:
        for expert in product((True, False), repeat=k):
            rewards = tuple(pair.oracle if e else pair.ablated for e in expert)
            right = tuple(pair.oracle_succeeds if e else pair.ablated_succeeds for e in expert)
            found = spread_of([Group("x", rewards, right)])
            weight = p ** sum(expert) * (1 - p) ** (k - sum(expert)) / len(PAIRS)
            told = found.model_dump() | {"pass_2": found.pass_at[2], "pass_4": found.pass_at[4]}
            expected = {name: value + weight * told[name] for name, value in expected.items()}
    exact = mixture(PAIRS, p, k)
    told = exact.model_dump() | {"pass_2": exact.pass_at[2], "pass_4": exact.pass_at[4]}
    assert {name: told[name] for name in expected} == pytest.approx(expected, abs=1e-12)


def test_the_signal_is_the_trainers() -> None:
    rng = np.random.default_rng(3)
    rewards = rng.choice([0.0, 0.25, 1.0], size=(40, 8))
    rewards[:3], rewards[3:5], rewards[5] = 0.0, 1.0, 0.25
    theirs = advantages(rewards)
    ours = spread_of(groups(rewards.tolist()))
    assert ours.signal == pytest.approx(np.abs(theirs.values_GK).mean())
    assert ours.informative == theirs.kept_G.mean()
    assert (ours.all_zero, ours.all_one) == (theirs.all_zero / 40, theirs.all_best / 40)


def test_groups_are_units_and_sizes_may_differ() -> None:
    found = spread_of(groups([(1, 1, 0, 0), (0, 0), (1, 0, 0, 0, 0, 0)]))
    assert found.mean == pytest.approx(fmean([0.5, 0, 1 / 6]))
    assert found.pass_at.keys() == {1, 2}
    assert found.pass_at[2] == pytest.approx(fmean([1 - comb(2, 2) / comb(4, 2), 0, 1 - comb(5, 2) / comb(6, 2)]))
    assert spread_of(groups([(1, 0)], told=False)).success is None


def test_the_verdict_says_which_band_is_left() -> None:
    good = measure(groups([(1, 0, 0, 1), (0, 0.5, 1, 0)] * 50))
    assert good.passed and good.clear and "not clear" not in good.says
    assert good.estimates["informative"].low > 0.5
    easy = measure(groups([(1, 1), (1, 1), (1, 0)] * 40))
    assert not easy.passed and "mean 0.83 is above 0.6" in easy.says and "all-one 0.67 is above 0.2" in easy.says
    few = measure(groups([(1, 0, 0, 1), (0, 0.5, 1, 0)] * 2))
    assert few.passed and not few.clear and "not clear yet" in few.says
    unknown = measure(groups([(1, 0, 0, 1)] * 60, told=False))
    assert unknown.passed and "success" not in unknown.estimates
    wide = measure(groups([(1, 1)] * 3), {"mean": (0.0, 1.0)})
    assert wide.passed and wide.estimates.keys() == {"mean"}


def test_single_attempts_say_nothing() -> None:
    assert measure([*groups([(1.0, 0.0)]), Group("alone", (1.0,))]).groups == 1
    with pytest.raises(ConfigError, match="attempted twice"):
        measure([Group("alone", (1.0,), (True,))])


def test_an_interval_of_a_mean_holds_the_intervals_of_its_neighbours() -> None:
    half, quarter = (measure(groups([r] * 10)).estimates["mean"] for r in ((0.5, 0.5), (0.25, 0.25)))
    assert half.low == pytest.approx(0.2366, abs=1e-4) and half.high == pytest.approx(
        0.7634, abs=1e-4
    )  # Wilson, 5 of 10
    assert quarter.low < 0.1 and quarter.high > 0.55  # 2 and 3 of 10
    assert not Estimate(value=0.3, low=0.1, high=0.4, band=(0.2, 0.6)).clear
    assert Estimate(value=0.7, low=0.61, high=0.8, band=(0.2, 0.6)).clear


def drawing(rewards: Callable[[int], tuple[float, ...]]) -> tuple[list[int], Callable[[int, int], list[Group]]]:
    asked: list[int] = []

    def draw(first: int, last: int) -> list[Group]:
        asked.extend(range(first, last))
        return groups(rewards(n) for n in range(first, last))

    return asked, draw


def test_looking_stops_once_the_verdict_is_clear() -> None:
    asked, draw = drawing(lambda n: (1.0,) * 4)
    assert not measure_until_clear(draw).passed and asked == list(range(LOOKS[0]))
    asked, draw = drawing(lambda n: ((1, 0, 0, 0), (1, 1, 0, 0), (1, 0, 0, 1))[n % 3])
    verdict = measure_until_clear(draw)
    assert verdict.passed and verdict.clear and asked == list(range(verdict.groups)) and verdict.groups in LOOKS[1:]
    asked, draw = drawing(lambda n: (1, 1, 1, 0, 0) if n % 5 else (0.6,) * 5)
    last = measure_until_clear(draw)
    assert last.groups == LOOKS[-1] and asked == list(range(LOOKS[-1]))
    estimate = last.estimates["informative"]
    each = 1 - (1 - CONFIDENCE) / (len(LOOKS) * len(BANDS))
    assert (estimate.low, estimate.high) == interval(estimate.value, LOOKS[-1], each)


@pytest.mark.parametrize("edge", [0.2, 0.5, 0.6])
def test_the_stopping_rule_keeps_its_word(edge: float) -> None:
    """The chance that an interval of any look misses the truth, exactly, by following every count to the last look."""
    each = 1 - (1 - CONFIDENCE) / (len(LOOKS) * len(BANDS))
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
    assert 0.001 < missed < (1 - CONFIDENCE) / len(BANDS) < naive


def test_logs_of_any_trainer_are_read(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    rows = [
        {"group": 7, "reward": 1, "success": True, "loss": 0.1},
        {"group": 7, "reward": -1.0, "success": False},
        {"prompt_id": "b", "reward": 0.0},
        {"prompt_id": "b", "reward": None, "success": None},
        {"task": "c", "rewards": [1.0, 0.0, None], "successes": [True, False, None]},
    ]
    log.write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    assert recorded(log, -1, 1) == [
        Group("7", (1.0, 0.0), (True, False)),
        Group("b", (0.5,), None),
        Group("c", (1.0, 0.5), (True, False)),
    ]
    assert resolve(f"rollouts:{log}@-1..1") == recorded(log, -1, 1)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "log.jsonl:1 is truncated"),
        ("[1]", "is no attempt; expected a reward"),
        ('{"reward": 1}', "the problem's id as one of group, scenario"),
        ('{"group": 1}', "expected a reward"),
        ('{"group": 1, "reward": "1"}', "the reward is '1'; expected a finite number"),
        ('{"group": 1, "reward": NaN}', "NaN is not a JSON number"),
        ('{"group": 1, "reward": true}', "expected a finite number"),
        ('{"group": 1, "reward": 3}', "pays 3, outside 0 to 1; name the range of its rewards: rollouts:"),
        ('{"group": 1, "rewards": 3}', "must be lists"),
        ('{"group": 1, "rewards": [1, 0], "successes": [true]}', "2 rewards and 1 successes"),
        ('{"group": 1, "reward": null}', "holds no attempt with a reward"),
        ("", "holds no attempt with a reward"),
    ],
)
def test_bad_logs_are_told_with_their_line(tmp_path: Path, line: str, says: str) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(line + "\n")
    with pytest.raises(ReadError, match="log.jsonl") as error:
        recorded(log)
    assert says in str(error.value)


def test_missing_logs_and_empty_ranges_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="there is no file"):
        recorded(tmp_path / "none.jsonl")
    with pytest.raises(ConfigError, match="expected the least first"):
        recorded(tmp_path / "none.jsonl", 1, 0)


def test_policies_are_named_by_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert resolve("mixture:0.4") == Mixture(0.4) and resolve("mixture:.5") == Mixture(0.5)
    assert getattr(resolve("everything"), "name", "") == "everything"
    remote = resolve("openai:qwen@http://127.0.0.1:9/v1")
    assert isinstance(remote, OpenAIPolicy) and remote.name == "qwen"
    assert str(remote.client.base_url) == "http://127.0.0.1:9/v1/" and remote.options == {"temperature": 1.0}
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for text in ("nobody", "mixture:2", "mixture:", "openai:", "openai:gpt-4o"):
        with pytest.raises(ConfigError):
            resolve(text)
    with pytest.raises(ReadError, match="none with adapter lora"):
        resolve(f"hf:{tmp_path}/none+lora")


def test_a_policy_is_checked_without_loading_a_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(HFPolicy, "load", lambda *_: pytest.fail("a model is loaded"))
    (tmp_path / "base").mkdir()
    for text in (f"hf:{tmp_path}/base", f"hf:{tmp_path}/none", f"hf:org/model+{tmp_path}/lora"):
        with pytest.raises(ReadError, match=r"holds no (adapter_)?config\.json"):
            known(text)
    (tmp_path / "base" / "config.json").write_text("{}")
    known(f"hf:{tmp_path}/base")
    known("hf:org/model")  # what is not here may be on the hub
    known("mixture:0.4")
    with pytest.raises(ConfigError, match="there is no policy 'hf:'"):
        known("hf:")
    monkeypatch.setattr(policies, "find_spec", lambda name: None if name == "peft" else True)
    known(f"hf:{tmp_path}/base")
    with pytest.raises(MissingExtra, match="peft is missing"):
        known(f"hf:{tmp_path}/base+org/lora")


def test_a_policy_is_judged_on_every_level() -> None:
    found = check(Hotel, "TG502", policy="mixture:0.35")
    assert found.verdict == "passed" and "can be trained on level 0" in found.says
    assert {"mean_0", "success_low_1", "groups_1", "signal_0", "pass_at_8_1"} <= found.figures.keys()
    easy = check(Hotel, "TG502", policy="oracle")
    assert easy.verdict == "failed" and "all-one 1.00 is above 0.2 over 16 groups" in easy.says
    assert easy == check(Hotel, "TG502", policy="oracle")


def test_without_a_policy_nothing_is_judged() -> None:
    found = check(Hotel, "TG502")
    assert (found.verdict, found.passed) == ("inapplicable", True) and "--policy" in found.says
    assert check(Hotel, "TG502", policy="nobody").verdict == "inapplicable"


class Unreachable:
    name = "unreachable"

    def act(self, episode: Episode) -> Action:
        raise PolicyError("the endpoint is down")


def test_an_endpoint_that_fails_is_not_the_environments_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(policies.SCRIPTED, "down", Unreachable)
    found = check(Hotel, "TG502", "quick", "down")
    assert found.verdict == "inapplicable" and "none of 128 attempts was scored" in found.says


def test_an_environment_that_fails_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: Hotel, text: str) -> str:
        raise KeyError(text)

    monkeypatch.setattr(Hotel, "reply", fails)
    found = check(Hotel, "TG502", "quick", "oracle")
    assert found.verdict == "failed" and "KeyError" in found.says


def test_our_own_rollouts_are_judged_by_level(tmp_path: Path) -> None:
    path = tmp_path / "rollouts.jsonl"
    world = load(Hotel)[0]
    scenarios = at_least([Scenario(env="hotel", level=1, seed=0)], 1, 40)
    collect(Mixture(0.3), scenarios, path=path, samples=8, progress=False, open_episode=lambda s: Episode(world, s))
    found = check(Hotel, "TG502", policy=f"rollouts:{path}")
    assert found.verdict == "passed" and f"{path} can be trained on level 1; level 1: mean" in found.says
    assert found.figures["groups_1"] == 40
    other = check(ToyBoxes, "TG502", policy=f"rollouts:{path}")
    assert other.verdict == "inapplicable" and "no attempt at a problem of toy_boxes" in other.says
    assert by_part([Group("math-7", (0.0, 1.0))], "hotel").keys() == {"all that is recorded"}


def test_a_group_is_one_problem_and_its_attempts_differ() -> None:
    scenarios = [Scenario(env="toy_boxes", level=2, seed=seed) for seed in range(12)]
    made = played(Mixture(0.5), ToyBoxes, scenarios)
    assert [g.problem for g in made] == [str(s) for s in scenarios]
    assert all(len(g.rewards) == policies.ATTEMPTS and g.successes is not None for g in made)
    assert spread_of(made).informative > 0.5
    assert spread_of(played(Oracle(), ToyBoxes, scenarios)).all_one == 1
    assert place("toy_boxes/2/7") == ("toy_boxes", 2) and place("math-7") is None


def test_a_hugging_face_folder_is_played(tmp_path: Path) -> None:
    from tiny_model import save_tiny  # imports torch

    policy = resolve(f"hf:{save_tiny(tmp_path / 'tiny')}")
    assert not isinstance(policy, list)
    made = played(policy, ToyBoxes, [Scenario(env="toy_boxes", level=0, seed=0)])
    assert len(made[0].rewards) == policies.ATTEMPTS
    assert made == played(policy, ToyBoxes, [Scenario(env="toy_boxes", level=0, seed=0)])
