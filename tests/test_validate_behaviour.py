"""TG1, TG2, TG3, TG4 and TG9, where attempts are compared: with each other, with themselves, and turn after turn."""

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
from trace_gym.actions import MAX_TEXT
from trace_gym.episode import Episode
from trace_gym.types import Bars, Call, Curves, Finding, Say, Scenario
from trace_gym.validate import Context, load, ugly, worker
from trace_gym.validate.attempts import deeds, hybrids, left, spread
from trace_gym.validate.capability import cautious
from trace_gym.validate.context import PROFILES
from trace_gym.validate.draws import Draw, Values, plain
from trace_gym.validate.gate import sample
from trace_gym.validate.gradient import _ordered
from trace_gym.validate.properties import PROPERTIES, Broken
from trace_gym.validate.robustness import faults as faults_of
from trace_gym.validate.robustness import marathon
from trace_gym.validate.user import _facts
from trace_gym.validate.wordings import capitals, other_reads, paragraphs, small
from trace_gym.validate.wrapped import WorldEnv, as_text, rows, spec_of
from trace_gym.world import World

CODES = (
    "TG105", "TG106", "TG206", "TG207", "TG208", "TG209", "TG210", "TG305", "TG306", "TG405", "TG406", "TG901", "TG902",
    "TG903",
)  # fmt: skip
MUTANTS = (*instances.MUTANTS, *phrases.MUTANTS, *scores.MUTANTS, *users.MUTANTS, *gyms.MUTANTS)
HEALTHY: tuple[type[World] | Path, ...] = (registry.module_path("tau2_precondition"), Hotel, ToyBoxes)
SEEDS = 3
"""Scenarios of each level in these tests; those of the profile take three times as long."""
HERE = replace(PROFILES["gate"], processes=2, apart=False, examples=60)
"""Without fresh processes, which take longer than all else, and with shorter long episodes."""


def context_of(target: type[World] | Path, profile: str = "gate") -> Context:
    return Context(*load(target), PROFILES[profile])


def check(target: type[World] | Path, code: str, profile: str = "gate", seeds: int = SEEDS) -> Finding:
    context = context_of(target, profile)
    return PROPERTIES[code](context.world, sample(context.world, seeds), context)


def run(snippet: str) -> str:
    """What a counterexample prints; it may raise what the environment raises, but no error of its own."""
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
def test_the_healthy_hold_every_one(target: type[World] | Path) -> None:
    context = context_of(target)
    if target not in (HEALTHY[0], Hotel):
        context.profile = HERE
    scenarios = sample(context.world, SEEDS)
    found = [PROPERTIES[code](context.world, scenarios, context) for code in CODES]
    assert not [(f.code, f.says) for f in found if f.verdict != "passed"]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: f"{m.rejected_by}-{m.__name__}")
def test_each_mutant_is_rejected_for_its_fault(mutant: Any) -> None:
    found = check(mutant, mutant.rejected_by, "quick", PROFILES["quick"].seeds_per_level)
    assert found.verdict == "failed"
    assert found.counterexample and run(found.counterexample)
    if mutant.rejected_by != "TG901" and "all of" not in found.says and "all 12" not in found.says:
        assert found.replay is not None and found.replay.scenario.startswith(f"{mutant.id}/")


def test_every_property_kills_two_mutants() -> None:
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
def test_a_scripted_step_that_no_model_could_write_is_answered(step: Any) -> None:
    episode = Episode(Hotel, Scenario(env="hotel", level=0, seed=0))
    before = episode.state_hash
    [answer] = episode.step(step)
    assert answer["content"].startswith("Error: ") and (episode.malformed, episode.state_hash) == (1, before)
    json.dumps(episode.messages, ensure_ascii=False).encode()


def test_a_scripted_step_is_taken_as_it_is() -> None:
    episode = Episode(Hotel, Scenario(env="hotel", level=0, seed=0))
    words = {"role": "user", "content": "My key?"}
    assert episode.step(Say("  One\tmo\x00ment\ud83d ")) == [words] and episode.said == ["  One\tmoment "]
    room = next(iter(episode.start.rooms))  # type: ignore[attr-defined]
    assert "invoice" in episode.step(Call("look_up", {"room": room}))[0]["content"] and not episode.malformed


