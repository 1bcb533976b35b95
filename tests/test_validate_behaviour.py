"""Tests of TG1, TG2, TG3, TG4 and TG9 properties that compare rollouts."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import gymnasium
import pytest
from mutants import gyms, instances, phrases, scores, users
from mutants.hotel import Hotel
from toy_world import ToyBoxes

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.model_text import MAX_TEXT
from trace_gym.types import Bars, Call, Curves, Finding, Say, Scenario
from trace_gym.validation import Context, fresh_process, load, malformed_inputs
from trace_gym.validation.capability import cautious_plans
from trace_gym.validation.context import PROFILES
from trace_gym.validation.expert_plans import evenly_spaced, hybrid_plans, state_after, write_calls
from trace_gym.validation.gymnasium_env import WorldEnv, as_text, spec_of, step_results
from trace_gym.validation.monotonicity import _check_pairs
from trace_gym.validation.properties import PROPERTIES, CheckFailed
from trace_gym.validation.random_calls import CallSampler, StateValues, to_plain_data
from trace_gym.validation.robustness import long_episode
from trace_gym.validation.robustness import turn_defect as faults_of
from trace_gym.validation.selection import sample
from trace_gym.validation.user import _facts
from trace_gym.validation.wordings import lower_case, paragraphs, read_variants, upper_case
from trace_gym.world import World

CODES = (
    "TG105", "TG106", "TG206", "TG207", "TG208", "TG209", "TG210", "TG305", "TG306", "TG405", "TG406", "TG901", "TG902",
    "TG903",
)  # fmt: skip
MUTANTS = (*instances.MUTANTS, *phrases.MUTANTS, *scores.MUTANTS, *users.MUTANTS, *gyms.MUTANTS)
HEALTHY: tuple[type[World] | Path, ...] = (registry.module_path("tau2_precondition"), Hotel, ToyBoxes)
SEEDS = 3
"""Scenarios per level in these tests. The number of the profile would take three times as long."""
HERE = replace(PROFILES["gate"], processes=2, separate_processes=False, examples=60)
"""Profile without fresh processes, which dominate the run time, and with shorter long episodes."""


def context_of(target: type[World] | Path, profile: str = "gate") -> Context:
    return Context(*load(target), PROFILES[profile])


def check(target: type[World] | Path, code: str, profile: str = "gate", seeds: int = SEEDS) -> Finding:
    context = context_of(target, profile)
    return PROPERTIES[code](context.world, sample(context.world, seeds), context)


def run(snippet: str) -> str:
    """Return the output of a counterexample, which may raise only the exception of the environment."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(snippet, "counterexample", "exec"), {})
        except (NameError, SyntaxError, ImportError):
            raise
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
    return out.getvalue()


@pytest.mark.parametrize("target", HEALTHY, ids=lambda t: getattr(t, "stem", None) or t.__name__)
def test_valid_environments_pass_all_properties(target: type[World] | Path) -> None:
    context = context_of(target)
    if target not in (HEALTHY[0], Hotel):
        context.profile = HERE
    scenarios = sample(context.world, SEEDS)
    found = [PROPERTIES[code](context.world, scenarios, context) for code in CODES]
    assert not [(f.code, f.message) for f in found if f.verdict != "passed"]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: f"{m.rejected_by}-{m.__name__}")
def test_each_mutant_fails_its_property(mutant: Any) -> None:
    found = check(mutant, mutant.rejected_by, "quick", PROFILES["quick"].seeds_per_level)
    assert found.verdict == "failed"
    assert found.counterexample and run(found.counterexample)
    if mutant.rejected_by != "TG901" and "all of" not in found.message and "all 12" not in found.message:
        assert found.replay is not None and found.replay.scenario.startswith(f"{mutant.id}/")


def test_every_property_rejects_two_mutants() -> None:
    killed = [m.rejected_by for m in MUTANTS]
    assert all(killed.count(code) >= 2 for code in CODES)


NESTED: Any = []
for _ in range(40):
    NESTED = [NESTED]


@pytest.mark.parametrize(
    "step",
    [
        Say(None), Say(b"x"), Say("x" * (MAX_TEXT + 1)), Call(3), Call("look_up", None), Call("look_up", [1]),
        Call("look_up", "room"), Call("look_up", {"room": {1}}), Call("look_up", {"room": float("nan")}),
        Call("look_up", {"room": "\ud800"}), Call("look_up", {"room": 10**30}), Call("look_up", {1: "644"}),
        Call("look_up", {"room": NESTED}), Call("\ud800"), Call("x" * 5000),
    ],
    ids=lambda step: repr(step)[:60].encode("ascii", "replace").decode(),
)  # fmt: skip
def test_invalid_scripted_step_gets_answer(step: Any) -> None:
    episode = Episode(Hotel, Scenario(env="hotel", level=0, seed=0))
    before = episode.state_hash
    [answer] = episode.step(step)
    assert answer["content"].startswith("Error: ") and (episode.malformed, episode.state_hash) == (1, before)
    json.dumps(episode.messages, ensure_ascii=False).encode()


