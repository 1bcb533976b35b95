"""Tests of the interface and the tools of the airline target."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import jsonschema
import pytest
from airline_desk import (
    CARD,
    CERTIFICATE,
    CODE,
    DAY,
    FACTS,
    GIFT,
    OTHER,
    booking,
    desk,
    passenger,
    refused,
    returns,
    shared,
)

from trace_gym import registry
from trace_gym.targets.tau2 import policy, records
from trace_gym.targets.tau2.airline import AirlineDesk
from trace_gym.targets.tau2.records import Data
from trace_gym.targets.tau2.tools import airline_interface
from trace_gym.validation.surface import without_descriptions

# Interface


def test_the_interface_has_the_names_and_types_of_tau2() -> None:
    facts = json.loads(shared("interfaces/tau2_airline.json").read_text())
    ours = {t["function"]["name"]: t["function"]["parameters"] for t in FACTS["tools"]}
    assert {n: without_descriptions(s) for n, s in ours.items()} == {
        t["name"]: without_descriptions(t["parameters"]) for t in facts["tools"]
    }
    assert {t["name"]: t["kind"] for t in facts["tools"]} == FACTS["kinds"]
    assert {t["name"]: without_descriptions(t["returns"]) for t in facts["tools"]} == {
        n: without_descriptions(s) for n, s in FACTS["returns"].items()
    }
    assert without_descriptions(facts["state"]) == without_descriptions(FACTS["records"])


def test_every_tool_and_argument_is_described() -> None:
    interface = airline_interface()
    assert len(interface.tools) == 14 and interface.kinds.keys() == {t["function"]["name"] for t in interface.tools}
    for made in (t["function"] for t in interface.tools):
        assert made["description"]
        assert all(p["description"] for p in made["parameters"]["properties"].values())
    assert "2024-05-15 15:00:00" in interface.system_prompt == f"{interface.conventions}\n\n{interface.policy}".strip()


def test_generated_records_have_tau2s_shapes() -> None:
    shape = jsonschema.Draft202012Validator(FACTS["records"])
    for name in registry.list_environments():
        world = registry.load_world(name)
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
