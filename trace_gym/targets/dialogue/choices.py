"""Analysis of choices: the alternatives of a question, and whether the user's request names one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["alternatives", "content", "decides"]

_tail = re.compile(r"(?<=\w) (?:for|on|in|to|at|of|from|with)\b.*")
"""Pattern of words after the last alternative that apply to all alternatives, such as ``for tomorrow`` in ``Celsius or
Fahrenheit for tomorrow?``."""
_when = re.compile(r"\d:\d\d|\d{4}-\d\d-\d\d")
_word = re.compile(r"[\w#]*\d(?:[\w.,:#-]*\w)?|[a-z]{4,}")
_plain = frozenset({
    "would", "like", "prefer", "please", "with", "want", "wants", "which", "that", "this", "these", "those",
    "have", "from", "your", "should", "rather", "them", "both", "just", "only", "mean", "tell", "take", "make",
    "about", "will", "what", "when", "where", "there", "here", "could", "does", "shall", "than", "also", "know",
    "keep", "instead", "flight", "flights", "other", "another", "different", "else", "some", "more", "sure",
    "they", "their", "already", "cancelled", "order", "trip", "reservation", "done", "change", "right",
})  # fmt: skip
"""Words that do not distinguish alternatives."""


def alternatives(asked: str) -> list[frozenset[str]]:
    """Return the words that only one alternative of a question contains, for each alternative."""
    every = re.split(r",? or ", re.sub(r"\bif (?:it|that|they)\b[^,]*", "", asked))
    every[-1] = _tail.sub("", every[-1])
    words = [[*_words(part)] for part in every]
    parts = [frozenset(own[-max(len(words[-1]), 1) :]) | {w for w in own if w[0].isdigit()} for own in words]
    return [part.difference(*(p for p in parts if p is not part)) for part in parts]


def decides(asked: str, opening: str) -> bool:
    """Return whether the user's first message names one of the alternatives of a question, or a time if both do."""
    every = alternatives(asked)
    if len(every) < 2:
        return False
    timed = sum(_when.search(part) is not None for part in asked.split(" or ")) > 1
    return (timed and _when.search(opening) is not None) or any(own & content(opening.lower()) for own in every)


def content(text: str) -> frozenset[str]:
    """Return the words of a lowercase text that can distinguish alternatives; see `_words`."""
    return frozenset(_words(text))


def _words(text: str) -> Iterator[str]:
    """Yield ids and numbers, and other words shortened to six letters so that all their forms are equal."""
    for word in _word.findall(text):
        if word not in _plain:
            yield word[:6] if word.isalpha() else word
