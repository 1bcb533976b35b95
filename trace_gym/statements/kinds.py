"""Kinds of values that verifiers check (number, date, time or phrase), and the valid roles of each kind.

A role is the meaning of a value in a sentence, such as ``refund`` or ``departure``.
"""

from __future__ import annotations

import re
from functools import lru_cache

from trace_gym.statements.amounts import FIRST_WORDS
from trace_gym.statements.calendar import Day
from trace_gym.statements.cues import CUES, ROLES, UNITS
from trace_gym.statements.text import normalize
from trace_gym.statements.values import ValueKind, find_values

_FITTING = frozenset((kind, role) for kind, table in CUES.items() for role in table) | {("number", u) for u in UNITS}
"""Valid combinations of a kind and a role."""
_number_in_front = re.compile(rf"{FIRST_WORDS}|us|eur|gbp")
"""Pattern of the first word of a number that begins with a letter."""


@lru_cache(maxsize=8192)
def read(value: str | float) -> tuple[ValueKind | str, float | str | Day]:
    """Return the kind and the parsed form of a value. A value that is not a number, date or time is a phrase."""
    if isinstance(value, int | float):
        return "number", float(value)
    plain = normalize(value).strip()
    if plain[:1].isalpha() and ":" not in plain and not _number_in_front.match(plain):
        return "phrase", plain
    found = find_values(plain)
    if len(found) == 1 and (found[0].start, found[0].end) == (0, len(plain)) and not found[0].unit:
        one = found[0]
        if (one.kind == "number" and plain[:1] != "0") or (one.kind == "time" and ":" in plain):
            return one.kind, one.value
        if one.kind == "date" and plain[:4].isdigit():
            return one.kind, one.value
    return "phrase", plain


def check_role(role: str, kind: str, value: str | float) -> None:
    """Raise an error if values of a kind cannot have a role.

    Raises:
        ValueError: The role is unknown, or values of this kind cannot have the role.
    """
    if (kind, role) in _FITTING:
        return
    if role not in ROLES:
        raise ValueError(
            f"unknown role {role!r} for a value in a statement: expected one of {', '.join(sorted(ROLES))}"
        )
    if role not in CUES.get(kind, ()) and not (kind == "number" and role in UNITS):
        fits = ", ".join(CUES[kind]) if kind in CUES else "no role"
        raise ValueError(f"the {kind} {value!r} cannot have the role {role!r}: expected {fits}")
