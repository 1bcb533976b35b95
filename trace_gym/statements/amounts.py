"""Patterns and parsers for numbers in English text: digits with separators, number words, currencies and units."""

from __future__ import annotations

_SMALL = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_WORDS = tuple([(w, n) for n, w in enumerate(_SMALL)] + [(w, 10 * n) for n, w in enumerate(_TENS, 2)])
_UNITS = "|".join(sorted((w for w, _ in _WORDS), key=len, reverse=True))
_SCALES = "hundred|thousand|dozen"

DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3})+,\d{2}|\d+,\d{2}(?![\d,])|\d+(?:\.\d+)?"
"""Pattern of digits with separators: ``1,234.50``, ``1.234,50``, ``350,00``, ``1234.5``."""
SPELLED = (
    rf"\b(?:(?:{_UNITS})(?:[- ](?:and )?(?:{_UNITS}|{_SCALES}))*|an? (?:{_SCALES})(?: (?:and )?(?:{_UNITS}|{_SCALES}))*"
    rf"|a couple of|a pair of|both(?: of)?)\b"
)
"""Pattern of a number in words: ``one hundred and fifty``, ``a dozen``, ``both``."""
FIRST_WORDS = "|".join(
    [*(w for w, _ in _WORDS), "a hundred", "a thousand", "a dozen", "a couple of", "a pair of", "both"]
)
"""Pattern of the first word of a spelled-out number."""
MONEY = r"(?:(?:us )?dollars?|bucks|usd|eur|euros?|gbp|\$|\u20ac|\u00a3)(?!\w)"
PERCENT = r"(?:%|per ?cent\b|percentage points?\b)"
DURATION = r"(?:(?:business |working |full )?(?:minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|nights?))\b"
COUNTED = (
    r"(?:(?:more|free|extra|paid|checked|additional|other|new|different|total|of your|of the|of these|pieces? of)[ ])"
    r"{0,3}(?:bags?|suitcases?|luggage|baggage|pieces?|passengers?|people|persons?|travell?ers?|adults?|seats?|"
    r"tickets?|items?|orders?|flights?|legs?|stops?|reservations?|bookings?|trips?|rooms?|units?|times|"
    r"pounds?|lbs?|kg|kilos?)\b"
)
UNIT = rf"(?:\s?-?(?:(?P<money>{MONEY})|(?P<percent>{PERCENT})|(?P<duration>{DURATION})|(?P<count>{COUNTED})))?"
NUMBER = (
    r"(?<![\w#@])(?<![a-z_][-./:@])(?<!\d[.,/:])(?P<sign>-)?(?P<currency>us\$|[$\u20ac\u00a3]|(?:usd|eur|gbp)\s?)?"
    rf"\s?(?P<minus>-)?(?P<digits>{DIGITS})(?P<thousands>k\b)?"
    rf"(?:(?=\s?(?:{MONEY}|{PERCENT}|{DURATION}|{COUNTED}|\u00b0|km\b|mi\b|[cfm]\b))|"
    rf"(?![\w%]))(?![.,/:]?\d)(?!-[a-z]{{2}}\d)"
)


def number_of(digits: str) -> float:
    """Parse a number that is written in digits with separators."""
    whole, comma, cents = digits.rpartition(",")
    if comma and len(cents) == 2:  # a decimal comma, as in ``1.234,50``
        return float(f"{whole.replace('.', '')}.{cents}")
    return float(digits.replace(",", "") if comma else digits)


def number_in_words(text: str) -> float:
    """Parse a number that is written in English words."""
    if text.startswith(("a couple", "a pair", "both")):
        return 2.0
    table = dict(_WORDS)
    total = part = 0
    for word in text.replace("-", " ").split():
        if word == "thousand":
            total, part = total + 1000 * max(part, 1), 0
        elif word in ("hundred", "dozen"):
            part = (100 if word == "hundred" else 12) * max(part, 1)
        elif word in table:
            part += table[word]
    return float(total + part)


def is_plain_count(text: str) -> bool:
    """Return whether a number word, such as ``one`` or ``both``, is very common.

    Such a word is treated as a number only if a unit follows.
    """
    return text.startswith(("a couple", "a pair", "both")) or text in _SMALL[:13]
