"""What a tool's result holds, field by field and record by record."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, NamedTuple

from trace_gym.policies.seen import words_of


class Result(NamedTuple):
    """A tool's result as it was read; one that is no JSON has words without the name of a field."""

    fields: list[tuple[str, Any]]
    """Its scalars with the name of their field, in their order; the key of a record is a value of the table."""
    records: list[dict[str, Any]]
    """Every object, the outer ones first."""


@lru_cache(maxsize=4096)  # what is looked up again in an episode is the same text
def read(result: str) -> Result:
    """Read the text of a result; an error holds nothing."""
    found = Result([], [])
    if not result.startswith("Error"):
        try:
            _walk(json.loads(result), "", found)
        except ValueError:
            found.fields.extend(("", word) for word in words_of(result))
    return found


def fields_of(result: str) -> dict[str, list[Any]]:
    """The scalars of a result by the name of their field, each once."""
    found: dict[str, list[Any]] = {}
    for name, value in read(result).fields:
        if value not in (known := found.setdefault(name, [])):
            known.append(value)
    return found


@lru_cache(maxsize=8192)
def tokens(text: str) -> frozenset[str]:
    """The words and numbers in a text, in small letters; ``gift_card_17`` holds three."""
    return frozenset(re.findall(r"[^\W_]+", text.lower()))


def scalars_in(value: Any) -> list[str]:
    """Every scalar in a value of an argument, as text."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, (dict, list)):
        parts = value.values() if isinstance(value, dict) else value
        return [scalar for part in parts for scalar in scalars_in(part)]
    return [str(value)]


def _walk(value: Any, name: str, found: Result) -> None:
    if isinstance(value, dict):
        found.records.append(value)
        for key, part in value.items():
            if isinstance(part, (dict, list)):
                found.fields.append((name, key))
                _walk(part, key, found)
            elif part is not None:
                found.fields.append((key, part))
    elif isinstance(value, list):
        for part in value:
            if isinstance(part, (dict, list)):
                _walk(part, name, found)
            elif part is not None:
                found.fields.append((name, part))
    elif value is not None:
        found.fields.append((name, value))