def test_scripted_step_is_not_parsed() -> None:
    episode = Episode(Hotel, Scenario(env="hotel", level=0, seed=0))
    words = {"role": "user", "content": "My key?"}
    assert episode.step(Say("  One\tmo\x00ment\ud83d ")) == [words] and episode.said == ["  One\tmoment "]
    room = next(iter(episode.start.rooms))  # type: ignore[attr-defined]
    assert "invoice" in episode.step(Call("look_up", {"room": room}))[0]["content"] and not episode.malformed


@pytest.mark.parametrize(("mutant", "code"), [(instances.RemembersGuests, "TG106"), (gyms.WorksAtHome, "TG902")])
def test_some_defects_appear_only_in_fresh_process(mutant: type[World], code: str) -> None:
    assert check(mutant, code, "quick", 25).passed
    found = check(mutant, code, "gate", 25)
    assert not found.passed and run(found.counterexample)


@pytest.mark.parametrize("code", CODES)
def test_findings_are_deterministic(code: str) -> None:
    assert check(Hotel, code, "quick", 2) == check(Hotel, code, "quick", 2)


@pytest.mark.parametrize("mutant", [instances.TheLastHotelBegun, gyms.WaitsItsTurn])
def test_shared_state_snippet_runs_both_rollouts(mutant: Any) -> None:
    one, other = run(check(mutant, mutant.rejected_by, "quick", 3).counterexample).splitlines()
    assert one != other


class Talker(Hotel):
    """Nothing is to be written, and nobody lacks anything."""

    id, capability = "talker", "telling"

    @classmethod
    def interface(cls) -> Any:
        made = super().interface()
        kinds: dict[str, Any] = dict.fromkeys(made.kinds, "read")
        return made.model_copy(update={"kinds": kinds})

    def ablated(self) -> Any:
        return self.oracle()


def test_inapplicable_properties_are_skipped() -> None:
    for code in ("TG206", "TG306"):
        found = check(Talker, code, "quick")
        assert (found.verdict, found.passed) == ("skipped", True)
        assert "write" in found.message or "needs the capability" in found.message


def test_findings_contain_metrics_and_exhibits() -> None:
    desk = registry.module_path("tau2_precondition")
    swapped = check(desk, "TG206", "quick", 6)
    [bars] = swapped.exhibits
    assert isinstance(bars, Bars)
    assert bars.bars["oracle"] == 1 > bars.bars["with ablated steps"] and bars.bars["ablated"] < 1
    cautious = check(desk, "TG209", "quick", 6).metrics
    assert 0 < cautious["free"] < 1 and cautious["caution"] == 0
    assert check(Hotel, "TG209", "quick").metrics["free"] == 0
    [curve] = check(Hotel, "TG305", "quick").exhibits
    assert isinstance(curve, Curves)
    [points] = curve.series.values()
    assert [y for _, y in points] == sorted(y for _, y in points) and points[-1] == (1.0, 1.0)


def test_sample_is_evenly_spaced_over_levels() -> None:
    assert evenly_spaced(range(10), 3) == [0, 3, 6]
    assert evenly_spaced(range(2), 5) == [0, 1]
    assert {s.level for s in evenly_spaced(sample(load("tau2_precondition")[0], 25), 8)} == set(range(4))


def hotel(seed: int = 0) -> Episode:
    return Episode(Hotel, Scenario(env="hotel", level=0, seed=seed))


def test_write_calls_exclude_rejected_calls() -> None:
    episode = hotel()
    look, _, key, _ = episode.start.oracle()
    for step in (look, key, key, Call("settle", {"room": "0", "invoice": "x", "amount": 1}), Say("Hm.")):
        episode.step(step)
    assert write_calls(episode) == [key]
    assert state_after(episode) == to_plain_data(episode.world) != to_plain_data(episode.start)
    episode.world.harmless = frozenset({"hand_over"})  # type: ignore[attr-defined]
    assert write_calls(episode) == []


def test_hybrid_plans_use_every_differing_step() -> None:
    start = hotel().start
    look, pay, key, words = start.oracle()
    *_, other = start.ablated()
    made = list(hybrid_plans([look, pay, key, words], [look, key, other], hotel().interface))
    assert [look, key, words] in made  # without the payment
    assert [look, pay, key, other] in made  # with the other words
    assert [look, key, other] in made  # all that follows
    assert [look, key, key, words] in made  # one write for its counterpart
    refusing: Any = [look, words]
    assert [look, key, words] in list(hybrid_plans(refusing, [look, other, key], hotel().interface))


def test_wordings_preserve_values() -> None:
    world = Episode(load("tau2_precondition")[0], Scenario(env="tau2_precondition", level=0, seed=0)).start
    [code] = world.reservations  # type: ignore[attr-defined]
    text = f"I cannot cancel {code}: economy, booked 2024-05-12. Shall I proceed?"
    assert upper_case(text, world) == f"I CANNOT CANCEL {code}: economy, BOOKED 2024-05-12. SHALL I PROCEED?"
    assert lower_case(text, world) == f"i cannot cancel {code}: economy, booked 2024-05-12. shall i proceed?"
    assert paragraphs(text, world).split() == text.split() and "\n\nShall" in paragraphs(text, world)


