"""The airline desk: its interface, its tools, its rules, its customer and its verifier, against facts and records."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.schemas import settle
from trace_gym.score import reward
from trace_gym.targets.results import read_results
from trace_gym.targets.tau2 import policy, records
from trace_gym.targets.tau2.airline import SKILLS, AirlineDesk, Bags, Cancel, Request, Swap, Upgrade
from trace_gym.targets.tau2.records import Data
from trace_gym.targets.tau2.tools import HERE, AirlineTools, airline_interface
from trace_gym.types import Call, Say, Scenario, Score, Trajectory
from trace_gym.validate.surface import bare
from trace_gym.world import ToolError

SHARED = Path(__file__).resolve().parents[2] / "shared"
FACTS = json.loads((HERE / "airline.json").read_text())
CARD, GIFT, CERTIFICATE = "credit_card_1111111", "gift_card_2222222", "certificate_3333333"
CODE, OTHER, DAY = "AAA111", "BBB222", "2024-05-20"


def shared(path: str) -> Path:
    if not (SHARED / path).is_file():
        pytest.skip(f"{path} lies beside the checkout of developers only")
    return SHARED / path


def passenger(name: str) -> Data:
    return {"first_name": name, "last_name": "Berg", "dob": "1980-01-09"}


def flight(number: str, origin: str, destination: str, hours: tuple[int, int], **dates: Data) -> Data:
    return {
        "flight_number": number,
        "origin": origin,
        "destination": destination,
        "scheduled_departure_time_est": f"{hours[0]:02d}:00:00",
        "scheduled_arrival_time_est": f"{hours[1]:02d}:00:00",
        "dates": {key.replace("on_", "2024-05-"): value for key, value in dates.items()},
    }


def seats(economy: int = 200, free: int = 9) -> Data:
    left = dict.fromkeys(records.CABINS, free)
    prices = {"basic_economy": economy - 50, "economy": economy, "business": economy + 300}
    return {"status": "available", "available_seats": left, "prices": prices}


def booking(code: str = CODE, travellers: int = 1, **changes: Any) -> Data:
    leg = {"flight_number": "HAT001", "origin": "SFO", "destination": "JFK", "date": DAY, "price": 180}
    return {
        "reservation_id": code, "user_id": "ada_berg_1234", "origin": "SFO", "destination": "JFK",
        "flight_type": "one_way", "cabin": "economy", "flights": [leg],
        "passengers": [passenger(n) for n in ("Ada", "Bo", "Cy")[:travellers]],
        "payment_history": [{"payment_id": CARD, "amount": 180 * travellers}],
        "created_at": "2024-05-10T09:33:20", "total_baggages": 0, "nonfree_baggages": 0, "insurance": "no",
        "status": None, **changes,
    }  # fmt: skip


def desk(*requests: Request, membership: str = "regular", **changes: Any) -> AirlineDesk:
    """Ada Berg with three payment methods, two reservations, and four flights."""
    owner: Data = {
        "user_id": "ada_berg_1234", "name": {"first_name": "Ada", "last_name": "Berg"},
        "address": {
            "address1": "7 Mill Lane", "address2": None, "city": "Salem", "country": "USA", "state": "OR",
            "zip": "97301",
        },
        "email": "ada@example.com", "dob": "1980-01-09", "saved_passengers": [], "membership": membership,
        "payment_methods": {
            CARD: {"source": "credit_card", "id": CARD, "brand": "visa", "last_four": "7447"},
            GIFT: {"source": "gift_card", "id": GIFT, "amount": 500},
            CERTIFICATE: {"source": "certificate", "id": CERTIFICATE, "amount": 100},
        },
        "reservations": [CODE, OTHER],
    }  # fmt: skip
    flights = [
        flight("HAT001", "SFO", "JFK", (8, 11), on_20=seats(180), on_14={"status": "landed"}),
        flight("HAT002", "SFO", "JFK", (14, 17), on_20=seats(120), on_21=seats(150)),
        flight("HAT003", "SFO", "DEN", (6, 8), on_20=seats(80)),
        flight("HAT004", "DEN", "JFK", (8, 12), on_20=seats(90, free=1), on_21=seats(70)),
    ]
    return AirlineDesk(
        users={owner["user_id"]: owner},
        reservations={CODE: booking(**changes), OTHER: booking(OTHER)},
        flights={f["flight_number"]: f for f in flights},
        requests=list(requests),
        customer="ada_berg_1234",
        wording="I am {user}. Please help.",
    )


def refused(tool: Callable[..., Any], **arguments: Any) -> str:
    """The refusal of a call, which must leave the state alone."""
    world: AirlineDesk = tool.__self__  # type: ignore[attr-defined]
    before = world.copy()
    with pytest.raises(ToolError) as caught:
        tool(**arguments)
    assert world == before
    return str(caught.value)


# Interface


def test_the_interface_has_the_names_and_types_of_tau2() -> None:
    facts = json.loads(shared("interfaces/tau2_airline.json").read_text())
    ours = {t["function"]["name"]: t["function"]["parameters"] for t in FACTS["tools"]}
    assert {n: bare(s) for n, s in ours.items()} == {t["name"]: bare(t["parameters"]) for t in facts["tools"]}
    assert {t["name"]: t["kind"] for t in facts["tools"]} == FACTS["kinds"]
    assert {t["name"]: bare(t["returns"]) for t in facts["tools"]} == {n: bare(s) for n, s in FACTS["returns"].items()}
    assert bare(facts["state"]) == bare(FACTS["records"])


def test_every_tool_and_argument_is_described() -> None:
    interface = airline_interface()
    assert len(interface.tools) == 14 and interface.kinds.keys() == {t["function"]["name"] for t in interface.tools}
    for made in (t["function"] for t in interface.tools):
        assert made["description"]
        assert all(p["description"] for p in made["parameters"]["properties"].values())
    assert "2024-05-15 15:00:00" in interface.system_prompt == f"{interface.conventions}\n\n{interface.policy}".strip()


def test_generated_records_have_tau2s_shapes() -> None:
    shape = jsonschema.Draft202012Validator(FACTS["records"])
    for name in registry.names():
        world = registry.load(name)
        if not issubclass(world, AirlineDesk):
            continue
        for level in world.levels:
            made = world.generate(Random(f"shapes/{name}/{level}"), level)
            state = {"users": made.users, "reservations": made.reservations, "flights": shown(made.flights)}
            shape.validate(json.loads(json.dumps(state)))


def shown(flights: dict[str, Any]) -> dict[str, Any]:
    """Flights with what the tools show: of a date that is not on sale only the status, which must be one of tau2's."""
    states = {d.get("status") for f in flights.values() for d in f["dates"].values()}
    assert states <= {"available", "on time", "flying", "landed", "cancelled", "delayed"}
    sold = {n: {d: s for d, s in f["dates"].items() if s["status"] == "available"} for n, f in flights.items()}
    return {n: {**f, "dates": sold[n]} for n, f in flights.items()}


