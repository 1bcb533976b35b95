"""Classification of statements. A message can claim, hedge, question or deny a value, or state it as a past value.

This class is called the *attitude* of the message toward the value. A value that the message attributes to the
customer, as in "you said $90", counts as denied.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from trace_gym.statements.text import sentence_at
from trace_gym.statements.values import Value, values_between

Attitude = Literal["claimed", "hedged", "asked", "old", "denied"]

_FILLER = (
    r"(?:just|be|been|being|cancel|change|or|a|an|the|on|at|for|in|of|to|by|is|was|your|my|it|us|you|about|around|exactly|any|yet|"
    r"actually|made|booked|"
    r"created|charged?|charging|refund(?:ed|ing)?|costs?|costing|pay(?:ing)?|total|get|getting|receive|give|back|"
    r"credit(?:ed)?|"
    r"offer(?:s|ed)?|provide|issue|grant|have|has|owe|refunds|charges|fees|extra|amount|sum|fee|fare|price|"
    r"depart(?:s|ing)?|leav(?:e|es|ing)|arriv(?:e|es|ing)|land(?:s|ing)?|\$|usd|-)"
)
_negated = re.compile(
    rf"(?:\bnot\b(?! (?:only|just|more|less|later))|n't\b|\bcannot\b|\bnever\b|\bno longer\b|\bunable to\b|"
    rf"\binstead of\b|\brather than\b|"
    rf"\bas opposed to\b|\bneither\b|\bnor\b|\bno\b(?!\s*[-,:;.]| (?:more|less|later|earlier|fewer|longer|"
    rf"problem)))(?:\s+{_FILLER})*\s*$"
)
_unrefunded = re.compile(
    rf"(?:\bnot\b|n't\b|\bcannot\b|\bnever\b|\bunable to\b)(?:\s+(?:able|{_FILLER[3:]})*\s+"
    r"(?:refund|return|reimburse|repay|give back|pay back)(?: you)?(?: the| your)?(?: full| whole)? ?\$?$"
)
"""Pattern of the denial of a refund of the paid amount: `I won't be able to cancel it or refund the $206 you paid`."""
_attributed = re.compile(
    r"\bi (?:first |had |originally |initially |mistakenly )*(?:thought|assumed|expected|believed)\b[^,;:]{0,40}$|"
    r"\b(?:you|he|she|they|customer)(?:'ve| have|'d| had| may have| might have)? (?:just |also |first |originally |"
    r"initially )?"
    r"(?:said|say|mention(?:ed)?|thought|think|expect(?:ed)?|claim(?:ed)?|told (?:me|us)|quot(?:ed|e)|"
    r"want(?:ed)?(?! me\b| us\b)|"
    r"believe[ds]?|asked (?:for|about)|"
    r"remember(?:ed)?|recall(?:ed)?|suggest(?:ed)?|assumed?|were (?:told|quoted|expecting|hoping)|are expecting|"
    r"wrote|named|guess(?:ed)?|"
    r"estimated?|calculated|hoped)\b[^,;:]{0,40}$|\baccording to you\b[^;:]{0,30}$|"
    r"\byour (?:claim|guess|estimate|figure|assumption|number|expectation)\b[^,;:]{0,30}$"
)
_opinion = re.compile(
    r"said|say|mention|thought|think|expect|claim|told|quot|want|belie|asked|remember|recall|suggest|assum|wrote|named|"
    r"guess|estimat|calculat|hop|according|figure|number"
)
"""Pattern that occurs in every match of `_attributed`. A search for it is faster, so it is done first."""
_attributed_behind = re.compile(
    r"^[^,;:]{0,12}\b(?:as |like |that )?you (?:said|mentioned|claimed|thought|expected|quoted|had in mind|suggested)\b"
)
_hedged = re.compile(
    r"\b(?:maybe|perhaps|possibly|might|may be|may have|could be|could have been|could (?=(?:\w+ ){0,2}(?:be|come))|"
    r"probably|presumably|not sure|unsure|unclear|do(?:n't| not) know|"
    r"can(?:'t|not) (?:tell|say)|whether|if (?:it|that|this|the \w+) (?:is|was|were|had been)|either|"
    r"(?<!in )between|guess|"
    r"somewhere|supposedly)\b[^;:]{0,50}$"
)
_doubt = re.compile(
    r"may|perhaps|possibl|might|could|probabl|presumabl|sure|unclear|know|tell|say|whether|if|either|between|guess|"
    r"somewhere|supposed"
)
"""Pattern that occurs in every match of `_hedged`. A search for it is faster, so it is done first."""
_hedged_behind = re.compile(
    r"^\s*(?:dollars?\s*)?,?\s*\(?(?:or so|maybe|perhaps|possibly|probably|i guess|i suppose|or something|"
    r"or thereabouts|\?\?)"
)
_MOVED = r"(?:refunded|charged|credited|billed|debited|deducted|returned|reimbursed)"
_either_behind = re.compile(rf"^[^,;.]{{0,40}}\b{_MOVED} or (?:\w+ ){{0,2}}{_MOVED}\b")
_denied_behind = re.compile(
    rf"^(?:\s?(?:dollars|usd))?\s(?:(?:ha[sd]|have|was|is|are|were|would|could|does|did)(?:n't| not)|will not|"
    rf"won't|can't|"
    rf"cannot|can not)\b(?: \w+){{0,2}} {_MOVED}\b"
)
_or = re.compile(r"^[^;:.]{0,40}(?:\bor\b|(?<!\d)/(?!\d))[^;:.]{0,40}$")
_comma = re.compile(r"\s*(?:dollars?)?\s*,\s*")
_range = re.compile(r"^\s*(?:-|to)\s*(?:maybe |even )?[$-]?$")
_old = re.compile(
    r"\b(?:old|previous(?:ly)?|former(?:ly)?|original(?:ly)?(?! (?:form of )?(?:payment|method|card)\b)|earlier|"
    r"used to|before it was)\b"
    r"(?:\s+[\w']+){0,4}[\s:$(-]*$"
)
_former = re.compile(r"old|previous|former|original|earlier|used to|before")
"""Pattern that occurs in every match of `_old`. A search for it is faster, so it is done first."""
_old_behind = re.compile(
    r"^[^,;:.]{0,14}\b(?:before(?! (?!and\b|but\b|now\b)\w)|"
    r"previously|originally|earlier|until now|so far|formerly|in the past)\b(?! (?:the|"
    r"this|that|we|i|you|your|it|a|paid|charged|billed|spent)\b)"
)
_was = re.compile(r"\b(?:was|were)\b(?:\s+[\w']+){0,3}[\s:$]*$")
_now = re.compile(r"^[^;.]{0,25}\b(?:is now|now|has become|will now)\b")
_changed_from = re.compile(
    r"\b(?:mov|chang|shift|reschedul|switch|updat|increas|decreas|drop|went|go|ris|fell|cut|rais|lower|correct|"
    r"modif)\w*\b.{0,50}\bfrom(?: \w+){0,2} [$-]?$"
)
_then_to = re.compile(r"^[^;.,]{0,14}\bto\b")
_question = re.compile(
    r"^[\s\"'-]*(?:(?:and|so|sorry|but|hello|hi|thanks|thank you)[, ]+)*"
    r"(?:is|was|were|are|did|does|has|had|have you|do you (?:remember|think|recall|mean|know|have|see)|"
    r"could it|would it|might)\b"
    r"(?! (?:it|that|this) (?:okay|ok|fine|alright|all right|right|acceptable|correct|good))"
)
_paid_behind = re.compile(r"[^,;]{0,8}\byou(?:'ve| have| had)? (?:\w+ )?paid\b")
_WINDOW = 100


@lru_cache(maxsize=4096)
def attitude(text: str, value: Value) -> Attitude:
    """Return the attitude of a normalized text toward one of its numbers, dates or times."""
    start, end = sentence_at(text, value.start)
    left, right = text[max(start, value.start - _WINDOW) : value.start], text[value.end : min(end, value.end + _WINDOW)]
    if text[start:end].rstrip().endswith("?") and _question.match(text, start):
        return "asked"
    if _has_negation(left) and (_unrefunded.search(left) or (_negated.search(left) and not _paid_behind.match(right))):
        return "denied"
    if _is_attributed(left, right) or _denied_behind.match(right):
        return "denied"
    if _is_old(value, left, right):
        return "old"
    if _is_hedged(left, right) or (" or " in right and _either_behind.match(right)):
        return "hedged"
    if _is_option(text, value, start, end):
        return "hedged"
    return "claimed"


def attitude_of_words(text: str, start: int, end: int) -> Attitude:
    """Return the attitude of a normalized text toward the name, id or other phrase in a span.

    A phrase with digits, such as an id, is always either denied or claimed.
    """
    low, high = sentence_at(text, start)
    left, right = text[max(low, start - _WINDOW) : start], text[end : min(high, end + _WINDOW)]
    if _has_negation(left) and _negated.search(left):
        return "denied"
    if any(c.isdigit() for c in text[start:end]):
        return "claimed"
    if _is_attributed(left, right):
        return "denied"
    return "hedged" if _is_hedged(left, right) else "claimed"


def _has_negation(left: str) -> bool:
    """Return whether a text may contain a negation. This fast test avoids most searches with the full pattern."""
    maybe = "no" in left or "n't" in left or "never" in left or "neither" in left or "unable" in left
    return maybe or "instead" in left or "rather" in left or "opposed" in left


def _is_attributed(left: str, right: str) -> bool:
    """Return whether the words next to a value attribute it to the customer or to a previous belief of the agent."""
    if _opinion.search(left) and _attributed.search(left):
        return True
    return "you" in right and _attributed_behind.match(right) is not None


def _is_hedged(left: str, right: str) -> bool:
    """Return whether the words next to a value express doubt about it."""
    return (_doubt.search(left) and _hedged.search(left)) is not None or _hedged_behind.match(right) is not None


def _is_old(value: Value, left: str, right: str) -> bool:
    """Return whether a value is stated as a past value. For a date, the text must state that the date was changed."""
    moved = "from" in left and bool(_changed_from.search(left) and _then_to.search(right))
    if value.kind == "date":
        return moved
    if (_former.search(left) and _old.search(left)) or _old_behind.match(right):
        return True
    was = ("was" in left or "were" in left) and _was.search(left) is not None
    return moved or (was and _now.search(right) is not None)


def _is_range(one: Value, other: Value, gap: str) -> bool:
    """Return whether two numbers are the ends of a range, such as `50 - 60`."""
    return one.kind == "number" and float(one.value) < float(other.value) and _range.match(gap) is not None  # type: ignore[arg-type]


def _is_option(text: str, value: Value, start: int, end: int) -> bool:
    """Return whether a value is one of several alternatives, as in ``50 or 60``, ``50, 60 or 70`` or ``50 - 60``."""
    near = values_between(text, value.kind, max(start, value.start - _WINDOW), min(end, value.end + 2 * _WINDOW))
    listed = False
    for one, other in pairwise(near):
        gap = text[one.end : other.start]
        offered = one.value != other.value and (_or.match(gap) or _is_range(one, other, gap))
        listed = listed or value == one
        if offered and (listed or value == other):
            return True
        listed = listed and _comma.fullmatch(gap) is not None
    return False
