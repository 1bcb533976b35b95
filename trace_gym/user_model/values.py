"""Values that a user mentions (ids, dates, times, amounts, names and quotations), however they are written."""

from __future__ import annotations

import calendar
import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

_MONTHS = tuple(calendar.month_name[1:])
_DAYS = tuple(calendar.day_name)
_RELATIVE = ("today", "tomorrow", "yesterday", "tonight", "noon", "midnight")
_ONES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
         "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBERS = {word: n for n, word in enumerate(_ONES) if n > 1} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
"""Values of spelled-out numbers, except ``zero`` and ``one``, which are rarely amounts (``one more thing``)."""
_PLAIN = {"I", "OK", "ID", "PS", "PM", "AM", *_MONTHS, *_DAYS}
"""Capitalized words that are not names."""

_MONTH = rf"(?P<{{0}}>{'|'.join(m[:3] for m in _MONTHS)})[a-z]*\.?"
_QUOTE = re.compile(r'"([^"]+)"')
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_DATE = re.compile(
    r"\b(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)(?=\b|T)"
    r"|\b(?P<m2>\d{1,2})/(?P<d2>\d{1,2})/(?P<y2>\d{4})\b"
    rf"|\b{_MONTH.format('m3')} (?:the )?(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?(?:,? (?P<y3>\d{{4}}))?\b"
    rf"|\b(?P<d4>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?{_MONTH.format('m4')}(?:,? (?P<y4>\d{{4}}))?\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\b(?P<h>\d{1,2}):(?P<min>\d\d)(?::\d\d)?\s?(?P<half>[ap]\.?m\b\.?)?|\b(?P<h2>\d{1,2})\s?(?P<half2>[ap]\.?m\b\.?)",
    re.IGNORECASE,
)
_PHONE = re.compile(r"\+\d[\d ().-]{5,}\d|\(?\b\d{3}\)?[ .-]\d{3}[ .-]\d{4}\b")
_ID = re.compile(r"#?\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z_])[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*\b")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_NAME = re.compile(r"[^\W\d_][\w'-]*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n]\s+|[\"(]\s*)$")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)", re.IGNORECASE)


_ASCII = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-")
)


class MentionedValue(NamedTuple):
    """A value that a text contains."""

    kind: str
    """``quotation``, ``email``, ``date``, ``year``, ``time``, ``phone``, ``id``, ``number``, ``day`` or ``name``."""
    value: str
    """Canonical form, which is the same for all spellings of a value."""
    shown: str
    """The value as it is written in the text."""


def normalize(text: str) -> str:
    """Return a text with ASCII quotes, dashes and spaces, and without Markdown emphasis."""
    plain = unicodedata.normalize("NFKC", text).translate(_ASCII)
    return " ".join(re.sub(r"[*`]", "", plain).split())


def values(text: str) -> list[MentionedValue]:
    """Return the values of a text."""
    text = normalize(text)
    found: list[MentionedValue] = []
    for match in _QUOTE.finditer(text):
        found.append(MentionedValue("quotation", match[1].strip(" .,!?").casefold(), match[0]))
    text = _QUOTE.sub(lambda m: " " * len(m[0]), text)
    for pattern, read in _READERS:
        for match in pattern.finditer(text):
            if read_values := read(match):
                found += read_values
                text = f"{text[: match.start()]}{' ' * len(match[0])}{text[match.end() :]}"
    return [*found, *_numbers(text), *_words(text)]


def words_of(text: str) -> set[str]:
    """Return the words of a text in lowercase."""
    return {word.casefold().removesuffix("'s") for word in _NAME.findall(normalize(text))}


def _as_email(match: re.Match[str]) -> list[MentionedValue]:
    return [MentionedValue("email", match[0].casefold(), match[0])]


def _as_date(match: re.Match[str]) -> list[MentionedValue]:
    part = {key.rstrip("234"): text for key, text in match.groupdict().items() if text}
    month = part["m"].lower()
    number = int(month) if month.isdigit() else [m[:3].lower() for m in _MONTHS].index(month[:3]) + 1
    if not (1 <= number <= 12 and 1 <= int(part["d"]) <= 31):
        return []
    year = [MentionedValue("year", part["y"], match[0])] if "y" in part else []
    return [MentionedValue("date", f"{number:02}-{int(part['d']):02}", match[0]), *year]


def _as_time(match: re.Match[str]) -> list[MentionedValue]:
    hour, minute = int(match["h"] or match["h2"]), int(match["min"] or 0)
    half = (match["half"] or match["half2"] or "")[:1].lower()
    if hour > 24 or minute > 59:
        return []
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return [MentionedValue("time", f"{hour:02}:{minute:02}", match[0])]


def _as_phone(match: re.Match[str]) -> list[MentionedValue]:
    return [MentionedValue("phone", re.sub(r"\D", "", match[0])[-10:], match[0])]


def _as_id(match: re.Match[str]) -> list[MentionedValue]:
    if _ORDINAL.fullmatch(match[0]):
        return []
    return [MentionedValue("id", match[0].lstrip("#").casefold(), match[0])]


def _numbers(text: str) -> Iterator[MentionedValue]:
    for match in _NUMBER.finditer(text):
        yield MentionedValue("number", f"{float(match[0].replace(',', '')):g}", match[0])
    total: float = 0
    shown: list[str] = []
    for word in [*re.findall(r"[a-z]+|[^a-z\s]", text.lower()), "."]:
        if word in _NUMBERS or (shown and word in ("hundred", "one")):
            total = total * 100 if word == "hundred" else total + _NUMBERS.get(word, 1)
            shown.append(word)
        elif shown and word not in ("-", "and"):
            yield MentionedValue("number", f"{total:g}", " ".join(shown))
            total, shown = 0, []


def _words(text: str) -> Iterator[MentionedValue]:
    """Yield weekdays, relative days such as ``tomorrow``, and names, which are capitalized words inside a sentence."""
    for match in _NAME.finditer(text):
        word = match[0].removesuffix("'s")
        starts = _SENTENCE_START.search(text[: match.start()])
        if word.title() in _DAYS or word.lower() in _RELATIVE:
            yield MentionedValue("day", word.lower(), word)
        elif word[0].isupper() and word.split("'")[0] not in _PLAIN and not starts:
            yield MentionedValue("name", word.casefold(), word)


_READERS = ((_EMAIL, _as_email), (_DATE, _as_date), (_TIME, _as_time), (_PHONE, _as_phone), (_ID, _as_id))
"""Patterns and parsers of values, in order of precedence.

Matches are removed from the text before the next pattern is used, so that the digits in a date do not also count as a
number.
"""
