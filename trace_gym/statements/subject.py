"""The record that words of a message are about, and whether a message mentions a value at all."""

from __future__ import annotations

from collections.abc import Sequence

from trace_gym.statements.kinds import read
from trace_gym.statements.phrases import find_phrase
from trace_gym.statements.text import normalize, places_of, sentence_at
from trace_gym.statements.values import find_values


def mentions(value: str | float, said: Sequence[str]) -> bool:
    """Return whether messages contain a value in any format and role, even if they deny it."""
    kind, wanted = read(value)
    if kind == "phrase":
        return any(find_phrase(str(value), text) for text in said)
    return any(v.kind == kind and v.value == wanted for text in said for v in find_values(text))


def is_about(text: str, position: int, record: str, others: tuple[str, ...]) -> bool:
    """Return whether words at a position are about the record: it was named last, or no other one was."""
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
