"""Reports in environments: what is true of other records may be told, and false additions fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.score import reward
from trace_gym.targets.tau2.reports import misreports
from trace_gym.targets.toolsandbox.wording import between
from trace_gym.types import Call, Event, Say, Scenario

Step = Call | Say
Rewrite = Callable[[Any, list[Step]], list[Step]]
OWN_VERIFIERS = ("tau2_itinerary_preservation", "tau2_numerical_payment_reasoning", "tau2_passenger_correction")


def played(name: str, level: int, rewrite: Rewrite, seeds: range = range(900, 906)) -> Iterator[Episode]:
    """Yield finished episodes of the oracle's plan after a rewrite; empty plans are left out."""
    for seed in seeds:
        episode = registry.start_episode(Scenario(env=name, level=level, seed=seed))
        steps = rewrite(episode.world.copy(), list(episode.world.copy().oracle()))
        for step in steps:
            if not episode.done:
                episode.step(step)
        if steps:
            episode.finish()
            yield episode


def outcomes(name: str, level: int, rewrite: Rewrite, seeds: range = range(900, 906)) -> set[bool]:
    return {bool(episode.score.success) for episode in played(name, level, rewrite, seeds)}


def adding(text: str) -> Rewrite:
    """Return a rewrite that adds a text to the last message."""
    return lambda world, steps: [*steps[:-1], Say(f"{steps[-1].text} {text}")] if isinstance(steps[-1], Say) else []


@pytest.mark.parametrize("name", (*OWN_VERIFIERS, "tau2_record_identification", "tau2_retail_multi_step"))
@pytest.mark.parametrize("level", (0, 2))
def test_invented_fee_or_refund_fails(name: str, level: int) -> None:
    for text in (
        "A processing fee of $41 was charged to your card.",
        "In addition, $163.10 was refunded to your card.",
    ):
        assert outcomes(name, level, adding(text)) == {False}
    assert outcomes(name, level, adding("There is no fee for this. Have a good trip!")) == {True}


@pytest.mark.parametrize("name", (*OWN_VERIFIERS, "tau2_tool_precision"))
@pytest.mark.parametrize(
    "text", ("However, I was not able to make the change.", "I have also given you a $25 voucher.")
)
def test_denied_change_and_gift_cost_reward(name: str, text: str) -> None:
    assert all(reward(episode.score) <= 0.95 for episode in played(name, 1, adding(text)))


@pytest.mark.parametrize(
    ("text", "false"),
    (
        ("Nothing was changed.", True),
        ("Unfortunately, the change could not be made.", True),
        ("No changes were made to your other reservations.", False),
        ("Nothing was changed on the rest of your trip.", False),
        ("The change has been made.", False),
        ("If the change could not be made, I would tell you.", False),
    ),
)
def test_denial_of_what_was_done(text: str, false: bool) -> None:
    events = [Event(step=Call("update", {}), answer="{}"), Event(step=Say(text), answer="")]
    assert misreports([True, False], events) is false
    assert not misreports([False, False], events)


def with_days(world: Any, steps: list[Step], shift: int = 0) -> list[Step]:
    """Tell the days of booking of all reservations; with a shift, the one of the refused reservation is wrong."""
    refused = [r.reservation for r in world.requests if not r.verdict(world).allowed]
    if not refused:
        return []
    lines = []
    for code, booking in world.reservations.items():
        day = int(booking["created_at"][8:10]) + (shift if code in refused else 0)
        lines.append(f"- {code}: {booking['cabin'].replace('_', ' ')}, booked on May {day}, 2024")
    at = next(n for n, step in enumerate(steps) if isinstance(step, Say))
    first = steps[at]
    assert isinstance(first, Say)
    own = f", booked {world.reservations[refused[0]]['created_at'][:10]}"
    words = first.text.replace(own, "") if shift else first.text
    return [*steps[:at], Say("\n".join([*lines, "", words])), *steps[at + 1 :]]


def test_days_of_booking_of_all_reservations_may_be_told() -> None:
    assert outcomes("tau2_multi_step", 3, with_days, range(900, 912)) == {True}


def test_wrong_day_of_booking_in_an_overview_fails() -> None:
    assert outcomes("tau2_multi_step", 3, lambda w, s: with_days(w, s, 1), range(900, 912)) == {False}


@pytest.mark.parametrize(
    "words", ("be settled with {m}", "go to {m}", "be put on {m}", "be applied to {m}", "be processed to {m}")
)
def test_neutral_words_of_a_proposal_leave_the_direction_open(words: str) -> None:
    def rewrite(world: Any, steps: list[Step]) -> list[Step]:
        [change] = [s for s in steps if isinstance(s, Call) and s.tool == "update_reservation_flights"]
        amount = abs(world.after(change).reservations[world.code]["payment_history"][-1]["amount"])
        at = next(n for n, step in enumerate(steps) if isinstance(step, Say))
        first = steps[at]
        assert isinstance(first, Say)
        told = f"The difference of ${amount} will {words.format(m=world.method)}. {first.text}"
        return [*steps[:at], Say(told), *steps[at + 1 :]]

    assert outcomes("tau2_relative_date_reasoning", 0, rewrite, range(900, 915)) == {True}