@pytest.mark.parametrize(("mutant", "code"), [(instances.RemembersGuests, "TG106"), (gyms.WorksAtHome, "TG902")])
def test_some_faults_show_in_another_process_only(mutant: type[World], code: str) -> None:
    assert check(mutant, code, "quick", 25).passed
    found = check(mutant, code, "gate", 25)
    assert not found.passed and run(found.counterexample)


@pytest.mark.parametrize("code", CODES)
def test_the_same_finding_twice(code: str) -> None:
    assert check(Hotel, code, "quick", 2) == check(Hotel, code, "quick", 2)


@pytest.mark.parametrize("mutant", [instances.TheLastHotelBegun, gyms.WaitsItsTurn])
def test_the_snippet_of_a_shared_state_shows_both_attempts(mutant: Any) -> None:
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


def test_what_cannot_be_asked_is_said_to_be_inapplicable() -> None:
    for code in ("TG206", "TG306"):
        found = check(Talker, code, "quick")
        assert (found.verdict, found.passed) == ("inapplicable", True)
        assert "write" in found.says or "needs the capability" in found.says


def test_findings_hold_figures_and_exhibits() -> None:
    desk = registry.module_path("tau2_precondition")
    swapped = check(desk, "TG206", "quick", 6)
    [bars] = swapped.exhibits
    assert isinstance(bars, Bars)
    assert bars.bars["oracle"] == 1 > bars.bars["a step without it"] and bars.bars["ablated"] < 1
    cautious = check(desk, "TG209", "quick", 6).figures
    assert 0 < cautious["free"] < 1 and cautious["caution"] == 0
    assert check(Hotel, "TG209", "quick").figures["free"] == 0
    [curve] = check(Hotel, "TG305", "quick").exhibits
    assert isinstance(curve, Curves)
    [points] = curve.series.values()
    assert [y for _, y in points] == sorted(y for _, y in points) and points[-1] == (1.0, 1.0)


def test_scenarios_are_spread_over_all_levels() -> None:
    assert spread(range(10), 3) == [0, 3, 6]
    assert spread(range(2), 5) == [0, 1]
    assert {s.level for s in spread(sample(load("tau2_precondition")[0], 25), 8)} == set(range(4))


def hotel(seed: int = 0) -> Episode:
    return Episode(Hotel, Scenario(env="hotel", level=0, seed=seed))


def test_deeds_are_what_was_carried_out_and_leave_a_state() -> None:
    episode = hotel()
    look, _, key, _ = episode.start.oracle()
    for step in (look, key, key, Call("settle", {"room": "0", "invoice": "x", "amount": 1}), Say("Hm.")):
        episode.step(step)
    assert deeds(episode) == [key]
    assert left(episode) == plain(episode.world) != plain(episode.start)
    episode.world.harmless = frozenset({"hand_over"})  # type: ignore[attr-defined]
    assert deeds(episode) == []


def test_hybrids_take_every_step_that_differs() -> None:
    start = hotel().start
    look, pay, key, words = start.oracle()
    *_, other = start.ablated()
    made = list(hybrids([look, pay, key, words], [look, key, other], hotel().interface))
    assert [look, key, words] in made  # without the payment
    assert [look, pay, key, other] in made  # with the other words
    assert [look, key, other] in made  # all that follows
    assert [look, key, key, words] in made  # one write for its counterpart
    refusing: Any = [look, words]
    assert [look, key, words] in list(hybrids(refusing, [look, other, key], hotel().interface))


def test_wordings_keep_what_matters() -> None:
    world = Episode(load("tau2_precondition")[0], Scenario(env="tau2_precondition", level=0, seed=0)).start
    [code] = world.reservations  # type: ignore[attr-defined]
    text = f"I cannot cancel {code}: economy, booked 2024-05-12. Shall I proceed?"
    assert capitals(text, world) == f"I CANNOT CANCEL {code}: economy, BOOKED 2024-05-12. SHALL I PROCEED?"
    assert small(text, world) == f"i cannot cancel {code}: economy, booked 2024-05-12. shall i proceed?"
    assert paragraphs(text, world).split() == text.split() and "\n\nShall" in paragraphs(text, world)


