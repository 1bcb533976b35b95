"""Checks that an agent claimed the correct value, in the correct role, and claimed no competing value.

A *role* is the meaning of a value, such as ``refund`` or ``departure``. A *candidate* is a value that the verifier
lists because it could be mistaken for the correct value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from trace_gym.statements.breakdowns import PLACES, is_half, is_incidental
from trace_gym.statements.calendar import Day, same_day
from trace_gym.statements.claims import attitude, attitude_of_words
from trace_gym.statements.cues import NEUTRAL, UNITS
from trace_gym.statements.kinds import check_role, read
from trace_gym.statements.phrases import find_phrase, places_in, searched, spellings
from trace_gym.statements.roles import roles_of
from trace_gym.statements.sums import parts_of
from trace_gym.statements.text import normalize
from trace_gym.statements.values import Value, find_values

CONTEXT = frozenset(
    {"paid", "limit", "balance", "each", "duration", "percent", "unavailable", "today", "deadline", "birth"}
)
"""Roles of values that only provide context. If the verifier names no role, such values do not compete with the correct
value."""
_MANY = 3
"""Minimum number of distinct candidates in a message for it to count as a list of options.

This applies only if the verifier names no role.
"""
_PER_UNIT = frozenset({"each", "fare", "fee"})
"""Roles of amounts that apply to one person or item."""
_MONEY = frozenset({"refund", "charge", "paid", "fare", "fee"})
"""Roles of amounts whose sign is ignored, because it only indicates the direction of the payment."""
_PRICED = frozenset({"charge", "fee"})
"""Roles of amounts that may also be described with words of the role ``fare``, such as *price*."""
PAST_OR_NOW = frozenset({"charge", "paid"})
"""Roles of a charged amount if the words do not show when it was charged, as in ``$90 was charged to your card``."""
_PAID_BACK = frozenset({"refund", "paid"})
"""Roles of an amount that is described both as paid by the customer and as a refund."""
_OPPOSITE = MappingProxyType({"refund": "charge", "charge": "refund"})


class Statement(NamedTuple):
    """A value, and the normalized text that contains it."""

    text: str
    value: Value

    @property
    def attitude(self) -> str:
        """Attitude of the text toward the value; see `trace_gym.statements.claims.attitude`."""
        return attitude(self.text, self.value)

    @property
    def roles(self) -> frozenset[str]:
        """The roles of the value, including its unit if the unit is in `CONTEXT`; empty if the role is unknown."""
        unit = self.value.unit
        return roles_of(self.text, self.value) | ({unit} if unit in CONTEXT else frozenset())


Matcher = Callable[[Value], bool]


def tells(
    value: str | float,
    candidates: Iterable[str | float],
    said: Sequence[str],
    role: str = "",
    *,
    today: str = "",
    within: float = 0.0,
) -> bool:
    """Return whether messages claim a value and do not claim a competing candidate.

    Args:
        value: A number, an ISO date, a time ``HH:MM``, or a name, id or other phrase.
        candidates: Values that could be mistaken for the correct value. They may include the correct value itself.
        said: The messages.
        role: Role that the messages must give to a number, date or time; one of `ROLES`. Empty for any role.
        today: ISO date of the current day, for words such as ``yesterday``.
        within: Maximum difference between a stated number and the correct number.

    Raises:
        ValueError: The role is unknown, or values of this kind cannot have the role.
    """
    kind, right = read(value)
    if role:
        check_role(role, kind, value)
    if not said:
        return False
    if kind == "phrase":
        return _tells_phrase(str(value), candidates, said)
    stated, sizes = _stated(kind, tuple(said), today)
    if kind == "number" and not within and abs(right) not in sizes:  # type: ignore[arg-type]
        return False
    is_right = _matcher(kind, right, within, role)
    good = [s for s in stated if is_right(s.value)]
    if not good or not any(_claims(s, role) for s in good):
        return False
    if role in _OPPOSITE and any(_contradicts(s, role) for s in good):
        return False
    others = [s for s in stated if not is_right(s.value)]
    if not others:
        return True
    is_candidate = _candidate_matcher(kind, candidates, within)
    competing = [s for s in others if is_candidate(s.value)]
    return not (competing and _compete(competing, good, stated, role))


@lru_cache(maxsize=256)
def _stated(kind: str, said: tuple[str, ...], today: str) -> tuple[tuple[Statement, ...], frozenset[float]]:
    """Return all statements of values of a kind, and the absolute values of the numbers among them.

    The result is cached because a verifier looks for many values in the same messages.
    """
    texts = [normalize(text) for text in said]
    found = tuple(Statement(t, v) for t in texts for v in find_values(t, today) if v.kind == kind)
    return found, frozenset(abs(s.value.value) for s in found) if kind == "number" else frozenset()  # type: ignore[arg-type]


def _matcher(kind: str, right: float | str | Day, within: float, role: str) -> Matcher:
    if kind == "number":
        money = role in _MONEY  # a message may state a refund of 381 as -381
        return lambda v: abs(v.value - right) <= within or ((money or v.unit == "money") and abs(v.value) == abs(right))  # type: ignore[operator, arg-type]
    if kind == "date":
        return lambda v: same_day(v.value, right)  # type: ignore[arg-type]
    return lambda v: v.value == right


def _candidate_matcher(kind: str, candidates: Iterable[str | float], within: float) -> Matcher:
    """Return a function that tests whether a value is one of the candidates."""
    listed = [*candidates]
    if kind == "number":
        numbers: list[float] = [c for c in listed if not isinstance(c, str)]
        numbers += [r for k, r in map(read, (c for c in listed if isinstance(c, str))) if k == kind]  # type: ignore[misc]
        if within:
            return lambda v: any(abs(v.value - n) <= within for n in numbers)  # type: ignore[operator]
        return lambda v: v.value in numbers
    wanted = {r for k, r in map(read, listed) if k == kind}
    if kind == "date":
        return lambda v: any(same_day(v.value, r) for r in wanted)  # type: ignore[arg-type]
    return lambda v: v.value in wanted


def _binds(statement: Statement) -> bool:
    """Return whether a statement counts as an error if its value is wrong.

    This is the case for claims, hedges and questions. It is not the case for denials and past values, except for a past
    amount that is described both as paid and as a refund.
    """
    attitude = statement.attitude
    return attitude not in ("denied", "old") or (attitude == "old" and statement.roles >= _PAID_BACK)


def _contradicts(statement: Statement, role: str) -> bool:
    """Return whether a statement describes a refund as a charge, or a charge as a refund.

    A past charge is not a contradiction.
    """
    roles = statement.roles
    return _OPPOSITE[role] in roles and role not in roles and not roles >= PAST_OR_NOW and _binds(statement)


def _claims(statement: Statement, role: str) -> bool:
    """Return whether a statement claims its value as a fact, in a given role if `role` is not empty."""
    attitude = statement.attitude
    if attitude == "old" and role not in ("paid", "booking") and not statement.roles >= _PAID_BACK:
        return False
    if attitude not in ("claimed", "old"):
        return False
    if role in _PRICED and statement.roles - NEUTRAL == {"fare"}:
        return True
    return not role or _fits(statement, role)


def _fits(statement: Statement, role: str) -> bool:
    """Return whether a role is compatible with the roles of a statement. A statement without roles fits every role."""
    if "unavailable" in statement.roles:
        return role == "unavailable"
    if role == statement.value.unit or role in statement.roles:
        return True
    if role == "total":
        return not statement.roles & (CONTEXT | {"fare", "fee"})
    if role in UNITS:
        return not statement.value.unit
    return not statement.roles - NEUTRAL


def _compete(competing: list[Statement], good: list[Statement], stated: Sequence[Statement], role: str) -> bool:
    """Return whether a statement of another candidate competes with the correct value.

    Args:
        competing: Statements of other candidates.
        good: Statements of the correct value.
        stated: All statements of values of the same kind.
        role: Role of the correct value; empty for any role.
    """
    competing = [r for r in competing if _binds(r)]
    if not role and len({r.value.value for r in competing}) >= _MANY and not _are_parts(competing, good, stated):
        return True
    others = [r for r in competing if not _is_elsewhere(r, good, role)]
    if role and others and any(s.attitude == "claimed" and role in s.roles for s in good):
        others = [r for r in others if not _is_incidental(r, good, role)]
    return bool(others) and not _are_parts(others, good, stated)


def _is_elsewhere(candidate: Statement, good: list[Statement], role: str) -> bool:
    """Return whether the text gives a candidate a different role than the correct value."""
    if role in _PER_UNIT and "total" in candidate.roles and any("each" in s.roles for s in good):
        return True
    if role:
        return not _fits(candidate, role) or (role not in _PER_UNIT and "each" in candidate.roles)
    if not candidate.roles & CONTEXT:
        return False
    return any(s.attitude == "claimed" and not s.roles & CONTEXT for s in good)


def _is_incidental(candidate: Statement, good: list[Statement], role: str) -> bool:
    """Return whether a candidate is only additional information next to the correct value."""
    if role in PLACES and candidate.value.kind == "number" and not candidate.roles:
        return is_half(candidate.text, candidate.value, [float(s.value.value) for s in good])  # type: ignore[arg-type]
    if candidate.attitude != "claimed":
        return False
    if candidate.roles >= PAST_OR_NOW:
        return any(s.attitude == "claimed" and role in s.roles and not s.roles >= PAST_OR_NOW for s in good)
    if candidate.value.kind != "number" or candidate.roles - {"total", "money"}:
        return False
    return is_incidental(candidate.text, candidate.value, role)


def _are_parts(competing: list[Statement], good: list[Statement], stated: Sequence[Statement]) -> bool:
    """Return whether all competing candidates are parts of a sum whose total is the correct value."""
    parts: set[Statement] = set()
    for total in good:
        if total.value.kind == "number":
            beside = [s.value for s in stated if s.text == total.text and s.value.kind == "number"]
            parts |= {Statement(total.text, p) for p in parts_of(total.text, total.value, beside)}
    return bool(parts) and all(r in parts for r in competing)


def _tells_phrase(value: str, candidates: Iterable[str | float], said: Sequence[str]) -> bool:
    """Return whether messages claim a name, id or other phrase, and deny all other candidates that they mention."""
    texts = [searched(text) for text in said]
    right = [(t, *place) for t in texts for place in _places(value, t)]
    if not right or not any(attitude_of_words(*place) == "claimed" for place in right):
        return False
    own, everything = read(value), "\n".join(texts)
    for other in {str(c) for c in candidates if read(c) != own}:
        for text in texts if any(s in everything for s in spellings(other)) else ():
            for start, end in _places(other, text):
                covered = any(t == text and s <= start and end <= e and e - s > end - start for t, s, e in right)
                if not covered and attitude_of_words(text, start, end) != "denied":
                    return False
    return True


def _places(phrase: str, text: str) -> list[tuple[int, int]]:
    """Return the spans of a phrase in a text that `searched` returned.

    For a one-line ASCII text, calling `searched` a second time has no effect, so it is skipped.
    """
    return places_in(text, phrase) if text.isascii() and "\n" not in text else find_phrase(phrase, text)
