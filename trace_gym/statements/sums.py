"""Detection of sums in a message, whose parts are stated next to their total."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from trace_gym.statements.roles import roles_of
from trace_gym.statements.text import sentence_at
from trace_gym.statements.values import Value

_equation = re.compile(r"=|\bmakes?\b|\bcomes? to\b|\bis\b|\bso\b|\bfor a\b|:")
_plus = re.compile(r"\+|\bplus\b|\band another\b")
_or = re.compile(r"\bor\b")
_in_total = re.compile(r"(?: dollars)?(?: back)?,? (?:in (?:total|all)|altogether|overall)\b")
_ending = re.compile(r"\bending (?:in|with|on) $")
_equals = re.compile(r"[\s)]*=\s*")
_operator = re.compile(r"[\s)]*(?:[-+x*/]|plus|minus|times)[\s(]*")
_MOST = 8
"""Maximum number of parts of a sum."""


def parts_of(text: str, total: Value, values: Sequence[Value]) -> list[Value]:
    """Return the values from which a total is calculated (as a sum, difference or product), or an empty list.

    The values must be next to the total in the text.

    Args:
        text: The normalized text.
        total: A number in the text.
        values: All numbers in the text.
    """
    if operands := _operands(text, total, values):
        return operands
    same = [v for v in values if v == total or (v.unit in ("money", "") and not _is_label(text, v))]
    at = same.index(total)
    before, behind = same[max(0, at - _MOST) : at][::-1], same[at + 1 : at + 1 + _MOST]
    for side in (before, behind):
        count = _adds_up(side, total)
        listed = side is behind and _is_listed(text, total, side[:count])
        if count and (listed or _is_total(text, total) or _is_added(text, side[:count])):
            return side[:count]
    if "difference" in roles_of(text, total) and _differ_by(before[:2], total):
        return before[:2]
    every = [v for v in values if v.end <= total.start][-2:]
    product = len(every) == 2 and every[0].value * every[1].value == total.value  # type: ignore[operator]
    if product and _equation.search(text, every[1].end, total.start):
        return [v for v in every if v.value != total.value]
    return []


def _differ_by(values: Sequence[Value], total: Value) -> bool:
    """Return whether a total is the difference between the first two values."""
    if len(values) < 2:
        return False
    return bool(abs(abs(values[0].value - values[1].value) - total.value) < 0.005)  # type: ignore[operator]


def _operands(text: str, result: Value, values: Sequence[Value]) -> list[Value]:
    """Return the operands of an expression before its result, as in ``270 - 120 = 150``."""
    found: list[Value] = []
    behind, gap = result, _equals
    for value in reversed([v for v in values if v.end <= result.start][-_MOST:]):
        if not gap.fullmatch(text, value.end, behind.start):
            break
        found.append(value)
        behind, gap = value, _operator
    return found if len(found) > 1 else []


def _adds_up(values: Sequence[Value], total: Value) -> int:
    """Return how many of the first values add up to a total, or 0 if none do."""
    left = total.value
    for count, value in enumerate(values, 1):
        left -= value.value  # type: ignore[operator]
        if abs(left) < 0.005:
            return count if count > 1 else 0
        if left < 0:
            return 0
    return 0


def _is_total(text: str, value: Value) -> bool:
    """Return whether the words next to a number identify it as a total."""
    return "total" in roles_of(text, value) or _in_total.match(text, value.end) is not None


def _is_label(text: str, value: Value) -> bool:
    """Return whether a number identifies a card, as in `your visa ending in 3411`."""
    return _ending.search(text, max(0, value.start - 16), value.start) is not None


def _is_listed(text: str, total: Value, parts: Sequence[Value]) -> bool:
    """Return whether the parts follow the total in the same sentence, as in `598 dollars, 191 to A and 407 to B`."""
    _, end = sentence_at(text, total.start)
    return all(p.end <= end for p in parts) and not _or.search(text, total.end, end)


def _is_added(text: str, parts: Sequence[Value]) -> bool:
    """Return whether plus signs join the parts."""
    places = sorted((p.start, p.end) for p in parts)
    return all(_plus.search(text, end, start) for (_, end), (start, _) in pairwise(places))
