"""Helpers for the tests of the ToolSandbox target."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import jsonschema
import pytest

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.targets.toolsandbox import calendar, records
from trace_gym.targets.toolsandbox.assistant import Assistant
from trace_gym.targets.toolsandbox.requests import PhoneRequest
from trace_gym.targets.toolsandbox.tools import HERE
from trace_gym.types import Call, Say, Scenario, Score
from trace_gym.world import ToolError

FACTS = json.loads((HERE / "phone.json").read_text())


SHAPES = {name: jsonschema.Draft202012Validator(schema) for name, schema in FACTS["returns"].items()}


ENVS = [name for name in registry.list_environments() if registry.manifest(name).target == "toolsandbox"]


LOW = {"low_battery_mode": True, "cellular": False, "wifi": False, "location_service": False}


NOW = calendar.stamp(2026, 3, 30, 16, 5, 26)  # a Monday, a day before the month ends


ADA, BEN, ME = "Amara Keller", "Bruno Holm", "Celeste Weiss"


def person(number: int, name: str, relationship: str) -> dict[str, Any]:
    phone = f"+1212555010{number}"
    own = relationship == "self"
    return {
        "person_id": f"p{number}",
        "name": name,
        "phone_number": phone,
        "relationship": relationship,
        "is_self": own,
    }


def reminder(key: str, content: str, due: float) -> dict[str, Any]:
    return {
        "reminder_id": key,
        "content": content,
        "creation_timestamp": NOW - 5e5,
        "reminder_timestamp": due,
        "latitude": None,
        "longitude": None,
    }


def message(key: str, sender: int, recipient: int, content: str, ago: float) -> dict[str, Any]:
    return {
        "message_id": key,
        "sender_person_id": f"p{sender}",
        "sender_phone_number": f"+1212555010{sender}",
        "recipient_person_id": f"p{recipient}",
        "recipient_phone_number": f"+1212555010{recipient}",
        "content": content,
        "creation_timestamp": NOW - ago,
    }


def phone(*requests: PhoneRequest, **settings: bool) -> Assistant:
    """A phone with three people, two messages, three reminders and small tables."""
    drawn = records.phone(Random("phone"))
    people = [person(0, ME, "self"), person(1, ADA, "friend"), person(2, BEN, "boss")]
    texts = [message("m0", 1, 0, "The keys are under the mat", 9e5), message("m1", 0, 2, "I am on my way", 3e5)]
    todo = [
        reminder("r0", "feed the cat", NOW - 86400),
        reminder("r1", "walk the dog", NOW + 9 * 86400),
        reminder("r2", "pay the rent", NOW + 86400),
    ]
    drawn |= {
        "now": NOW,
        "latitude": 30.3,
        "longitude": -97.7,
        "contacts": {c["person_id"]: c for c in people},
        "messages": {m["message_id"]: m for m in texts},
        "reminders": {r["reminder_id"]: r for r in todo},
        "cities": {"Austin": records.city(Random("Austin"), "Austin")},
        "rates": {"USD": 1.0, "EUR": 0.9, "JPY": 150.0},
        "places": [
            records.place(Random(n), n, "Austin", {"region": "Texas", "latitude": 30.267, "longitude": -97.743})
            for n in ("Harbor Museum", "Cedar Library")
        ],
    }
    made = Assistant(**drawn, requests=list(requests), wording=f"Please {' and '.join(r.wish for r in requests)}.")
    made.settings |= settings
    return made


def stock(world: Assistant) -> str:
    return str(next(iter(world.stocks.values()))["name"])


def returns(tool: str, result: Any) -> Any:
    """The result as an agent reads it, which must have the declared shape."""
    read = json.loads(json.dumps(result))
    SHAPES[tool].validate({"returns": read})
    return read


def error(tool: Callable[..., Any], **arguments: Any) -> str:
    """The text of a refusal."""
    with pytest.raises(ToolError) as caught:
        tool(**arguments)
    text = str(caught.value)
    assert ": " in text and "\n" not in text
    return text


def kind(tool: Callable[..., Any], **arguments: Any) -> str:
    return error(tool, **arguments).partition(": ")[0]


def only(world: Assistant) -> type[Assistant]:
    """A class whose every problem is this one."""

    class Fixed(Assistant):
        id = "phone"

        @classmethod
        def generate(cls, rng: Random, level: int) -> Any:
            return world.copy()

    return Fixed


# Experts and scores


def played(world: Assistant, steps: Iterator[Call | Say]) -> Episode:
    """The finished episode of these steps."""
    episode = Episode(only(world), Scenario(env="phone", level=0, seed=0))
    for step in steps:
        if not episode.done:
            episode.step(step)
    episode.finish()
    return episode


def score(world: Assistant, *steps: Call | Say) -> Score:
    return played(world, iter(steps)).finish()
