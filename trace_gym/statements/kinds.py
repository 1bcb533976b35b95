"""Kinds of the values that verifiers ask for: numbers, dates, times and phrases, with the roles that each can have."""

from __future__ import annotations

import re
from functools import lru_cache

from trace_gym.statements.amounts import FIRST_WORDS
from trace_gym.statements.calendar import Day
from trace_gym.statements.cues import CUES, ROLES, UNITS
from trace_gym.statements.text import normalize
from trace_gym.statements.values import Kind, find_values

_FITTING = frozenset((kind, role) for kind, table in CUES.items() for role in table) | {("number", u) for u in UNITS}
"""Kinds of values with the roles that they can have."""
_number_in_front = re.compile(rf"{FIRST_WORDS}|us|eur|gbp")
"""What a value that is no phrase and has no colon begins with, unless with a digit or a sign."""


@lru_cache(maxsize=8192)
def read(value: str | float) -> tuple[Kind | str, float | str | Day]:
    """Return kind and value of a value as a verifier writes it; what is no number, date or time is a phrase."""
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
    """Require that values of a kind can have a role.

    Raises:
        ValueError: The role is unknown, or values of this kind do not have it.
    """
    if (kind, role) in _FITTING:
        return
    if role not in ROLES:
        raise ValueError(f"unknown role of a stated value: found {role!r}, expected one of {', '.join(sorted(ROLES))}")
    if role not in CUES.get(kind, ()) and not (kind == "number" and role in UNITS):
        fits = ", ".join(CUES[kind]) if kind in CUES else "no role"
        raise ValueError(f"the role {role!r} does not apply to the {kind} {value!r}: expected {fits}")
