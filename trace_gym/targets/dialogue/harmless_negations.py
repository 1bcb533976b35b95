"""Recognition of negations that refuse nothing: conditions, explanations, and phrases such as ``no problem``."""

from __future__ import annotations

import re

from trace_gym.targets.dialogue.patterns import NEGATED

__all__ = ["refuses_nothing"]

_no_problem = re.compile(
    r"^(?:\W|\w+,? ){0,2}?(?:(?:that's|that is|it's) )?(?:no|not an?) (?:problem|issue|trouble|worries)\b(?!.*\bbut\b)",
    re.IGNORECASE,
)
_in_case = re.compile(
    r"\bif (?:you|i|we|it|that|this|they) (?:\w+ )?(?:can|could|is|are|works?|fits?)\b.*\b(?:if not|otherwise)\b", re.I
)
"""Pattern of a condition with its opposite, as in ``keep it if you can make it, if not the cheapest``."""
_conditional = re.compile(
    r"^(?:\W|and |but |or |only |also |that |please (?:note|be aware|keep in mind) that ){0,3}"
    r"(?:if (?!i (?:can't|cannot|don't|do not) find)|in case|unless|once|whenever|"
    r"should (?:it|that|this|there|you|the))\b|"
    r"(?<!even )\bif (?:the|it|that|they|your|this|any|one|\w*\d\w*)\b.{0,40}"
    r"\b(?:is|are|was|were|has|have|turns?|stays?)\b|"
    r"\bonly if\b|\bthat depends on\b|"
    r"\b(?:until|before) (?:i|i've|i have) (?:seen|looked|checked|opened|read|verified|found)\b|"
    r"\b(?:after (?:this|that|it)|afterwards|once (?:this|that|it|you))\W*$",
    re.IGNORECASE,
)
"""Pattern of a statement about a case that may not apply, or about later changes. It refuses nothing."""
_not_yet = re.compile(
    r"\b(?:nothing|none of (?:it|them|this)) (?:has|have|is|was|will be)\b.*\b(?:so far|yet|until now)\b|"
    r"^(?:\W|\w+,? ){0,3}?nothing (?:else )?(?:(?:has|have) been|is|will be|on your \w+ will be) "
    r"(?:cancell?ed|changed|charged|booked|done|moved)\b.{0,30}$|\bnothing else\b.*\bwill be changed\b",
    re.IGNORECASE,
)
"""Pattern of a statement that the work has not started."""
_explains = re.compile(r"^(.*?)\b(?:because|since|as there (?:is|are|was|were))\b", re.IGNORECASE)
_declines = re.compile(
    rf"{NEGATED.pattern}|\b(?:declin\w+|refus\w+|stays?|remains?|keeps?|unable|unfortunately|sorry|afraid|impossible|"
    r"only|leave|must|need)\b",
    re.IGNORECASE,
)


def _is_not_started(text: str) -> bool:
    """Return whether a clause states that nothing was changed, as in ``Nothing has been cancelled so far``."""
    return _not_yet.search(text) is not None


def refuses_nothing(text: str) -> bool:
    """Return whether a clause with a negation does not refuse the user's request."""
    if _no_problem.match(text) or _in_case.search(text) or _conditional.search(text) or _is_not_started(text):
        return True
    found = _explains.match(text)  # the negation is only in the reason: `You now fly A, because B could not be kept`
    return found is not None and bool(found[1].strip()) and not _declines.search(found[1])
