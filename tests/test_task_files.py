"""Tests of the validation of task files, with small files in the format of tau2."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from trace_gym.cli.entry import app
from trace_gym.errors import ConfigError, ReadError
from trace_gym.report.validation import render_report
from trace_gym.types import Finding
from trace_gym.validation import render, validate
from trace_gym.validation.task_files.registry import TASK_PROPERTIES
from trace_gym.validation.task_files.runner import is_task_file, markdown

Data = dict[str, Any]
LAMPS = {
    "11": {"item_id": "11", "options": {"color": "red"}, "available": True, "price": 20.5},
    "12": {"item_id": "12", "options": {"color": "blue"}, "available": True, "price": 20.5},
    "13": {"item_id": "13", "options": {"color": "green"}, "available": True, "price": 20.5},
    "14": {"item_id": "14", "options": {"color": "white"}, "available": False, "price": 9.0},
}
LAMP = {"name": "Lamp", "product_id": "1", "item_id": "11", "price": 20.5, "options": {"color": "red"}}
HOME = {"address1": "1 Elm Road", "address2": "", "city": "Austin", "country": "USA", "state": "TX", "zip": "78750"}


def order(key: str, status: str, user: str = "ana_berg_1000", method: str = "paypal_1000001") -> Data:
    paid = [{"transaction_type": "payment", "amount": 20.5, "payment_method_id": method}]
    made = {"order_id": key, "user_id": user, "address": HOME, "items": [LAMP], "status": status}
    return {**made, "fulfillments": [], "payment_history": paid}


def person(first: str, key: str, methods: list[Data], orders: list[str]) -> Data:
    name, email = {"first_name": first, "last_name": "Berg"}, f"{first.lower()}.berg@example.com"
    methods_by_id = {m["id"]: m for m in methods}
    made = {"user_id": key, "name": name, "address": HOME, "email": email, "payment_methods": methods_by_id}
    return {**made, "orders": orders}


RETAIL = {
    "products": {"1": {"name": "Lamp", "product_id": "1", "variants": LAMPS}},
    "users": {
        "ana_berg_1000": person(
            "Ana",
            "ana_berg_1000",
            [
                {"source": "paypal", "id": "paypal_1000001"},
                {"source": "gift_card", "id": "gift_card_1000002", "balance": 30.0},
            ],
            ["#W1000001", "#W1000002"],
        ),
        "bo_berg_1001": person("Bo", "bo_berg_1001", [{"source": "paypal", "id": "paypal_1000003"}], ["#W1000003"]),
    },
    "orders": {
        "#W1000001": order("#W1000001", "pending"),
        "#W1000002": order("#W1000002", "delivered"),
        "#W1000003": order("#W1000003", "delivered", "bo_berg_1001", "paypal_1000003"),
    },
}


def flight(number: str, origin: str, destination: str, status: str = "available") -> Data:
    seats = dict.fromkeys(("basic_economy", "economy", "business"), 5)
    prices = {"basic_economy": 50, "economy": 100, "business": 300}
    dates = {"2024-05-20": {"status": status, "available_seats": seats, "prices": prices}}
    hours = {"scheduled_departure_time_est": "08:00:00", "scheduled_arrival_time_est": "10:00:00"}
    return {"flight_number": number, "origin": origin, "destination": destination, **hours, "dates": dates}


def booking(key: str, number: str, **changes: Any) -> Data:
    leg = {"flight_number": number, "origin": "SFO", "destination": "JFK", "date": "2024-05-20", "price": 100}
    made = {
        "reservation_id": key, "user_id": "eva_koch_2000", "origin": "SFO", "destination": "JFK",
        "flight_type": "one_way", "cabin": "economy", "flights": [leg],
        "passengers": [{"first_name": "Eva", "last_name": "Koch", "dob": "1990-03-04"}],
        "payment_history": [{"payment_id": "credit_card_2000001", "amount": 100}],
        "created_at": "2024-05-01T10:00:00", "total_baggages": 0, "nonfree_baggages": 0, "insurance": "no",
    }  # fmt: skip
    return {**made, **changes}


AIRLINE = {
    "flights": {
        "HAT101": flight("HAT101", "SFO", "JFK"),
        "HAT102": flight("HAT102", "SFO", "JFK"),
        "HAT103": flight("HAT103", "SFO", "LGA"),
        "HAT104": flight("HAT104", "SFO", "JFK", "delayed"),
    },
    "users": {
        "eva_koch_2000": {
            "name": {"first_name": "Eva", "last_name": "Koch"}, "address": HOME, "email": "eva.koch@example.com",
            "dob": "1990-03-04", "membership": "gold", "saved_passengers": [], "reservations": ["AB1CD2", "AB1CD3"],
            "payment_methods": {"credit_card_2000001": {
                "source": "credit_card", "id": "credit_card_2000001", "brand": "visa", "last_four": "7334"}},
        },
    },
    "reservations": {"AB1CD2": booking("AB1CD2", "HAT101", insurance="yes"), "AB1CD3": booking("AB1CD3", "HAT104")},
}  # fmt: skip
FLIGHTS = {"reservation_id": "AB1CD2", "cabin": "economy", "payment_id": "credit_card_2000001"}


def task(key: str, text: str, *calls: tuple[str, Data], communicate: tuple[str, ...] = ()) -> Data:
    actions = [{"action_id": f"{key}_{n}", "name": name, "arguments": a} for n, (name, a) in enumerate(calls)]
    told = {"reason_for_call": text, "known_info": "", "task_instructions": "", "unknown_info": None}
    criteria = {"actions": actions, "communicate_info": list(communicate), "nl_assertions": []}
    return {"id": key, "user_scenario": {"instructions": told}, "evaluation_criteria": criteria}


def write(folder: Path, domain: str, tasks: list[Data], database: Data) -> str:
    for entry in tasks:
        entry["user_scenario"]["instructions"]["domain"] = domain
    (folder / "tasks.json").write_text(json.dumps(tasks))
    (folder / "db.json").write_text(json.dumps(database))
    return f"tau2-tasks:{folder / 'tasks.json'}"


@pytest.fixture
def ask(tmp_path: Path) -> Callable[..., dict[str, Finding]]:
    """Validate tasks and return the findings by code that are not passed."""

    def check(*tasks: Data, domain: str = "retail") -> dict[str, Finding]:
        database = deepcopy(RETAIL if domain == "retail" else AIRLINE)
        report = validate(write(tmp_path, domain, list(tasks), database))
        return {f.code: f for f in report.findings if f.verdict != "passed"}

    return check


ANA = "You are Ana Berg and your email is ana.berg@example.com."
EVA = "You are Eva Koch. Your user id is eva_koch_2000."
EXCHANGE = {"order_id": "#W1000002", "item_ids": ["11"], "payment_method_id": "paypal_1000001"}


def exchange(new: str, **changes: Any) -> tuple[str, Data]:
    return "exchange_delivered_order_items", {**EXCHANGE, "new_item_ids": [new], **changes}


def test_a_consistent_task_has_no_issue(ask: Callable[..., dict[str, Finding]]) -> None:
    good = task("0", f"{ANA} You want the lamp in blue and pay with paypal.", exchange("12"), communicate=("20.5",))
    assert ask(good) == {}
    change = {**FLIGHTS, "flights": [{"flight_number": "HAT102", "date": "2024-05-20"}]}
    fly = task("0", f"{EVA} You want the flight HAT102 with your card.", ("update_reservation_flights", change))
    assert ask(fly, domain="airline") == {}


@pytest.mark.parametrize(
    ("code", "made", "message"),
    [
        ("TF001", task("0", ANA, ("exchange_it", {})), "there is no tool 'exchange_it'"),
        ("TF101", task("0", f"{ANA} White, paypal.", exchange("14")), "item 14 is sold out"),
        ("TF102", task("0", f"{ANA} Paypal.", exchange("11")), "11 is replaced by itself"),
        ("TF103", task("0", f"{ANA} Paypal.", exchange("11")), "item 11 is replaced by itself"),
        ("TF104", task("0", ANA, ("get_order_details", {"order_id": "#W7"})), "there is no order '#W7'"),
        ("TF201", task("0", f"{ANA} White, paypal.", exchange("14")), "leave the database as it was"),
        ("TF202", task("0", ANA), "no expected write and no text to communicate"),
        ("TF203", task("0", f"{ANA} Blue, please.", exchange("12")), "no words of the user exclude the payment method"),
        ("TF203", task("0", f"{ANA} Another color, paypal.", exchange("12")), "the options (green) suit the user"),
        ("TF301", task("0", f"{ANA} Your order is #W1000003."), "#W1000003 of bo_berg_1001"),
        ("TF301", task("0", "You are Ina Berg, ana.berg@example.com."), "the name Ina Berg; expected Ana Berg"),
        ("TF303", task("0", ANA, communicate=("77.77",)), "'77.77' to communicate"),
    ],
)  # fmt: skip
def test_retail_defects_are_found(ask: Callable[..., dict[str, Finding]], code: str, made: Data, message: str) -> None:
    found = ask(made)
    assert "task 0: found" in found[code].message and message in found[code].message
    certain = TASK_PROPERTIES[code].confidence == "certain"
    assert found[code].verdict == ("failed" if certain else "warning") and certain != (
        "confidence" in found[code].message
    )


def test_a_write_without_an_effect_is_found(ask: Callable[..., dict[str, Finding]]) -> None:
    same = ("modify_user_address", {"user_id": "ana_berg_1000", **HOME})
    found = ask(task("0", ANA, same))
    assert "without an effect" in found["TF103"].message and "TF201" in found


def update(number: str) -> tuple[str, Data]:
    flights = [{"flight_number": number, "date": "2024-05-20"}]
    return "update_reservation_flights", {**FLIGHTS, "flights": flights}


def certificate(amount: int) -> tuple[str, Data]:
    return "send_certificate", {"user_id": "eva_koch_2000", "amount": amount}


BOOK = {
    "user_id": "eva_koch_2000", "origin": "SFO", "destination": "JFK", "flight_type": "one_way", "cabin": "economy",
    "flights": [{"flight_number": "HAT101", "date": "2024-05-20"}],
    "payment_methods": [{"payment_id": "credit_card_2000001", "amount": 100}],
    "total_baggages": 0, "nonfree_baggages": 0, "insurance": "no",
}  # fmt: skip


def book(dob: str, first_name: str = "Eva") -> tuple[str, Data]:
    return "book_reservation", {**BOOK, "passengers": [{"first_name": first_name, "last_name": "Koch", "dob": dob}]}


BAGS = {"reservation_id": "AB1CD2", "total_baggages": 2, "payment_id": "credit_card_2000001"}


@pytest.mark.parametrize(
    ("code", "text", "call", "message"),
    [
        ("TF102", "Cancel it, plans changed.", ("cancel_reservation", {"reservation_id": "AB1CD2"}), "insurance yes"),
        ("TF102", "Change to HAT103 with your card.", update("HAT103"), "from SFO to JFK becomes SFO - LGA"),
        ("TF102", "Complain about the delay.", certificate(50), "no flight of the customer justifies"),
        ("TF102", "Two bags.", ("update_reservation_baggages", {**BAGS, "nonfree_baggages": 2}), "3 bags are free"),
        ("TF302", "Book HAT101 with your card.", book("1991-01-01"), "dob '1991-01-01'"),
        ("TF302", "Book for Mia, with your card.", book("1990-03-04", "Mia"), "texts that belong together"),
    ],
)  # fmt: skip
def test_airline_defects_are_found(
    ask: Callable[..., dict[str, Finding]], code: str, text: str, call: tuple[str, Data], message: str
) -> None:
    assert message in ask(task("0", f"{EVA} {text}", call), domain="airline")[code].message


def test_equal_flights_are_found(tmp_path: Path) -> None:
    database = deepcopy(AIRLINE)
    database["flights"]["HAT105"] = flight("HAT105", "SFO", "JFK")
    change = task("0", f"{EVA} You want a cheap flight, paid with your card.", update("HAT102"))
    report = validate(write(tmp_path, "airline", [change], database), only=["TF203"])
    assert "HAT105 on 2024-05-20 suits the user as well as HAT102" in report.findings[0].message
    exact = task("0", f"{EVA} You want the cheap flight HAT102, paid with your card.", update("HAT102"))
    assert validate(write(tmp_path, "airline", [exact], database), only=["TF203"]).findings[0].verdict == "passed"


def test_a_reason_that_the_insurance_covers_allows_the_cancellation(ask: Callable[..., dict[str, Finding]]) -> None:
    cancel = ("cancel_reservation", {"reservation_id": "AB1CD2"})
    assert "TF102" not in ask(task("0", f"{EVA} You are sick.", cancel), domain="airline")
    assert "TF102" in ask(task("0", f"{EVA} You are not sick.", cancel), domain="airline")


def test_a_certificate_for_a_delay_requires_a_change(ask: Callable[..., dict[str, Finding]]) -> None:
    change = {**FLIGHTS, "reservation_id": "AB1CD3", "flights": [{"flight_number": "HAT102", "date": "2024-05-20"}]}
    calls = (("update_reservation_flights", change), certificate(50))
    text = f"{EVA} Move AB1CD3 to HAT102 with your card and ask for compensation."
    assert "TF102" in ask(task("0", text, certificate(50)), domain="airline")
    assert "TF102" not in ask(task("0", text, *calls), domain="airline")


def test_duplicate_ids_are_found(ask: Callable[..., dict[str, Finding]]) -> None:
    good = task("0", f"{ANA} You want the lamp in blue and pay with paypal.", exchange("12"))
    assert "2 tasks with this id" in ask(good, deepcopy(good))["TF001"].message


EMPTY = '[{"evaluation_criteria": null, "user_scenario": {"instructions": ""}, "id": "0"}]'


@pytest.mark.parametrize(
    ("content", "option", "error", "message"),
    [
        ("[", "", ReadError, "truncated"),
        ("{}", "", ReadError, "is not a task file of tau2: found a dict"),
        ("[{}]", "", ReadError, "task 0 does not contain the field 'evaluation_criteria'"),
        ('[{"evaluation_criteria": {"actions": 3}, "user_scenario": {"instructions": ""}, "id": "0"}]', "", ReadError,
         "invalid field 'actions'"),
        (EMPTY, "", ConfigError,
         "Add ?domain=airline"),
        (EMPTY, "?domain=bank", ConfigError,
         "found 'bank', expected airline or retail"),
        (EMPTY, "?domain=airline",
         ConfigError, "Add ?db=PATH"),
        ("[]", "?level=1", ConfigError, "unknown option: found 'level'"),
    ],
)  # fmt: skip
def test_invalid_files_and_options_are_errors(
    tmp_path: Path, content: str, option: str, error: type[Exception], message: str
) -> None:
    (tmp_path / "tasks.json").write_text(content)
    with pytest.raises(error) as caught:
        validate(f"tau2-tasks:{tmp_path / 'tasks.json'}{option}")
    assert message in str(caught.value)


def test_a_database_without_tables_is_an_error(tmp_path: Path) -> None:
    uri = write(tmp_path, "retail", [task("0", ANA)], {"users": {}})
    with pytest.raises(ReadError, match="contains no valid table 'orders'"):
        validate(uri)


def test_records_and_arguments_without_a_field_are_reported(tmp_path: Path) -> None:
    uri = write(tmp_path, "retail", [task("0", ANA)], {**RETAIL, "users": {"ana": {"name": "Ana"}}})
    with pytest.raises(ReadError, match="contains an invalid record .KeyError"):
        validate(uri)
    call = ("update_reservation_flights", {**FLIGHTS, "flights": [{"date": "2024-05-20"}]})
    good = task("1", f"{EVA} You want HAT102.", update("HAT102"))
    found = validate(write(tmp_path, "airline", [task("0", EVA, call), good], AIRLINE)).findings
    errors = {f.code: f.message for f in found if f.verdict == "failed"}
    assert "task 0: found" in errors["TF101"] and not any("the check raised" in m for m in errors.values())


def test_settings_without_an_effect_are_errors(tmp_path: Path) -> None:
    uri = write(tmp_path, "retail", [task("0", ANA)], RETAIL)
    assert is_task_file(uri) and not any(map(is_task_file, ("tau2_precondition", "gym:x", "x-tasks:y", None)))
    with pytest.raises(ConfigError, match="the option 'levels' has no effect"):
        validate(uri, levels=[1])
    with pytest.raises(ConfigError, match="unknown property of task files: found 'TG301'"):
        validate(uri, only=["TG301"])
    refused = CliRunner().invoke(app, ["validate", uri, "--workers", "3"])
    assert refused.exit_code != 0


def test_the_command_prints_the_fix_and_fails(tmp_path: Path) -> None:
    uri = write(tmp_path, "retail", [task("0", f"{ANA} White, paypal.", exchange("14"))], RETAIL)
    shown = CliRunner().invoke(app, ["validate", uri, "--only", "TF101"])
    assert shown.exit_code == 1 and "sold out" in shown.output and "Correct the arguments" in shown.output
    warned = CliRunner().invoke(app, ["validate", uri, "--only", "TF202"])
    assert warned.exit_code == 0


def test_reports_explain_warnings(tmp_path: Path) -> None:
    report = validate(write(tmp_path, "retail", [task("0", ANA), task("1", ANA)], RETAIL), only=["TF202"])
    assert report.passed and report.findings[0].verdict == "warning"
    assert "tasks 0, 1: found" in report.findings[0].message
    page = render_report(report)
    assert TASK_PROPERTIES["TF202"].statement in page and "no text to communicate" in page
    assert render(report) is not None


def test_the_guide_lists_the_properties() -> None:
    guide = Path(__file__).resolve().parents[1] / "docs" / "guides" / "validate_others.md"
    assert markdown() in guide.read_text()
