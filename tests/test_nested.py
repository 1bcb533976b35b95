"""Texts are parsed if they are JSON, and nested data is visited in order."""

from __future__ import annotations

from typing import Any

import pytest

from trace_gym.nested import parse_if_json


@pytest.mark.parametrize(
    ("value", "parsed", "with_scalars"),
    [
        ('{"a": [1]}', {"a": [1]}, {"a": [1]}),
        ("[1, null]", [1, None], [1, None]),
        ("5", "5", 5),
        (' {"a": 1}', ' {"a": 1}', {"a": 1}),
        ('"x"', '"x"', "x"),
        ("[1, 2", "[1, 2", "[1, 2"),
        ("Error: no such user", "Error: no such user", "Error: no such user"),
        ("", "", ""),
        ("[" * 100_000, "[" * 100_000, "[" * 100_000),
        ("9" * 5000, "9" * 5000, "9" * 5000),
        ({"a": 1}, {"a": 1}, {"a": 1}),
        (None, None, None),
    ],
    ids=lambda value: str(value)[:12],
)
def test_json_texts_are_parsed_and_other_values_returned(value: Any, parsed: Any, with_scalars: Any) -> None:
    assert parse_if_json(value) == parsed
    assert parse_if_json(value, scalars=True) == with_scalars
