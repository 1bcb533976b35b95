"""Promises that take back a refusal: compensation, an exception, or a change that somebody makes later."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise

from trace_gym.statements.citation import cites_rule
from trace_gym.statements.text import normalize, places_of, sentence_at

_GIFT = (
    r"(?:certificates?|vouchers?|goodwill|gestures?|compensation|courtesy|travel credit|store credit|"
    r"flight credit|miles|"
    r"coupons?|discount|partial refund|half|part of (?:the|your|it)|percent|\d+(?= ?%)|in lieu|consolation|apology)"
)
_FLOWN = (
    r"(?:part of (?:the|your|it)|half)\b[^.;]{0,40}?\b(?:was|were|is|has been|have been) (?:already |just |now )*"
    r"(?:flown|used|landed|travell?ed|taken|over|completed|done|shipped|processed|delivered|modified|changed)\b"
)
"""Words for a part of a trip or order that is past, which promise nothing."""
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
    rf"\b{_WE}{_CAN} {_ADVERB}(?:put in|submit(?:ted)?|filed?|request(?:ed)?|scheduled?|arranged?|initiated?|"
    r"started?|queued)"
    rf"(?: [\w%'$-]+){{0,5}}? (?:refund|cancellation|reimbursement)\b|"
    rf"\b{_WE}{_CAN} {_ADVERB}(?:ask|asked|have|get|tell|told|"
    rf"instruct(?:ed)?) (?:[\w']+ ){{1,4}}?(?:to )?(?:cancel|refund|reimburse)\b|"
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
_bonus = re.compile(
    rf"\b(?:{_WE}{_CAN} {_ADVERB}|(?:and|or|but) (?:have |will )?{_ADVERB}){_GIVE} (?:you )?{_PLAIN}{{0,2}}?"
    rf"(?:an?|some|extra|another|\$\d[\d.,]*(?: worth of)?) {_PLAIN}{{0,3}}?(?:certificate|voucher|coupon|goodwill|"
    r"compensation|courtesy|discount|bonus|miles|apology|store credit|travel credit|gift card)s?\b(?!_)"
)
"""A gift that a desk has no right to give, whatever else it does."""
_needs = (
    (_gifts, re.compile(_GIFT)),
    (
        _exceptions,
        re.compile(r"exception|manager|supervisor|colleague|team|overrid|overrode|ben[dt]|waive|mark(?:ed)? it"),
    ),
    (_returns, re.compile(r"refund|cancel|reimburs|repa(?:y|id)|compensat|credit|back|returned")),
)
"""Each kind of promise with words that it cannot do without. Looking for them first is cheap."""
_clause = re.compile(r"[,;:(]|\b(?:but|and|so|because|since|although|though|while|however|if|unless|when)\b| - ")
_denied = re.compile(
    r"\b(?:not|no|never|nothing|nobody|none|neither|nor|without|cannot|unable|instead of|rather than|against|"
    r"refuse|declin\w+|"
    r"hardly)\b|n't\b"
)
_unreal = re.compile(
    r"\b(?:if (?!(?:you (?:like|want|wish|would|agree|accept|prefer|are (?:okay|fine|happy))|you'd|"
    r"that (?:helps|works|is|suits)|it helps|"
    r"this helps)\b)|unless|whether|even if|even though|regardless|only (?:if|when|for)|once|when|would have|"
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
    """Return whether messages promise or claim something for a record that the rules refuse.

    That is a certificate or a part of the money, an exception, or a later cancellation or refund. Denials, rules and
    what the customer asked for do not count, nor does what a message says of another record.

    Args:
        records: The ids of all records that the messages may be about. If it is the only one, it need not be named.
        alone: Whether nothing is asked for another record. A message that names no other one is then about this one.
        refundable: Whether another request for the record brings money back, so that refunds may be told.
    """
    for text in map(normalize, said):
        others = {r for r in records if r != record and not (alone and not _names(r, text))}
        for at, end, strong in _found(text):
            if (strong or not refundable) and _concerns(text, at, end, strong, record, others):
                return True
    return False


def gives_away(said: Iterable[str]) -> bool:
    """Return whether messages promise a gift: a certificate, a voucher or a gift card that no rule provides for."""
    texts = [*map(normalize, said)]
    return any(not _is_denied(t, m.start(), m.end()) for t in texts for m in _bonus.finditer(t))


def _found(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield start and end of each promise in a text, and whether it is one that no rule ever allows."""
    for pattern, words in _needs:
        for match in pattern.finditer(text) if words.search(text) else ():
            if not _is_denied(text, match.start(), match.end()):
                yield match.start(), match.end(), pattern is not _returns


def _is_denied(text: str, at: int, end: int) -> bool:
    low, high = _near(text, at, end)
    left = text[low:at]
    breaks = [m.end() for m in _clause.finditer(left)]
    clause = left[breaks[-1] if breaks else 0 :]
    if _denied.search(clause) or _denied.search(text[at:end]) or _unreal.search(left) or _unreal.search(text[at:end]):
        return True
    if cites_rule(text, at) and not text[low:high].rstrip().endswith("?"):
        return True
    behind = text[end:high]
    wished = re.search(r"\b(?:would|love|wish)\b|'d\b", text[at:end])
    if wished and re.match(r"[^.;]{0,40}?,? but\b[^.;]*(?:\b(?:not|unable|cannot)\b|n't\b)", behind):
        return True
    return bool(
        re.match(r"(?: [\w'-]+){0,6}? (?:only )?(?:if|unless|only|provided) (?!you (?:like|want|agree|accept))", behind)
    )


def _concerns(text: str, at: int, end: int, strong: bool, record: str, others: set[str]) -> bool:
    """Whether a promise is about the record: by its name, by a pronoun, or because no other one is there."""
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
    """Return start and end of the sentence around a place, at most `_WINDOW` characters on each side."""
    low, high = sentence_at(text, at)
    return max(low, at - _WINDOW), min(max(high, end), end + _WINDOW)


def _names(record: str, text: str) -> bool:
    return bool(places_of(_plain(record), text))


def _plain(record: str) -> str:
    return normalize(record).lstrip("#")
