"""Helpers for the tests of the airline target."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from trace_gym import registry
from trace_gym.targets.tau2 import records
from trace_gym.targets.tau2.airline import AirlineDesk, Request
from trace_gym.targets.tau2.records import Data
from trace_gym.targets.tau2.tools import HERE
from trace_gym.types import Call
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


# Tools


SHAPES = {name: jsonschema.Draft202012Validator(schema) for name, schema in FACTS["returns"].items()}


def returns(tool: str, result: Any) -> Any:
    """The result as an agent reads it, which must have the shape that tau2 gives it."""
    read = json.loads(json.dumps(result))
    SHAPES[tool].validate({"returns": read})
    return read


OLD, EDGE, INSIDE = "2024-05-10T09:33:20", "2024-05-14T15:00:00", "2024-05-14T15:00:01"


def cancel(code: str = CODE) -> Call:
    return Call("cancel_reservation", {"reservation_id": code})


CARDS = [registry.manifest(name) for name in registry.list_environments()]


HAND_WRITTEN = [c.id for c in CARDS if (c.target, c.author) == ("tau2_airline", "hand")]
