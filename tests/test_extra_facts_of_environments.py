"""Environments accept true facts beside the answer, and reject false answers of the same shape."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from reworded import Words, episodes, successes

from trace_gym.targets.tau2 import policy
from trace_gym.targets.tau2.airline import SKILLS, Bags
from trace_gym.types import Say


def metrics(world: Any) -> tuple[dict[str, int], int, list[str], int]:
    """Return what was paid for each trip, the total, the trips that are meant, and their refund."""
    paid = {c: policy.refund(b) for c, b in world.reservations.items()}
    chosen = [r.reservation for r in world.requests]
    return paid, sum(paid.values()), chosen, sum(paid[c] for c in chosen)


def breakdown(line: str, wrong: int = 0) -> Words:
    def words(world: Any) -> str:
        paid, total, chosen, back = metrics(world)
        lines = "\n".join(line.format(c=c, p=p) for c, p in paid.items())
        deed = f"I will cancel {' and '.join(chosen)}, and ${back + wrong} will be refunded. Shall I proceed?"
        return "" if world.named else f"You have paid ${total} in total for your trips:\n{lines}\n\n{deed}"

    return words


def done(wrong: int = 0) -> Words:
    return lambda world: f"Your trips are cancelled, and you get ${metrics(world)[3] + wrong} back."


@pytest.mark.parametrize("line", ["- {c}: ${p}", "- {c} cost ${p}", "| {c} | ${p} |", "- {c} (${p})"])
def test_what_each_trip_cost_may_be_told_beside_total_and_refund(line: str) -> None:
    played = list(episodes("tau2_aggregation", 2, breakdown(line), done()))
    for episode in played:  # the customer asks whether all is done, and leaves after the answer
        if not episode.done:
            episode.step(Say("Yes, everything is done."))
    assert played and all(e.done and e.finish().success for e in played)
    assert successes("tau2_aggregation", 2, breakdown(line, 7), done(7)) == {False}


def test_cost_of_a_named_trip_is_no_charge() -> None:
    def proposal(world: Any) -> str:
        price = metrics(world)[0].get(world.named)
        deed = f"If I cancel it, ${price} will be refunded. Shall I proceed?"
        return f"The total cost of trip {world.named} was ${price}. {deed}" if world.named else ""

    def wrong(world: Any) -> str:
        return proposal(world).replace("refunded", "charged")

    assert successes("tau2_aggregation", 0, proposal, done()) == {True}
    assert successes("tau2_aggregation", 0, wrong, lambda w: done()(w).replace("get", "pay")) <= {False}


def departures(world: Any) -> list[tuple[str, str, list[str]]]:
    """Return each new flight with its departure and the lines of its day."""
    found = []
    for place, (number, on) in world.moves.items():
        leg = world.reservations[world.code]["flights"][place]
        day = world.search_direct_flight(leg["origin"], leg["destination"], on)
        lines = [f"- {f['flight_number']}: departs {f['scheduled_departure_time_est'][:5]}" for f in day]
        found.append((number, world.departs(place)[0], lines))
    return found


def options(world: Any) -> str:
    lines = "\n".join(line for _, _, day in departures(world) for line in day)
    taken = " ".join(f"The one that you mean is {n}, departing at {at}." for n, at, _ in departures(world))
    return f"These are the flights of that day:\n{lines}\n\n{taken} Shall I book it?"


def leaving(world: Any, turn: int = 0) -> str:
    found = departures(world)
    times = [at for _, at, _ in found]
    return "Done. " + " ".join(
        f"{n} leaves at {t}." for (n, _, _), t in zip(found, times[turn:] + times[:turn], strict=True)
    )


def test_last_words_on_each_departure_count() -> None:
    name = "tau2_itinerary_preservation"
    undecided: Words = lambda world: options(world).partition("The one")[0] + " Shall I book it?"  # noqa: E731
    assert successes(name, 0, undecided, lambda world: "All done.") == {False}
    assert successes(name, 2, options, leaving) == {True}
    two: Words = lambda world: options(world) if len(world.moves) > 1 else ""  # noqa: E731
    assert successes(name, 2, two, lambda world: leaving(world, 1)) == {False}
    other: Words = lambda world: f"Done. It leaves at {sorted(world.departs(next(iter(world.moves)))[1])[0]}."  # noqa: E731
    assert successes(name, 0, options, other) == {False}


def branch(facts: str, after: str = "All done.") -> tuple[Words, Words]:
    def words(world: Any, text: str) -> str:
        prices = world.flights[world.named]["dates"][world.day]["prices"]
        other = next(n for n in world.offered if n != world.named)
        return text.format(a=world.named, o=other, b=prices["business"], e=prices["economy"], ob=world.offered[other])

    def proposal(world: Any) -> str:
        amount = world.owed[world.right]
        deed = f"move {world.asked} to {world.right} and charge ${amount}" if world.right else f"refund ${amount}"
        return f"{words(world, facts)} I will {deed}. Shall I proceed?"

    return proposal, lambda world: words(world, after)


@pytest.mark.parametrize(
    "facts",
    [
        "{a} costs ${b} per person in business class (economy: ${e}).",
        "{a}: economy ${e}, business ${b} per person.",
        "- {o}: business ${ob}\n- {a}: business ${b}\nSo {a} costs ${b} a person.",
        "| Flight | Economy | Business |\n| {a} | ${e} | ${b} |\nSo {a} costs ${b}.",
        "The business fare for {a} is ${b}. The other flight, {o}, costs ${ob} in business.",
    ],
)
@pytest.mark.parametrize("level", [0, 2])
def test_fares_of_other_flights_and_cabins_may_be_told(level: int, facts: str) -> None:
    assert successes("tau2_conditional_instructions", level, *branch(facts)) == {True}


@pytest.mark.parametrize(
    ("facts", "after"),
    [
        ("{a} costs ${b} per person in economy class.", "All done."),
        ("{a} costs ${e} per person in business class.", "All done."),
        ("{o} costs ${b} per person in business class.", "All done."),
        ("{a} costs ${ob} per person in business class.", "All done."),
        ("{a} costs ${e} or ${b}.", "All done."),
    ],
)
def test_fare_of_another_flight_or_cabin_as_the_answer_fails(facts: str, after: str) -> None:
    assert successes("tau2_conditional_instructions", 0, *branch(facts, after)) == {False}


def test_amount_in_either_direction_fails() -> None:
    proposal, _ = branch("{a} costs ${b} per person in business class.")
    open_: Words = lambda world: proposal(world).partition(" I will")[0] + " I will do that. Shall I proceed?"  # noqa: E731
    either: Words = lambda world: f"Done. You pay or get back ${world.owed[world.right]}."  # noqa: E731
    one: Words = lambda world: f"Done. You {'pay' if world.right else 'get back'} ${world.owed[world.right]}."  # noqa: E731
    assert successes("tau2_conditional_instructions", 0, open_, one) == {True}
    assert successes("tau2_conditional_instructions", 0, open_, either) == {False}


def test_false_report_of_what_was_done_fails() -> None:
    proposal, _ = branch("{a} costs ${b} per person in business class.")
    lie: Words = lambda world: f"I have {'cancelled' if world.right else 'moved'} the trip."  # noqa: E731
    truth: Words = lambda world: f"I have {'moved' if world.right else 'cancelled'} the trip."  # noqa: E731
    assert successes("tau2_conditional_instructions", 0, proposal, truth) == {True}
    assert successes("tau2_conditional_instructions", 0, proposal, lie) == {False}


def asks(world: Any) -> str:
    return "I will do that. Shall I proceed?" if min(world.moves().values()) < 0 and len(world.moves()) > 1 else ""


def refunded(text: str, each: str, turn: int = 0) -> Words:
    def words(world: Any) -> str:
        methods, amounts = list(world.moves()), [abs(a) for a in world.moves().values()]
        amounts = amounts[turn:] + amounts[:turn]
        parts = " ".join(each.format(m=m, a=a) for m, a in zip(methods, amounts, strict=True))
        lists = {"m": " and ".join(methods), "a": " and ".join(f"${a}" for a in amounts)}
        return text.format(parts=parts, **lists)

    return words


def stuffed(world: Any) -> str:
    codes = [r.reservation for r in world.requests]
    paid = [p["amount"] for c in codes for p in world.reservations[c]["payment_history"]]
    sums = sorted({sum(s) for k in range(1, len(paid) + 1) for s in itertools.combinations(paid, k)})
    return " ".join(f"${a} will be refunded to {m}." for a in sums for m in world.moves())


REFUNDS = [
    ("{a} will be refunded to {m}, respectively.", ""),
    ("{m} will get back {a}, respectively.", ""),
    ("Done. {parts}", "${a} will be refunded to {m}."),
    ("Done:\n{parts}", "\n- {m}: ${a}"),
]


@pytest.mark.parametrize(("text", "each"), REFUNDS)
def test_each_method_has_its_own_refund(text: str, each: str) -> None:
    name = "tau2_refund_explanation"
    assert successes(name, 0, asks, refunded(text, each)) == {True}
    assert successes(name, 0, asks, refunded(text, each, 1)) == {False}


def test_refunds_that_are_stuffed_hedged_or_denied_fail() -> None:
    name, each = "tau2_refund_explanation", "${a} will be refunded to {m}."
    assert successes(name, 1, asks, stuffed) == {False}
    assert successes(name, 0, asks, refunded("{parts}", each.replace("will", "may"))) == {False}
    assert successes(name, 0, asks, refunded("I did not cancel anything. {parts}", each)) == {False}
    assert successes(name, 0, asks, lambda w: f"{refunded('{parts}', each)(w)} {refunded('{parts}', each, 1)(w)}") == {
        False
    }


WAYS = [
    ("has been deducted from your card", "has been added to your card"),
    ("comes out of your card", "is a credit in your favor"),
    ("is charged, so nothing is refunded", "is refunded, so no additional payment is needed"),
]


@pytest.mark.parametrize("ways", WAYS)
def test_direction_of_a_difference_in_other_words(ways: tuple[str, str]) -> None:
    def report(exchange: bool) -> Words:
        def words(world: Any) -> str:
            new = world.after(world.change(world.days)).reservations[world.code]
            amount = new["payment_history"][-1]["amount"]
            return f"Done. The difference of ${abs(amount)} {ways[(amount < 0) != exchange]}."

        return words

    def proposal(world: Any) -> str:
        return f"I will move it to {' and '.join(str(f['date']) for f in days(world))}. Shall I proceed?"

    assert successes("tau2_relative_date_reasoning", 0, proposal, report(False)) == {True}
    assert successes("tau2_relative_date_reasoning", 0, proposal, report(True)) == {False}


def days(world: Any) -> list[dict[str, Any]]:
    flights: list[dict[str, Any]] = world.change(world.days).arguments["flights"]
    return flights


@pytest.mark.parametrize(
    "text", ["${fee} has been charged to your card.", "Paid bags: {n} x $50 = ${fee}", "{n} paid bags (${fee} total)"]
)
def test_charge_of_bags_in_its_usual_forms(text: str) -> None:
    def report(more: int) -> Words:
        def words(world: Any) -> str:
            count = world.requests[0].call(world, SKILLS).arguments["nonfree_baggages"] + more
            return text.format(n=count, fee=50 * count)

        return words

    bags: Words = lambda w: "I will add the bags. Shall I proceed?" if isinstance(w.requests[0], Bags) else ""  # noqa: E731
    name = "tau2_claim_verification"
    assert successes(name, 0, bags, report(0)) == {True}
    assert successes(name, 0, bags, report(1)) == {False}
