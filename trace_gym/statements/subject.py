"""Tests that determine which record (such as an order) a message is about, and whether it mentions a value."""

from __future__ import annotations

from collections.abc import Sequence

from trace_gym.statements.kinds import read
from trace_gym.statements.phrases import find_phrase
from trace_gym.statements.text import normalize, places_of, sentence_at
from trace_gym.statements.values import find_values


def mentions(value: str | float, said: Sequence[str]) -> bool:
    """Return whether messages contain a value in any format and with any meaning, even if they deny the value."""
    kind, wanted = read(value)
    if kind == "phrase":
        return any(find_phrase(str(value), text) for text in said)
    return any(v.kind == kind and v.value == wanted for text in said for v in find_values(text))


def is_about(text: str, position: int, record: str, others: tuple[str, ...]) -> bool:
    """Return whether the words at a position of a text are about a record.

    They are about the record if its id is the nearest id in the text, or if the text contains no id of a record.

    Args:
        text: The normalized text.
        position: Position of the words.
        record: Id of the record. If it is empty, the result is True.
        others: Ids of the other records that the text may mention. If there are none, the result is True.
    """
    if not record or not others:
        return True
    start, end = sentence_at(text, position)
    named = sorted((at, name) for name in (record, *others) for at in _places(name, text))
    before = [name for at, name in named if start <= at <= position]
    behind = [name for at, name in named if position < at < end]
    earlier = [name for at, name in named if at < start]
    chosen = before[-1:] or behind[:1] or earlier[-1:]
    return not chosen or chosen[0] == record


def names(name: str, text: str) -> bool:
    """Return whether a normalized text contains an id."""
    return bool(_places(name, text))


def _places(name: str, text: str) -> list[int]:
    plain = normalize(name).lstrip("#")
    return places_of(plain, text)