# Tools


SHAPES = {name: jsonschema.Draft202012Validator(schema) for name, schema in FACTS["returns"].items()}


def returns(tool: str, result: Any) -> Any:
    """The result as an agent reads it, which must have the shape that tau2 gives it."""
    read = json.loads(json.dumps(result))
    SHAPES[tool].validate({"returns": read})
    return read


def test_look_ups_return_the_records() -> None:
    world = desk()
    assert returns("get_user_details", world.get_user_details("ada_berg_1234"))["membership"] == "regular"
    assert returns("get_reservation_details", world.get_reservation_details(CODE)) == booking()
    assert "no customer 'nobody'" in refused(world.get_user_details, user_id="nobody")
    assert "no reservation 'ZZZ999'" in refused(world.get_reservation_details, reservation_id="ZZZ999")


def test_flight_status_is_of_one_day() -> None:
    world = desk()
    assert returns("get_flight_status", world.get_flight_status("HAT001", "2024-05-14")) == "landed"
    assert world.get_flight_status("HAT001", DAY) == "available"
    assert "does not fly" in refused(world.get_flight_status, flight_number="HAT001", date="2024-05-30")
    assert "does not fly" in refused(world.get_flight_status, flight_number="HAT999", date=DAY)


def test_airports_are_listed() -> None:
    listed = returns("list_all_airports", desk().list_all_airports())
    assert {"iata": "SFO", "city": "San Francisco"} in listed and len(listed) == 20


def test_direct_flights_are_those_that_can_be_booked() -> None:
    world = desk()
    found = returns("search_direct_flight", world.search_direct_flight("SFO", "JFK", DAY))
    assert [f["flight_number"] for f in found] == ["HAT001", "HAT002"]
    assert found[1]["prices"] == {"basic_economy": 70, "economy": 120, "business": 420}
    assert world.search_direct_flight("SFO", "JFK", "2024-05-14") == []  # landed
    assert world.search_direct_flight("JFK", "SFO", DAY) == []


