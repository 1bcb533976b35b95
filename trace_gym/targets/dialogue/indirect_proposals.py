"""Recognition of proposals in the words of a question about a fact, or of a statement."""

from __future__ import annotations

import re

__all__ = ["ASKS_AGAIN", "proposes_indirectly"]

_with_consent = re.compile(
    r"\bwith your (?:\w+ )?(?:agreement|consent|approval|permission|okay|ok|go-ahead|confirmation)\b,? "
    r"i(?:'ll| will| can| would)\b",
    re.IGNORECASE,
)
_or_proceed = re.compile(
    r"\bany(?:thing)? (?:\w+ )?(?:other|else)\b.*\bor (?:shall|should|may|can) i (?:\w+ )?(?:proceed|go ahead|continue|"
    r"start|do)\b",
    re.IGNORECASE,
)
"""Pattern of a request for consent that also asks for further wishes."""
_may_i = re.compile(r"^(?:\W|\w+,? ){0,2}(?:may|shall|can|could|should) i\b", re.IGNORECASE)
ASKS_AGAIN = re.compile(r",? or (?:should|shall|do|would|must) i\b.*\b(?:check|ask|confirm|come back|wait)\b")
"""Pattern of a proposal that offers to ask again, as in ``May I do it, or should I check with you first?``."""
_asks_go = re.compile(
    r"\b(?:tell me|let me know|say) (?:yes if|(?:whether|if) (?:i (?:should|may|can|shall)|"
    r"you(?:'d| would)? (?:like|want) me to))\b",
    re.IGNORECASE,
)
"""Pattern of a request for consent, as in ``Please tell me whether I should change it``."""
_all_right_if = re.compile(
    r"^(?:\W|\w+,? ){0,3}(?:is|would) (?:it|that) (?:be )?(?:all right|alright|ok|okay|fine|acceptable)"
    r"(?: (?:with|for) you)? (?:if|that)\b(?!.*, or )",
    re.IGNORECASE,
)
_you_want = re.compile(
    r"^(?:just )?(?:to (?:confirm|be sure|be clear|check|make sure|clarify)|so)\W+(?:so )?you(?:'d| would)? "
    r"(?:\w+ )?(?:want|like|need|wish)\b(?!.* or ).*\?$",
    re.IGNORECASE,
)
"""Pattern of a question whether the agent has understood the request."""
_just_to_be_sure = re.compile(
    r"^just to (?:be (?:sure|certain|clear)|make sure|confirm|check)\b(?!.*\byou mean\b)(?!.* or )"
    r"(?!.*\b(?:what|which|who|when|where|why|how)\b).*\?$",
    re.IGNORECASE,
)
"""Pattern of a question whether both mean the same record."""
_whole = re.compile(
    r"^(?!.*\b(?:or|what|which|who|when|where|why|how)\b)(?:\W|\w+,? ){0,3}"
    r"(?:should (?:the (?:whole|entire)|all|everything)\b|would you like (?:\w*\d\w*|this|that|it)\b).*\?$",
    re.IGNORECASE,
)
"""Pattern of a question that a user who wants the whole thing answers with ``yes``."""
_confirm_that = re.compile(
    r"^(?!.*\b(?:reason|why|which)\b).*\bconfirm that (?:i (?:should|may|can)|you(?:'d| would)? (?:want|like))\b", re.I
)
_ASKING = (_or_proceed, _asks_go, _all_right_if, _you_want, _just_to_be_sure, _whole, _confirm_that)


def proposes_indirectly(kind: str, text: str) -> bool:
    """Return whether a clause asks for consent or confirmation, although it was recognized as another kind.

    Args:
        kind: The recognized kind.
        text: The clause.
    """
    if kind == "choice" and _may_i.match(text) and ASKS_AGAIN.search(text.lower()):
        return True
    if kind in ("inform", "hold", "progress"):
        return _with_consent.search(text) is not None
    if kind == "choice":
        return _or_proceed.search(text) is not None
    return kind == "request" and any(pattern.search(text) for pattern in _ASKING)