def test_lower_fare_is_a_refund_and_a_higher_one_a_charge() -> None:
    right = {True: "higher", False: "lower"}
    name, seeds = "tau2_relative_date_reasoning", range(900, 912)

    def sentence(world: Any, steps: list[Step], flip: bool = False) -> list[Step]:
        [change] = [s for s in steps if isinstance(s, Call) and s.tool == "update_reservation_flights"]
        amount = world.after(change).reservations[world.code]["payment_history"][-1]["amount"]
        up = (amount > 0) is not flip
        tail = "you pay this amount" if up else "you get this amount back"
        return [*steps[:-1], Say(f"The new fare is {right[up]} by ${abs(amount)}, so {tail}.")]

    assert outcomes(name, 0, sentence, seeds) == {True}
    assert outcomes(name, 0, lambda w, s: sentence(w, s, True), seeds) == {False}


@pytest.mark.parametrize(("name", "level"), (("tau2_structured_data", 2), ("tau2_structured_data", 3)))
def test_no_place_by_price_is_always_right(name: str, level: int) -> None:
    ranks: list[int] = []
    for seed in range(120):
        world: Any = registry.start_episode(Scenario(env=name, level=level, seed=seed)).world
        [request] = world.requests
        booking = world.reservations[request.reservation]
        found = world.search_direct_flight(booking["origin"], booking["destination"], request.date)
        ordered = sorted(found, key=lambda flight: flight["prices"][booking["cabin"]])
        write = request.call(world, world.needs() | {"structured_data_reasoning"})
        chosen = write.arguments["flights"][0]["flight_number"]
        ranks.append([flight["flight_number"] for flight in ordered].index(chosen))
    assert max(ranks.count(rank) for rank in set(ranks)) < 0.8 * len(ranks)


def test_no_place_by_price_is_always_right_at_the_shop() -> None:
    for level, fitting in ((2, False), (3, True)):
        ranks = []
        for seed in range(120):
            world: Any = registry.start_episode(
                Scenario(env="tau2_retail_structured_data", level=level, seed=seed)
            ).world
            [request] = world.requests
            item = request.items[0]
            held = next(i for i in world.orders[request.order]["items"] if i["item_id"] == item)
            variants = [v for v in world.products[held["product_id"]]["variants"].values() if v["item_id"] != item]
            some = [v for v in variants if not fitting or request.wish.items() <= v["options"].items()]
            ordered = [v["item_id"] for v in sorted(some, key=lambda v: v["price"])]
            ranks.append(ordered.index(request.choice(world, item, frozenset({"structured_data_reasoning"}))))
        assert max(ranks.count(rank) for rank in set(ranks)) < 0.8 * len(ranks)


def test_reports_on_bags_of_one_reservation_each() -> None:
    def rewrite(world: Any, steps: list[Step]) -> list[Step]:
        if len(world.wanted) < 2:
            return []
        found: list[Step] = []
        bill, total = world.bill(), sum(sums[2] for sums in world.bill().values())
        for n, (code, (bags, paid, dollars)) in enumerate(bill.items()):
            counts = {"total_baggages": bags, "nonfree_baggages": paid}
            found += [
                Say(f"For {code} this costs ${dollars}, charged to {world.card}. May I proceed?"),
                Call("update_reservation_baggages", {"reservation_id": code, **counts, "payment_id": world.card}),
                Say("The bags have been added." if not n else f"Done. For all added bags you pay ${total} in total."),
            ]
        return found

    assert outcomes("tau2_baggage_allowance", 2, rewrite, range(900, 915)) == {True}


@pytest.mark.parametrize("listed", (True, False))
def test_flights_listed_as_flown_do_not_tell_which_one_is(listed: bool) -> None:
    def rewrite(world: Any, steps: list[Step]) -> list[Step]:
        request = world.requests[0]
        if not request.verdict(world).transfer:
            return []
        legs = world.reservations[request.reservation]["flights"]
        flown = [f["flight_number"] for f in legs if world.status(f["flight_number"], f["date"]) == "landed"]
        rest = [f["flight_number"] for f in legs if f["flight_number"] not in flown]
        words = f"Its flights {' and '.join([*rest, *flown])} have been flown."
        if not listed:
            words = " ".join(
                [f"Flight {flown[0]} was flown.", *(f"Flight {number} is still to come." for number in rest)]
            )
        booked = f"{request.reservation} was booked on {world.reservations[request.reservation]['created_at'][:10]}."
        return [Say(f"{booked} {words} A colleague will take over.") if isinstance(s, Say) else s for s in steps]

    assert outcomes("tau2_handover_judgement", 1, rewrite, range(900, 912)) == {not listed}


@pytest.mark.parametrize(
    ("asked", "offered"),
    (
        ("i wasn't able to find anyone called kenji. could you give me the number or check the name?", False),
        ("would you like me to text kenji lang or kenji abe?", True),
        ("i found kenji lang. did you mean him or kenji abe?", True),
    ),
)
def test_question_between_people_names_them(asked: str, offered: bool) -> None:
    assert between(asked, "Kenji" if not offered else "Kenji Lang") is offered
