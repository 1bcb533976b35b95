"""Alternative notations for values in a message: dates, times, amounts, counts, and identifiers of states.

Each function returns the text with its values in a different common notation. The argument `n` selects the notation,
so that consecutive numbers cover all notations. A value is rewritten only if its kind is unambiguous: a date must be in
ISO 8601 format, an amount must have a currency, and a count must be followed by a noun. The caller masks quoted texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date

Notation = Callable[[str, int, Sequence[str]], str]
"""Function that rewrites a text. Its arguments are the text, the number of the notation, and strings for context."""

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")  # fmt: skip
NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
COUNTED = (
    r"bags?|suitcases?|passengers?|people|persons?|travell?ers?|flights?|days?|nights?|items?|reservations?|trips?|"
    r"orders?|hours?|weeks?|minutes?|rooms?|books?|seats?|stops?|reminders?|messages?|contacts?"
)
CURRENCY = r"dollars?|USD"

_date = re.compile(r"(?<![\w-])(\d{4})-(\d\d)-(\d\d)(?![\w-])")
_stamp = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?")
_time = re.compile(r"(?<![\w:.+-])([01]?\d|2[0-3]):([0-5]\d)(?::00)?(?![\w:]|\.\d| ?[ap]\.?m\b)")
_amount = re.compile(
    rf"(?<![\w$.,-])\$(?P<before>\d[\d,]*(?:\.\d\d?)?)(?![\w,]|\.\d)"
    rf"|(?<![\w$.,-])(?P<after>\d[\d,]*(?:\.\d\d?)?) (?:{CURRENCY})\b"
    r"|(?<=\brefund )(?P<refund>\d[\d,]*(?:\.\d\d?)?)(?![\w,]|\.\d)"
    r"|(?<![\w$.,-])(?P<paid>\d[\d,]*\.\d\d?)(?= paid\b)"
)
_count = re.compile(
    rf"(?<![\w$.,#:/-])(1[0-2]|\d)(?= (?:(?:more|free|checked|paid|extra|other) ){{0,2}}(?:{COUNTED})\b| of them\b)"
)
_label = re.compile(r"(?<![\w@./#-])[a-z]+(?:_[a-z]+)+(?![\w@]|[./-]\w)")
_insurance = re.compile(r"\binsurance (no|yes)\b")


def dates(text: str, n: int, strings: Sequence[str] = ()) -> str:
    """Return the text with ISO dates in a different notation.

    A date is rewritten in words, as 05/12/2024, or, if exactly one timestamp in `strings` falls on that day, as that
    timestamp.
    """

    def replacement(found: re.Match[str]) -> str:
        try:
            day = date(int(found[1]), int(found[2]), int(found[3]))
        except ValueError:
            return found[0]
        month = MONTHS[day.month - 1]
        stamps = [s for s in strings if s.startswith(found[0]) and _stamp.fullmatch(s)]
        forms = (
            f"{month} {day.day}, {day.year}",
            f"{day:%m/%d/%Y}",
            f"{day.day} {month} {day.year}",
            stamps[0] if len(stamps) == 1 else f"{month[:3]} {day.day}, {day.year}",
            f"{month} {_ordinal(day.day)}, {day.year}",
            f"the {_ordinal(day.day)} of {month} {day.year}",
        )
        return forms[n % len(forms)]

    return _date.sub(replacement, text)


def times(text: str, n: int, strings: Sequence[str] = ()) -> str:
    """Return the text with times of the 24-hour clock written with a.m. or p.m."""

    def replacement(found: re.Match[str]) -> str:
        hour, minute = int(found[1]), found[2]
        clock, half = f"{(hour - 1) % 12 + 1}:{minute}", "ap"[hour >= 12]
        return (f"{clock} {half}.m.", f"{clock} {half.upper()}M", f"{clock} {half}m", f"{clock}{half}m")[n % 4]

    return re.sub(r"\b([ap]\.m\.)\.", r"\1", _time.sub(replacement, text))  # no second period after "p.m."


def amounts(text: str, n: int, strings: Sequence[str] = ()) -> str:
    """Return the text with amounts of money as $1,234.50, 1234.5 dollars, 1,234.50 USD, or $1234.50."""

    def replacement(found: re.Match[str]) -> str:
        value = float(next(filter(None, found.groups())).replace(",", ""))
        short = f"{value:g}" if value < 10**6 else f"{value:.2f}"
        unit = "dollar" if value == 1 else "dollars"
        return (f"${value:,.2f}", f"{short} {unit}", f"{value:,.2f} USD", f"${value:.2f}", f"${short}")[n % 5]

    return _amount.sub(replacement, text)


def counts(text: str, n: int, strings: Sequence[str] = ()) -> str:
    """Return the text with counts up to twelve as words, such as "three bags"."""
    return _count.sub(lambda m: NUMBERS[int(m[1])], text)


def labels(text: str, n: int, strings: Sequence[str] = ()) -> str:
    """Return the text with identifiers written as plain words, if `strings` contain these words.

    For example, ``basic_economy`` becomes "basic economy". `strings` contains the first user message and the policy
    text.
    """

    def replacement(found: re.Match[str]) -> str:
        words = found[0].replace("_", " ")
        return words if any(re.search(words, text, re.IGNORECASE) for text in strings) else found[0]

    replaced = _label.sub(replacement, text)
    forms = ({"no": "no insurance", "yes": "insured"}, {"no": "without insurance", "yes": "with insurance"})
    return _insurance.sub(lambda m: forms[n % 2][m[1]], replaced)


NOTATIONS: dict[str, Notation] = {
    "dates": dates,
    "times": times,
    "amounts": amounts,
    "counts": counts,
    "labels": labels,
}

FIXED: dict[str, re.Pattern[str]] = {
    "dates": re.compile(r"YYYY|ISO 8601|ISO format|ISO date|year-month-day", re.I),
    "times": re.compile(r"HH:MM|24-hour (?:clock|format|notation|time)|ISO 8601", re.I),
    "amounts": re.compile(r"without (a |the )?(dollar|currency) sign|bare number|only the number", re.I),
    "counts": re.compile(r"\b(as (a )?(digits?|numerals?)|in (digits|numerals)|bare number|only the number)\b", re.I),
}
"""Patterns of instructions in the first user message or the policy text that require a specific notation. If a pattern
matches, values of this kind are not rewritten."""


def _ordinal(day: int) -> str:
    ending = "th" if 10 <= day % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"