def test_one_stop_flights_connect() -> None:
    world = desk()
    [[first, second]] = returns("search_onestop_flight", world.search_onestop_flight("SFO", "JFK", DAY))
    assert (first["flight_number"], second["flight_number"], second["date"]) == ("HAT003", "HAT004", DAY)
    world.flights["HAT004"]["scheduled_departure_time_est"] = "07:00:00"
    assert world.search_onestop_flight("SFO", "JFK", DAY) == []
    world.flights["HAT003"]["scheduled_arrival_time_est"] = "01:00:00+1"
    [[first, second]] = world.search_onestop_flight("SFO", "JFK", DAY)
    assert (first["date"], second["date"]) == (DAY, "2024-05-21")


@pytest.mark.parametrize(
    ("expression", "result"),
    [("152 + 103", "255.0"), ("2 * (3 + 4) - -1", "15.0"), ("10 / 4", "2.5"), ("1/3", "0.33"), (" .5 ", "0.5")],
)
def test_calculate(expression: str, result: str) -> None:
    assert returns("calculate", desk().calculate(expression)) == result


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "1 +",
        "2 ** 9",
        "1 / 0",
        "abs(1)",
        "'1'",
        "1if 1 else 2",
        "1e5",
        "(" * 150,
        "[1]",
        "1, 2",
        "9" * 201,
        "9" * 400,
    ],
)
def test_calculate_takes_arithmetic_only(expression: str) -> None:
    assert "not an arithmetic expression" in refused(desk().calculate, expression=expression)


def test_a_hand_over_ends_the_conversation() -> None:
    world = desk()
    assert not world.ended
    assert returns("transfer_to_human_agents", world.transfer_to_human_agents("a flown trip")) == "Transfer successful"
    assert world.ended


def test_cancelling_refunds_what_was_paid() -> None:
    paid = [{"payment_id": CARD, "amount": 180}, {"payment_id": GIFT, "amount": 50}]
    world = desk(payment_history=paid)
    made = returns("cancel_reservation", world.cancel_reservation(CODE))
    back = [{"payment_id": CARD, "amount": -180}, {"payment_id": GIFT, "amount": -50}]
    assert (made["status"], made["payment_history"]) == ("cancelled", paid + back)
    assert world.reservations[OTHER] == booking(OTHER)
    assert "cancelled already" in refused(world.cancel_reservation, reservation_id=CODE)
    assert "no reservation" in refused(world.cancel_reservation, reservation_id="ZZZ999")


@pytest.mark.parametrize("rules_allow", [False, True])
def test_the_tools_do_not_check_the_rules(rules_allow: bool) -> None:
    world = desk(cabin="business" if rules_allow else "basic_economy")
    assert policy.cancel(world, world.reservations[CODE], "change of plans").allowed is rules_allow
    assert world.cancel_reservation(CODE)["status"] == "cancelled"


def test_bags_beyond_the_paid_ones_are_charged() -> None:
    world = desk(total_baggages=1, nonfree_baggages=1)
    made = returns("update_reservation_baggages", world.update_reservation_baggages(CODE, 4, 3, GIFT))
    assert (made["total_baggages"], made["nonfree_baggages"]) == (4, 3)
    assert made["payment_history"][-1] == {"payment_id": GIFT, "amount": 100}
    assert world.users["ada_berg_1234"]["payment_methods"][GIFT]["amount"] == 400
    world.update_reservation_baggages(CODE, 5, 3, CARD)  # a free bag: nothing is paid
    assert len(world.reservations[CODE]["payment_history"]) == 2


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"payment_id": CERTIFICATE}, "certificate cannot pay"),
        ({"payment_id": "credit_card_0"}, "no stored payment method"),
        ({"total_baggages": 20, "nonfree_baggages": 20, "payment_id": GIFT}, "holds 500 dollars only, 1000 are due"),
        ({"total_baggages": 1, "nonfree_baggages": 2}, "0 <= nonfree_baggages <= total_baggages"),
        ({"total_baggages": -1, "nonfree_baggages": -1}, "0 <= nonfree_baggages"),
        ({"total_baggages": 51}, "<= 50"),
        ({"reservation_id": "ZZZ999"}, "no reservation"),
    ],
)
def test_bags_are_refused(changes: Data, why: str) -> None:
    asked = {"reservation_id": CODE, "total_baggages": 2, "nonfree_baggages": 2, "payment_id": CARD}
    assert why in refused(desk().update_reservation_baggages, **{**asked, **changes})


