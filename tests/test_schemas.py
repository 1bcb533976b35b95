"""Tests of references in the JSON Schemas of tools."""

from __future__ import annotations

from typing import Any

import pytest

from trace_gym.schemas import resolved, settle
from trace_gym.types import Call, Interface

COUNT = {"type": "integer"}
ROOT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "nights": {"$ref": "#/$defs/nights"},
        "guests": {"type": "array", "items": {"$ref": "#/definitions/guests"}},
        "note": True,
    },
    "$defs": {"nights": {"$ref": "#/$defs/a~1b"}, "a/b": COUNT, "loop": {"$ref": "#/$defs/loop"}, "text": "x"}
    | {"either": {"anyOf": [{"type": "null"}, COUNT]}},
    "definitions": {"guests": COUNT},
}


@pytest.mark.parametrize(
    "reference", ["#/$defs/a~1b", "#/$defs/nights", "#/definitions/guests", "#/$defs/either/anyOf/1"]
)
def test_references_are_followed_to_the_definition(reference: str) -> None:
    assert resolved({"$ref": reference}, ROOT) == COUNT
    assert resolved(COUNT, ROOT) == COUNT


def test_keywords_next_to_a_reference_are_kept() -> None:
    assert resolved({"$ref": "#/$defs/nights", "minimum": 1}, ROOT) == COUNT | {"minimum": 1}


@pytest.mark.parametrize(
    "reference",
    ["#/$defs/loop", "#/$defs/none", "#/$defs/text/x", "#/$defs/either/anyOf/2", "https://a.example/schema"],
)
def test_references_that_lead_nowhere_accept_everything(reference: str) -> None:
    assert resolved({"$ref": reference}, ROOT) == {}


def test_integers_behind_references_are_converted() -> None:
    tool = {"type": "function", "function": {"name": "book", "description": "", "parameters": ROOT}}
    interface = Interface(name="inn", policy="", tools=(tool,), kinds={"book": "write"})
    given = {"nights": 2.0, "guests": [1.0, 3], "note": 0.5}
    arguments, complaint = settle(Call("book", given), interface)
    assert (arguments, complaint) == ({"nights": 2, "guests": [1, 3], "note": 0.5}, "")
    assert [type(value) for value in (arguments["nights"], *arguments["guests"])] == [int, int, int]
    assert "2.5 is not of type 'integer'" in settle(Call("book", {"nights": 2.5}), interface)[1]
