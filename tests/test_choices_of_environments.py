"""Environments accept lists before a choice and facts in either order, and reject exchanged ones."""

from __future__ import annotations

from typing import Any

import pytest
from reworded import SEEDS, Words, successes

from trace_gym import registry
from trace_gym.types import Scenario


def found(world: Any) -> list[dict[str, Any]]:
    flights: list[dict[str, Any]] = []
    for leg, dates in zip(world.reservations[world.code]["flights"], world.days, strict=True):
        for on in dates:
            flights += [{**f, "date": on} for f in world.search_direct_flight(leg["origin"], leg["destination"], on)]
    return flights


def listed(ending: str) -> Words:
    """Return a proposal that lists all flights found; the ending names the right one or the one with too few seats."""

    def words(world: Any) -> str:
        right, naive = world.picks(True), world.picks(False)
        time = "scheduled_departure_time_est"
        lines = "\n".join(
            f"- {f['flight_number']} on {f['date']}: departs {f[time][:5]}, "
            f"{f['available_seats'][world.cabin]} seats left"
            for f in found(world)
        )
        taken = {key: " and ".join(f"{f['flight_number']} at {f[time][:5]}" for f in fs) for key, fs in (
            ("right", right), ("naive", naive),
        )}  # fmt: skip
        return f"{lines}\n{ending.format(**taken)} Shall I proceed?" if right != naive else ""

    return words


def test_list_of_flights_may_stand_before_the_choice() -> None:
    name, report = "tau2_seat_availability", lambda world: "Done."
    assert successes(name, 1, listed("The cheapest with enough seats for you is {right}."), report) == {True}
    assert successes(name, 1, listed("I'll move you to {naive}."), report) == {False}
    assert successes(name, 1, listed("I can book {right} or {naive}."), report) == {False}
    assert successes(name, 1, listed("I'll book the cheapest one."), report) == {False}


def entries(text: str, exchange: bool = False) -> Words:
    def words(world: Any) -> str:
        pairs = [
            (new[k], old[k]) for new, old in world.matched(tuple(new_keys(world))) for k in new if new[k] != old[k]
        ]
        return "Done. " + " ".join(text.format(*(pair if exchange else pair[::-1])) for pair in pairs)

    return words


def new_keys(world: Any) -> list[str]:
    return list(world.given[0])


@pytest.mark.parametrize("text", ["The list had {0} where it should be {1}.", "I changed it from {0} to {1}."])
def test_old_and_new_entries_must_not_be_exchanged(text: str) -> None:
    name, proposal = (
        "tau2_passenger_correction",
        lambda world: "I will correct the list as you told me. Shall I proceed?",
    )
    assert successes(name, 0, proposal, entries(text)) == {True}
    assert successes(name, 0, proposal, entries(text, exchange=True)) == {False}


@pytest.mark.parametrize("text", ["You owe nothing for them.", "They come at no extra charge.", "Nothing was charged."])
def test_bags_that_cost_nothing(text: str) -> None:
    def charge(world: Any) -> int:
        return sum(sums[2] for sums in world.bill().values())

    def free(world: Any) -> str:
        return "I will add the bags. Shall I proceed?" if not charge(world) else ""

    def paid(world: Any) -> str:
        return "I will add the bags. Shall I proceed?" if charge(world) else ""

    assert successes("tau2_baggage_allowance", 0, free, lambda world: f"Done. {text}") == {True}
    assert successes("tau2_baggage_allowance", 0, paid, lambda world: f"Done. {text}") == {False}


def test_question_whether_the_plan_is_right_is_a_proposal() -> None:
    for seed in SEEDS:
        world: Any = registry.start_episode(Scenario(env="tau2_intent_revision", level=1, seed=seed)).start.copy()
        codes = " and ".join(world.first)
        assert world.copy().reply(f"Cancelling {codes}. Does this reflect what you want? If so, I'll go ahead.") in (
            world.answers
        )
        assert world.copy().reply(f"Which of {codes} do you mean?") not in world.answers