def test_another_cabin_costs_the_difference_for_every_traveller() -> None:
    world = desk(travellers=2)
    flights = [{"flight_number": "HAT001", "date": DAY}]
    made = returns("update_reservation_flights", world.update_reservation_flights(CODE, "business", flights, CARD))
    assert (made["cabin"], made["flights"][0]["price"]) == ("business", 480)
    assert made["payment_history"][-1] == {"payment_id": CARD, "amount": 2 * (480 - 180)}


def test_a_kept_flight_keeps_its_price_and_a_cheaper_one_is_refunded() -> None:
    world = desk()
    world.flights["HAT001"]["dates"][DAY]["prices"]["economy"] = 999
    kept = [{"flight_number": "HAT001", "date": DAY}]
    assert world.update_reservation_flights(CODE, "economy", kept, CARD) == booking()
    made = world.update_reservation_flights(CODE, "economy", [{"flight_number": "HAT002", "date": DAY}], GIFT)
    assert made["flights"] == [
        {"flight_number": "HAT002", "origin": "SFO", "destination": "JFK", "date": DAY, "price": 120}
    ]
    assert made["payment_history"][-1] == {"payment_id": GIFT, "amount": -60}
    assert world.users["ada_berg_1234"]["payment_methods"][GIFT]["amount"] == 560


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"flights": []}, "at least one flight"),
        ({"flights": [{"flight_number": "HAT999", "date": DAY}]}, "no flight 'HAT999'"),
        ({"flights": [{"flight_number": "HAT001", "date": "2024-05-14"}]}, "cannot be booked on 2024-05-14"),
        ({"flights": [{"date": DAY}]}, "no flight 'None'"),
        ({"flights": [{"flight_number": "HAT004", "date": DAY}]}, "has 1 business seats left"),
        ({"payment_id": CERTIFICATE}, "certificate cannot pay"),
        ({"payment_id": GIFT}, "holds 500 dollars only, 600 are due"),
        ({"reservation_id": "ZZZ999"}, "no reservation"),
    ],
)
def test_changes_of_flights_are_refused(changes: Data, why: str) -> None:
    flights = [{"flight_number": "HAT001", "date": DAY}]
    asked = {"reservation_id": CODE, "cabin": "business", "flights": flights, "payment_id": CARD}
    assert why in refused(desk(travellers=2).update_reservation_flights, **{**asked, **changes})


def test_passengers_are_corrected_and_their_number_stays() -> None:
    world, right = desk(travellers=2), [passenger("Ada"), passenger("Dee")]
    made = returns("update_reservation_passengers", world.update_reservation_passengers(CODE, right))
    assert made["passengers"] == right
    change = world.update_reservation_passengers
    assert "2 passengers" in refused(change, reservation_id=CODE, passengers=right[:1])
    assert "exactly first_name" in refused(change, reservation_id=CODE, passengers=[{}, {}])
    assert "no reservation" in refused(change, reservation_id="ZZZ999", passengers=right)


BOOK: Data = {
    "user_id": "ada_berg_1234", "origin": "SFO", "destination": "JFK", "flight_type": "one_way", "cabin": "economy",
    "flights": [{"flight_number": "HAT002", "date": DAY}], "passengers": [passenger("Ada"), passenger("Bo")],
    "payment_methods": [{"payment_id": CERTIFICATE, "amount": 100}, {"payment_id": GIFT, "amount": 250}],
    "total_baggages": 1, "nonfree_baggages": 1, "insurance": "yes",
}  # fmt: skip
"""2 x 120 for the flight, 2 x 30 for the insurance, 50 for the bag: 350 dollars."""


