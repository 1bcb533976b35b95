"""Tests of the airline target's rules and customer."""

from __future__ import annotations

from itertools import pairwise

import pytest
from airline_desk import CARD, CERTIFICATE, CODE, DAY, EDGE, GIFT, INSIDE, OLD, OTHER, booking, desk

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.targets.tau2 import policy, records
from trace_gym.targets.tau2.airline import Cancel, Upgrade
from trace_gym.targets.tau2.records import Data
from trace_gym.types import Call, Say, Scenario

# Rules


def bags(total: int, paid: int, payment: str = CARD) -> Data:
    return {"total_baggages": total, "nonfree_baggages": paid, "payment_id": payment}


@pytest.mark.parametrize(
    ("changes", "reason", "allowed"),
    [
        ({"created_at": OLD}, "change of plans", False),
        ({"created_at": EDGE}, "change of plans", False),  # 24 hours to the second are over
        ({"created_at": INSIDE}, "change of plans", True),
        ({"created_at": records.NOW}, "change of plans", True),
        ({"cabin": "basic_economy"}, "change of plans", False),
        ({"cabin": "business"}, "change of plans", True),
        ({"insurance": "yes"}, "health", True),
        ({"insurance": "yes"}, "weather", True),
        ({"insurance": "yes"}, "change of plans", False),
        ({"insurance": "yes"}, "airline", False),
        ({"insurance": "no"}, "health", False),
        ({"insurance": "no"}, "weather", False),
        ({"status": "cancelled", "cabin": "business"}, "change of plans", False),
    ],
)
def test_the_rules_of_cancelling(changes: Data, reason: str, allowed: bool) -> None:
    world = desk(**changes)
    verdict = policy.cancel(world, world.reservations[CODE], reason)
    assert (verdict.allowed, verdict.transfer) == (allowed, False)
    assert verdict.why
    found = policy.violations(world, "cancel_reservation", {"reservation_id": CODE}, reason)
    assert bool(found) is not allowed


@pytest.mark.parametrize(
    ("status", "allowed", "transfer"),
    [
        ("cancelled", True, False),
        ("landed", False, True),
        ("flying", False, True),
        ("delayed", False, False),
        ("on time", False, False),
    ],
)
def test_the_status_of_a_flight_decides(status: str, allowed: bool, transfer: bool) -> None:
    world = desk()
    world.flights["HAT001"]["dates"][DAY] = {"status": status}
    verdict = policy.cancel(world, world.reservations[CODE], "change of plans")
    assert (verdict.allowed, verdict.transfer) == (allowed, transfer)
    assert policy.flown(world, world.reservations[CODE]) is transfer


def test_a_flown_trip_is_handed_over_even_in_business_and_insured() -> None:
    world = desk(cabin="business", insurance="yes", created_at=INSIDE)
    world.flights["HAT001"]["dates"][DAY] = {"status": "landed"}
    assert policy.cancel(world, world.reservations[CODE], "health").transfer
    assert not policy.change_cabin(world, world.reservations[CODE]).allowed


@pytest.mark.parametrize(
    ("changes", "flights", "cabin"),
    [
        ({"cabin": "basic_economy"}, False, True),
        ({"cabin": "economy"}, True, True),
        ({"cabin": "business"}, True, True),
        ({"status": "cancelled"}, False, False),
    ],
)
def test_the_rules_of_changing(changes: Data, flights: bool, cabin: bool) -> None:
    world = desk(**changes)
    assert policy.change_flights(world, world.reservations[CODE]).allowed is flights
    assert policy.change_cabin(world, world.reservations[CODE]).allowed is cabin


def test_free_bags_grow_with_membership_and_cabin() -> None:
    table = [[policy.free_bags(m, c, 1) for c in records.CABINS] for m in records.MEMBERSHIPS]
    assert table == [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    assert policy.free_bags("gold", "business", 3) == 12


def test_the_refund_is_what_was_paid_in_all() -> None:
    paid = [
        {"payment_id": CARD, "amount": 180},
        {"payment_id": GIFT, "amount": 120},
        {"payment_id": GIFT, "amount": -20},
    ]
    assert policy.refund(booking(payment_history=paid)) == 280


@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [
        ("cancel_reservation", {}, "insurance no"),
        ("update_reservation_baggages", bags(2, 2), "1 bags are free"),
        ("update_reservation_baggages", bags(2, 1), ""),
        ("update_reservation_baggages", bags(0, 0), ""),
        ("update_reservation_baggages", bags(1, 0, CERTIFICATE), "certificate"),
        ("update_reservation_passengers", {"passengers": []}, "number of passengers"),
        ("send_certificate", {"user_id": "ada_berg_1234", "amount": 50}, "complaint"),
        ("cancel_reservation", {"reservation_id": "ZZZ999"}, "does not exist"),
        ("book_reservation", {"reservation_id": None, "user_id": "ada_berg_1234"}, ""),
        ("get_reservation_details", {}, ""),
        ("transfer_to_human_agents", {"summary": "why not", "reservation_id": None}, "without need"),
    ],
)  # fmt: skip
def test_writes_break_rules(tool: str, arguments: Data, why: str) -> None:
    found = desk(Cancel(CODE)).violations(Call(tool, {"reservation_id": CODE, **arguments}))
    assert (why in found[0]) if why else not found