def test_look_ups_are_repeated_added_and_exchanged_where_they_are_independent() -> None:
    context = context_of(registry.module_path("tau2_multi_step"))
    scenario = Scenario(env="tau2_multi_step", level=1, seed=0)
    steps, made = context.plan(scenario, "oracle"), context.expert(scenario, "oracle")
    twice, more, *exchanged = other_reads(made, steps, context.interface)
    assert [s for n, s in enumerate(twice) if n == 0 or s != twice[n - 1]] == steps
    assert len(twice) == len(steps) + 3 and len(more) > len(steps)
    assert [s for s in more if s in steps[3:]] == steps[3:]
    assert exchanged == [[steps[1], steps[0], *steps[2:]], [steps[0], steps[2], steps[1], *steps[3:]]]

    chained = Scenario(env="tau2_structured_data", level=0, seed=0)
    context = context_of(registry.module_path("tau2_structured_data"))
    plan = context.plan(chained, "oracle")  # the second look-up takes the route that the first has shown
    assert len(list(other_reads(context.expert(chained, "oracle"), plan, context.interface))) == 2


def test_the_over_cautious_write_nothing() -> None:
    context = context_of(Hotel)
    plans = dict(cautious(context, Scenario(env="hotel", level=0, seed=0)))
    assert plans["does nothing"] == [] and len(plans) == 8
    assert not [s for plan in plans.values() for s in plan if isinstance(s, Call) and s.tool != "look_up"]


def test_more_goals_for_less_reward_are_found_in_any_order() -> None:
    context = context_of(scores.FurtherGoalsOnTheWay)
    scenario = Scenario(env="further_goals_on_the_way", level=0, seed=0)
    plan = context.plan(scenario, "oracle")
    made = [(plan[:n], context.play(scenario, plan[:n])) for n in (3, 2)]
    with pytest.raises(Broken, match="2 goals pay"):
        _ordered(context, scenario, made)


@pytest.mark.parametrize("kind", ugly.KINDS, ids=lambda k: k.__name__)
def test_ugly_turns_are_answered_by_a_healthy_world(kind: Callable[[Draw], Any]) -> None:
    made = []
    for seed in range(15):
        episode = hotel(seed)
        draw = Draw(Random(seed), episode.interface, Values.of(episode.start), 0.2 * (seed % 2))
        made.append(kind(draw))
        assert faults_of(episode, made[-1]) == ""
    assert len(set(map(repr, made))) > 3


def test_ugly_turns_are_as_ugly_as_they_are_said_to_be() -> None:
    episode = hotel()
    drawn = [k(Draw(Random(n), episode.interface, Values.of(episode.start))) for k in ugly.KINDS for n in range(60)]
    texts = [t for t in drawn if isinstance(t, str)]
    assert (
        any("NaN" in t for t in texts) and any("[" * 5_000 in t for t in texts) and any(len(t) > 10**5 for t in texts)
    )
    assert any("\ud800" <= c <= "\udfff" for t in texts for c in t) and any(t.count('"room"') == 2 for t in texts)
    assert any(isinstance(t, bytes) for t in drawn) and any(isinstance(t, dict) for t in drawn) and None in drawn


def test_a_long_episode_lasts_past_its_limit_and_its_end() -> None:
    episode = hotel()
    fault, taken = marathon(episode, 200)
    assert fault == "" and taken == 450
    assert episode.turns == 400 > Hotel.max_turns and episode.done
    assert hotel().world.max_turns == Hotel.max_turns


def test_facts_are_values_and_words_with_digits() -> None:
    assert _facts("I am Ada in 217, at 9.", frozenset({"Ada"})) == ("I am # in #, at 9.", ["Ada", "217"])
    assert _facts("Yes, please.", frozenset()) == ("Yes, please.", [])


def test_any_world_is_wrapped_as_a_registered_one_is() -> None:
    world = registry.load("tau2_precondition")
    wrapped = gymnasium.make(spec_of(world, 2)).unwrapped
    named = gymnasium.make("trace/tau2-precondition-v0", level=2).unwrapped
    assert isinstance(wrapped, WorldEnv)
    assert (wrapped.action_space, wrapped.observation_space) == (named.action_space, named.observation_space)
    turns = as_text(list(Episode(world, Scenario(env="tau2_precondition", level=2, seed=3)).start.oracle()))
    assert rows(wrapped, 3, turns) == rows(named, 3, turns)
    assert rows(wrapped, 3, turns)[-1][1] == 1.0
    assert wrapped.reset(seed=3)[1] == named.reset(seed=3)[1]


def test_a_fresh_process_that_fails_says_why() -> None:
    with pytest.raises(Broken, match="cannot play on, and ends with: .*no_such_module"):
        worker.ask({"world": "no_such_module:Hotel", "unfinished": []})
