"""Tests of the tools of the ToolSandbox target."""

from __future__ import annotations

from math import isclose
from typing import Any

import pytest
from phones import ADA, BEN, ME, NOW, error, kind, phone, returns, stock

from trace_gym.targets.toolsandbox import calendar, measures, records
from trace_gym.targets.toolsandbox.matching import likeness, most_alike

# Contacts, messages, reminders


def test_contacts_are_found_by_likeness_and_exactly() -> None:
    world = phone()
    assert [c["name"] for c in returns("search_contacts", world.search_contacts(name="amara"))] == [ADA]
    assert [c["name"] for c in world.search_contacts(relationship="boss")] == [BEN]
    assert [c["name"] for c in world.search_contacts(is_self=True)] == [ME]
    assert [c["name"] for c in world.search_contacts(phone_number="+12125550102", name="Holm")] == [BEN]
    assert world.search_contacts(phone_number="+1 212 555 0102") == [], "numbers are compared letter by letter"
    assert world.search_contacts(name="Zimmer") == []
    assert kind(world.search_contacts) == "ValueError"
    assert kind(world.search_contacts, phone_number="555") == "NumberParseException"


def test_at_most_five_are_found_by_likeness() -> None:
    world = phone()
    for n in range(8):
        world.add_contact(f"Farid {records.LAST_NAMES[n]}", f"+1212555012{n}")
    assert len(world.search_contacts(name="Farid")) == 5
    assert len(world.search_contacts(is_self=False)) == 10


def test_contacts_are_added_changed_and_removed() -> None:
    world = phone()
    key = returns("add_contact", world.add_contact("Greta Quist", "+442071838750", "coach"))
    assert key not in phone().contacts and key == phone().add_contact("Greta Quist", "+442071838750")
    returns("modify_contact", world.modify_contact(key, relationship="friend"))
    assert world.contacts[key]["relationship"] == "friend" and world.contacts[key]["name"] == "Greta Quist"
    assert list(world.contacts)[-1] == key
    world.modify_contact("p0", name="Celeste Holm", is_self=True)
    assert list(world.contacts)[-1] == "p0", "a changed record moves to the end"
    returns("remove_contact", world.remove_contact(key))
    assert key not in world.contacts
    assert (
        kind(world.remove_contact, person_id=key)
        == kind(world.modify_contact, person_id=key, name="x")
        == "NoDataError"
    )
    assert kind(world.modify_contact, person_id="p1") == "ValueError"
    assert kind(world.modify_contact, person_id="p1", is_self=True) == "DuplicateError"
    assert kind(world.add_contact, name="Me", phone_number="+12125550109", is_self=True) == "DuplicateError"
    assert kind(world.add_contact, name="Me", phone_number="12125550109") == "NumberParseException"


@pytest.mark.parametrize(
    ("number", "valid"),
    [
        ("+12125550147", True),
        ("+1 (212) 555-0147", True),
        ("+442071838750", True),
        ("+999123456", False),
        ("+0123456", False),
        ("555", False),
        ("", False),
        ("+1", False),
        ("hello", False),
        ("+1555123456789012345", False),
    ],
)
def test_phone_numbers_are_international(number: str, valid: bool) -> None:
    world = phone()
    if valid:
        assert world.search_contacts(phone_number=number) == []
    else:
        assert kind(world.search_contacts, phone_number=number) == "NumberParseException"


def test_a_message_is_sent_from_the_user_to_whom_the_number_belongs() -> None:
    world = phone()
    key = returns("send_message_with_phone_number", world.send_message_with_phone_number("+12125550101", "Hello"))
    sent = world.messages[key]
    assert (sent["sender_person_id"], sent["recipient_person_id"], sent["creation_timestamp"]) == ("p0", "p1", NOW)
    other = world.messages[world.send_message_with_phone_number("+12125550155", "Hello")]
    assert other["recipient_person_id"] is None and key != other["message_id"]
    world.remove_contact("p0")
    assert kind(world.send_message_with_phone_number, phone_number="+12125550101", content="x") == "DuplicateError"