def test_a_booking_is_paid_and_takes_its_seats() -> None:
    world = desk()
    made = returns("book_reservation", world.book_reservation(**BOOK))
    owner = world.users["ada_berg_1234"]
    assert owner["reservations"][-1] == made["reservation_id"] and world.reservations[made["reservation_id"]] == made
    assert (made["created_at"], made["status"], made["flights"][0]["price"]) == (records.NOW, None, 120)
    assert made["payment_history"] == BOOK["payment_methods"]
    assert CERTIFICATE not in owner["payment_methods"]  # what remains on a certificate is lost
    assert owner["payment_methods"][GIFT]["amount"] == 250
    assert world.flights["HAT002"]["dates"][DAY]["available_seats"] == {"basic_economy": 9, "economy": 7, "business": 9}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"user_id": "nobody"}, "no customer"),
        ({"flights": []}, "at least one flight"),
        ({"passengers": []}, "one passenger"),
        ({"passengers": [{"first_name": "Ada"}]}, "exactly first_name"),
        ({"flights": [{"flight_number": "HAT001", "date": "2024-05-14"}]}, "cannot be booked"),
        ({"flights": [{"flight_number": "HAT004", "date": DAY}]}, "1 economy seats left"),
        (
            {"payment_methods": [{"payment_id": CARD, "amount": 349}]},
            "costs 350 dollars and the payments add up to 349",
        ),
        ({"payment_methods": [{"payment_id": CERTIFICATE, "amount": 350}]}, "holds 100 dollars only"),
        ({"payment_methods": [{"payment_id": "cash", "amount": 350}]}, "no stored payment method 'cash'"),
        ({"payment_methods": [{"payment_id": CARD, "amount": -350}]}, "whole amount"),
        ({"payment_methods": [{"payment_id": CERTIFICATE, "amount": 50}] * 7}, "named once"),
        ({"nonfree_baggages": -1}, "0 <= nonfree_baggages"),
        ({"nonfree_baggages": 2}, "<= total_baggages"),
    ],
)
def test_bookings_are_refused(changes: Data, why: str) -> None:
    assert why in refused(desk().book_reservation, **{**BOOK, **changes})


def test_ids_run_out_with_a_refusal() -> None:
    world = desk()
    paid = [{"payment_id": CARD, "amount": 350}]
    codes = {world.book_reservation(**{**BOOK, "payment_methods": paid})["reservation_id"] for _ in range(4)}
    assert len(codes) == 4
    assert "no more" in refused(world.book_reservation, **{**BOOK, "payment_methods": paid})
    for _ in range(99):
        world.send_certificate("ada_berg_1234", 1)
    assert "no more" in refused(world.send_certificate, user_id="ada_berg_1234", amount=1)


def test_a_certificate_is_stored_in_the_profile() -> None:
    world = desk()
    assert "150 dollars" in returns("send_certificate", world.send_certificate("ada_berg_1234", 150))
    [made] = [
        m for k, m in world.users["ada_berg_1234"]["payment_methods"].items() if k not in (CARD, GIFT, CERTIFICATE)
    ]
    assert (made["source"], made["amount"]) == ("certificate", 150)
    for amount in (0, -5, 10_001):
        assert "between 1 and 10000" in refused(world.send_certificate, user_id="ada_berg_1234", amount=amount)
    assert "no customer" in refused(world.send_certificate, user_id="nobody", amount=50)


# Rules


def bags(total: int, paid: int, payment: str = CARD) -> Data:
    return {"total_baggages": total, "nonfree_baggages": paid, "payment_id": payment}


OLD, EDGE, INSIDE = "2024-05-10T09:33:20", "2024-05-14T15:00:00", "2024-05-14T15:00:01"


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
    world = registry.load("tau2_precondition")
    scenarios = (Scenario(env=world.id, level=2, seed=s) for s in range(40))
    withheld = [e for s in scenarios if (e := Episode(world, s)).start.withheld]  # type: ignore[attr-defined]
    assert 4 <= len(withheld) <= 24
    for episode in withheld:
        [request] = episode.start.requests  # type: ignore[attr-defined]
        told = episode.step(Say("What is the reason for the cancellation?"))[0]["content"]
        assert told not in episode.messages[1]["content"]
        assert told.split()[-1].strip(".") in {"changed", "ill", "bad", "flight"} and request.reason


# Verifier


def judged(world: AirlineDesk, *steps: Call | Say) -> Score:
    """The score of steps that are taken in a world; a refusal ends the test."""

    class Fixed(AirlineDesk):
        id = "fixed"

        @classmethod
        def generate(cls, rng: Random, level: int) -> Any:
            return world.copy()

    episode = Episode(Fixed, Scenario(env="fixed", level=0, seed=0))
    for step in steps:
        answers = episode.step(step)
        assert not answers or not str(answers[-1]["content"]).startswith("Error"), answers
    return episode.finish()


def cancel(code: str = CODE) -> Call:
    return Call("cancel_reservation", {"reservation_id": code})


def move(number: str, day: str = DAY, payment: str = CARD, cabin: str = "economy") -> Call:
    flights = [{"flight_number": number, "date": day}]
    arguments = {"reservation_id": CODE, "cabin": cabin, "flights": flights, "payment_id": payment}
    return Call("update_reservation_flights", arguments)


PROMISE = Say("To confirm: cancel AAA111, refund 180. Shall I proceed?")
REFUSAL = Say("I cannot cancel AAA111: economy, booked 2024-05-10, insurance no.")


