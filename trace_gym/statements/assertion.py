"""Decision whether an agent told a fact: the right value as a claim in its role, and no competing one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from trace_gym.statements.calendar import Day, same_day
from trace_gym.statements.claims import attitude, attitude_of_words
from trace_gym.statements.cues import NEUTRAL, UNITS
from trace_gym.statements.kinds import check_role, read
from trace_gym.statements.phrases import find_phrase, places_in, searched, spellings
from trace_gym.statements.rivals import PLACES, is_aside, is_half
from trace_gym.statements.roles import roles_of
from trace_gym.statements.sums import parts_of
from trace_gym.statements.text import normalize
from trace_gym.statements.values import Value, find_values

CONTEXT = frozenset(
    {"paid", "limit", "balance", "each", "duration", "percent", "unavailable", "today", "deadline", "birth"}
)
"""Roles of values that are told beside an answer. Without a role, such a value does not compete with the answer."""
_MANY = 3
"""From this many distinct candidates on, a message without a role lists candidates, whatever roles it gives them."""
_PER_UNIT = frozenset({"each", "fare", "fee"})
"""Roles of amounts for one person or thing."""
_MONEY = frozenset({"refund", "charge", "paid", "fare", "fee"})
"""Roles of amounts of money, whose sign only shows the direction."""
_PRICED = frozenset({"charge", "fee"})
"""Roles of an amount that may also be called the price."""
PAST_OR_NOW = frozenset({"charge", "paid"})
"""Roles of an amount that was charged, now or in the past: ``$90 was charged to your card``."""
_PAID_BACK = frozenset({"refund", "paid"})
"""Roles of an amount that was paid and goes back."""
_OPPOSITE = MappingProxyType({"refund": "charge", "charge": "refund"})


class Statement(NamedTuple):
    """A value with the text that states it."""

    text: str
    value: Value

    @property
    def attitude(self) -> str:
        return attitude(self.text, self.value)

    @property
    def roles(self) -> frozenset[str]:
        """The roles of the value, its unit included; empty where they are unknown."""
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
    """Return whether messages claim a value and no competing candidate.

    Args:
        value: A number, an ISO date, a time ``HH:MM``, or a name, id or other phrase.
        candidates: Values that could be mistaken for it; the value itself may be among them.
        role: What the value is said to be, one of `ROLES`; applies to numbers, dates and times.
        today: ISO date that words like ``yesterday`` refer to.
        within: How far a stated number may lie from the right one.

    Raises:
        ValueError: The role is unknown, or values of this kind do not have it.
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
    is_rival = _rival_matcher(kind, candidates, within)
    rivals = [s for s in others if is_rival(s.value)]
    return not (rivals and _compete(rivals, good, stated, role))


@lru_cache(maxsize=256)
def _stated(kind: str, said: tuple[str, ...], today: str) -> tuple[tuple[Statement, ...], frozenset[float]]:
    """Return the statements of all values of a kind, and the sizes of numbers.

    A verifier looks for many values in the same messages.
    """
    texts = [normalize(text) for text in said]
    found = tuple(Statement(t, v) for t in texts for v in find_values(t, today) if v.kind == kind)
    return found, frozenset(abs(s.value.value) for s in found) if kind == "number" else frozenset()  # type: ignore[arg-type]


def _matcher(kind: str, right: float | str | Day, within: float, role: str) -> Matcher:
    if kind == "number":
        money = role in _MONEY  # a refund may be told as -381
        return lambda v: abs(v.value - right) <= within or ((money or v.unit == "money") and abs(v.value) == abs(right))  # type: ignore[operator, arg-type]
    if kind == "date":
        return lambda v: same_day(v.value, right)  # type: ignore[arg-type]
    return lambda v: v.value == right


def _rival_matcher(kind: str, candidates: Iterable[str | float], within: float) -> Matcher:
    """Return a function that tells whether a value is one of the candidates."""
    if kind == "number":
        listed = [*candidates]
        rivals = {float(c) for c in listed if not isinstance(c, str)}
        rivals |= {r for k, r in (read(c) for c in listed if isinstance(c, str)) if k == kind}  # type: ignore[misc]
    else:
        rivals = {r for k, r in map(read, candidates) if k == kind}  # type: ignore[misc]
    if kind == "date":
        return lambda v: any(same_day(v.value, r) for r in rivals)  # type: ignore[arg-type]
    if kind == "number" and within:
        return lambda v: any(abs(v.value - r) <= within for r in rivals)  # type: ignore[operator]
    return lambda v: v.value in rivals


