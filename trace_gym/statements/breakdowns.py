"""Detection of incidental numbers: items of a breakdown, terms of a sum, and the second number of a coordinate pair.

A message may state such numbers next to the correct value. They do not count as competing values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from trace_gym.statements.cues import CUES, NEUTRAL
from trace_gym.statements.roles import LIST_WORDS, roles_of
from trace_gym.statements.text import sentence_at
from trace_gym.statements.values import Value, values_between

_ID = (
    r"(?:#?w\d{5,}|(?=[a-z]*\d|\d+[a-z])[a-z\d]{5,8}|(?:trip|reservation|booking|order|flight|ticket) (?:to )?#?\w+|"
    r"\b[a-z]{3} ?(?:->|to|-) ?[a-z]{3}\b)"
)
_NOT_ID = (
    r"(?!amount|refund|charge|change|credit|return|result|answer|actual|really|second|option|either|rather|though|"
    r"others?\b|instead|maybe|perhaps|or\b|total|travel|cancel|flight|people|adults|nights|review|orders|upgrad)"
)
_labelled = re.compile(
    rf"(?<![\w])(?:{_ID}|{_NOT_ID}[a-z]{{6}}(?=\s?[:(|=]| at\b| is\b|"
    rf" was\b))(?:\s?\([^()\n]{{0,60}}\))?\s*(?:[:|=(>-]+|is|was|at|for|cost)?[\s|:$-]*(?:us\$|usd|\$)?\s*$"
)
_row = re.compile(
    rf"(?:^|\n)[\s|>\u2022-]*(?:\d{{1,2}}[.)]\s+)?(?:(?:trip|reservation|booking|order|flight)\s+)?"
    rf"(?:{_ID}|{_NOT_ID}[a-z\d]{{6}})(?=\s*[:|(,>-])[^\n]{{0,100}}$"
)
_named_behind = re.compile(
    rf"\s?(?:dollars|usd)?\s*(?:for|on|\(|\[|from)\s*(?:the |your )?(?:trip |reservation |booking |order )?"
    rf"(?:{_ID}\b|{_NOT_ID}[a-z]{{6}}\b)"
)
_doubt = re.compile(
    r"\b(?:or|otherwise|alternatively|maybe|perhaps|actually|correction|rather|instead|sorry|wait|else|i mean|"
    r"possibly|could|might|may be|if|no)\b(?!\.)"
)
_plus_behind = re.compile(r"(?:\s?(?:dollars|usd))?(?:\s?\([^()\n]{0,60}\))?\s*(?:\+|\bplus\b|x\s?\d|x\s?\$)")
_plus_before = re.compile(r"(?:\+|\bplus|\dx|\d\sx|\)\sx)\s*\(?$")
_gap = re.compile(rf"(?:{LIST_WORDS}|\b{_NOT_ID}[a-z]{{6}}\b){{0,40}}")
_pair = re.compile(r"[\s,;/()\u00b0nsew]*-?")
_HEADER = 160
"""Maximum number of characters between a list and its header."""
_NEAR_TERMS = 400
"""Maximum number of characters between a term of a sum and its result."""
_NEAR = 24
"""Maximum number of characters between the two coordinates of a pair."""
PLACES = frozenset({"longitude", "latitude"})
"""Roles of coordinates. Messages often state two coordinates as a pair, without words that indicate their roles."""
_LENGTH = 1000
"""Maximum length of a list in characters."""
_MOST = 40
"""Maximum number of values in a list."""


def is_incidental(text: str, number: Value, role: str) -> bool:
    """Return whether a number without a role only adds information to the correct value.

    Args:
        text: The normalized text.
        number: A number in the text that has no role.
        role: Role of the correct value in the text.
    """
    if _is_doubted(text, number) or _inherits(text, number, role) or _leads(text, number, role):
        return False
    if _is_term(text, number):
        return True
    if "total" in roles_of(text, number):
        return _is_sum(text, number) or _is_result(text, number)
    return _is_item(text, number)


def is_half(text: str, value: Value, right: Iterable[float]) -> bool:
    """Return whether a number is the other number of a coordinate pair such as ``42.989, -89.353``.

    Args:
        text: The normalized text.
        value: The number.
        right: The correct numbers.
    """
    halves = {abs(number) for number in right}
    for other in values_between(text, "number", value.start - _NEAR, value.end + _NEAR):
        first, second = sorted((value, other), key=lambda v: v.start)
        free = abs(float(other.value)) in halves and not roles_of(text, other) & PLACES  # type: ignore[arg-type]
        if free and first != second and _pair.fullmatch(text, first.end, second.start):
            return True
    return False


def _is_doubted(text: str, value: Value) -> bool:
    """Return whether a word of doubt or correction, such as ``maybe`` or ``instead``, comes before a value."""
    start, _ = sentence_at(text, value.start)
    return _doubt.search(text, max(start, value.start - _HEADER), value.start) is not None


@lru_cache(maxsize=4096)
def _is_item(text: str, value: Value) -> bool:
    """Return whether a number belongs to a trip, order or flight with an id, as in ``$880 for EXASU6``."""
    low = max(0, value.start - 120)
    before = text[low : value.start]
    if _labelled.search(before) or _named_behind.match(text, value.end, value.end + 60):
        return True
    return _row.search(before) is not None


def _is_result(text: str, value: Value) -> bool:
    """Return whether a number is the result of a sum in a list item, as in ``- EXASU6: $400 + $480 = $880``."""
    before = text[max(0, value.start - 120) : value.start]
    return before.rstrip().endswith("=") and _row.search(before) is not None


def _is_term(text: str, value: Value) -> bool:
    """Return whether a number is a term of a sum or product whose result is stated, as in ``880 + 888 = 1768``."""
    end = min(sentence_at(text, value.start)[1], value.end + _NEAR_TERMS)
    if text.find("=", value.end, end) < 0:
        return False
    before = text[max(0, value.start - 12) : value.start]
    return _plus_behind.match(text, value.end, end) is not None or _plus_before.search(before) is not None


def _is_sum(text: str, total: Value) -> bool:
    """Return whether a number is the total of the items or terms before it."""
    found = [v for v in _before(text, total) if v.unit in ("money", "")]
    items = [v for v in found if _is_term(text, v) or _is_item(text, v)]
    left = float(total.value) - sum(float(v.value) for v in items)  # type: ignore[arg-type, misc]
    return len(items) > 1 and abs(left) < 0.005


def _before(text: str, value: Value) -> tuple[Value, ...]:
    """Return the numbers before a value that may belong to the same list."""
    return values_between(text, "number", value.start - _LENGTH, value.start)[-_MOST:]


def _inherits(text: str, value: Value, role: str) -> bool:
    """Return whether a number is in a list whose earlier numbers or header have the requested role."""
    found = _before(text, value)
    for other in found[::-1]:
        if not _gap.fullmatch(text, other.end, value.start):
            if role in roles_of(text, other) and _is_fragment(text, value):
                return True
            return _has_header(text, max(other.end, value.start - _HEADER), value.start, role)
        roles = roles_of(text, other)
        if roles - NEUTRAL:
            return role in roles
        value = other
    return len(found) >= _MOST or _has_header(text, max(0, value.start - _HEADER), value.start, role)


def _leads(text: str, value: Value, role: str) -> bool:
    """Return whether a later number of the list has the requested role, as in ``$8 for A, $9 for B go back``."""
    end = min(sentence_at(text, value.start)[1], value.end + _LENGTH)
    for other in values_between(text, "number", value.end, end)[:_MOST]:
        if not _gap.fullmatch(text, value.end, other.start):
            return False
        if roles_of(text, other) - NEUTRAL:
            return role in roles_of(text, other)
        value = other
    return False


def _is_fragment(text: str, value: Value) -> bool:
    """Return whether a sentence begins with a value, so that it probably continues the previous sentence."""
    start, _ = sentence_at(text, value.start)
    return not text[start : value.start].strip(" \n-*|(")


def _has_header(text: str, start: int, end: int, role: str) -> bool:
    """Return whether a header (a line that ends with a colon, or a table row) has words of the requested role."""
    heads = [line for line in text[start:end].split("\n")[:-1] if line.rstrip().endswith((":", "|"))]
    return role in CUES["number"] and any(CUES["number"][role].search(line) for line in heads)
