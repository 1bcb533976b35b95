"""Texts are parsed if they are JSON, and nested data is visited in order."""

from __future__ import annotations

from typing import Any

import pytest

from trace_gym.nested import parse_if_json, walk


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


def test_values_are_visited_in_order_with_their_paths() -> None:
    data = {"orders": {"#1": {"items": ["a", {"id": 7}]}}, "note": None}
    assert [(node.path, node.name, node.outer) for node in walk(data)] == [
        ((), "", None),
        (("orders",), "orders", ""),
        (("orders", "#1"), "#1", "orders"),
        (("orders", "#1", "items"), "items", "#1"),
        (("orders", "#1", "items", 0), "items", None),
        (("orders", "#1", "items", 1), "items", None),
        (("orders", "#1", "items", 1, "id"), "id", "items"),
        (("note",), "note", ""),
    ]
    for node in walk(data):
        found: Any = data
        for step in node.path:
            found = found[step]
        assert found is node.value


def test_deep_data_is_visited() -> None:
    deep: Any = "end"
    for _ in range(10_000):
        deep = [deep]
    assert [node.value for node in walk(deep) if node.is_scalar] == ["end"]
