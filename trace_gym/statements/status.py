"""Tests that determine whether messages state the status of a record or a finished action, in any common wording."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from trace_gym.statements.citation import cites_rule
from trace_gym.statements.phrases import squeeze
from trace_gym.statements.subject import is_about, names
from trace_gym.statements.synonyms import IMPLIED, SYNONYMS
from trace_gym.statements.text import normalize, sentence_at

_clause_break = re.compile(r"[,:()]|\band\b|\bbut\b|\bbecause\b|\bsince\b|\bas\b|\bso\b|\s-\s")
_denied = re.compile(
    r"\b(?:past|beyond) (?:the )?$|"
    r"(?:\bnot\b(?! only)|n't\b|\bnever\b|\bno longer\b|\binstead of\b|\brather than\b|\bno\b|\bneither\b|\bnor\b)"
    r"(?: (?:yet|been|be|being|already|currently|actually|just|simply|plain|plainly|still|merely|purely|only|one|of|"
    r"reasons?|those|that|which|are|is|does|it|in|a|an|the|marked|listed|shown|as))* [\"']?$|"
    r"\b(?:to|must|should|would|will|can|could|may|might|cannot|can't|couldn't|won't|wouldn't|needs? to|has to|"
    r"have to|once) (?:\w+ )?(?:be|get|been|have been) (?:\w+ )?$|"
    r"\b(?:if|unless|until|once|whether|only (?:if|when|while|once|those|what|orders)|as long as|before)\b[^,;]{0,50}$|"
    r"\b(?:orders?|ones|those|reservations|flights|anything|items|trips|bookings) (?:that|which|whose)\b[^,;]{0,30}$|"
    r"(?<!is )(?<!are )(?<!'s )(?<!was )\b(?:only|any|all|for|maybe|perhaps|possibly|might be|may be|could be|"
    r"either) $|"
    r"\byour?(?:'ve| have|'d| had)? (?:\w+ )?(?:said|say|thought|think|claim(?:ed)?|mention(?:ed)?|told|believed?|"
    r"stated?|assumed?|wrote)\b[^,;]{0,40} $|"
    r"\b(?:does|do|did)(?:n't| not) (?:show|say|mention|confirm|list|indicate)\b[^,;]{0,40} $"
)
_none = re.compile(
    r"\b(?:no (?!doubt|question)|none|nothing|neither|nor)\b(?: ?\w+){0,4}? (?:is|are|was|were|has|have|had|been)"
    r"(?: \w+ or (?:is|are|was|were|has|have|had))?(?: (?:been|being|yet|already|ever))* $"
)
"""Pattern of a subject that negates its clause, such as `no flight of it has been`."""
_verb = re.compile(r"(?:was|were|been|is|are|has|have) ")
_other = re.compile(r"\bothers?\b")
_generic = re.compile(r"^ (?:or \w+ )?(?:orders|reservations|flights|items|trips|bookings|ones)\b")
_unshipped = re.compile(r"shipped|sent out|dispatched")
_mine = re.compile(r"\b(?:your|these|those|the|my|both) (?:\w+ )?$")
_unreal = re.compile(
    r"\b(?:if|once|after|when|unless|until|whether|before|can|could|would|will|as soon as)\b[^,;.]{0,40}$|"
    r"\bno (?:\w+ ){0,3}$"
)
_of_money = re.compile(
    r"\b(?:refund|payment|request|cancellation|credit|charge|i|we|i've|we've|i have|we have)\b[^,;]{0,25}$"
)

_order = re.compile(
    r" (?:it|this|that|them|(?:(?:the|this|that|your) )?order|#\w+)\b(?! (?:refund|payment|request|charge))"
)


def states_status(
    status: str, said: Sequence[str], statuses: Iterable[str] = (), record: str = "", records: Iterable[str] = ()
) -> bool:
    """Return whether messages state that a record has a status, and state no other status from `statuses`.

    Args:
        status: The status.
        said: The messages.
        statuses: Statuses that could be mistaken for the correct one.
        record: Id of the record. Words about other records in `records` are ignored.
        records: Ids of all records that the messages may mention.
    """
    others = set(statuses) - {status} - IMPLIED.get(status, frozenset())
    rest = tuple(r for r in records if r != record)
    texts = [normalize(text) for text in said]
    return any(_claimed(status, t, record, rest) for t in texts) and not any(
        _claimed(other, t, record, rest, status) for other in others for t in texts
    )


def states_done(action: str, said: Sequence[str], record: str = "", records: Iterable[str] = ()) -> bool:
    """Return whether messages claim that the agent has taken an action on a record.

    Args:
        action: Past participle, such as ``cancelled``. Alternatives are separated by ``|``.
        said: The messages.
        record: Id of the record. Words about other records in `records` are ignored.
        records: Ids of all records that the messages may mention.
    """
    pattern = _done(action)
    rest = tuple(r for r in records if r != record)
    for text in map(normalize, said):
        for match in pattern.finditer(text):
            start, _ = sentence_at(text, match.start())
            conditional = _denied.search(text, start, match.start() + 1) or _unreal.search(text, start, match.start())
            if not conditional and _is_meant(text, match.start(), record, rest):
                return True
    return False


def _is_meant(text: str, position: int, record: str, others: tuple[str, ...]) -> bool:
    """Return whether an action is about a record. If there are other records, the text must contain an id."""
    if not record or not others:
        return True
    start, end = sentence_at(text, position)
    if _other.search(text, start, end) and not names(record, text[start:end]):
        return False
    return any(names(name, text) for name in (record, *others)) and is_about(text, position, record, others)


def states_pattern(
    pattern: str, said: Sequence[str], record: str = "", records: Iterable[str] = (), *, cited: bool = True
) -> bool:
    """Return whether messages claim a fact that is given as a regular expression.

    Args:
        pattern: Regular expression for the normalized (lowercase) text, such as ``(?:is|was) insured``.
        said: The messages.
        record: Id of the record. Words about other records in `records` are ignored.
        records: Ids of all records that the messages may mention.
        cited: Whether to accept words that cite a rule, such as ``only insured trips``.
    """
    if not said:
        return False
    rest = tuple(r for r in records if r != record)
    compiled = re.compile(rf"(?<!\w)(?:{pattern})(?!\w)")
    texts = [normalize(t) for t in said]
    return any(cited or not cites_rule(t, end - 1) for t in texts for _, end in _claims(compiled, t, record, rest))


@lru_cache(maxsize=256)
def _done(action: str) -> re.Pattern[str]:
    verbs = "|".join(SYNONYMS.get(a, re.escape(a)) for a in action.split("|"))
    adverbs = r"(?:now |just |successfully |also |already |indeed |fully )*"
    return re.compile(
        rf"\b(?:i|we)(?:'ve| have)? {adverbs}(?:{verbs})\b|\bi(?:'ve| have)? (?:\w+ ){{1,6}}?and (?:{verbs})\b|"
        rf"\b(?:has|have) {adverbs}been {adverbs}(?:{verbs})\b(?! by the airline)|\b(?:is|are) (?:now|successfully|"
        rf"hereby) {adverbs}(?:{verbs})\b|"
        rf"\bsuccessfully (?:{verbs})\b|\b(?:is|are) (?:{verbs})(?= (?:now|successfully|too|as well)\b|[,.!;]|$)"
    )


@lru_cache(maxsize=256)
def _pattern(status: str) -> re.Pattern[str]:
    phrase = SYNONYMS.get(status, r"[\s_-]".join(map(re.escape, squeeze(status).split())))
    return re.compile(rf"(?<![\w#-])(?:{phrase})(?!\w)")


def _claimed(status: str, text: str, record: str, others: tuple[str, ...], right: str = "") -> bool:
    """Return whether a text states that the record has a status.

    If `right` is given, it is the correct status, and `status` is one that could be mistaken for it. In this case,
    words that cite a rule, or that only describe another noun, as in ``a delayed ...``, are ignored.
    """
    for start, end in _claims(_pattern(status), text, record, others):
        left, clause = _clauses(text, start)
        if _generic.match(text, end) and not _mine.search(left):
            continue
        if status == "processed" and _of_money.search(clause) and not _order.match(text, end):
            continue
        if not right:
            return True
        unshipped = right.startswith(("processed", "pending")) and _unshipped.search(text, start, end)
        if not (unshipped or cites_rule(text, start) or re.search(r"\b(?:a|an) $", left)):
            return True
    return False


def _claims(pattern: re.Pattern[str], text: str, record: str, others: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Yield the spans of the matches of a pattern that the text claims, and does not deny, about the record."""
    for match in pattern.finditer(text):
        _, clause = _clauses(text, match.start())
        verb = _verb.match(text, match.start())
        if (
            not _denied.search(clause)
            and not _none.search(clause + (verb[0] if verb else ""))
            and is_about(text, match.start(), record, others)
        ):
            yield match.span()


def _clauses(text: str, position: int) -> tuple[str, str]:
    """Return the part of the sentence before a position, and the part of the clause before it."""
    start, _ = sentence_at(text, position)
    left = text[max(start, position - 120) : position]
    return left, left[[0, *(m.end() for m in _clause_break.finditer(left))][-1] :]