def test_an_allowed_cancellation_with_its_refund_succeeds() -> None:
    world = desk(Cancel(CODE), created_at=INSIDE)
    score = judged(world, PROMISE, cancel(), Say("All done."))
    assert (score.success, score.progress, score.broken, reward(score)) == (True, 1.0, (), 1.0)


def test_a_cancellation_without_its_refund_is_half_a_success() -> None:
    score = judged(desk(Cancel(CODE), created_at=INSIDE), cancel(), Say("All done."))
    assert (score.success, score.progress, reward(score)) == (False, 0.5, 0.2)


def test_an_announcement_without_the_write_is_nothing() -> None:
    score = judged(desk(Cancel(CODE), created_at=INSIDE), PROMISE, Say("All done."))
    assert (score.success, score.progress) == (False, 0.0)


def test_a_wrong_cancellation_breaks_a_guard_and_pays_nothing() -> None:
    score = judged(desk(Cancel(CODE)), PROMISE, cancel(), Say("All done."))
    assert not score.success and score.broken and reward(score) == 0.0


def test_another_reservation_cancelled_beside_the_right_one_costs_the_success() -> None:
    score = judged(desk(Cancel(CODE), created_at=INSIDE), PROMISE, cancel(), cancel(OTHER), Say("All done."))
    assert (score.success, score.progress) == (False, 1.0)
    assert score.broken == ("no reservation changed in a way that was not asked for",)
    assert reward(score) == 0.125 * 0.8  # the customer did not agree


def test_a_refusal_counts_with_the_day_of_booking() -> None:
    world = desk(Cancel(CODE))
    assert judged(world, REFUSAL).success
    assert judged(world, Say("I cannot cancel AAA111.")).progress == 0.5
    assert judged(world, Say("It was booked 2024-05-10.")).progress == 0.0


def test_naming_every_day_is_not_naming_one() -> None:
    days = ", ".join(records.day(n) for n in range(-14, 0))
    score = judged(desk(Cancel(CODE)), Say(f"I cannot cancel AAA111: booked {days}."))
    assert (score.success, score.progress) == (False, 0.5)


def test_naming_every_price_is_not_naming_one() -> None:
    prices = ", ".join(map(str, range(50, 700)))
    world = desk(Cancel(CODE), created_at=INSIDE)
    score = judged(world, Say(f"To confirm: cancel AAA111, refund {prices}. Shall I proceed?"), cancel())
    assert (score.success, score.progress) == (False, 0.5)
    wrong = judged(world, Say("To confirm: cancel AAA111, refund 181. Shall I proceed?"), cancel())
    assert not wrong.success


def test_refusing_all_and_doing_all_are_each_half_of_two_requests() -> None:
    world = desk(Cancel(CODE), Cancel(OTHER), created_at=INSIDE)
    both = Say("I cannot cancel BBB222: booked 2024-05-10. To confirm: cancel AAA111, refund 180. Shall I proceed?")
    assert judged(world, both, cancel()).success
    assert judged(world, both).progress == 0.5
    assert not judged(world, both, cancel(), cancel(OTHER)).success


def test_a_refusal_must_name_one_of_two_requests() -> None:
    world = desk(Cancel(CODE), Cancel(OTHER))
    words = "booked 2024-05-10, insurance no."
    assert judged(world, Say(f"I cannot cancel AAA111: {words} I cannot cancel BBB222: {words}")).success
    assert judged(world, Say(f"I cannot cancel AAA111: {words}")).progress == 0.5
    assert judged(world, Say(f"I cannot do that: {words}")).progress == 0.0


def test_a_needless_hand_over_costs_the_success_and_a_needed_one_is_it() -> None:
    hand_over = Call("transfer_to_human_agents", {"summary": "AAA111"})
    allowed = judged(desk(Cancel(CODE), created_at=INSIDE), PROMISE, cancel(), hand_over)
    assert allowed.broken == ("the customer was not handed over",)
    world = desk(Cancel(CODE))
    world.flights["HAT001"]["dates"][DAY] = {"status": "landed"}
    assert judged(world, hand_over).success
    assert not judged(world, REFUSAL).success


def test_an_upgrade_must_be_on_the_method_that_was_named() -> None:
    world = desk(Upgrade(CODE, GIFT, "my gift card"))
    assert judged(world, move("HAT001", payment=GIFT, cabin="business")).success
    wrong = judged(world, move("HAT001", payment=CARD, cabin="business"))
    assert (wrong.success, wrong.progress) == (False, 0.5) and wrong.broken


