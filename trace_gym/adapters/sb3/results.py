"""Parser for tool results, which extracts their fields and records."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, NamedTuple

from trace_gym.nested import ids_and_scalars, walk
from trace_gym.policies.seen import words_of


class Result(NamedTuple):
    """The parsed result of a tool. If the result is not JSON, each word becomes a field with the name ``""``."""

    fields: list[tuple[str, Any]]
    """Pairs of a name and a scalar value, in order of appearance. A key whose value is an object or array is also
    listed as a value of the enclosing field, because the keys of a table are record ids."""
    records: list[dict[str, Any]]
    """All JSON objects in the result. An outer object precedes the objects within it."""


@lru_cache(maxsize=4096)  # repeated look-ups in an episode return the same text
def read(result: str) -> Result:
    """Parse the text of a tool result. An error message has no fields and no records."""
    found = Result([], [])
    if not result.startswith("Error"):
        try:
            parsed = json.loads(result)
            found.fields.extend(ids_and_scalars(parsed))
            found.records.extend(node.value for node in walk(parsed) if isinstance(node.value, dict))
        except ValueError:
            found.fields.extend(("", word) for word in words_of(result))
    return found


def fields_of(result: str) -> dict[str, list[Any]]:
    """Return the distinct scalar values of a result, grouped by field name."""
    found: dict[str, list[Any]] = {}
    for name, value in read(result).fields:
        if value not in (known := found.setdefault(name, [])):
            known.append(value)
    return found


@lru_cache(maxsize=8192)
def tokens(text: str) -> frozenset[str]:
    """Return the words and numbers in a text, in lower case; ``gift_card_17`` contains three tokens."""
    return frozenset(re.findall(r"[^\W_]+", text.lower()))


def scalars_in(value: Any) -> list[str]:
    """Return all scalars in an argument value, as strings."""
    return [str(node.value) for node in walk(value) if node.is_scalar]
