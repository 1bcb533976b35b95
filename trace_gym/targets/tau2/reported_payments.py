"""Detection of reports that describe a refund as a charge, or vice versa, or that mention a payment nobody makes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from trace_gym.statements.amounts import number_of
from trace_gym.statements.text import sentence_at, sentence_ends
from trace_gym.targets.tau2.outcomes import RecordChanges, contains

_AMOUNT = (
    r"(?<![\w$.,#-])(?P<unit>\$ ?|usd )?(?P<amount>\d[\d,]*(?:\.\d{1,2})?)(?P<dollars> (?:dollars|usd)\b)?(?![\w,.]\d)"
)
_ADVERBS = r"(?:(?:\w+ly|now|just|also|then|already|all) )*"
_GAP = r"(?P<gap>(?: \([^()\n]{0,40}\))?(?: (?!that\b|which\b|you\b|we\b|i\b|and\b|but\b|if\b)[\w()'/-]+){0,4}?)"
_CHARGE = r"(?:charged|billed|debited|deducted)"
_BACK = r"(?:refunded|credited|reimbursed|returned|repaid)"
_DONE = r"(?:was|were|has(?: now| just)? been|have(?: now| just)? been)"
_WILL = r"(?:will(?: now| then)? be|is being|'ll be)"
_OBJECT = (
    r"(?:(?:you|your|the|a|an|total|additional|extra|amount|of|difference|gift|credit|card|paypal|account|visa|"
    r"mastercard|price|fare|with|back|ending|in|\d{4}|[a-z_]+_\d+) )*?"
)
_charged = re.compile(
    rf"{_AMOUNT}{_GAP} (?:(?P<done>{_DONE})|{_WILL}) {_ADVERBS}{_CHARGE}\b|"
    rf"\b(?P<by>(?:i|we)(?:'ve| have)?|you(?:'ve| have)? been|you were) {_ADVERBS}{_CHARGE} {_OBJECT}"
    + _AMOUNT.replace("P<", "P<by_")
)
"""Pattern of a statement that an amount was or will be charged."""
_GOES = r"(?:goes|will go|went|has gone|was|has been|will be|is being|is on its way)"
_refunded = re.compile(
    rf"{_AMOUNT}{_GAP} (?:(?P<done>{_DONE})|{_WILL}) {_ADVERBS}{_BACK}\b|"
    rf"\b(?P<by>(?:i|we)(?:'ve| have)? {_ADVERBS}{_BACK}|you(?:'ll| will) {_ADVERBS}(?:receive|get) (?:a |the |"
    r"your )?(?:full |total |whole )*refund of|(?:a|the|your) (?:full |total )?refund of"
    rf"(?=[^;!?\n]{{1,14}} {_GOES}\b)|(?:you(?:'ve| have)|has) been {_ADVERBS}{_BACK}) {_OBJECT}"
    + _AMOUNT.replace("P<", "P<by_")
)
"""Pattern of a statement that an amount was or will be refunded."""
_unreal = re.compile(
    r"\b(?:not|no|never|without|cannot|unable|neither|nor|if|unless|whether|would|could|might|instead|rather|once|"
    r"until|should|had|when|where|what|said|says?|mention\w*|thought|claim\w*|wrong\w*|mistake\w*|in error|"
    r"normally|usually|per|each|hold|temporar\w+)\b|n't\b|'d\b"
)
"""Pattern of words that indicate that a sentence denies or restricts a payment."""
_before = re.compile(
    r"\b(?:original\w*|initial\w*|previous\w*|earlier|first|former\w*|before|booking|purchase|at the time|back (?:on|"
    r"in|when)|paid|upon|since|history|ordered|checkout|on (?:may|april|\d{4}))\b"
)
"""Pattern of words that indicate that a sentence is about a payment before the episode."""
_returns = re.compile(r"\b(?:refund\w*|credited|reimburs\w*|returned to|revers\w*|repa\w+|back)\b")
_extra = re.compile(
    r"\b(?:an?|another|includ\w+|plus|with) (?:an? )?(?:extra|additional|further|bonus(?: of)?) "
    rf"{_AMOUNT}(?P<behind>[^.;!?\n]{{0,60}})"
)
_moved = re.compile(r"\b(?:credited|refunded|added|paid|returned|sent|deposited|given|transferred|bonus|yours)\b")
_gift = re.compile(
    r"\bas (?:an? |our |some |your |full )?(?:\w+ ){0,2}?(?:compensation|apology|goodwill|gesture|courtesy|"
    r"thank[- ]you|token)\b|\bfor (?:the|your|any|this|all the) (?:\w+ )?(?:inconvenience|trouble|loyalty|patience|"
    r"troubles)\b|\bbonus\b|\bgoodwill\b"
)
_gives = re.compile(
    r"\b(?:credit(?:ed|s|ing)?|add(?:ed|ing)?|refund(?:ed|s)?|pa(?:y|id)|giv(?:e|en|ing)|gave|receive|get|send|sent|"
    r"issue[ds]?|transfer(?:red)?|deposit(?:ed)?|offer(?:ed)?|includ\w+|bonus)\b(?! cards?\b)"
)
_amount = re.compile(_AMOUNT)
_PAYMENTS = ("charged", "billed", "debited", "deducted", "refund", "credited", "reimbursed", "returned", "repaid")
_GIFTS = (
    "extra", "additional", "further", "bonus", "compensation", "apology", "goodwill", "gesture", "courtesy", "thank",
    "token", "inconvenience", "trouble", "loyalty", "patience",
)  # fmt: skip
_NEAR = 0.005


def wrong_direction(outcome: RecordChanges, said: Sequence[str]) -> bool:
    """Return whether reports state a refund as a charge, a charge as a refund, or a payment that did not happen.

    Args:
        outcome: What happened in the episode.
        said: The normalized reports; see `outcomes.reports`.
    """
    for text in said:
        if not contains(text, _PAYMENTS):
            continue
        charges, refunds = outcome.charges, outcome.refunds
        known = charges | refunds
        for amount, done, money, place in _stated(_charged, text):
            if not amount or _among(amount, charges):
                continue
            if _among(amount, refunds):
                if not _is_past_payment(outcome, text, place):
                    return True
            elif done and money and not charges and not _among(amount, outcome.past):
                return True
        for amount, _, money, _ in _stated(_refunded, text):
            if amount and not _among(amount, refunds) and (_among(amount, charges) or (money and not known)):
                return True
    return False


def invents_money(outcome: RecordChanges, said: Sequence[str]) -> bool:
    """Return whether messages promise money in addition to the payments of the episode.

    Args:
        outcome: What happened in the episode.
        said: The normalized messages.
    """
    for text in said:
        if not contains(text, _GIFTS):
            continue
        known = outcome.charges | outcome.refunds
        for match in _extra.finditer(text):
            moves = match[0].startswith(("includ", "plus", "with")) or _moved.search(match["behind"])
            known_amount = _among(_number(match["amount"]), known)
            if moves and not known_amount and _is_money(match) and not _denied(text, match.start()):
                return True
        for match in _gift.finditer(text):
            start, end = sentence_at(text, match.start())
            part = text[start:end]
            if part.rstrip().endswith("?") or not _gives.search(part) or _unreal.search(part):
                continue
            found = [_number(m["amount"]) for m in _amount.finditer(part) if _is_money(m)]
            if found and not any(_among(amount, {*known, *outcome.past}) for amount in found):
                return True
    return False


def _stated(pattern: re.Pattern[str], text: str) -> Iterator[tuple[float, bool, bool, int]]:
    """Yield each stated payment: its amount, whether it is stated as completed, whether it has a unit, its position."""
    for match in pattern.finditer(text):
        start, end = sentence_at(text, match.start())
        if text[start:end].rstrip().endswith("?") or _unreal.search(text[start : match.end()]):
            continue
        name = "by_" if match["by_amount"] else ""
        money = bool(match[f"{name}unit"] or match[f"{name}dollars"] or "." in match[f"{name}amount"])
        done = bool(match["done"] or (match["by"] and "will" not in match["by"] and "'ll" not in match["by"]))
        yield _number(match[f"{name}amount"]), done, money, match.start()


def _is_past_payment(outcome: RecordChanges, text: str, place: int) -> bool:
    """Return whether a stated charge, whose amount was refunded, may be the original payment before the episode.

    The sentence then contains a word such as ``originally``, or the text near it states the refund.
    """
    start, end = sentence_at(text, place)
    if _before.search(text, start, end):
        return True
    behind = next((e for e in sentence_ends(text) if e > end), end)
    if len(outcome.moves) == 1:
        start, behind = 0, len(text)
    return _returns.search(text, start, behind) is not None


def _denied(text: str, place: int) -> bool:
    start, end = sentence_at(text, place)
    return _unreal.search(text, start, place) is not None or text[start:end].rstrip().endswith("?")


def _is_money(match: re.Match[str]) -> bool:
    return bool(match["unit"] or match["dollars"])


def _number(digits: str) -> float:
    return number_of(digits.rstrip(","))


def _among(amount: float, known: Collection[float]) -> bool:
    return any(abs(amount - other) < _NEAR for other in known)