def test_bags_must_be_paid_for_as_the_membership_says() -> None:
    world = desk(Bags(CODE, GIFT, "my gift card", extra=3), membership="silver")  # two are free in economy
    asked = {"reservation_id": CODE, "total_baggages": 3, "payment_id": GIFT}
    assert judged(world, Call("update_reservation_baggages", {**asked, "nonfree_baggages": 1})).success
    dear = judged(world, Call("update_reservation_baggages", {**asked, "nonfree_baggages": 3}))
    assert not dear.success and dear.broken and 0 < dear.progress < 1


def test_a_swap_must_take_the_cheapest_that_fits() -> None:
    world = desk(Swap(CODE, method=CARD, date=DAY, after=9))
    assert judged(world, move("HAT002")).success
    late = desk(Swap(CODE, method=CARD, date="2024-05-21"))
    assert judged(late, move("HAT002", "2024-05-21")).success
    assert judged(late, move("HAT002")).progress == 0.0
    late.flights["HAT001"]["dates"]["2024-05-21"] = seats(140)
    late.flights["HAT001"]["dates"]["2024-05-21"]["prices"]["business"] = 900
    assert late.requests[0].call(late, SKILLS) == move("HAT001", "2024-05-21")  # the cabin picks the column
    sold_out = desk(Swap(CODE, method=CARD, date=DAY))
    sold_out.flights["HAT002"]["dates"][DAY]["available_seats"]["economy"] = 0
    assert sold_out.requests[0].call(sold_out, SKILLS) == move("HAT001")


def test_a_certificate_on_top_costs_the_success() -> None:
    gift = Call("send_certificate", {"user_id": "ada_berg_1234", "amount": 100})
    score = judged(desk(Cancel(CODE), created_at=INSIDE), PROMISE, cancel(), gift)
    assert score.broken == ("no profile changed in a way that was not asked for",)


# Balance


def allowed_share(name: str, level: int, count: int) -> float:
    world = registry.load(name)
    verdicts: list[bool] = [
        request.verdict(made).allowed
        for seed in range(count)
        for made in [world.generate(Random(f"{name}/{level}/{seed}"), level)]
        for request in made.requests  # type: ignore[attr-defined]
    ]
    return sum(verdicts) / len(verdicts)


@pytest.mark.parametrize("level", range(4))
def test_half_of_the_cancellations_are_allowed(level: int) -> None:
    assert 0.42 < allowed_share("tau2_precondition", level, 400) < 0.58


def test_every_near_miss_occurs() -> None:
    world = registry.load("tau2_precondition")
    seen: Counter[str] = Counter()
    for seed in range(400):
        made = world.generate(Random(f"near/{seed}"), 3)
        [request] = made.requests  # type: ignore[attr-defined]
        seen[request.verdict(made).why.partition(",")[0]] += 1
    assert len(seen) >= 5 and min(seen.values()) >= 10


@pytest.mark.parametrize(("level", "share"), [(0, 1.0), (1, 1.0), (2, 1.0), (3, 0.75)])
def test_parts_are_allowed_but_for_one_of_four(level: int, share: float) -> None:
    assert allowed_share("tau2_multi_step", level, 60) == share


# Real records


@pytest.fixture(scope="module")
def benchmark() -> AirlineTools:
    """The benchmark's own records in our tools; where a record leaves the status out, ours says None."""
    with gzip.open(shared("data/tau2_airline_db.json.gz")) as file:
        state = json.load(file)
    for made in state["reservations"].values():
        made.setdefault("status", None)
    return AirlineTools(**state)


def fresh(benchmark: AirlineTools, calls: Iterable[Call]) -> AirlineTools:
    """The benchmark's state with copies of the records that these calls name; copying all of it takes long."""
    named = set(re.findall(r'"([^"]+)"', json.dumps([c.arguments for c in calls])))
    named |= {made["user_id"] for code, made in benchmark.reservations.items() if code in named}
    tables = (benchmark.users, benchmark.reservations, benchmark.flights)
    copies = [{k: deepcopy(v) if k in named else v for k, v in table.items()} for table in tables]
    return AirlineTools(users=copies[0], reservations=copies[1], flights=copies[2])


def carried_out(world: AirlineTools, call: Call) -> Any:
    """What a call returns, or its refusal."""
    arguments, complaint = settle(call, airline_interface())
    if complaint:
        return f"Error: {complaint}"
    try:
        return json.loads(json.dumps(getattr(world, call.tool)(**arguments)))
    except ToolError as refusal:
        return f"Error: {refusal}"


