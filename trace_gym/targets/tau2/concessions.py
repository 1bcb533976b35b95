"""Detection of promises that contradict a refusal: compensation, an exception, or a later change."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise

from trace_gym.statements.citation import cites_rule
from trace_gym.statements.text import normalize, places_of, sentence_at
from trace_gym.targets.tau2.delegation import DELEGATES, FILES, is_subordinate

_GIFT = (
    r"(?:certificates?|vouchers?|goodwill|gestures?|compensation|courtesy|travel credit|store credit|"
    r"flight credit|miles|"
    r"coupons?|discount|partial refund|half|part of (?:the|your|it)|percent|\d+(?= ?%)|in lieu|consolation|apology)"
)
_FLOWN = (
    r"(?:part of (?:the|your|it)|half)\b[^.;]{0,40}?\b(?:was|were|is|has been|have been) (?:already |just |now )*"
    r"(?:flown|used|landed|travell?ed|taken|over|completed|done|shipped|processed|delivered|modified|changed)\b"
)
"""Pattern of words about a part of a trip or order that is already over. Such words are not promises."""
_ADVERB = (
    r"(?:already |just |now |also |still |gladly |personally |instead |at least |be able to |happy to |going to |in a "
    r"position to |happily |therefore |then |gone ahead and |went ahead and |decided to |prepared to |"
    r"willing to |promise to |make sure to )*"
)
_WE = (
    r"(?:i|we|(?:the|our) (?:airline|company|shop|system|team)|(?:my|our|a|the|another) (?:\w+ )?(?:manager|supervisor|"
    r"colleague|team|department|office|agent|specialist)|they|he|she|someone|somebody)"
)
_CAN = (
    r"(?:'ll|'ve|'m|'d like to|'re| will| can| could| have| has| am| are| is| shall| may| would like to| did| do|"
    r" was able to| managed to| want to| intend to|(?:'d| would) be (?:happy|glad|willing|able) to)?"
)
_GIVE = (
    r"(?:giv(?:e|es|en|ing)|gave|send(?:s|ing)?|sent|offer(?:s|ed|ing)?|issu(?:e|es|ed|ing)|provid(?:e|es|ed|ing)|"
    r"grant(?:s|ed|ing)?|add(?:s|ed|ing)?|credit(?:s|ed|ing)?|arrang(?:e|es|ed|ing)|appl(?:y|ied|ies|ying)|"
    r"process(?:es|ed|ing)?|return(?:s|ed|ing)?|refund(?:s|ed|ing)?|reimburs(?:e|es|ed|ing)|pa(?:y|ys|id|"
    r"ying)(?: you)?|"
    r"mak(?:e|es|ing)|made|put(?:ting)?|set(?:ting)? up|award(?:s|ed|ing)?|waiv(?:e|es|ed|ing)|propos(?:e|es|ed|ing)|"
    r"compensat(?:e|es|ed|ing)|transfer(?:red|ring|s)?|email(?:ed|ing)?|get|secured|authori[sz]ed|approved?|cover)"
)
_GET = (
    r"\byou(?:'ll|'re| will| are| can| may| should| shall| do| still)? "
    + _ADVERB
    + (
        r"(?:get(?:ting)?|receiv(?:e|ing)|have|be (?:given|sent|issued|offered|getting|receiving)|entitled to|"
        r"being given|keep|"
        r"find|see|expect|use|accept)"
    )
)
_GAP = r"(?: [\w$.,'/-]+){0,9}? "
_gifts = re.compile(
    r"\bwhat (?:i|we) (?:can|could|will) (?:do|offer)(?: instead| you|"
    rf" for you)* is (?:to )?(?:{_GIVE})?{_GAP}{_GIFT}\b|"
    rf"\b{_WE}{_CAN} {_ADVERB}{_GIVE}{_GAP}{_GIFT}\b|\b(?:but|and|or) (?:will|can|'ll|have|"
    rf"am) {_ADVERB}{_GIVE}{_GAP}{_GIFT}\b|"
    rf"{_GET}{_GAP}{_GIFT}\b|\b(?:shall|may|can|should) (?:i|we) {_ADVERB}{_GIVE}{_GAP}{_GIFT}\b|"
    rf"\bas (?:an? |some |the )?(?:\w+ )?{_GIFT},? (?:you(?:'ll| will)? (?:\w+ )?(?:get|receive)|"
    rf"{_WE}{_CAN} {_ADVERB}{_GIVE})\b|"
    rf"\bwould you (?:like|prefer|accept|be (?:happy|fine|okay) with){_GAP}{_GIFT}\b|\b(?:please |"
    rf"kindly )accept{_GAP}{_GIFT}\b|\blet me {_ADVERB}{_GIVE}{_GAP}{_GIFT}\b|"
    rf"\b(?!{_FLOWN}){_GIFT}{_GAP}(?:will be|has been|have been|was|were|is being|is on its way|are on their way|"
    r"is yours|"
    r"goes|is waiting|"
    r"is coming|comes|will (?:go|come|arrive|reach))\b(?: (?:now |already |just |also )*(?:\w+ed|sent|given|"
    r"put|made|to your|"
    r"to you|for you|in|on|back|shortly|by|with))?"
)
_exceptions = re.compile(
    r"\b(?:got|get|convinced|persuaded) (?:my|our|the|a) (?:\w+ )?(?:manager|supervisor|team|colleague)s? to \w+|"
    rf"\b{_WE}{_CAN} {_ADVERB}(?:ma[dk]e|making|arranged?|arranging|grant(?:ed|ing)?|not(?:ed|e)|got|get|"
    r"secured?|obtained?|allow(?:ed)?|"
    r"approved?|approving|agreed? to|request(?:ed)?|entered|filed|set up|put in|logged|"
    r"managed)(?: [\w'-]+){0,4}? exceptions?\b|"
    r"\b(?:an?|one|your|this|the) (?:[\w-]+ ){0,2}exception (?:has been|was|is|will be|got) (?:now |already |being )*"
    r"(?:made|granted|approved|arranged|noted|entered|logged|on|in)\b|"
    rf"\b(?:my|our|the) (?:\w+ )?(?:manager|supervisor|colleague|team)\b{_CAN} {_ADVERB}(?:approved?|agreed?|"
    r"authori[sz]ed?|"
    r"overrid(?:e|den)|overrode|sign(?:ed)? off|look after|take care|handle|sort|fix|allow(?:ed)?|permit(?:ted)?)\b|"
    rf"\b{_WE}{_CAN} {_ADVERB}(?:overrid(?:e|den|ing)|overrode|bend|bent|waived?|mark(?:ed)? it (?:as|for))\b"
)
_FOR = (
    r"(?: (?:you|it|that|this|the (?:trip|reservation|booking|order|rest|money|fare|price)|your \w+|#?\w*\d\w*|back|"
    r"everything))"
)
_returns = re.compile(
    rf"\b{_WE}{_CAN} {_ADVERB}(?:{FILES}|{DELEGATES})\b|"
    rf"\b{_WE}(?:'ll|'m| will| shall| am| are| is| can| have| has|'ve) {_ADVERB}(?:cancel(?:l?ed|ling)?|"
    r"refund(?:ed|ing)?|"
    rf"reimburs(?:e|ed|ing)|repa(?:y|id)|compensat(?:e|ed)|give{_FOR}*? back|credit)(?:{_FOR}| \$?\d)|"
    rf"{_GET}(?: [\w$.,'-]+){{0,6}}? (?:money back|refund(?:ed)?|back|reimburse(?:d|ment)|credited)\b|"
    r"\byou(?:'ll| will) be (?:\w+ )?(?:refunded|reimbursed|compensated|credited|paid back)\b|"
    r"\b(?:it|this|that|(?:your|the|this) (?:\w+ )?(?:trip|reservation|booking|order|money|amount|price|"
    r"refund)|\$?\d[\d.,]*"
    r"(?: dollars)?|#?\w*\d\w*)(?:'ll| will| is going to|'s going to) (?:\w+ )?(?:be (?:\w+ )?(?:cancell?ed|"
    r"refunded|reimbursed|"
    r"credited|returned|paid back)|get cancell?ed|come back|go back|be back)\b"
)
_PLAIN = r"(?:(?!(?:to|on|onto|into|with|your|for|from|using)\b)[\w$.,'/-]+ )"
_NEW_GIFT = (
    rf"(?:an?|some|extra|another|\$\d[\d.,]*(?: worth of)?) {_PLAIN}{{0,3}}?(?:certificate|voucher|coupon|goodwill|"
    r"compensation|courtesy|discount|bonus|miles|apology|store credit|travel credit|gift card)s?\b(?!_)"
)
_bonus = re.compile(
    rf"\b(?:{_WE}{_CAN} {_ADVERB}|(?:and|or|but) (?:have |will )?{_ADVERB}){_GIVE} (?:you )?{_PLAIN}{{0,2}}?"
    rf"{_NEW_GIFT}|"
    rf"\byou(?:'ll| will)? {_ADVERB}(?:get|receive|be (?:given|sent|issued|offered)) {_PLAIN}{{0,2}}?{_NEW_GIFT}"
)
"""Pattern of a promise of a gift that no rule allows."""
_AT_NO_COST = (
    r"(?:(?<!not )for free|free of charge|at no (?:\w+ )?(?:cost|charge)|without (?:\w+ )?charge|on the house|"
    r"complimentary|as a (?:courtesy|gesture|gift))"
)
_CHANGE = r"(?:upgrad|chang|mov|book|rebook|add|switch|reserv|put)\w*"
_free_change = re.compile(
    rf"\b{_WE}{_CAN} {_ADVERB}{_CHANGE}{_GAP}(?={_AT_NO_COST}\b)|"
    rf"\b(?:is|are|was|were|be|been|get|gets) {_ADVERB}{_CHANGE}{_GAP}(?={_AT_NO_COST}\b)"
)
"""Pattern of a promise of a change that is free of charge."""
_CHIEF = r"(?:managers?|supervisors?|superiors?|boss|leads?|management|head of \w+)"
_HELPER = rf"(?:{_CHIEF}|colleagues?|teams?|departments?|offices?|specialists?|agents?|representatives?|someone|they)"
_WILL = r"(?:'ll| will| can| could| may| is going to| are going to| shall)"
_PROMISED = (
    r"(?: [\w$.,'-]+){0,5}? (?:refunds?|cancellations?|reimbursements?|exceptions?|compensations?|money|it|that|this|"
    r"(?:the|your|this) (?:\w+ )?(?:trip|reservation|booking|order|fare|request))\b"
)
_DELEGATED = (
    rf"(?:,? (?:who|which|that)|,? and (?:he|she|they|we))?{_WILL} {_ADVERB}(?:approv|authori[sz]|grant|process|"
    rf"issu|cancel|refund|reimburs|overrid|mak|arrang|complet|carry out|credit|waiv|sort out)\w*{_PROMISED}"
)
_referrals = re.compile(rf"\b{_CHIEF}{_DELEGATED}")
"""Pattern of a promise that a superior will carry out the refused request."""
_handed_on = re.compile(
    rf"\b(?:escalat|forward|refer|pass|rais|submit|hand)\w*\b[^.;!?]{{0,60}}?\b{_HELPER}{_DELEGATED}"
)
"""Pattern of a promise that another person will take over the case and carry out the refused request."""
_needs = (
    (_gifts, re.compile(_GIFT)),
    (
        _exceptions,
        re.compile(r"exception|manager|supervisor|colleague|team|overrid|overrode|ben[dt]|waive|mark(?:ed)? it"),
    ),
    (_referrals, re.compile(_CHIEF)),
    (_handed_on, re.compile(_HELPER)),
    (_returns, re.compile(r"refund|cancel|reimburs|repa(?:y|id)|compensat|credit|back|returned")),
)
"""Pairs of two patterns for one kind of promise: the full pattern, and a faster one that matches every text with such a
promise. The faster pattern is searched first."""
_clause = re.compile(r"[,;:(]|\b(?:but|and|so|because|since|although|though|while|however|if|unless|when)\b| - ")
_denied = re.compile(
    r"\b(?:not|no|never|nothing|nobody|none|neither|nor|without|cannot|unable|instead of|rather than|against|"
    r"refuse|declin\w+|"
    r"hardly)\b|n't\b"
)
_EASY = (
    r"you (?:now |just |simply |choose to |decide to )*(?:(?:don't|do not|decide not to|choose not to|fail to) "
    r"(?:\w+ )?(?:show|board|fly|check in|travel|take|use|turn)|no-show|miss (?:the|your|this)|skip|call|write|e-?mail|"
    r"contact|reply|wait|fill|submit|file|apply)"
)
"""Pattern of a condition that every customer can satisfy. Promises under this condition still count."""
_easy = re.compile(rf"\bif {_EASY}\b")
_unreal = re.compile(
    r"\b(?:if (?!(?:you (?:like|want|wish|would|agree|accept|prefer|are (?:okay|fine|happy))|you'd|"
    rf"that (?:helps|works|is|suits)|it helps|this helps|{_EASY})\b)|unless|whether|even if|even though|"
    r"regardless|only (?:if|when|for)|"
    rf"(?:once|when) (?!{_EASY}\b)|(?:once|when)(?! )|would have|"
    r"would be|had (?:it|you|this)|"
    r"you(?:'ve|'d| have| had| may have)? (?:\w+ )?(?:said|say|told|mention\w*|claim\w*|think|thought|hop\w+|"
    r"believ\w+|want\w*|ask\w*|"
    r"wish\w*|request\w*|feel|demand\w*)|understand|your (?:claim|request|wish|suggestion|idea|demand)|"
    r"supposed(?:ly)?|allegedly|"
    r"insurer|insurance company|bank|card issuer|can i (?:help|do)|anything else)\b"
)
_elsewhere = re.compile(
    r"\b(?:other|another|remaining|rest|second|former|latter|third|ones?)\b(?! (?:manager|supervisor|agent|"
    r"team|colleague)\b)"
)

_WINDOW = 400


def concedes(
    record: str,
    said: Collection[str],
    records: Collection[str] = (),
    *,
    alone: bool = False,
    refundable: bool = False,
) -> bool:
    """Return whether messages promise or claim a concession for a record that the rules forbid.

    Concessions are a certificate, a part of the money, an exception, or a later cancellation or refund. Denials, quoted
    rules, repetitions of the customer's request and statements about other records do not count.

    Args:
        record: The id of the record.
        said: The messages.
        records: The ids of all records that the messages may be about. If there is only one, messages do not have to
            contain its id.
        alone: Whether the customer has no request for another record. Messages without an id are then about this
            record.
        refundable: Whether another request for the record leads to a refund. If so, messages may state a refund.
    """
    for text in map(normalize, said):
        others = {r for r in records if r != record and not (alone and not _names(r, text))}
        for at, end, strong in _found(text):
            if (strong or not refundable) and _concerns(text, at, end, strong, record, others):
                return True
    return False


def gives_away(said: Iterable[str], *, changes: bool = False) -> bool:
    """Return whether messages promise a gift: a certificate, a voucher or a gift card that no rule provides for.

    Args:
        said: The messages.
        changes: Whether a free change also counts as a gift. Set this only if no request leads to a free change.
    """
    patterns = (_bonus, _free_change) if changes else (_bonus,)
    texts = [*map(normalize, said)]
    return any(not _is_denied(t, m.start(), m.end()) for t in texts for p in patterns for m in p.finditer(t))


def _found(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield the start and end of each promise in a text, and a flag.

    The flag is True if the promise is forbidden even when a refund is due.
    """
    for pattern, words in _needs:
        for match in pattern.finditer(text) if words.search(text) else ():
            strong = pattern is not _returns
            if not _is_denied(text, match.start(), match.end()) and (
                strong or not is_subordinate(text[: match.start()])
            ):
                yield match.start(), match.end(), strong


