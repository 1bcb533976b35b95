"""Tests that determine whether the words after an amount describe it as refunded, as charged, or as paid at booking."""

from __future__ import annotations

import re

_NOTE = r"(?:\s?\([^()\n]{0,60}\)|\s+-\s[^\d\n;.-]{0,50}\s-\s?(?=\s))?"
_PAID = (
    r"(?:,?\s(?:that |which )?(?:(?:you|was|were|has|have|had|been|we|originally|initially|already|first) )*"
    r"(?:paid|charged|spent|billed)\b)?"
)
_DETAIL = (
    r"(?:(?!\b(?:but|not|only|half|part|none|no|fees?|charge|never)\b|n't)(?:[^,;.()\d\n-]|[a-z]_?\d+|-(?=\w))){0,50}"
)
_NAMED = r"(?:full |whole |entire |same |complete )*(?:amount|sum|total|payment|money|price)"
_WHICH = (
    r"(?:,|\s-+>?|;|\.|:)?\s?(?:(?:all of |the (?:whole|full amount|entirety) of )?which|that|"
    rf"(?:and |so )?(?:(?:all of )?(?:this|that|it)(?: {_NAMED})?|the {_NAMED})|and)?"
)
_AUXILIARY = r"\s?(?:will|is|are|has|have|was|shall|to be|'ll|would)"
_ADVERB = (
    r"(?:\s(?:now|then|also|all|be|been|being|have|going to be|to be|automatically|completely|entirely|fully|again))*"
)
_BACK = (
    r"\s(?:refunded|returned|credited|reimbursed|repaid|(?:sent|given|paid) back|go(?:ing)? back|come back)\b"
    r"(?! (?:only |just |about |a |total |of |the |you )*\$?\d)"
)
_GET_BACK = r" (?:get|receive) (?:it|that|this|all of it|the \w+ amount)(?: all| fully)? back\b"
_IN_FULL = r"(?:full(?:y)?|complete|entire|100%|whole)\s(?:\w+ )?refund"
_refunded = re.compile(
    rf"(?:\s?(?:dollars|usd))?\)?{_NOTE}{_PAID}{_DETAIL}{_NOTE}{_WHICH}{_AUXILIARY}{_ADVERB}{_BACK}"
    rf"|(?:\s?(?:dollars|usd))?{_PAID}{_DETAIL},?(?: and)?(?: you)?(?: will|'ll)?{_GET_BACK}"
    rf"|(?:\s?(?:dollars|usd))?\s(?:was )?paid\s?(?:-+>?|=|:|,|;|\()\s?(?:a |the )?{_IN_FULL}"
)
_goes_back = re.compile(rf"{_AUXILIARY}{_ADVERB}{_BACK}|{_GET_BACK}|{_IN_FULL}")
"""Pattern that occurs in every match of `_refunded`. A search for it is faster, so it is done first."""
_backward = re.compile(r"refund|return|credit|reimburs|repaid|back")
"""Pattern that occurs in every match of `_goes_back`. A search for it is even faster, so it is done before that."""
_charged = re.compile(
    r"(?:\s?(?:dollars|usd))?(?: (?:more|higher|extra)(?: expensive)?)?,?\s(?:(?:which|that|to be|being|and|is|"
    r"was|will|has|be|been|now|then) )*"
    r"(?:(?:charged|billed|debited) to|deducted|comes? out of|(?:paid|settled) (?:with|from|by|via|using|"
    r"through|out of)"
    r"|(?:with)?drawn from|taken (?:from|off|out of))\b"
)
_refund = re.compile(
    r"(?<!no )(?<!any )\brefund(?:ed|s)?\b(?! (?:is|are) not)|"
    r"\b(?:go|goes|come|comes|get|receive)\b(?:[^.;!?\n]|\.\d){0,40} back\b"
)
_upcoming = re.compile(r"\b(?:will|to be|being|is|now|settled|deducted|drawn|taken|comes?)\b")
_before = re.compile(
    r"\b(?:(?:at|during|upon) (?:the )?(?:time of )?(?:the |your )?(?:original |initial |first )?"
    r"(?:booking|purchase|checkout|reservation|order)\b|at (?:the|that) time\b|"
    r"when (?:you|it|this|they|he|she|the \w+)(?: \w{5,8})?(?: had)?(?: (?:was|were))?(?: first| originally|"
    r" initially)? "
    r"(?:booked|ordered|bought|purchased|made|placed|reserved)|originally|initially|back (?:when|then)|"
    r"on the (?:day|date) (?:of booking|you booked)|for the original)"
)


def is_refunded_behind(text: str, position: int) -> bool:
    """Return whether the words after an amount state that it is refunded, as in ``$90, which will be refunded``."""
    end = position + 240
    if not _backward.search(text, position, end):
        return False
    return _goes_back.search(text, position, end) is not None and _refunded.match(text, position, end) is not None


def is_charged_behind(text: str, position: int) -> bool:
    """Return whether the words after an amount state that it is charged, as in ``$90, settled with ...``."""
    return _charged.match(text, position, position + 80) is not None


def is_paid_behind(text: str, position: int) -> bool:
    """Return whether the words after an amount state that it was paid, as in ``$90, paid by card`` next to a refund."""
    match = _charged.match(text, position, position + 80)
    return match is not None and not _upcoming.search(match[0]) and _refund.search(text) is not None


def is_settled_before(text: str, start: int, end: int) -> bool:
    """Return whether a part of a text refers to the time of booking or purchase, as in ``charged when you booked``."""
    return _before.search(text, start, end) is not None
