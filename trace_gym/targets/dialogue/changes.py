"""Tests that distinguish values that the agent proposes to change from values that a message only describes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trace_gym.targets.dialogue.recognition import Act

__all__ = ["describes", "without_old_values"]

_changes = re.compile(
    r"\b(?:cancel|refund|chang(?:e|ing)|updat(?:e|ing)|mov(?:e|ing)|upgrad(?:e|ing)|rebook|add|return|exchang|"
    r"replac|send|"
    r"ship|charg|switch|proceed|go ahead|shall i|should i|may i|can i|me to|i'll|i will|i'm going|i am going|"
    r"i would|i'd|would be|will be|the day|comes? to|makes|works out|lands|falls)",
    re.IGNORECASE,
)
_right = re.compile(
    r"\b(?:right|correct|accurate|match(?:es)?|true|as expected|your (?:trip|reservation|booking|order)|"
    r"as you)\b",
    re.IGNORECASE,
)
_DATE = (
    r"(?:\d{4}-\d\d-\d\d|\d\d?/\d\d?(?:/\d{4})?|(?:may|june) \d\d?(?:st|nd|rd|th)?(?:,? \d{4})?|"
    r"\d\d? (?:may|june)(?: \d{4})?)"
)
_from = re.compile(
    rf"\bfrom (?:\w+day,? )?(?:the )?{_DATE}(?= to\b)|\b(?:at present|currently|so far|now) (?:is |are |"
    rf"it is )?(?:on|for) {_DATE}",
    re.IGNORECASE,
)
_kept = re.compile(
    rf"(?:^|(?<=[;,\n])|(?<=[.] ))[^;,.\n]*{_DATE}[^;,.\n]*\b(?:stays?|unchanged|remains?|kept|untouched|"
    rf"as (?:it is|booked))\b[^;,.\n]*",
    re.IGNORECASE,
)


def describes(text: str, heard: Sequence[Act]) -> bool:
    """Return whether a message only asks the user to confirm the current state, without announcing a change.

    Args:
        text: The message.
        heard: Dialogue acts of the message.
    """
    asked = [act.text for act in heard if act.kind == "proposal"]
    return not _changes.search(text) and all(_right.search(clause) for clause in asked)


def without_old_values(text: str) -> str:
    """Remove old values that a change replaces, and lines about unchanged records, from a message."""
    return _from.sub(" ", _kept.sub("", text)) if _kept.search(text) or _from.search(text) else text