def _is_denied(text: str, at: int, end: int) -> bool:
    low, high = _near(text, at, end)
    left = text[low:at]
    breaks = [m.end() for m in _clause.finditer(left)]
    clause = left[breaks[-1] if breaks else 0 :]
    if _denied.search(clause) or _denied.search(text[at:end]) or _unreal.search(left) or _unreal.search(text[at:end]):
        return True
    rule = cites_rule(text, at) and not _easy.search(text, low, high)
    if rule and not text[low:high].rstrip().endswith("?"):
        return True
    behind = text[end:high]
    wished = re.search(r"\b(?:would|love|wish)\b|'d\b", text[at:end])
    if wished and re.match(r"[^.;]{0,40}?,? but\b[^.;]*(?:\b(?:not|unable|cannot)\b|n't\b)", behind):
        return True
    return bool(
        re.match(
            rf"(?: [\w'-]+){{0,6}}? (?:only )?(?:if|unless|only|provided) "
            rf"(?!you (?:like|want|agree|accept)|{_EASY}\b)",
            behind,
        )
    )


def _concerns(text: str, at: int, end: int, strong: bool, record: str, others: set[str]) -> bool:
    """Return whether a promise is about the record: by its id, by a pronoun, or because there is only one record."""
    low, high = _near(text, at, end)
    spans = [low, *(low + m.start() for m in _clause.finditer(text[low:high])), high]
    around = next(((a, b) for a, b in pairwise(spans) if a <= at < b), (low, high))
    clause = text[around[0] : max(around[1], end)]
    everything = {record, *others}
    if named := {r for r in everything if _names(r, clause)}:
        return record in named
    if not others:
        return True
    if _elsewhere.search(clause):
        return False
    here = [(text.rfind(_plain(r), 0, at), r) for r in everything if _names(r, text[:at])]
    last = max(here, default=(0, ""))[1]
    if strong:
        return last in ("", record)
    inside = {r for r in everything if _names(r, text[low:high])}
    return last == record and (inside == {record} or bool(re.search(r"\b(?:it|this|that)\b", clause)))


def _near(text: str, at: int, end: int) -> tuple[int, int]:
    """Return the start and end of the sentence around a match, at most `_WINDOW` characters on each side."""
    low, high = sentence_at(text, at)
    return max(low, at - _WINDOW), min(max(high, end), end + _WINDOW)


def _names(record: str, text: str) -> bool:
    return bool(places_of(_plain(record), text))


def _plain(record: str) -> str:
    return normalize(record).lstrip("#")