def test_messages_are_found_by_person_words_and_time() -> None:
    world = phone()
    found = returns("search_messages", world.search_messages(sender_person_id="p1"))
    assert [m["message_id"] for m in found] == ["m0"]
    assert [m["message_id"] for m in world.search_messages(content="on my way")] == ["m1"]
    assert [m["message_id"] for m in world.search_messages(creation_timestamp_lowerbound=NOW - 4e5)] == ["m1"]
    assert [m["message_id"] for m in world.search_messages(creation_timestamp_upperbound=NOW - 4e5)] == ["m0"]
    assert [m["message_id"] for m in world.search_messages(recipient_phone_number="+12125550102")] == ["m1"]
    assert kind(world.search_messages) == kind(world.search_messages, creation_timestamp_lowerbound=5) == "ValueError"


def test_reminders_are_set_found_moved_and_removed() -> None:
    world = phone()
    key = returns("add_reminder", world.add_reminder("call home", 1774900000, latitude=30, longitude=-97.5))
    assert world.reminders[key]["creation_timestamp"] == NOW
    assert [r["content"] for r in returns("search_reminder", world.search_reminder(latitude=30.0))] == ["call home"]
    due: dict[str, Any] = {"reminder_timestamp_lowerbound": NOW, "reminder_timestamp_upperbound": NOW + 2 * 86400}
    assert [r["reminder_id"] for r in world.search_reminder(**due)] == ["r2", key]
    returns("modify_reminder", world.modify_reminder("r0", reminder_timestamp=NOW + 60))
    moved = world.reminders["r0"]
    assert (moved["reminder_timestamp"], moved["creation_timestamp"], moved["content"]) == (
        NOW + 60,
        NOW,
        "feed the cat",
    )
    returns("remove_reminder", world.remove_reminder("r0"))
    assert kind(world.remove_reminder, reminder_id="r0") == kind(world.modify_reminder, reminder_id="r0", content="x")
    assert kind(world.modify_reminder, reminder_id="r1") == kind(world.search_reminder) == "ValueError"
    assert kind(world.add_reminder, content="x", reminder_timestamp=1e12) == "ValueError"
    assert kind(world.add_reminder, content="x", reminder_timestamp=NOW, latitude=91) == "ValueError"


def test_a_change_that_changes_nothing_leaves_a_record_in_its_place() -> None:
    world = phone()
    world.modify_contact("p0", name=ME)
    assert list(world.contacts) == ["p0", "p1", "p2"]


# Times, units, distances


def test_the_clock_stands_still_and_is_read_in_utc() -> None:
    world = phone()
    assert returns("get_current_timestamp", world.get_current_timestamp()) == NOW
    world.add_reminder("x", NOW)
    assert world.get_current_timestamp() == NOW
    told = returns("timestamp_to_datetime_info", world.timestamp_to_datetime_info(NOW))
    assert told == {"year": 2026, "month": 3, "day": 30, "hour": 16, "minute": 5, "second": 26, "isoweekday": 1}
    del told["isoweekday"]
    assert returns("datetime_info_to_timestamp", world.datetime_info_to_timestamp(**told)) == NOW


@pytest.mark.parametrize(
    ("by", "date"),
    [
        ({"days": 2}, (2026, 4, 1)),
        ({"weeks": -5}, (2026, 2, 23)),
        ({"hours": 8}, (2026, 3, 31)),
        ({}, (2026, 3, 30)),
        ({"days": 365, "minutes": -1}, (2027, 3, 30)),
        ({"seconds": -16 * 3600 - 327}, (2026, 3, 29)),
    ],
)
def test_timestamps_are_shifted(by: dict[str, int], date: tuple[int, int, int]) -> None:
    world = phone()
    moved = returns("shift_timestamp", world.shift_timestamp(NOW, **by))
    told = world.timestamp_to_datetime_info(moved)
    assert (told["year"], told["month"], told["day"]) == date
    between = returns("timestamp_diff", world.timestamp_diff(NOW, moved))
    assert between["days"] * 86400 + between["seconds"] == moved - NOW and 0 <= between["seconds"] < 86400