def test_the_gold_actions_of_all_tasks_run_on_real_records(benchmark: AirlineTools) -> None:
    tasks = {t.task: t.gold for t in read_results(shared("data/tau_bench_airline_gpt4o.json.gz"))}
    refusals, ran = [], 0
    for task, gold in tasks.items():
        world = fresh(benchmark, gold or ())
        for call in gold or ():
            result = carried_out(world, call)
            ran += 1
            if isinstance(result, str) and result.startswith("Error"):
                refusals.append((task, call, result))
            else:
                returns(call.tool, result)
    assert (len(tasks), ran, refusals) == (50, 158, [])


def recorded(made: Trajectory) -> list[tuple[Call, str]]:
    """The calls that an agent made at the benchmark, in order, each with what the tool answered."""
    answers = {m.get("tool_call_id"): str(m.get("content")) for m in made.messages if m["role"] == "tool"}
    wired = [w for m in made.messages for w in m.get("tool_calls") or ()]
    calls = [(w["id"], Call(w["function"]["name"], json.loads(w["function"]["arguments"]))) for w in wired]
    # tau-bench has a tool to think, tau2 has not
    return [(call, answers[key]) for key, call in calls if key in answers and call.tool in FACTS["kinds"]]


def known_differences(call: Call, result: Any) -> Any:
    """A result without what tau2 answers otherwise than the older tau-bench, and without absent values."""
    if isinstance(result, list):
        return [known_differences(call, part) for part in result]
    if not isinstance(result, dict):
        return result
    left_out = {"user_id"} if call.tool == "get_user_details" else set()
    if call.tool.startswith("search"):
        left_out = {"date"}
        if result.get("date", call.arguments["date"]) != call.arguments["date"]:
            left_out |= {"available_seats", "prices"}  # tau-bench showed those of the day before
    if call.tool.startswith(("update_reservation", "cancel")):
        left_out = {"cabin"}  # tau-bench kept the cabin of a reservation whose flights were moved to another one
    return {k: known_differences(call, v) for k, v in result.items() if k not in left_out and v is not None}


def test_recorded_calls_are_answered_as_the_benchmark_answered_them(benchmark: AirlineTools) -> None:
    """524 calls of gpt-4o at tau-bench, replayed: every refusal and every record agrees."""
    counts: Counter[str] = Counter()
    for made in read_results(shared("data/tau_bench_airline_gpt4o.json.gz")):
        calls = recorded(made)
        world = fresh(benchmark, [call for call, _ in calls])
        for call, said in calls:
            ours = carried_out(world, call)
            refusals = [str(answer).lower().startswith("error") for answer in (said, ours)]
            assert refusals[0] == refusals[1], (made.id, call, said, ours)
            counts["refused" if refusals[0] else "equal"] += 1
            if not refusals[0]:
                assert alike(call, said, ours), (made.id, call, said, ours)
    assert counts == {"refused": 33, "equal": 491}


def alike(call: Call, said: str, ours: Any) -> bool:
    """Whether two answers say the same, wordings aside."""
    match call.tool:
        case "calculate":
            return float(said) == float(ours)
        case "send_certificate" | "transfer_to_human_agents":
            return all(str(value) in said and str(value) in ours for value in call.arguments.values()) or said == ours
        case "list_all_airports":  # tau-bench has a table where tau2 has records
            return bool(json.loads(said) == {a["iata"]: a["city"] for a in ours})
    return bool(known_differences(call, json.loads(said)) == known_differences(call, ours))


CARDS = [registry.manifest(name) for name in registry.names()]
BY_TEMPLATE = [c.id for c in CARDS if (c.target, c.author) == ("tau2_airline", "template")]


@pytest.mark.parametrize("env", BY_TEMPLATE)
def test_a_skill_is_needed_where_an_expert_without_it_alone_fails(env: str) -> None:
    for scenario in registry.scenarios(env, "validate", 40):
        start = registry.episode(scenario).start
        assert isinstance(start, AirlineDesk)
        assert start.needs() == {s for s in SKILLS if not _succeeds(scenario, SKILLS - {s})}, scenario


def _succeeds(scenario: Scenario, skills: frozenset[str]) -> bool:
    episode = registry.episode(scenario)
    assert isinstance(episode.start, AirlineDesk)
    for step in episode.start.serve(skills):
        if episode.done:
            break
        episode.step(step)
    return episode.finish().success
