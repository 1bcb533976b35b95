"""Detection of reports that name a payment method other than the one that was charged or refunded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trace_gym.statements.text import sentence_at
from trace_gym.targets.constants import frozen
from trace_gym.targets.tau2.outcomes import RecordChanges, contains, record_at

_KIND = r"(?P<kind>gift card|paypal|credit card|visa|mastercard|[a-z_]+_\d{7})"
_YOUR = r"(?:(?:your|the|original|same|stored|new|other|payment|method|of|form) |\()*"
_NUMBER = r"(?:[^.;,\n\d$]{0,24}\bending (?:in|with) (?P<number>\d{4}))?"
_BACK = r"refunded|credited|reimbursed|returned|repaid"
_CHARGE = r"charged|billed|debited|deducted"
_BE = r"(?:has been|have been|was|were|will be|is being) (?:\w+ly |now |just |also )*"
_to = re.compile(
    rf"\b(?:(?P<back>{_BACK}|refund of|refund|(?:goes|go|going|get|receive|come|comes)\b[^.;:!?\n]{{0,24}}? back|back)|"
    rf"(?P<charge>{_CHARGE}|paid))\b(?P<gap>(?: (?!and\b|but\b|while\b|from\b|or\b|with\b|for\b)[\w$.,()#'-]+){{0,6}}?)"
    rf" (?:back )?(?:to|onto|on|against|with|from) {_YOUR}{_KIND}\b{_NUMBER}"
)
"""Pattern of a statement such as ``$90 will be refunded to your gift card``."""
_whose = re.compile(rf"\byour {_KIND}(?P<gap>){_NUMBER}\)? {_BE}(?:(?P<back>{_BACK})|(?P<charge>{_CHARGE}))\b")
"""Pattern of a statement such as ``your gift card has been charged``."""
_unreal = re.compile(
    r"\b(?:not|no|never|without|cannot|unable|neither|nor|if|unless|whether|would|could|might|may|"
    r"can(?! confirm\b)|instead|rather|once|until|should|had|when|said|mention\w*|asked|wanted|"
    r"original(?:ly)? (?:paid|charged|purchased)|initial\w*|previous\w*|earlier|before|booked|bought|purchased|ordered|"
    r"were paid|was paid|you paid|already|or)\b|n't\b|'d\b"
)
"""Pattern of words that indicate that a sentence is not about the payment method of the change."""
_returned = re.compile(r"\b(?:refund\w*|returned|credited|reimburs\w*|back)\b")
_SOURCES = frozen({"gift card": "gift_card", "paypal": "paypal"})
_WORDS = ("gift card", "paypal", "credit card", "visa", "mastercard", "_")


def names_wrong_method(outcome: RecordChanges, said: Sequence[str]) -> bool:
    """Return whether reports name a payment method that a change neither charged nor refunded.

    Args:
        outcome: What happened in the episode.
        said: The normalized reports; see `outcomes.reports`.
    """
    return any(
        _is_wrong(outcome, text, match)
        for text in said
        if contains(text, _WORDS)
        for pattern in (_to, _whose)
        for match in pattern.finditer(text)
    )


def _is_wrong(outcome: RecordChanges, text: str, match: re.Match[str]) -> bool:
    start, end = sentence_at(text, match.start())
    if _unreal.search(text, start, match.end()) or text[start:end].rstrip().endswith("?"):
        return False
    if match.groupdict().get("charge") == "paid" and _returned.search(text, start, end):
        return False  # the payment before the change
    record = record_at(text, match.start(), outcome)
    if record and record not in outcome.moves:
        return False
    sign = -1 if match["back"] else 1
    used = [*_used(outcome, record)]
    methods = {key for key, amount in used if amount * sign > 0} or {key for key, _ in used}
    return bool(methods) and not any(_fits(outcome, key, match) for key in methods)


def _used(outcome: RecordChanges, record: str) -> Iterator[tuple[str, float]]:
    for key in [record] if record else outcome.methods:
        yield from outcome.methods[key]


def _fits(outcome: RecordChanges, method: str, match: re.Match[str]) -> bool:
    """Return whether the matched statement can refer to a payment method in the customer's profile."""
    kind, stored = match["kind"], outcome.profile.get(method)
    if stored is None or "_" in kind:
        return stored is None or method == kind
    if stored["source"] != _SOURCES.get(kind, "credit_card"):
        return False
    return match["number"] is None or match["number"] == stored.get("last_four", match["number"])