def test_impossible_times_are_refused() -> None:
    world = phone()
    assert (
        kind(world.datetime_info_to_timestamp, year=2026, month=2, day=29, hour=0, minute=0, second=0) == "ValueError"
    )
    assert (
        kind(world.datetime_info_to_timestamp, year=2026, month=2, day=2, hour=24, minute=0, second=0) == "ValueError"
    )
    assert kind(world.timestamp_to_datetime_info, timestamp=NOW * 1000) == "ValueError"
    assert kind(world.shift_timestamp, timestamp=NOW, weeks=10**17) == "OverflowError"
    assert kind(world.seconds_to_hours_minutes_seconds, seconds=1e17) == "OverflowError"
    split = returns("seconds_to_hours_minutes_seconds", world.seconds_to_hours_minutes_seconds(3723.5))
    assert split == {"hour": 1, "minute": 2, "second": 3}


@pytest.mark.parametrize(
    ("name", "year", "date"),
    [
        ("Thanksgiving", 2026, "2026-11-26"),
        ("thanksgiving day", 2027, "2027-11-25"),
        ("Labor Day", 2025, "2025-09-01"),
        ("Memorial Day", 2026, "2026-05-25"),
        ("Christmas", 2026, "2026-12-25"),
        ("Independence Day", 2025, "2025-07-04"),
        ("Christmas Day", 2022, "2022-12-26"),
        ("New Year's Day", 2027, "2027-12-31"),
        ("Easter", 2026, None),
        ("Martin Luther King", 2026, "2026-01-19"),
        ("juneteenth", 2026, "2026-06-19"),
        ("juneteenth", 2020, None),
        ("", 2026, None),
        ("Thanksgiving", 0, None),
        ("Thanksgiving", 99999, None),
        ("x" * 4000, 2026, None),
    ],
)
def test_holidays(name: str, year: int, date: str | None) -> None:
    found = returns("search_holiday", phone().search_holiday(name, year))
    assert (calendar.moment(found).date().isoformat() if found is not None else None) == date


def test_a_holiday_is_of_this_year_unless_another_is_named() -> None:
    assert phone().search_holiday("Memorial Day") == calendar.stamp(2026, 5, 25)


@pytest.mark.parametrize(
    ("amount", "source", "wanted", "result"),
    [
        (12.5, "miles", "kilometers", 20.1168),
        (10, "Celsius", "fahrenheit", 50),
        (32, "fahrenheit", "kelvin", 273.15),
        (2, "pounds", "kg", 0.90718474),
        (1.5, "hours", "minutes", 90),
        (1, "gallon", "liter", 3.785411784),
        (100, "kph", "mph", 62.13711922),
        (3, "feet", "inches", 36),
        (1, "stone", "pounds", 14),
        (1, "acre", "hectare", 0.40468726),
    ],
)
def test_units(amount: float, source: str, wanted: str, result: float) -> None:
    assert isclose(returns("unit_conversion", phone().unit_conversion(amount, source, wanted)), result, rel_tol=1e-7)


def test_units_of_different_kinds_are_refused() -> None:
    assert kind(phone().unit_conversion, amount=1, from_unit="mile", to_unit="kg") == "DimensionalityError"
    assert "smoot" in error(phone().unit_conversion, amount=1, from_unit="smoot", to_unit="kg")