def test_flights_of_basic_economy_may_not_change_and_their_cabin_may() -> None:
    world = desk(cabin="basic_economy")
    kept, moved = ([{"flight_number": n, "date": DAY}] for n in ("HAT001", "HAT002"))

    def found(cabin: str, flights: list[Data]) -> list[str]:
        arguments = {"reservation_id": CODE, "cabin": cabin, "flights": flights, "payment_id": CARD}
        return world.violations(Call("update_reservation_flights", arguments))

    assert not found("business", kept) and not found("basic_economy", kept)
    assert found("basic_economy", moved) == ["basic_economy flights cannot be changed"]
    world.flights["HAT001"]["dates"][DAY] = {"status": "landed"}
    assert found("business", kept) == ["a flight has been flown"]


def test_a_cancellation_is_judged_with_the_reason_of_its_request() -> None:
    world = desk(Cancel(CODE, reason="health"), insurance="yes")
    assert not world.violations(Call("cancel_reservation", {"reservation_id": CODE}))
    world.requests[0] = Cancel(CODE)
    assert world.violations(Call("cancel_reservation", {"reservation_id": CODE}))


def test_a_needed_hand_over_is_legal() -> None:
    world = desk(Cancel(CODE))
    world.flights["HAT001"]["dates"][DAY] = {"status": "landed"}
    assert not world.violations(Call("transfer_to_human_agents", {"summary": "flown"}))


# Customer


def test_the_customer_tells_what_is_asked() -> None:
    world = desk(Cancel(CODE, reason="health"), Upgrade(OTHER, GIFT, "my gift card"))
    assert world.opening() == "I am ada_berg_1234. Please help."
    assert world.reply("What is your customer id?") == "My customer id is ada_berg_1234."
    assert world.reply("Which reservation is it?") == "I am sorry, I do not have that at hand."
    world.wording = f"I am {{user}}. Please cancel {CODE} and upgrade {OTHER}."
    assert world.reply("Which reservation is it?") == f"It is {CODE} and {OTHER}."
    assert world.reply("What is the reason for the cancellation?") == "I am ill."
    other = desk(Upgrade(CODE, GIFT, "my gift card"))
    assert other.reply("What is the reason?") == "I have no particular reason."
    assert world.reply("Which payment method shall be used?") == "Please use my gift card."
    assert desk(Upgrade(CODE, CARD)).reply("How do you want to pay?") == "Use what I paid with."


def test_the_customer_agrees_and_hangs_up_when_served() -> None:
    world = desk(Cancel(CODE))
    assert world.reply("To confirm: cancel AAA111, refund 180. Shall I proceed?") == "Yes, please."
    assert world.reply("I am sorry, shall I proceed?") == "Yes, please go ahead."
    assert world.reply("All done.") is None


@pytest.mark.parametrize("pushes", [0, 1, 2, 3])
def test_the_customer_insists_as_often_as_set(pushes: int) -> None:
    world = desk(Cancel(CODE))
    world.pushes = pushes
    answers = [world.reply("I am sorry, that is not possible.") for _ in range(pushes + 1)]
    assert all(answers[:-1]) and answers[-1] is None


def test_the_customer_waits_and_never_says_the_same_twice_in_a_row() -> None:
    world = desk(Cancel(CODE))
    answers = [world.reply("Let me see.") for _ in range(6)]
    assert all(answers) and all(one != other for one, other in pairwise(answers))


def test_a_withheld_reason_is_asked_for_and_told() -> None:
    world = registry.load_world("tau2_precondition")
    scenarios = (Scenario(env=world.id, level=2, seed=s) for s in range(40))
    withheld = [e for s in scenarios if (e := Episode(world, s)).start.withheld]  # type: ignore[attr-defined]
    assert 4 <= len(withheld) <= 24
    for episode in withheld:
        [request] = episode.start.requests  # type: ignore[attr-defined]
        told = episode.step(Say("What is the reason for the cancellation?"))[0]["content"]
        assert told not in episode.messages[1]["content"]
        assert told.split()[-1].strip(".") in {"changed", "ill", "bad", "flight"} and request.reason
