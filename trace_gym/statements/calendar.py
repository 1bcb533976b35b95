"""Patterns and parsers for dates and times of day in English text."""

from __future__ import annotations

import re
from datetime import date, timedelta

Day = tuple[int | None, int | None, int]
"""Year, month and day. The year or the month is None if the text omits it."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_ORDINAL = r"(?:st|nd|rd|th)?"
_END = r"(?![\w])(?![.,:/-]\d)"
_MORE = (
    rf"(?P<more>(?:\s*(?:,|-|/|to|or|and|&|through)\s*(?:or |and )?(?:the )?\d{{1,2}}{_ORDINAL}{_END}"
    r"(?!\s*(?:[ap]\.?m\b|%|\$))(?!\s+(?!and\b|or\b|to\b|at\b|in\b|is\b|was\b|are\b|the\b|as\b|but\b|of\b|"
    r"not\b)[a-z]))*)"
)
_HALF = r"\s?[ap]\.?m\b\.?|\s(?:in the (?:morning|afternoon|evening)|at night)\b"
_CLOCK = r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?"

ISO = (
    r"(?<![\w.-])\d{4}(?P<mark>[-/.])\d{1,2}(?P=mark)\d{1,2}"
    rf"(?:(?:t| (?:at )?|, )(?P<stamp>{_CLOCK}(?:{_HALF})?)(?:z|[+-]\d\d:?\d\d)?)?(?![\d:])"
)
SLASHED = r"(?<![\w./-])\d{1,2}/\d{1,2}(?:/(?:\d{4}|\d{2}))?(?![\w/])|(?<![\w./-])\d{1,2}-\d{1,2}-\d{4}(?![\w/-])"
DOTTED = r"(?<![\w./-])\d{1,2}\.\d{1,2}\.\d{4}(?![\w/])"
MONTH_FIRST = (
    rf"\b{MONTH}\s*(?:the )?\d{{1,2}}{_ORDINAL}(?:,? ?(?:of )?(?:19|20)\d\d\b(?!\s*(?:hours|hrs)))?{_END}{_MORE}"
)
DAY_FIRST = (
    rf"(?<![\w.:/$-])\d{{1,2}}{_ORDINAL}(?:\s*(?:or|and|to|-|/)\s*(?:the )?\d{{1,2}}{_ORDINAL})?"
    rf"(?: of|-)?\s*\b{MONTH}(?:,?[ -](?:19|20)\d\d\b)?"
)
DAY_ONLY = r"\bon the \d{1,2}(?:st|nd|rd|th)\b(?! of\b(?! (?:this|the|that|last|next) month))"
TIME = (
    rf"(?<![\w.:/$-]){_CLOCK}(?P<half>{_HALF})?(?![\w:])"
    rf"|(?<![\w.:/$-])\d{{1,2}}(?:[.h][0-5]\d)?(?:\s?o'clock)?(?P<half2>{_HALF})"
    r"|(?<![\w.:/$-])(?:[01]?\d|2[0-3])h[0-5]\d\b|(?<![\w.:/$-])(?:[01]\d|2[0-3])[0-5]\d\s?(?:hours|hrs)\b"
    r"|\bnoon\b|\bmidnight\b"
)
RELATIVE = rf"\b(?:today|tomorrow|yesterday|(?:(?:this|next|last|on|coming) )?(?:{'|'.join(_WEEKDAYS)}))\b"


def days_of(kind: str, text: str, more: str = "") -> list[Day]:
    """Return the valid days in a written date. For example, ``May 12 or 13`` contains two days.

    Args:
        kind: Format of the date, such as ``iso`` or ``slashed``.
        text: The written date.
        more: The end of the text, if it contains further days of the same month, such as ``or 13``.
    """
    numbers = [int(n) for n in re.findall(r"\d+", text[: len(text) - len(more)])]
    match kind:
        case "iso":
            found: list[Day] = [(numbers[0], numbers[1], numbers[2])]
        case "slashed":
            month, on, *rest = numbers
            year = (rest[0] if rest[0] > 99 else 2000 + rest[0]) if rest else None
            found = [(year, on, month) if month > 12 else (year, month, on)]
        case "dotted":
            found = [(numbers[2], numbers[1], numbers[0])]
        case "day":
            found = [(None, None, numbers[0])]
        case _:
            year = numbers.pop() if numbers[-1] > 999 else None
            letters = re.findall(rf"(?<![a-z]){MONTH}", text)
            number = _MONTHS.index(letters[0][:3]) + 1
            found = [(year, number, on) for on in (*numbers, *(int(n) for n in re.findall(r"\d+", more)))]
    return [d for d in found if _exists(d)]


def relative_day(text: str, today: str) -> Day:
    """Return the day to which a word such as ``yesterday`` or ``Friday`` refers, given the ISO date `today`."""
    now = date.fromisoformat(today[:10])
    word = text.split()[-1]
    if word in _WEEKDAYS:
        ahead = (_WEEKDAYS.index(word) - now.weekday()) % 7
        if text.startswith("next") and not ahead:
            ahead = 7
        then = now + timedelta(days=ahead - 7 if text.startswith("last") else ahead)
    else:
        then = now + timedelta(days=("yesterday", "today", "tomorrow").index(word) - 1)
    return then.year, then.month, then.day


def clock_of(text: str) -> str:
    """Return a time of day as ``HH:MM``, or ``""`` if the time is invalid."""
    if text in ("noon", "midnight"):
        return "12:00" if text == "noon" else "00:00"
    numbers = re.findall(r"\d+", text)
    if len(numbers[0]) == 4:
        numbers = [numbers[0][:2], numbers[0][2:]]
    hour, minute = int(numbers[0]), int(numbers[1]) if len(numbers) > 1 else 0
    afternoon = re.search(r"p\.?m|afternoon|evening|night", text)
    morning = re.search(r"a\.?m\b|morning", text)
    if (afternoon or morning) and hour <= 12:
        hour = hour % 12 + (12 if afternoon else 0)
    return f"{hour:02d}:{minute:02d}" if hour < 24 and minute < 60 else ""


def same_day(stated: Day, wanted: Day) -> bool:
    """Return whether a stated date is compatible with a wanted date. The stated date may omit the year or the month."""
    return all(a is None or a == b for a, b in zip(stated, wanted, strict=True))


def _exists(day: Day) -> bool:
    try:
        date(day[0] or 2024, day[1] or 1, day[2])
    except ValueError:
        return False
    return True