def test_read_variants_reorder_only_independent_reads() -> None:
    context = context_of(registry.module_path("tau2_multi_step"))
    scenario = Scenario(env="tau2_multi_step", level=1, seed=0)
    steps, made = context.plan(scenario, "oracle"), context.expert(scenario, "oracle")
    twice, more, *exchanged = read_variants(made, steps, context.interface)
    assert [s for n, s in enumerate(twice) if n == 0 or s != twice[n - 1]] == steps
    assert len(twice) == len(steps) + 3 and len(more) > len(steps)
    assert [s for s in more if s in steps[3:]] == steps[3:]
    assert exchanged == [[steps[1], steps[0], *steps[2:]], [steps[0], steps[2], steps[1], *steps[3:]]]

    chained = Scenario(env="tau2_structured_data", level=0, seed=0)
    context = context_of(registry.module_path("tau2_structured_data"))
    plan = context.plan(chained, "oracle")  # the second look-up takes the route that the first has shown
    assert len(list(read_variants(context.expert(chained, "oracle"), plan, context.interface))) == 2


def test_cautious_plans_write_nothing() -> None:
    context = context_of(Hotel)
    plans = dict(cautious_plans(context, Scenario(env="hotel", level=0, seed=0)))
    assert plans["does nothing"] == [] and len(plans) == 8
    assert not [s for plan in plans.values() for s in plan if isinstance(s, Call) and s.tool != "look_up"]


def test_non_monotone_reward_is_detected_in_any_order() -> None:
    context = context_of(scores.FurtherGoalsOnTheWay)
    scenario = Scenario(env="further_goals_on_the_way", level=0, seed=0)
    plan = context.plan(scenario, "oracle")
    made = [(plan[:n], context.run(scenario, plan[:n])) for n in (3, 2)]
    with pytest.raises(CheckFailed, match="reward for 2 goals"):
        _check_pairs(context, scenario, made)


@pytest.mark.parametrize("kind", malformed_inputs.KINDS, ids=lambda k: k.__name__)
def test_valid_world_answers_malformed_turns(kind: Callable[[CallSampler], Any]) -> None:
    made = []
    for seed in range(15):
        episode = hotel(seed)
        draw = CallSampler(Random(seed), episode.interface, StateValues.of(episode.start), 0.2 * (seed % 2))
        made.append(kind(draw))
        assert faults_of(episode, made[-1]) == ""
    assert len(set(map(repr, made))) > 3


def test_generators_return_documented_kinds() -> None:
    episode = hotel()
    drawn = [
        k(CallSampler(Random(n), episode.interface, StateValues.of(episode.start)))
        for k in malformed_inputs.KINDS
        for n in range(60)
    ]
    texts = [t for t in drawn if isinstance(t, str)]
    assert (
        any("NaN" in t for t in texts) and any("[" * 5_000 in t for t in texts) and any(len(t) > 10**5 for t in texts)
    )
    assert any("\ud800" <= c <= "\udfff" for t in texts for c in t) and any(t.count('"room"') == 2 for t in texts)
    assert any(isinstance(t, bytes) for t in drawn) and any(isinstance(t, dict) for t in drawn) and None in drawn


def test_long_episode_continues_past_limit_and_end() -> None:
    episode = hotel()
    fault, taken = long_episode(episode, 200)
    assert fault == "" and taken == 450
    assert episode.turns == 400 > Hotel.max_turns and episode.done
    assert hotel().world.max_turns == Hotel.max_turns


def test_facts_are_state_values_and_words_with_digits() -> None:
    assert _facts("I am Ada in 217, at 9.", frozenset({"Ada"})) == ("I am # in #, at 9.", ["Ada", "217"])
    assert _facts("Yes, please.", frozenset()) == ("Yes, please.", [])


def test_world_env_equals_registered_environment() -> None:
    world = registry.load_world("tau2_precondition")
    wrapped = gymnasium.make(spec_of(world, 2)).unwrapped
    named = gymnasium.make("trace/tau2-precondition-v0", level=2).unwrapped
    assert isinstance(wrapped, WorldEnv)
    assert (wrapped.action_space, wrapped.observation_space) == (named.action_space, named.observation_space)
    turns = as_text(list(Episode(world, Scenario(env="tau2_precondition", level=2, seed=3)).start.oracle()))
    assert step_results(wrapped, 3, turns) == step_results(named, 3, turns)
    assert step_results(wrapped, 3, turns)[-1][1] == 1.0
    assert wrapped.reset(seed=3)[1] == named.reset(seed=3)[1]


def test_failed_fresh_process_reports_cause() -> None:
    with pytest.raises(CheckFailed, match="cannot continue the episodes and ends with: .*no_such_module"):
        fresh_process.run_job({"world": "no_such_module:Hotel", "unfinished": []})
