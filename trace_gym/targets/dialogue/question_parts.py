"""Analysis of questions: individual questions in a text, main clauses, and expected kinds of answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from trace_gym.targets.constants import frozen

__all__ = [
    "asks_for_others",
    "head",
    "is_past",
    "parts",
    "suits",
    "without_records",
]

_WH = r"(?:what|which|who|whom|whose|when|where|why|how|whether)"
_PREPOSITION = r"(?:(?:on|at|in|for|from|to|by|under|with) )?"
_ITEM = (
    r"(?:(?:the|your|both|their) (?:\w+ ){0,3}(?:ids?|numbers?|names?|dates?|reasons?|codes?|e-?mail|address|"
    r"zip|methods?|"
    r"cards?|cabin|times?|size|colou?r|phone|birth\w*)\b)"
)
_joint = re.compile(
    rf"[,;:]? (?:and|as well as|plus|along with)(?: also)? (?={_PREPOSITION}{_WH}\b)|"
    rf",? (?:and|plus) (?:also |please )*(?:tell me|let me know|say|share|give me) (?={_PREPOSITION}{_WH}\b|"
    rf"(?:the|your) \w)|"
    rf",? (?:and|as well as|plus|along with) (?:also )?(?={_ITEM})|[:,] (?={_PREPOSITION}{_WH}\b|{_ITEM})|\? "
)
_lead = re.compile(
    r"^(?:(?:and|so|or|also|then|well|sorry|ok(?:ay)?|please|kindly|first|just|now),? )*"
    r"(?:(?:can|could|would|will|may|might|do|shall) (?:you|i|we) (?:please |kindly |just |also |still )*)?"
    r"(?:i(?:'d|'ll| would| will)? (?:\w+ )?(?:need|like|want|have) (?:to )?)?"
    r"(?:(?:tell|give|send|show|let) (?:me|us) (?:know |have )?|(?:know|ask|have|get|confirm|share|provide|say|state|"
    r"mind telling me|verify|clarify|both|also|please|just) )*"
)
_condition = re.compile(
    r"(?:when|where|if|once|as|since) (?!(?:did|do|does|is|are|was|were|will|would|should|"
    r"shall|can)\b)"
)
_needs = re.compile(
    r"\b(?:need|require|know|tell me|give me|send me|share|ask(?: for)?|"
    r"missing(?: is)?)[:,]? (?:both )?(.*)"
)
_question = re.compile(
    rf"^{_PREPOSITION}(?:{_WH}\b|if (?:you|it|the)\b|(?:your|the|both your) \w|(?:did|have|had|was|were|is|are|do|"
    rf"does)"
    r" (?:you|it|the|this|that|they|any|your)\b)"
)
_word = re.compile(r"[a-z]{3,}|\bids?\b")
_EMPTY = re.compile(
    r"\b(?:about|also|and|any|are|both|can|case|could|did|does|exactly|for|from|give|had|happen|happened|"
    r"has|have|how|its|just|know|like|may|mind|name|need|not|one|ones|other|our|please|prefer|should|"
    r"tell|that|the|them|these|they|this|those|under|want|was|what|when|where|whether|which|who|whom|"
    r"whose|why|will|with|would|you|your)\b"
)
"""Pattern of words that do not indicate the subject of a question."""
_aside = re.compile(
    r"(?:,? so (?:that )?(?:i|we)\b|,? (?:(?<!well )(?<!soon )as|where|because|since|before|once|after|in case)\b "
    r"(?:i|we|it|it's|he|she|they|you|the)\b| when (?:i|i've|we)\b|"
    r"(?<!ask)(?<!know)(?<!tell)(?<!me)(?<!say) (?:on|in|under|by) which\b|"
    r" that (?:you|we|i|is|was|are|has|should|the)\b| (?:as )?(?:it's |it is )?printed\b| (?:on|in) (?:the|"
    r"your|his|her|"
    r"their) (?:card|passport|id card|label|box|receipt|ticket|ticket mail)\b).*"
)
"""Pattern of a relative or subordinate clause at the end of a question."""
_announced = re.compile(
    r",? (?:and |so |then )*(?:i'll|i will|i can|i may|to see|to check|so that i|before i|once i)\b.*"
)
"""Pattern of a clause that announces how the agent will use the answer."""
_record = re.compile(
    r"(?:\b(?:order|reservation|booking|trip|number) )?(?:#w\d{4,}|\b(?=[a-z]*\d)(?=\d*[a-z])[a-z0-9]{6}\b)"
)
WISHED = re.compile(
    r"\b(?:want|like|need|should|prefer|would|wish|shall|rather|suits?|mean|keep|include[sd]?|will|supposed|meant)\b"
)
_EVENT = (
    r"(?:book(?:ed|ing)?(?! for)|bought|buy|made|make|placed?|order(?:ed)|purchas\w+|deliver\w*|reach(?:ed)?|"
    r"arrived?|receiv\w+|"
    r"got|shipped|issued|signed|paid|flown)"
)
PAST = re.compile(
    rf"\b(?:when|how long ago|since when|(?:what|which|the) (?:exact )?(?:day|date|month|year))\b.*\b{_EVENT}\b|"
    r"\b(?:which|what|how)\b.*\b(?:did|have|had) you (?:\w+ )?(?:pay|paid|use|used|spend|spent)\b|"
    r"\b(?:which|what|where|who|whom|how)\b(?!.*\b(?:mail|e-?mail|names?|address|ids?|zip|"
    r"number)\b).*\bdid you (?!want|mean|say|ask|have in mind|wish|prefer|need|like|"
    r"think)\w+|"
    r"\b(?:methods?|cards?|account) (?:that |which )?(?:you|it was|this was) (?:had |have |originally )?(?:used|"
    r"paid|booked|bought)\b|"
    r"\b(?:booked|travell?ing|registered|listed)\b.*\b(?:at present|at the moment|currently|right now)\b|"
    r"\byou (?:already|currently) (?:have|own|booked)\b|\b(?:already|currently) (?:booked|included|added|"
    r"registered)\b|"
    r"(?:^|\band |\bso )(?:did|have|had) you (?:\w+ )?(?:receive|open|try|tried|call|contact|asked?|check|worn|"
    r"wear|fly|"
    r"flown|travel|buy|speak|spoken|talk)\w*\b|^how (?:heavy|big|tall|wide|old|far)\b|"
    r"\bsince when\b|\bhow long (?:have|has|had)\b|"
    r"(?:^|\b(?:whether|if)\b.*)\b(?:has|have|was|were|is|are)\b.*\b(?:flown|used up|delivered|opened|worn)\b"
)
_others = re.compile(
    r"\b(?!(?:that|it|what|he|she|who|let|there|account holder|customer|holder|traveller|today)'s)\w+'s "
    r"(?:full |exact |own )?(?:date of birth|birth ?date|birthday|dob|passport|e-?mail|phone|age|zip|address)\b|"
    r"\b(?:date of birth|birth ?date|birthday|dob|passport(?: number)?|e-?mail(?: address)?|phone number) (?:of|for) "
    r"(?!(?:the|your|this|that|my|our|you|yourself|verification|security|me|us|it|which|whom|"
    r"identification)\b)[a-z]+\b"
)
DATES = r"\b\d{4}-\d\d-\d\d\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\btomorrow\b|\bin \d+ days\b"
_EXPECTED: Mapping[str, tuple[re.Pattern[str], re.Pattern[str]]] = frozen(
    {
        "date": (
            re.compile(
                r"^(?:on |for )?(?:(?:what|which) (?:dates?|day)|the (?:exact )?(?:dates?|day)|"
                r"when (?:did|do|does|is|are|was|were|will|"
                r"would|should|shall|you))\b"
            ),
            re.compile(rf"{DATES}|\b(?:calendar|booked|born|latest|right away|week|month|due)\b", re.IGNORECASE),
        ),
        "email": (re.compile(r"\be-?mail\b"), re.compile(r"@|\be-?mail\b|\bid\b|zip")),
    }
)
"""Mapping from kind of answer, such as ``date``, to a pattern of questions that ask for this kind, and a pattern of
answers of this kind."""


def without_records(asked: str) -> str:
    """Return a lowercase question with ``it`` in place of the ids of records."""
    return _record.sub("it", asked)


def head(asked: str) -> str:
    """Return a question without relative and subordinate clauses at its end."""
    return _aside.sub("", asked)


def parts(asked: str) -> Iterator[str]:
    """Yield the individual questions in a lowercase text, without introductions such as ``could you tell me``."""
    split = [part for part in _joint.split(_announced.sub("", asked)) if part]
    for n, part in enumerate(split):
        if _condition.match(part) and (n + 1 < len(split) or asked.rstrip().endswith(",")):
            continue
        short = _lead.sub("", part.strip(" ,;:?"))
        if not _question.match(short) and (found := _needs.search(short)):
            short = found[1]
        if _question.match(short) and _word.search(_EMPTY.sub("", short)):
            yield short


def is_past(asked: str) -> bool:
    """Return whether a question is about the past or about recorded data, such as the date of booking."""
    return PAST.search(asked) is not None and not (
        WISHED.search(asked)
        and not re.search(r"\b(?:did|have|had) you\b|\byou(?:'ve)? (?:booked|bought|made|ordered)\b", asked)
    )


def asks_for_others(asked: str) -> bool:
    """Return whether a question asks for personal data of a person other than the user."""
    return _others.search(asked) is not None


def suits(asked: str, topics: Sequence[str], answer: str) -> bool:
    """Return whether an answer is of the kind that a question asks for, such as a date.

    Args:
        asked: The question in lowercase.
        topics: Topics of the question. If the expected kind is one of the topics, any answer is accepted.
        answer: The answer. If the question has no expected kind, any answer is accepted.
    """
    short = _lead.sub("", asked)
    return not any(
        question.search(short) and kind not in topics and not value.search(answer)
        for kind, (question, value) in _EXPECTED.items()
    )
