"""Similarity of two texts from 0 to 100, as in the benchmark's searches (`WRatio` of rapidfuzz 3).

`ratio` is 200 times the length of the longest common subsequence, divided by the sum of the lengths. The other scores
apply `ratio` to the best window of the longer text, to sorted words, and to the words that only one text contains.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

LIMIT = 5
"""Maximum number of records that a search by similarity returns."""
LONGEST = 300
"""Maximum length of compared texts. It limits the time of a comparison. Longer texts match nothing."""
TOKENS, PARTS, SCRAPS = 0.95, 0.9, 0.6
"""Weights of word scores (`TOKENS`), and of window scores if the longer text is at most 8 times as long as the shorter
one (`PARTS`) or even longer (`SCRAPS`)."""


def tidy(text: str) -> str:
    """Return a text in lowercase with each character that is not a letter or digit replaced by a space."""
    return re.sub(r"[\W_]", " ", text.lower()).strip()


@lru_cache(maxsize=2**14)  # the same names and words are compared repeatedly
def likeness(one: str, other: str) -> float:
    """Return the similarity of two texts, which is the maximum of several weighted ratios."""
    a, b = tidy(one), tidy(other)
    if not a or not b:
        return 0.0
    longer = max(len(a), len(b)) / min(len(a), len(b))
    if longer < 1.5:
        return max(ratio(a, b), TOKENS * _words(a, b))
    scale = PARTS if longer <= 8 else SCRAPS
    return max(ratio(a, b), scale * partial(a, b), scale * TOKENS * _partial_words(a, b))


def ratio(a: str, b: str) -> float:
    """Return twice the length of the longest common subsequence, as a percentage of the sum of the lengths."""
    return 200 * _common(a, b) / (len(a) + len(b)) if a or b else 100.0


def partial(a: str, b: str) -> float:
    """Return the ratio of the shorter text and the most similar window of the longer text."""
    if len(a) > len(b):
        a, b = b, a
    if not a:
        return 0.0
    best = max(ratio(a, part) for part in _windows(b, len(a)))
    return max(best, *(ratio(b, part) for part in _windows(a, len(b)))) if len(a) == len(b) else best


def most_alike(query: str, texts: Sequence[str | None], threshold: float) -> list[int]:
    """Return the indices of the most similar texts that reach the threshold, at most `LIMIT`, most similar first."""
    if len(query) > LONGEST:
        return []
    scores = [(likeness(query, text), n) for n, text in enumerate(texts) if text is not None and len(text) <= LONGEST]
    return [n for score, n in sorted(scores, key=lambda s: (-s[0], s[1])) if score >= threshold][:LIMIT]


def _windows(text: str, width: int) -> Iterable[str]:
    """Yield the windows of a text that have the given width, and shorter windows at both ends."""
    yield from (text[:n] for n in range(1, width))
    yield from (text[n : n + width] for n in range(len(text)))


def _words(a: str, b: str) -> float:
    one, other = set(a.split()), set(b.split())
    shared, left, right = (" ".join(sorted(w)) for w in (one & other, one - other, other - one))
    if shared and not (left and right):
        return 100.0
    best = max(ratio(_sorted(a), _sorted(b)), ratio(f"{shared} {left}".strip(), f"{shared} {right}".strip()))
    return max(best, *(ratio(shared, f"{shared} {rest}") for rest in (left, right))) if shared else best


def _partial_words(a: str, b: str) -> float:
    one, other = set(a.split()), set(b.split())
    if one & other:
        return 100.0
    return max(partial(_sorted(a), _sorted(b)), partial(" ".join(sorted(one)), " ".join(sorted(other))))


def _sorted(text: str) -> str:
    return " ".join(sorted(text.split()))


def _common(a: str, b: str) -> int:
    """Return the length of the longest common subsequence.

    The bits of one integer represent a row of the dynamic programming table (Hyyrö's algorithm).
    """
    places: dict[str, int] = {}
    for n, letter in enumerate(a):
        places[letter] = places.get(letter, 0) | 1 << n
    full = (1 << len(a)) - 1
    row = full
    for letter in b:
        here = row & places.get(letter, 0)
        row = (row + here | row - here) & full
    return len(a) - row.bit_count()
