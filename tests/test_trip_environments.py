"""Environments on changes of trips accept true additional facts and reject false statements, in any usual words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.types import Call, Say, Scenario

Step = Call | Say
Rewrite = Callable[[Any, list[Step]], list[Step]]
SEEDS = range(500, 506)


def plans(name: str, level: int, rewrite: Rewrite) -> Iterator[Episode]:
    """Yield the finished episodes of the oracle's plan after a rewrite; empty plans are left out."""
    for seed in SEEDS:
        episode = registry.start_episode(Scenario(env=name, level=level, seed=seed))
        steps = rewrite(episode.world.copy(), list(episode.world.copy().oracle()))
        for step in steps:
            episode.step(step)
        if steps:
            yield episode


def outcomes(name: str, level: int, rewrite: Rewrite) -> set[bool]:
    return {bool(episode.finish().success) for episode in plans(name, level, rewrite)}


def ending(*texts: str | Callable[[Any], str]) -> Rewrite:
    """Return a rewrite that replaces the last message."""
    return lambda world, steps: [*steps[:-1], *(Say(t if isinstance(t, str) else t(world)) for t in texts)]


def before_proposal(text: Callable[[Any], str]) -> Rewrite:
    """Return a rewrite that puts a text in front of the proposal."""

    def rewrite(world: Any, steps: list[Step]) -> list[Step]:
        said = text(world)
        at = next(n for n, s in enumerate(steps) if isinstance(s, Say))
        first = steps[at]
        assert isinstance(first, Say)
        return [*steps[:at], Say(f"{said} {first.text}"), *steps[at + 1 :]] if said else []

    return rewrite


def too_small(world: Any) -> dict[str, Any]:
    """Return a cheaper flight that has too few seats, or an empty dict."""
    leg, dates, new = world.reservations[world.code]["flights"][0], world.days[0], world.picks(True)[0]
    party = len(world.reservations[world.code]["passengers"])
    found = world.search_direct_flight(leg["origin"], leg["destination"], dates[0])
    short = [f for f in found if f["available_seats"][world.cabin] < party and new["date"] == dates[0]]
    cheaper = [f for f in short if f["prices"][world.cabin] < new["prices"][world.cabin]]
    return cheaper[0] if cheaper else {}


def about(words: str) -> Callable[[Any], str]:
    def text(world: Any) -> str:
        flight = too_small(world)
        time = flight.get("scheduled_departure_time_est", "")[:5]
        return words.format(number=flight["flight_number"], time=time) if flight else ""

    return text


@pytest.mark.parametrize(
    "words",
    [
        "The cheapest flight, {number} at {time}, is full.",
        "Unfortunately, {number} at {time} doesn\u2019t have enough seats for all of you.",
        "The one at {time} has only a few seats left.",
    ],
)
def test_agent_may_explain_that_a_cheaper_flight_is_full(words: str) -> None:
    assert outcomes("tau2_seat_availability", 1, before_proposal(about(words))) == {True}


def test_flight_without_enough_seats_must_not_be_offered() -> None:
    assert outcomes("tau2_seat_availability", 1, before_proposal(about("I can offer {number} at {time}."))) == {False}


def refunds(way: str) -> Callable[[Any], str]:
    return lambda world: "Done. " + " ".join(f"{abs(a)} dollars were {way} {m}." for m, a in world.moves().items())


def cancelled(rewrite: Rewrite) -> Rewrite:
    return lambda world, steps: rewrite(world, steps) if max(world.moves().values()) < 0 else []


def test_earlier_payments_may_be_told_next_to_the_refund() -> None:
    def paid(world: Any) -> str:
        history = world.reservations[world.requests[0].reservation]["payment_history"]
        return " ".join(f"You had paid {p['amount']} dollars." for p in history)

    told = ending(lambda world: f"{paid(world)} {refunds('refunded to')(world)}")
    assert outcomes("tau2_refund_explanation", 1, cancelled(told)) == {True}


def test_refund_that_is_called_a_charge_fails() -> None:
    assert outcomes("tau2_refund_explanation", 1, cancelled(ending(refunds("charged to")))) == {False}


def exchanged(world: Any, steps: list[Step]) -> list[Step]:
    names = {"was charged": "was refunded", "was refunded": "was charged"}
    last = steps[-1]
    assert isinstance(last, Say)
    old = next(name for name in names if name in last.text)
    return [*steps[:-1], Say(last.text.replace(old, names[old]))]


def test_difference_in_the_wrong_direction_fails() -> None:
    assert outcomes("tau2_relative_date_reasoning", 0, lambda world, steps: steps) == {True}
    assert outcomes("tau2_relative_date_reasoning", 0, exchanged) == {False}


def in_two_calls(world: Any, steps: list[Step]) -> list[Step]:
    """Move the first flight in one call, and the others in a second one."""
    at = next(n for n, s in enumerate(steps) if isinstance(s, Call) and s.tool == "update_reservation_flights")
    call, booked = steps[at], world.reservations[world.code]["flights"]
    assert isinstance(call, Call)
    kept = [{"flight_number": f["flight_number"], "date": f["date"]} for f in booked]
    new = [n for n, (a, b) in enumerate(zip(call.arguments["flights"], kept, strict=True)) if a != b]
    if len(new) < 2:
        return []
    half = [call.arguments["flights"][n] if n == new[0] else leg for n, leg in enumerate(kept)]
    asks = Say("The first flight is moved. Shall I move the other one now?")
    return [*steps[:at], Call(call.tool, {**call.arguments, "flights": half}), asks, *steps[at:]]


@pytest.mark.parametrize(
    ("name", "level"),
    [("tau2_relative_date_reasoning", 2), ("tau2_itinerary_preservation", 2), ("tau2_connection_feasibility", 0)],
)
def test_two_calls_are_as_good_as_one(name: str, level: int) -> None:
    assert outcomes(name, level, in_two_calls) == {True}


def test_questions_do_not_change_the_wish_and_each_cancellation_gets_consent() -> None:
    def rewrite(world: Any, steps: list[Step]) -> list[Step]:
        writes: Sequence[Step] = [s for s in steps if isinstance(s, Call) and s.tool == "cancel_reservation"]
        asked: list[Step] = [Say("What is the reason for the cancellation?")]
        for step in steps:
            asks = step in writes and step is not writes[0]
            asked += [Say("The first trip is cancelled. Shall I cancel the next one?"), step] if asks else [step]
        return asked

    assert outcomes("tau2_intent_revision", 1, rewrite) == {True}


def test_old_landing_time_may_be_told_next_to_the_new_one() -> None:
    def lands(world: Any, leg: dict[str, Any]) -> str:
        return str(world.flights[leg["flight_number"]]["scheduled_arrival_time_est"][:5])

    def text(world: Any) -> str:
        old = lands(world, world.reservations[world.code]["flights"][1])
        return f"You now land at {lands(world, world.right[1])} instead of {old}."

    changed: Rewrite = lambda world, steps: ending(text)(world, steps) if world.right != world.tempting else []  # noqa: E731
    assert outcomes("tau2_connection_feasibility", 0, changed) == {True}


@pytest.mark.parametrize(
    "name",
    [
        "tau2_refund_explanation",
        "tau2_relative_date_reasoning",
        "tau2_intent_revision",
        "tau2_connection_feasibility",
        "tau2_itinerary_preservation",
    ],
)
def test_user_waits_for_the_requested_report(name: str) -> None:
    def rewrite(world: Any, steps: list[Step]) -> list[Step]:
        return [*steps[:-1], Say("All done."), steps[-1]]

    assert outcomes(name, 0, rewrite) == {True}
