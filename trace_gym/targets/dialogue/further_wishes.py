"""Recognition of offers of further help (``Anything else?``) before the work starts, or together with a proposal."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from trace_gym.statements import find_values
from trace_gym.targets.dialogue.patterns import IDENTIFIER
from trace_gym.targets.dialogue.recognition import Act

__all__ = ["asks_consent", "asks_first", "describes_change"]

_WORK = (
    r"(?:proceed|go (?:ahead|on|forward)|move (?:ahead|forward|on)|start|begin|continue|get (?:\w+ )?(?:started|going)|"
    r"process|submit|finali[sz]e|place|make|carry|apply|do|cancel|change|exchange|return|modify|update|book|upgrade|"
    r"add|switch|send|look|check|pull)"
)
_WORKING = (
    r"(?:proceeding|going (?:ahead|on|forward)|moving (?:ahead|forward|on)|starting|beginning|continuing|getting "
    r"started|processing|submitting|finali[sz]ing|placing|making|carrying|applying|doing|cancell?ing|changing|"
    r"exchanging|returning|modifying|updating|booking|upgrading|adding|switching|sending)"
)
_NO_OBJECT = (
    r"\b(?! (?:(?!or\b|and\b)[\w']+ ){0,3}?(?:anything|something|any|another|other|others|else|more|further)\b)"
)
"""End of a verb pattern that excludes objects such as ``anything else``. Such an object makes the clause an offer of
further help, so ``Shall I change anything else?`` is not a proposal."""
_asks_consent = re.compile(
    r"\b(?:do|can|could|would|will) you (?:please |kindly |also )*(?:confirm|agree|consent|approve)\b(?! (?:your|the) "
    r"(?:e-?mail|name|id)\b)|"
    rf"\b(?:shall|should|may|can|could) (?:i|we) (?:now |then |just |please |already |also )*{_WORK}{_NO_OBJECT}|"
    rf"\b(?:like|want) me to (?:now |then |just |already )*{_WORK}{_NO_OBJECT}",
    re.IGNORECASE,
)
_asks_approval = re.compile(
    r"\b(?:is|are|does) (?:that|this|it|these|everything|all) (?:\w+ )?(?:all right|alright|ok(?:ay)?|fine|correct|"
    r"right|look (?:right|good|correct)|sound (?:right|good))\b",
    re.IGNORECASE,
)
_further = re.compile(
    r"\b(?:is|are|was|were) there (?:any|some|more)\w*\b[^?,;]*?(?=[?,;]|$| (?:or|and) (?:shall|should|may|can|"
    r"could|do|would|is|does) (?:i|we|you|that|this)\b)",
    re.IGNORECASE,
)
"""Pattern of the part of a clause that offers further help."""
_asks_first = re.compile(
    rf"\bbefore (?:i|we)(?:'ll| will| can| could| may)? (?:now |then |actually |finally )*{_WORK}\b|"
    rf"\bbefore {_WORKING}\b|\bbefore (?:that|this|the (?:change|exchange|return|cancellation|update))\b|"
    r"\bfirst\W*$|\b(?:at|in) the same (?:time|step|call|go)\b|"
    r"\bwhile (?:i'm|i am|we're|we are) at it\b|\bor is (?:it|this|that) (?:just|only)\b",
    re.IGNORECASE,
)
_change = re.compile(r"\b(?:i|we)(?:'ll| will| would|'d| am going to|'m going to| can)\b|\bto confirm\b", re.IGNORECASE)


def asks_consent(offer: str, after_report: bool = False) -> bool:
    """Return whether a clause that offers further help also asks for consent.

    For example, the result is True for ``Shall I proceed, or is there anything else?``.

    Args:
        offer: The clause.
        after_report: Whether a report comes before the clause, so that ``Is that all right?`` is about the report.
    """
    rest = _further.sub(" ", offer)
    return bool(_asks_consent.search(rest) or (not after_report and _asks_approval.search(rest)))


def asks_first(heard: Iterable[Act]) -> bool:
    """Return whether a message asks for further requests before the agent starts to work.

    For example, the result is True for ``Before I proceed, is there anything else?``.
    """
    return any(act.kind == "offer" and _asks_first.search(act.text) for act in heard)


def describes_change(heard: Collection[Act]) -> bool:
    """Return whether a message describes a change by an id or an amount, not counting offers of further help.

    If the message also contains a refusal, another clause must announce the change explicitly.
    """
    refuses = any(act.kind == "refusal" for act in heard)
    told = [act.text for act in heard if act.kind not in ("offer", "greeting", "refusal")]
    announced = any(_change.search(text) or (not refuses and IDENTIFIER.search(text)) for text in told)
    return announced and any(
        IDENTIFIER.search(text) or any(value.unit == "money" for value in find_values(text)) for text in told
    )