def _binds(statement: Statement) -> bool:
    """Whether a statement counts against the agent: a hedge and a question do, a denial and the past do not."""
    attitude = statement.attitude
    return attitude not in ("denied", "old") or (attitude == "old" and statement.roles >= _PAID_BACK)


def _contradicts(statement: Statement, role: str) -> bool:
    """Whether a statement gives a value the opposite direction; what was charged may be a payment of the past."""
    roles = statement.roles
    return _OPPOSITE[role] in roles and role not in roles and not roles >= PAST_OR_NOW and _binds(statement)


def _claims(statement: Statement, role: str) -> bool:
    attitude = statement.attitude
    if attitude == "old" and role not in ("paid", "booking") and not statement.roles >= _PAID_BACK:
        return False
    if attitude not in ("claimed", "old"):
        return False
    if role in _PRICED and statement.roles - NEUTRAL == {"fare"}:
        return True
    return not role or _fits(statement, role)


def _fits(statement: Statement, role: str) -> bool:
    """Whether the roles of a statement allow this one; unknown roles do."""
    if "unavailable" in statement.roles:
        return role == "unavailable"
    if role == statement.value.unit or role in statement.roles:
        return True
    if role == "total":
        return not statement.roles & (CONTEXT | {"fare", "fee"})
    if role in UNITS:
        return not statement.value.unit
    return not statement.roles - NEUTRAL


def _compete(rivals: list[Statement], good: list[Statement], stated: Sequence[Statement], role: str) -> bool:
    """Whether one of the statements of other candidates competes with the right ones."""
    rivals = [r for r in rivals if _binds(r)]
    if not role and len({r.value.value for r in rivals}) >= _MANY and not _are_parts(rivals, good, stated):
        return True
    others = [r for r in rivals if not _is_elsewhere(r, good, role)]
    if role and others and any(s.attitude == "claimed" and role in s.roles for s in good):
        others = [r for r in others if not _is_aside(r, good, role)]
    return bool(others) and not _are_parts(others, good, stated)


def _is_elsewhere(rival: Statement, good: list[Statement], role: str) -> bool:
    """Whether a candidate has clearly another role than the right value."""
    if role in _PER_UNIT and "total" in rival.roles and any("each" in s.roles for s in good):
        return True
    if role:
        return not _fits(rival, role) or (role not in _PER_UNIT and "each" in rival.roles)
    if not rival.roles & CONTEXT:
        return False
    return any(s.attitude == "claimed" and not s.roles & CONTEXT for s in good)


def _is_aside(rival: Statement, good: list[Statement], role: str) -> bool:
    """Whether a candidate is told beside a value whose own words give it the asked role."""
    if role in PLACES and rival.value.kind == "number" and not rival.roles:
        return is_half(rival.text, rival.value, [float(s.value.value) for s in good])  # type: ignore[arg-type]
    if rival.attitude != "claimed":
        return False
    if rival.roles >= PAST_OR_NOW:
        return any(s.attitude == "claimed" and role in s.roles and not s.roles >= PAST_OR_NOW for s in good)
    if rival.value.kind != "number" or rival.roles - {"total", "money"}:
        return False
    return is_aside(rival.text, rival.value, role)


def _are_parts(rivals: list[Statement], good: list[Statement], stated: Sequence[Statement]) -> bool:
    """Whether the candidates are the parts of a sum that has the right value as its total."""
    parts: set[Statement] = set()
    for total in good:
        if total.value.kind == "number":
            beside = [s.value for s in stated if s.text == total.text and s.value.kind == "number"]
            parts |= {Statement(total.text, p) for p in parts_of(total.text, total.value, beside)}
    return bool(parts) and all(r in parts for r in rivals)


def _tells_phrase(value: str, candidates: Iterable[str | float], said: Sequence[str]) -> bool:
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
    """Return the places of a phrase in a searched text. Searching one of one line again does not change it."""
    return places_in(text, phrase) if text.isascii() and "\n" not in text else find_phrase(phrase, text)