@pytest.mark.parametrize(
    ("one", "other", "kilometers"),
    [
        ((37.3346, -122.0091), (37.8199, -122.4783), 67.9630),
        ((0, 0), (0, 1), 111.319),
        ((30, 40), (30, 40), 0),
        ((90, 0), (-90, 0), 20003.931),
        ((0, 0), (0, 180), 20003.931),
        ((89.9, 0), (89.9, 180), 22.3388),
        ((51.5, 0), (48.86, 2.35), 338.1997),
    ],
)
def test_distances(one: tuple[float, float], other: tuple[float, float], kilometers: float) -> None:
    assert isclose(measures.distance(*one, *other), kilometers, rel_tol=2e-4, abs_tol=1e-9)
    assert isclose(measures.distance(*other, *one), kilometers, rel_tol=2e-4, abs_tol=1e-9)


@pytest.mark.parametrize(
    ("one", "other", "score"),
    [
        ("Amara", "Amara Keller", 90),
        ("keller amara", "Amara Keller", 95),
        ("friends", "friend", 92.31),
        ("my boss", "boss", 90),
        ("same", "SAME!", 100),
        ("", "x", 0),
        ("Viktor", "Wilma", 18.18),
        ("book a haircut", "Please book my haircut for next week", 85.5),
        ("a", "walk the dog", 60),
    ],
)
def test_likeness_is_what_the_benchmarks_library_says(one: str, other: str, score: float) -> None:
    assert likeness(one, other) == pytest.approx(score, abs=0.01)
    assert likeness(other, one) == pytest.approx(score, abs=0.01)


def test_the_most_alike_come_first() -> None:
    assert most_alike("amara", ["Bruno", None, "Amara Keller", "amara", "Amara Holm"], 90) == [3, 2, 4]
    assert most_alike("y" * 5000, ["y" * 5000], 50) == []


# Searches


def test_the_searches_read_the_tables() -> None:
    world = phone()
    found = returns("search_stock", world.search_stock(stock(world).upper()))
    assert returns("search_stock", world.search_stock(found["symbol"].lower())) == found
    assert returns("search_stock", world.search_stock("Acme Rockets")) is None
    returns("get_current_location", world.get_current_location())
    today = returns("search_weather_around_lat_lon", world.search_weather_around_lat_lon())
    tomorrow = returns("search_weather_around_lat_lon", world.search_weather_around_lat_lon(days=1))
    assert "current_temperature" in today and "current_temperature" not in tomorrow
    assert today["min_temperature"] < today["average_temperature"] < today["max_temperature"]
    assert world.search_weather_around_lat_lon(days=5) is None
    assert world.search_weather_around_lat_lon(latitude=0, longitude=0) is None
    assert returns("search_lat_lon", world.search_lat_lon(30.267, -97.743)) == "Austin, Texas, USA"
    place = world.places[0]
    assert world.search_lat_lon(place["latitude"], place["longitude"]) == place["full_address"]
    assert returns("search_lat_lon", world.search_lat_lon(0, 0)) is None
    assert kind(world.search_weather_around_lat_lon, days=-1) == "ValueError"
    assert kind(world.search_weather_around_lat_lon, latitude=3) == "ValueError"


def test_places_are_listed_nearest_first() -> None:
    world = phone()
    near, far = (dict(world.places[0], name=f"{n} Museum", latitude=30.3 + d) for n, d in (("A", 0.01), ("B", 0.5)))
    world.places = [far, near]
    told = returns("search_location_around_lat_lon", world.search_location_around_lat_lon("museum"))
    assert [p["name"] for p in told] == ["A Museum", "B Museum"]
    assert world.search_location_around_lat_lon("") == world.search_location_around_lat_lon("castle") == []


def test_money_is_converted_by_the_rates() -> None:
    world = phone()
    codes = {"from_currency_code": "eur", "to_currency_code": "JPY"}
    assert returns("convert_currency", world.convert_currency(90, **codes)) == 15000
    assert kind(world.convert_currency, amount=1, from_currency_code="$", to_currency_code="EUR") == "ValueError"
    assert kind(world.convert_currency, amount=1, from_currency_code="CHF", to_currency_code="EUR") == "RuntimeError"
