"""Tests of interventions on random draws, and of the properties that use them."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest
from mutants import interventions as broken
from mutants.hotel import Hotel

from trace_gym import registry
from trace_gym.errors import ConfigError
from trace_gym.sandbox import check
from trace_gym.types import Call, Say, Scenario
from trace_gym.validation import PROFILES, Context, begin_variant, load, validate
from trace_gym.validation.interventions import (
    DrawRecorder,
    consequential_variants,
    recorded_draws,
    spread,
    start_variant,
)
from trace_gym.validation.right_variants import right_plans
from trace_gym.validation.text_cues import CueCase, cross_validated, mentioned_records, record_cues, text_cues
from trace_gym.validation.wrong_variants import first_difference, replaced, wrong_plans

CODES = ("TG211", "TG212", "TG213", "TG706", "TG805")
SCENARIO = Scenario(env="hotel", level=1, seed=3)
CALLS: tuple[Callable[[Random], Any], ...] = (
    lambda rng: rng.random(),
    lambda rng: rng.randint(1, 6),
    lambda rng: rng.randrange(0, 100, 7),
    lambda rng: rng.choice("abcdef"),
    lambda rng: rng.choices("abc", weights=(1, 2, 3), k=4),
    lambda rng: rng.sample(range(50), k=5),
    lambda rng: rng.shuffle(items := list("abcdef")) or items,
    lambda rng: rng.gauss(0, 1),
    lambda rng: rng.getrandbits(40),
)


def draw_all(rng: Random) -> list[Any]:
    return [call(rng) for call in CALLS]


def test_recorder_draws_the_values_of_an_ordinary_generator() -> None:
    recorder = DrawRecorder("seed")
    assert draw_all(recorder) == draw_all(Random("seed"))
    assert len(recorder.draws) == len(CALLS)
    assert pickle.loads(pickle.dumps(recorder)).random() == recorder.random()


@pytest.mark.parametrize("index", range(len(CALLS)))
def test_only_the_replaced_draw_differs(index: int) -> None:
    values, others = draw_all(Random("seed")), draw_all(DrawRecorder("seed", index))
    assert [n for n, (a, b) in enumerate(zip(values, others, strict=True)) if a != b] == [index]


def test_draw_with_one_possible_value_is_fixed() -> None:
    recorder = DrawRecorder("seed", 0)
    assert recorder.choice(["only"]) == "only"
    assert recorder.draws[0].fixed


def test_variant_differs_from_its_scenario_in_one_draw() -> None:
    draws = recorded_draws(Hotel, SCENARIO)
    assert start_variant(Hotel, SCENARIO, len(draws)) is None
    last = start_variant(Hotel, SCENARIO, len(draws) - 1)
    assert last is not None
    ordinary = Hotel.generate(Random(str(SCENARIO)), 1)
    assert isinstance(last.episode.world, Hotel)
    assert last.episode.world.rooms == ordinary.rooms and last.episode.world.room != ordinary.room
    copy = last.copy()
    copy.step(Say("Hello."))
    assert not last.episode.said


def test_variants_change_the_plan_and_have_distinct_values() -> None:
    plan = list(Hotel.generate(Random(str(SCENARIO)), 1).oracle())
    found = consequential_variants(Hotel, SCENARIO, plan)
    assert found and all(v.oracle != plan for v in found)
    assert len({(v.draw.index, repr(v.draw.value)) for v in found}) == len(found)


class Rejecting(Hotel):
    """Hotel whose generator draws until a value fits, which one of the two values of the first draw never does."""

    @classmethod
    def generate(cls, rng: Random, level: int) -> Hotel:  # type: ignore[override]
        wanted = rng.choice("ab")
        while wanted == "b" and rng.choice("cd") != wanted:
            pass
        return super().generate(rng, level)


def test_variant_that_never_ends_does_not_exist() -> None:
    seeds = [n for n in range(20) if Random(f"hotel/1/{n}").choice("ab") == "a"]
    assert start_variant(Rejecting, Scenario(env="hotel", level=1, seed=seeds[0]), 0) is None


def test_draws_have_code_locations() -> None:
    places = {draw.place for draw in recorded_draws(Hotel, SCENARIO)}
    assert len(places) == 4 and all(place.startswith("hotel.py, line ") for place in places)


def test_draws_are_spread_over_code_locations() -> None:
    draws = recorded_draws(Hotel, SCENARIO)
    places = Counter(draw.place for draw in draws)
    assert {draw.place for draw in spread(draws, len(places))} == places.keys()


def test_variant_of_a_report_can_be_started() -> None:
    plan = list(Hotel.generate(Random(str(SCENARIO)), 1).oracle())
    variant = consequential_variants(Hotel, SCENARIO, plan)[0]
    episode = begin_variant(Hotel, str(SCENARIO), variant.draw.index, variant.salt)
    assert list(episode.start.oracle()) == variant.oracle
    with pytest.raises(ConfigError, match="random draw with index 999 in .* does not exist"):
        begin_variant(Hotel, str(SCENARIO), 999)


@pytest.mark.parametrize("mutant", broken.MUTANTS, ids=lambda mutant: mutant.__name__)
def test_mutant_is_rejected(mutant: type[Hotel]) -> None:
    report = validate(mutant, only=(mutant.rejected_by,), progress=False)  # type: ignore[attr-defined]
    failed = [f for f in report.findings if f.verdict == "failed"]
    assert [f.code for f in failed] == [mutant.rejected_by], report  # type: ignore[attr-defined]
    exec(compile(failed[0].counterexample, "counterexample", "exec"), {"print": lambda *_, **__: None})


@pytest.mark.parametrize("name", ["tau2_precondition", "tau2_multi_step", "toolsandbox_datetime"])
def test_shipped_environments_pass(name: str) -> None:
    report = validate(name, profile="quick", only=CODES, progress=False)
    assert report.passed, report


def test_properties_run_in_the_sandbox(tmp_path: Path) -> None:
    """The sandbox forbids access to frames, and rejects the report of a module that uses them."""
    path = tmp_path / "tau2_multi_step.py"
    path.write_bytes(registry.module_path("tau2_multi_step").read_bytes())
    report = check(path, profile="quick", only=CODES, confirm=False)
    assert report.passed and {f.code for f in report.findings} >= {*CODES}, report


def test_message_names_the_code_location_of_the_hidden_draw() -> None:
    report = validate(broken.HiddenSurcharge, profile="quick", only=("TG211",), progress=False)
    [found] = [f for f in report.findings if f.code == "TG211"]
    assert "`choice` (interventions.py, line" in found.message and "settle(" in found.message


def test_number_that_the_oracle_states_but_nothing_shows_is_hidden() -> None:
    report = validate(broken.UnseenDeposit, profile="quick", only=("TG202", "TG211"), progress=False)
    verdicts = {f.code: f for f in report.findings}
    assert verdicts["TG202"].verdict == "passed"  # it checks only the arguments of calls
    assert verdicts["TG211"].verdict == "failed"
    assert "is the message 'You owed" in verdicts["TG211"].message


def test_right_plans_keep_the_values_of_the_plan() -> None:
    context = Context(Hotel, "hotel", PROFILES["quick"])
    plans = dict(right_plans(context, SCENARIO))
    plan = context.plan(SCENARIO, "oracle")
    assert {"2 more turns", "a message without content"} <= plans.keys()
    calls = Counter(repr(s) for s in plan if isinstance(s, Call))
    assert all(Counter(repr(s) for s in changed if isinstance(s, Call)) == calls for changed in plans.values())
    assert "two independent writes exchanged" not in plans  # the key may not be handed over before the payment


def test_wrong_plans_change_arguments_lists_and_records() -> None:
    world, reference = load("tau2_itinerary_preservation")
    context = Context(world, reference, PROFILES["quick"])
    names = {name for n in range(3) for name, _ in wrong_plans(context, Scenario(env=world.id, level=3, seed=n))}
    assert {
        "all steps for another scenario",
        "another value",
        "an added element",
        "a missing element",
        "another order",
        "an additional call that ends the conversation",
    } <= names


def test_silence_about_a_refused_record_is_a_wrong_plan() -> None:
    world, reference = load("tau2_multi_step")
    context = Context(world, reference, PROFILES["quick"])
    silent = [p for n, p in wrong_plans(context, Scenario(env=world.id, level=3, seed=0)) if n.startswith("no word")]
    assert silent and all(not context.run(Scenario(env=world.id, level=3, seed=0), p).finish().success for p in silent)


def test_replaced_argument_leaves_the_original_unchanged() -> None:
    arguments = {"flights": [{"number": "A"}, {"number": "B"}]}
    assert replaced(arguments, ("flights", "#1", "number"), "C")["flights"][1] == {"number": "C"}
    assert arguments["flights"][1] == {"number": "B"}


def cue_cases(count: int, *, informative: bool) -> list[CueCase]:
    rng = Random(0)
    cases = []
    for seed in range(count):
        drops = rng.random() < 0.5
        cue = "red" if (drops if informative else rng.random() < 0.5) else "blue"
        cases.append(CueCase(Scenario(env="x", level=0, seed=seed), frozenset({cue, "the"}), drops))
    return cases


def test_cues_are_evaluated_on_held_out_scenarios() -> None:
    found = cross_validated(cue_cases(80, informative=True))
    assert found.correct == 80 and found.rule in ("red", "blue")
    assert cross_validated(cue_cases(80, informative=False)).correct < 56


def test_pair_of_cues_is_found() -> None:
    rng = Random(1)
    cases = []
    for seed in range(120):
        one, two = rng.random() < 0.5, rng.random() < 0.5
        cues = frozenset(name for name, present in (("one", one), ("two", two)) if present)
        cases.append(CueCase(Scenario(env="x", level=0, seed=seed), cues, one and not two))
    assert cross_validated(cases).correct == 120


def test_cues_describe_marks_lengths_and_positions() -> None:
    text = "Please cancel AB1234, if possible, and upgrade CD5678!"
    cues = text_cues(text)
    assert {"'please'", "'please cancel'", "1 of '!'", "at least 6 words"} <= cues
    first, last = (record_cues(text, key, n, 2) for n, key in enumerate(("AB1234", "CD5678")))
    assert {"the record mentioned as no. 1", "an even last digit of its id", "'cancel' next to the record"} <= first
    assert "the record mentioned as no. -1 (from the end)" in last and "'cancel' next to the record" not in last


def test_mentioned_records_are_ordered_by_their_place_in_the_text() -> None:
    world = Hotel.generate(Random(0), 0)
    one, two, *_ = world.rooms
    assert mentioned_records(world, f"First {two}, then {one}.") == {"rooms": [two, one]}
    assert mentioned_records(world, f"Only {one}.") == {}


def test_levels_are_compared_with_the_same_random_numbers() -> None:
    world = registry.load_world("tau2_multi_step")
    report = validate(world, profile="quick", only=("TG805",), progress=False)
    [found] = [f for f in report.findings if f.code == "TG805"]
    assert found.metrics["identical_0_1"] == 0


def test_first_difference_between_two_states_is_named_by_its_path() -> None:
    state = {"rooms": {"12": {"guest": "Ada", "dues": [1, 2]}}, "room": "12"}
    assert first_difference(state, pickle.loads(pickle.dumps(state))) == ""
    assert first_difference(state, {**state, "room": "13"}) == "room"
    assert first_difference(state, {**state, "rooms": {"12": {"guest": "Ada", "dues": [1, 3]}}}) == "rooms.12.dues.1"
    assert first_difference(state, {"rooms": {}, "room": "12"}) == "rooms.12"


@dataclass
class EitherOrder(Hotel):
    """Hotel with a log of its writes, which the verifier ignores. A random draw determines the oracle's order."""

    id = "either_order"
    key_first: bool = False
    log: list[str] = field(default_factory=list)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Hotel:  # type: ignore[override]
        made = super().generate(rng, level)
        made.key_first = rng.choice((False, True))
        return made

    def paid(self, room: str, invoice: str, amount: int) -> str:
        self.log.append("settled")
        return super().paid(room, invoice, amount)

    def handed(self, room: str) -> str:
        self.log.append("handed over")
        return super().handed(room)

    def violations(self, call: Call) -> list[str]:
        return []

    def oracle(self) -> Iterator[Call | Say]:
        first, *writes, last = super().oracle()
        yield from (first, *(reversed(writes) if self.key_first else writes), last)


def test_message_about_another_order_of_the_writes_names_the_field_that_differs() -> None:
    report = validate(EitherOrder, profile="quick", only=("TG212",), progress=False)
    message = next(f.message for f in report.findings if f.code == "TG212")
    assert "the oracle's plan with its writes in another order succeeds with another final state" in message
    assert "(log.0 differs)" in message
