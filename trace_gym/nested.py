"""Parsing of JSON that may be plain text, and iteration over nested dicts and lists."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple


def parse_if_json(value: Any, *, scalars: bool = False) -> Any:
    """Return the parsed data if a value is JSON text, else the value itself.

    Args:
        value: Text or parsed data.
        scalars: Also parse scalars, such as ``5``. By default, only objects and lists are parsed.
    """
    if not isinstance(value, str) or not (scalars or value.startswith(("{", "["))):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):  # a number with thousands of digits also raises ValueError
        return value


class Node(NamedTuple):
    """A value in nested data, with the name of its field."""

    name: str
    """Key of the innermost dict member that contains the value; empty if there is none."""
    value: Any
    outer: str | None = None
    """Name of the field that contains the dict of which the value is a member; None if it is not a member of a dict."""
    path: tuple[str | int, ...] = ()
    """Keys and indices that lead to the value."""

    @property
    def is_scalar(self) -> bool:
        return not isinstance(self.value, (dict, list))


def walk(value: Any) -> Iterator[Node]:
    """Yield a value and all values in it, in order of appearance; a dict or list comes before its parts."""
    pending = [Node("", value)]
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node.value, dict):
            pending += [Node(k, v, node.name, (*node.path, k)) for k, v in reversed(node.value.items())]
        elif isinstance(node.value, list):
            last = len(node.value) - 1
            pending += [Node(node.name, v, None, (*node.path, last - n)) for n, v in enumerate(reversed(node.value))]


def keys_and_scalars(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield every key and every scalar of the data, each as a pair with the name of the field that contains it."""
    for node in walk(value):
        if node.outer is not None:
            yield node.outer, node.name
        if node.is_scalar:
            yield node.name, node.value


def ids_and_scalars(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield every id and every scalar except None, each as a pair with the name of the field that contains it.

    A key whose value is a dict or list counts as an id, such as the order ids in a table of orders.
    """
    for node in walk(value):
        if not node.is_scalar and node.outer is not None:
            yield node.outer, node.name
        elif node.is_scalar and node.value is not None:
            yield node.name, node.value
