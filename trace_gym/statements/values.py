"""Search for the values in a text: numbers with units, dates and times of day."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from trace_gym.statements import amounts, calendar
from trace_gym.statements.calendar import Day
from trace_gym.statements.text import normalize

ValueKind = Literal["number", "date", "time"]

_DIGITS_OF = ("ending in ", "ending with ", "ends in ", "ends with ", "digits ")
"""Words before the last digits of a card number.

In `your card ending in 5732 and 672 dollars`, the digits after such words do not share the unit of the next number.
"""


class Value(NamedTuple):
    """A value and its span in the normalized text."""

    kind: ValueKind
    value: float | str | Day
    """A number, a time ``HH:MM``, or a day."""
    unit: str
    """Unit of a number: ``money``, ``percent``, ``duration``, ``count``, or ``""`` if there is none."""
    start: int
    end: int


_formats = {
    "iso": calendar.ISO,
    "slashed": calendar.SLASHED,
    "dotted": calendar.DOTTED,
    "time": calendar.TIME,
    "month": calendar.MONTH_FIRST,
    "dayfirst": calendar.DAY_FIRST,
    "day": calendar.DAY_ONLY,
    "number": amounts.NUMBER + amounts.UNIT,
    "words": amounts.SPELLED + re.sub(r"\?P<(\w+)>", r"?P<w_\1>", amounts.UNIT),
}
_scan = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _formats.items()))
_digits = re.compile(r"\d+")
_in_front = re.compile(
    rf"(?:{calendar.MONTH}\s*(?:the )?|\bon the |(?:us\$|[$\u20ac\u00a3]|\b(?:usd|eur|gbp))\s?-?|-)$"
)
_front_words = "jan feb mar apr may jun jul aug sep oct nov dec the us$ $ $- \u20ac \u00a3 usd eur gbp -"
_FRONT = frozenset(_front_words.split())
"""First three letters of the words that can begin a value with digits."""
_words = re.compile(rf"{amounts.FIRST_WORDS}|noon|midnight")
_relative = re.compile(calendar.RELATIVE)
_cents = re.compile(r"\s?(?:and )?(\d\d?) cents\b")
_joined = re.compile(r"\s?(?:-|to|or|and|,)\s?(?:or |and )?")
_UNITS = ("money", "percent", "duration", "count")


def find_values(text: str, today: str = "") -> tuple[Value, ...]:
    """Return the numbers, dates and times of a text, in order.

    Args:
        text: The text.
        today: ISO date of the current day, for words such as ``yesterday`` and ``Friday``. If it is empty, such words
            are ignored.
    """
    return _find(normalize(text), today)


@lru_cache(maxsize=4096)
def _find(text: str, today: str) -> tuple[Value, ...]:
    found: list[Value] = []
    for start in _starts(text):
        if not found or start >= found[-1].end:  # the cents of an amount are part of it
            match = _scan.match(text, start)
            found += _read(match, text) if match else []
    for n, (value, after) in enumerate(pairwise(found)):
        shared = after.unit and not value.unit and value.kind == "number"
        if shared and _joined.fullmatch(text, value.end, after.start) and not text[: value.start].endswith(_DIGITS_OF):
            found[n] = value._replace(unit=after.unit)  # as in ``5 to 7 days``
    if today:
        for match in _relative.finditer(text):
            day = calendar.relative_day(match[0], today)
            found.append(Value("date", day, "", match.start(), match.end()))
        found.sort(key=lambda v: v.start)
    return tuple(found)


def values_between(text: str, kind: ValueKind, start: int, end: int) -> tuple[Value, ...]:
    """Return the values of a kind that begin between two positions of a normalized text."""
    found = _of_kind(text, kind)
    low, high = (bisect_left(found, at, key=lambda v: v.start) for at in (start, end))
    return found[low:high]


@lru_cache(maxsize=1024)
def _of_kind(text: str, kind: ValueKind) -> tuple[Value, ...]:
    return tuple(v for v in _find(text, "") if v.kind == kind)


def _starts(text: str) -> list[int]:
    """Return the positions where values can begin, in order.

    Matching the pattern only at these positions is faster than searching for it in the whole text.
    """
    found = [m.start() for m in _words.finditer(text)]
    for match in _digits.finditer(text):
        at = match.start()
        words = text[max(0, at - 16) : at].split()
        if words and words[-1].lstrip("(")[:3] in _FRONT and (front := _in_front.search(text, max(0, at - 16), at)):
            found += [front.start(), at]
        elif not (at and (text[at - 1].isalnum() or text[at - 1] in "_#@")):
            found.append(at)
    return sorted(found)


def _read(match: re.Match[str], text: str) -> list[Value]:
    kind, (start, end) = str(match.lastgroup), match.span()
    match kind:
        case "number" | "words":
            return _number(match, kind, text)
        case "time":
            clock = calendar.clock_of(match[0])
            return [Value("time", clock, "", start, end)] if clock else []
        case "iso" if stamp := match["stamp"]:
            day = calendar.days_of(kind, match[0][: match.start("stamp") - start])
            at = Value("time", calendar.clock_of(stamp), "", match.start("stamp"), end)
            return [*(Value("date", d, "", start, match.start("stamp")) for d in day), at]
    more = match["more"] or "" if kind == "month" else ""
    return [Value("date", d, "", start, end) for d in calendar.days_of(kind, match[0], more)]


def _number(match: re.Match[str], kind: str, text: str) -> list[Value]:
    start, end = match.span()
    prefix = "" if kind == "number" else "w_"
    unit = next((u for u in _UNITS if match[prefix + u]), "")
    if kind == "words":
        spelled = match[0][: match.start(prefix + unit) - start] if unit else match[0]
        spelled = spelled.strip(" -")
        if not unit and amounts.is_plain_count(spelled):
            return []
        number = amounts.number_in_words(spelled)
    else:
        number = amounts.number_of(match["digits"]) * (1000 if match["thousands"] else 1)
        number = -number if match["sign"] or match["minus"] else number
        unit = "money" if match["currency"] else unit
    if unit == "money" and (cents := _cents.match(text, end)):
        number, end = number + int(cents[1]) / 100, cents.end()
    return [Value("number", number, unit, start, end)]
