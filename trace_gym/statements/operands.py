"""Amounts that are operands of a calculation or a comparison: factors, prices before and after, and remainders."""

from __future__ import annotations

import re

_CURRENCY = r"(?: ?(?:dollars|usd))?"
_AMOUNT = r"(?:us\$|usd |\$) ?\d[\d,]*(?:\.\d+)?"
_EVENT = r"(?:charge|payment|deduction|purchase|change|upgrade|update|transaction|booking|bags?)"
_left_behind = re.compile(
    rf"{_CURRENCY} (?:(?:would|will|should|'ll|still|then|also|to) )*"
    r"(?:remain(?:s|ing)?|be (?:left|remaining)|stays?|left)\b"
    r"(?! (?:to (?:pay|be)|due|unpaid|owed|open|payable|outstanding|pending)\b)"
)
_left_before = re.compile(
    rf"\b(?:remain\w*|left|leav\w+|balance)(?: \w+){{0,3}}? (?:after|following)(?: (?:this|the|that|your|both|such))*"
    rf"(?: \w+)? {_EVENT}s?(?: (?:is|would be|will be|of|at))?[\s:|=>-]*(?:us)?\$? ?$"
)
_factor = re.compile(rf"{_CURRENCY} ?(?:x|times|multiplied by) ?\d{{1,2}}\b(?!\d|\.\d)")
_minuend = re.compile(rf"{_CURRENCY} ?(?:-|minus|less) ?\(?{_AMOUNT}{_CURRENCY}\)?(?= ?(?:=|\)|$|\.(?!\d)))")
_minus = re.compile(rf"{_AMOUNT}{_CURRENCY} ?(?:-|minus|less) ?\(?$")
_result = re.compile(rf"{_CURRENCY}\)? ?(?:=|\))")
_versus = re.compile(
    rf"{_CURRENCY} ?(?:versus|vs\.?|compared (?:to|with)|instead of|rather than) (?:the |your )*{_AMOUNT}"
)
_COMPARED = r"(?:versus|vs\.?|compared (?:to|with)|instead of|rather than) (?:the |your )*"
_compared_behind = re.compile(rf"{_CURRENCY} ?{_COMPARED}(?:us)?\$? ?\d")
_compared_before = re.compile(rf"\d{_CURRENCY} ?{_COMPARED}$")
_arrow_behind = re.compile(rf"{_CURRENCY} ?-+> ?{_AMOUNT}")
_arrow_before = re.compile(rf"{_AMOUNT}{_CURRENCY} ?-+> ?$")
_cabin = re.compile(r"\b(?:economy|business|first)(?: class)? ?\($")


def is_left_over(text: str, start: int, end: int) -> bool:
    """Return whether an amount is a remaining balance, as in ``After this charge, $467 would remain``."""
    if _left_behind.match(text, end):
        return True
    return _left_before.search(text, max(0, start - 80), start) is not None


def is_factor(text: str, end: int) -> bool:
    """Return whether an amount is multiplied by a count after it, as in ``$163 x 4 = $652``."""
    return _factor.match(text, end) is not None


def is_price(text: str, start: int, end: int) -> bool:
    """Return whether an amount is the price before or after a change, and not the cost of the change.

    For example, the first two amounts of ``$416 - $213 = $203``, both amounts of ``$213 -> $416``, and the first amount
    of ``$416 versus $213`` are prices.
    """
    before = text[max(0, start - 40) : start].removesuffix("$").removesuffix("us")
    if _minuend.match(text, end) or _versus.match(text, end) or _arrow_behind.match(text, end):
        return True
    if _minus.search(before) and _result.match(text, end):
        return True
    return _arrow_before.search(before) is not None or _cabin.search(before) is not None


def is_compared(text: str, start: int, end: int) -> bool:
    """Return whether an amount is one of two prices that are compared, as in ``$203 more (416 instead of 213)``."""
    before = text[max(0, start - 40) : start].removesuffix("$").removesuffix("us")
    return _compared_behind.match(text, end) is not None or _compared_before.search(before) is not None
