"""Near misses: wrong answers that are derived from a reference by a change that suits its type.

Only changes that make the answer wrong in any task are used. Different notations of the same value, such as 7 and 7.0
or a different letter case, are not near misses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from difflib import SequenceMatcher
from fractions import Fraction

from trace_gym.nested import parse_if_json
from trace_gym.validation.third_party.near_misses_of_texts import (
    Change,
    changed_code,
    changed_formula,
    changed_json,
    changed_lines,
    changed_list,
    changed_text,
)

TOLERANCE = 0.05
"""Relative error in a numeric answer that an environment may accept without declaring a tolerance."""
TOLERANCE_OF_INTEGERS = 0.0001
"""The same relative error if all references of the environment are integers, which do not require rounding."""
ESTIMATE = 0.25
"""Relative error that is accepted if the prompt asks for an estimate without specifying a tolerance."""
MAX_NUMBER = 40
"""Maximum length of an answer that is treated as a number."""
OPPOSITES = {"yes": "no", "true": "false", "valid": "invalid", "correct": "incorrect", "positive": "negative"}
OPPOSITES |= {value: key for key, value in OPPOSITES.items()}

_NUMBER = re.compile(
    r"(?P<before>[^\w.+-]{0,3})(?P<value>[-+]?\d[\d,]*(?:\.\d+)?)(?P<after>\s?[^\W\d]{0,12}[%°]?[\d²³]?)"
)
_FRACTION = re.compile(r"(-?\d+)/(\d+)|(-?)\\d?frac\{(\d+)\}\{(\d+)\}")
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_FORMULA = re.compile(r"(?=.*[a-z0-9)] ?[-+*/^=] ?[a-z0-9(])[\w\s.+*/^=(){}\\-]+", re.IGNORECASE)
_CODE = re.compile(r"\b(?:def|class|return|import|function|lambda|print)\b.*[(:;]|\bSELECT\b.*\bFROM\b", re.I | re.S)
_WITHIN = re.compile(r"(?:within|tolerance(?: of)?|accuracy(?: of)?|±|\+/-)\s*(\d+(?:\.\d+)?)\s*(%|percent)?", re.I)
_ESTIMATE = re.compile(r"\b(?:estimat\w*|approximat\w*|roughly|tolerance|within)\b", re.I)


def kind_of(core: str) -> str:
    """Return the type of an answer."""
    if _DATE.fullmatch(core):
        return "date"
    if _FRACTION.fullmatch(core):
        return "fraction"
    if len(core) <= MAX_NUMBER and _NUMBER.fullmatch(core):
        return "number"
    if core.lower() in OPPOSITES:
        return "choice"
    if re.fullmatch(r"\(?[A-Za-z]\)?", core):
        return "choice"
    if isinstance(parse_if_json(core), (dict, list)):
        return "JSON"
    if _CODE.search(core):
        return "code"
    if len([line for line in core.splitlines() if line.strip()]) > 1:
        return "lines"
    if len(re.findall(r"\S ?[,;|] ?\S", core)) > 0 and not re.search(r"[.!?]\s", core):
        return "list"
    if _FORMULA.fullmatch(core) and not re.search(r"[a-z]{6}", core, re.IGNORECASE):
        return "formula"
    return "text"


def near_misses(core: str, others: Sequence[str], prompt: str, tolerance: float | None) -> Iterator[Change]:
    """Yield wrong answers that are similar to a reference.

    Args:
        core: Answer of the reference, without its format.
        others: Answers of other problems.
        prompt: Prompt of the problem, which may state a tolerance and whether the order or the letter case matters.
        tolerance: Relative error that the environment intentionally accepts; None to read it from the prompt.
    """
    kind = kind_of(core)
    if kind == "number":
        exact = all(re.fullmatch(r"-?\d+", text) for text in (core, *others))
        margin = declared_tolerance(core, prompt, exact and len(others) > 0) if tolerance is None else tolerance
        made = list(_changed_number(core, margin))
        others = [other for other in others if _differs(core, other, margin)]
    elif kind == "JSON":
        made = list(changed_json(core))
    else:
        change = {
            "fraction": _changed_fraction,
            "date": _changed_date,
            "choice": _changed_choice,
            "code": changed_code,
            "formula": changed_formula,
        }.get(kind)
        if change is not None:
            made = list(change(core))
        else:
            made = list({"lines": changed_lines, "list": changed_list, "text": changed_text}[kind](core, prompt))
    seen = {comparable(core)}
    if other := nearest(core, others):
        made.append(("the answer to another problem", other))
    for change_name, changed in made:
        if (key := comparable(changed)) not in seen or (change_name == "another letter case" and changed != core):
            seen.add(key)
            yield change_name, changed


def comparable(text: str) -> str:
    """Return a text without differences that a healthy grader may ignore: letter case, white space and articles."""
    return re.sub(r"\b(?:a|an|the)\b|[\s.\"'`]+(?!\d)", "", text.lower())


def nearest(core: str, others: Sequence[str]) -> str | None:
    """Return the most similar answer of another problem; None if every other answer is equivalent."""
    key = comparable(core)
    found = [other for other in dict.fromkeys(others) if comparable(other) != key]
    return max(found, key=lambda other: SequenceMatcher(None, core[:500], other[:500]).ratio(), default=None)


def declared_tolerance(core: str, prompt: str, exact: bool) -> float:
    """Return the relative error that a prompt permits.

    Args:
        core: The number.
        prompt: Prompt of the problem.
        exact: Whether all references are integers.
    """
    value = _value(core)
    if match := _WITHIN.search(prompt):
        amount = Fraction(match[1])
        return float(amount / 100 if match[2] else amount / abs(value) if value else amount)
    if _ESTIMATE.search(prompt):
        return ESTIMATE
    return TOLERANCE_OF_INTEGERS if exact else TOLERANCE


def _value(text: str) -> Fraction | None:
    match = _NUMBER.fullmatch(text.strip()) if len(text) <= MAX_NUMBER + 5 else None
    return Fraction(match["value"].replace(",", "")) if match else None


def _differs(core: str, other: str, margin: float) -> bool:
    a, b = _value(core), _value(other)
    return a is not None and b is not None and abs(a - b) > margin * abs(a) * (1 + 1e-9)


def _changed_number(core: str, margin: float) -> Iterator[Change]:
    match = _NUMBER.fullmatch(core)
    assert match
    text, value = match["value"], Fraction(match["value"].replace(",", ""))
    places = len(text.partition(".")[2])

    def written(number: Fraction, digits: int = places) -> str:
        return f"{match['before']}{float(number):.{digits}f}{match['after']}"

    candidates = [
        ("1 more", written(value + 1)),
        ("1 less", written(value - 1)),
        ("10% more", written(value * 11 / 10)),
        ("10% less", written(value * 9 / 10)),
        ("twice the number", written(value * 2)),
        ("another sign", written(-value)),
        ("the decimal point moved right", written(value * 10)),
        ("the decimal point moved left", written(value / 10, places + 1)),
    ]
    if "." in text:
        candidates.append(("the decimal point removed", f"{match['before']}{text.replace('.', '')}{match['after']}"))
    digits = re.search(r"\d{2,}", text)
    if (
        digits
        and (pair := next((n for n in range(len(digits[0]) - 1) if digits[0][n] != digits[0][n + 1]), None)) is not None
    ):
        n = digits.start() + pair
        swapped = text[:n] + text[n + 1] + text[n] + text[n + 2 :]
        candidates.append(("two digits exchanged", f"{match['before']}{swapped}{match['after']}"))
    if text.isdigit() and text != "0":
        candidates.append(("other digits around it", f"{match['before']}1{text}7{match['after']}"))
    yield from ((change, made) for change, made in candidates if _differs(core, made, margin))


def _changed_fraction(core: str) -> Iterator[Change]:
    match = _FRACTION.fullmatch(core)
    assert match
    above, below = (match[1], match[2]) if match[1] else (match[3] + match[4], match[5])
    a, b = int(above), int(below)
    for change, (c, d) in {
        "the numerator plus its half": (a + max(1, abs(a) // 2), b),
        "another sign": (-a, b),
        "the denominator plus its half": (a, b + max(1, b // 2)),
        "numerator and denominator exchanged": (b, a),
    }.items():
        if d > 0 and b > 0 and c * b != a * d:
            yield change, f"{c}/{d}" if match[1] else f"{'-' * (c < 0)}\\frac{{{abs(c)}}}{{{d}}}"


def _changed_date(core: str) -> Iterator[Change]:
    try:
        day = date.fromisoformat(core)
        yield "the next day", str(day + timedelta(1))
        yield "another month", str(day.replace(day=min(day.day, 28), month=day.month % 12 + 1))
        yield "the next year", str(day.replace(day=min(day.day, 28), year=day.year + 1))
    except (ValueError, OverflowError):
        return


def _changed_choice(core: str) -> Iterator[Change]:
    if opposite := OPPOSITES.get(core.lower()):
        yield "the opposite", opposite.capitalize() if core[0].isupper() else opposite
        return
    letter = re.sub(r"\W", "", core)
    for change, step in (("the next option", 1), ("the option after the next", 2)):
        other = chr((ord(letter.upper()) - 65 + step) % 26 + 65)
        yield change, core.replace(letter, other if letter.isupper() else other.lower())
