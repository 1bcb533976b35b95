"""Patterns that several modules use to analyze messages: the end of a sentence, identifiers and negations."""

from __future__ import annotations

import re

__all__ = ["IDENTIFIER", "NEGATED", "RECORD_ID", "split_sentences"]

IDENTIFIER = re.compile(r"#?\b(?:(?=\w*\d)\w{6,24}|[A-Z]{6})\b")
"""Pattern of an id of any kind: a word of 6 to 24 characters with a digit, or six capital letters."""
RECORD_ID = re.compile(
    r"#W\d{7}\b|\b(?!HAT\d)(?=[A-Z0-9]*\d)[A-Z0-9]{6}\b|"
    r"\b(?!PLEASE|CANCEL|CHANGE|REFUND|RETURN|UPDATE|DELETE|SUBMIT)[A-Z]{6}\b"
)
"""Pattern of the id of an order (``#W1234567``) or of the code of a reservation (``XR4AWF``)."""
NEGATED = re.compile(r"\b(?:not|never|no|none|nothing|nobody|neither|nor|cannot|without)\b|n't\b", re.IGNORECASE)
"""Pattern of a negation."""
_sentence_end = re.compile(r"(?<=[.!?])\s+")


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text without markup or abbreviations, such as a message of the scripted user.

    For messages of an agent, use `trace_gym.targets.dialogue.clauses.sentences`.
    """
    return _sentence_end.split(text)
