"""Replay of recorded airline episodes: start states from tool results, and differences between tau-bench and tau2.

`results.RENAMES` lists the keys that tau-bench names differently. `DIFFERENCES` lists all other fields that differ; the
comparison of recorded tool results with those of the base world skips these fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, Self

from trace_gym.targets.constants import frozen
from trace_gym.targets.tau2.records import Data
from trace_gym.types import Call
from trace_gym.world import World

ShownResults = Sequence[tuple[Call, Any]]
"""Calls before the first write call, in order, each with its result. Results in JSON are parsed."""

_UPDATES = ("update_reservation_baggages", "update_reservation_flights", "update_reservation_passengers")
_STATUS = "tau-bench has the field once a reservation is cancelled"
_CABIN = "tau-bench keeps the old cabin when flights are moved to another one"

DIFFERENCES: Mapping[str, Mapping[str, str]] = frozen(
    {
        "get_user_details": {"user_id": "tau2's profiles carry their id"},
        "get_reservation_details": {"status": _STATUS},
        "book_reservation": {"status": _STATUS},
        **{tool: {"status": _STATUS, "cabin": _CABIN} for tool in _UPDATES},
        "cancel_reservation": {"cabin": _CABIN},
        "search_direct_flight": {"date": "tau2 adds the departure day to each flight"},
        "search_onestop_flight": {
            "available_seats, prices": "tau-bench shows those of the first day for a second flight on the next"
        },
        "list_all_airports": {"": "tau-bench answers {code: city}, and names LGA after the airport"},
        "send_certificate": {"": "wordings are our own, and so are ids of new certificates"},
    }
)
"""Mapping from tool to field to a description of how tau-bench differs from tau2. The field ``""`` stands for the
complete result."""


class AirlineRecorded(World):
    """Methods of airline worlds for comparing the results of their tools with recorded episodes."""

    users: dict[str, Data]
    reservations: dict[str, Data]
    flights: dict[str, Data]

    @classmethod
    def from_records(cls, shown: ShownResults) -> Self:
        """Return a world with the records in tool results. If a record occurs more than once, use its first version."""
        return cls(**_tables(shown))

    def knows(self, call: Call, shown: ShownResults) -> bool:
        """Return whether the records of this state suffice to compute the result of a recorded call."""
        given = call.arguments
        if call.tool.startswith("search"):
            return any(c == call for c, _ in shown)
        if "user_id" in given and given["user_id"] not in self.users:
            return False
        if "reservation_id" not in given:
            return all(self._priced(f) for f in given.get("flights", ()))
        booking = self.reservations.get(given["reservation_id"])
        if booking is None or ("payment_id" in given and booking["user_id"] not in self.users):
            return False
        kept = [(f["flight_number"], f["date"]) for f in booking["flights"] if given.get("cabin") == booking["cabin"]]
        wanted = given.get("flights", ())
        return all((f.get("flight_number"), f.get("date")) in kept or self._priced(f) for f in wanted)

    def _priced(self, leg: Data) -> bool:
        on = self.flights.get(leg.get("flight_number", ""), {}).get("dates", {}).get(leg.get("date"), {})
        return bool(on.get("prices"))

    @classmethod
    def as_recorded(cls, call: Call, answer: Any, source: str) -> Any:
        """Return a result of tau-bench without the fields in `DIFFERENCES`, or a result of tau2 unchanged."""
        declared = DIFFERENCES.get(call.tool, {}) if source.startswith("tau-bench") else {}
        if "" in declared:
            return None
        if call.tool == "search_onestop_flight" and declared and isinstance(answer, list):
            return [[_other_day(leg, call) for leg in pair] for pair in answer]
        if isinstance(answer, list):
            return [_without(part, declared) for part in answer]
        return _without(answer, declared)


def _without(answer: Any, fields: Mapping[str, str]) -> Any:
    return {k: v for k, v in answer.items() if k not in fields} if isinstance(answer, dict) else answer


def _other_day(leg: Data, call: Call) -> Data:
    same = leg.get("date", call.arguments.get("date")) == call.arguments.get("date")
    return leg if same else {k: v for k, v in leg.items() if k not in ("available_seats", "prices")}


def _tables(shown: ShownResults) -> dict[str, dict[str, Data]]:
    users: dict[str, Data] = {}
    reservations: dict[str, Data] = {}
    flights: dict[str, Data] = {}
    for call, answer in shown:
        match call.tool, call.arguments, answer:
            case "get_user_details", {"user_id": key}, dict():
                users.setdefault(key, deepcopy({"user_id": key, **answer}))
            case "get_reservation_details", {"reservation_id": key}, dict():
                reservations.setdefault(key, deepcopy({"status": None, **answer}))
            case "search_direct_flight" | "search_onestop_flight", {"date": day}, list():
                for pair in answer:
                    for leg in pair if isinstance(pair, list) else [pair]:
                        _fly(flights, leg, day)
            case "get_flight_status", {"flight_number": number, "date": day}, str():
                plan = flights.setdefault(number, _unplaced(number))
                plan["dates"].setdefault(day, {"status": answer})
    searches = [answer for call, answer in shown if call.tool == "search_direct_flight" and isinstance(answer, list)]
    if all(numbers == sorted(numbers) for found in searches if (numbers := [f["flight_number"] for f in found])):
        flights = dict(sorted(flights.items()))  # the benchmark sorts its flights, too
    return {"users": users, "reservations": reservations, "flights": flights}


def _unplaced(number: str) -> Data:
    """Return the record of a flight whose route is unknown, so that searches do not find the flight."""
    times = ("scheduled_departure_time_est", "scheduled_arrival_time_est")
    return {"flight_number": number, "origin": None, "destination": None, **dict.fromkeys(times), "dates": {}}


def _fly(flights: dict[str, Data], leg: Data, day: str) -> None:
    """Add a flight from a search result to a table. Its seats and prices are known only on the searched day."""
    on = {k: deepcopy(leg.get(k)) for k in ("status", "available_seats", "prices")}
    if leg.get("date", day) != day:
        on |= {"available_seats": {}, "prices": {}}
    plan = flights.setdefault(leg["flight_number"], _unplaced(leg["flight_number"]))
    plan |= {k: v for k, v in leg.items() if k not in ("status", "available_seats", "prices", "date")}
    known = plan["dates"].get(leg.get("date", day), {})
    if not known.get("prices"):
        plan["dates"][leg.get("date", day)] = on
