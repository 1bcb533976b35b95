"""Recognition of messages that refuse a request and offer something else instead of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trace_gym.targets.dialogue.recognition import Act

__all__ = ["offers_alternative", "offers_after_refusal"]

_later = re.compile(
    r"\b(?:undone|undo|revers\w+|afterwards?|later|again|once (?:this|that|it|i|you|done|confirmed|the change)|"
    r"after (?:this|that|it)|then be)\b"
)
"""Pattern of a refusal of later changes, which accompanies a proposal of the requested change."""
_offers = re.compile(
    r"\b(?:would you (?:like|prefer|want|rather|be)|do you want|(?:shall|should|may|can|could) i|interested in|"
    r"if you(?:'d| would) (?:like|prefer))\b"
)
_asks_fact = re.compile(
    r"\b(?:provide|give|share|tell|send me|check|double-check|confirm|verify|spell|try (?!(?:it )?again)|repeat|"
    r"look (?:up|for)|search|(?:order|reservation|booking|confirmation) (?:number|id|code))\b"
)
"""Pattern of an offer that asks the user for a fact needed for the request itself."""
_OPEN = (
    r"(?:agents?|person|managers?|supervisors?|colleagues?|representatives?|humans?|questions?|requests?|concerns?|help|"
    r"assistance|things?|matters?|issues?|orders?|reservations?|bookings?|trips?)\b"
)
"""Words that offer another person or further help. Such an offer does not count as an alternative."""
_other = re.compile(
    rf"\binstead\b(?! of)|\balternative(?:ly|s)?\b|\b(?:different|another|other) (?!{_OPEN})\w+|"
    r"\brather\b(?! than)|\b(?:one|either|any) of (?:those|these|the two|them)\b|\boptions?\b"
)
_person = re.compile(r"\b(?:transfer|human|supervisor|manager|colleague|representative|specialist)\b")
_fallback = re.compile(r"\b(?:otherwise|instead|failing that|if not|or else|only if|unless)\b")
"""Pattern of a request in which the user already names an alternative."""
_ASKS = frozenset({"proposal", "choice", "request"})


def offers_after_refusal(heard: Sequence[Act]) -> str:
    """Return the text of a message without its refusals, in lowercase.

    Return an empty string if the message does not contain both a refusal and an offer.

    Args:
        heard: The dialogue acts of the message.
    """
    refusals = [act for act in heard if act.kind == "refusal" and not _later.search(act.text.lower())]
    asked = [(act.kind, act.text.lower()) for act in heard if act.kind in _ASKS]
    offered = any((k == "proposal" or _offers.search(text)) and not _asks_fact.search(text) for k, text in asked)
    rest = " ".join(act.text.lower() for act in heard if act.kind != "refusal")
    return rest if refusals and offered and not _person.search(rest) else ""


def offers_alternative(heard: Sequence[Act], opening: str) -> bool:
    """Return whether a message refuses a request and offers something that the user did not ask for.

    Args:
        heard: The dialogue acts of the message.
        opening: The user's request. If it already names an alternative, the result is False.
    """
    return not _fallback.search(opening.lower()) and _other.search(offers_after_refusal(heard)) is not None
