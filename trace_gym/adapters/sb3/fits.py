"""Relevance scores of tool calls, based on the words in the user's messages.

The relevance of a call is the number of user words in the records that contain the call's argument values. A set of
user words is stored as an integer with one bit per word, so that unions and counts are fast.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from trace_gym.adapters.sb3.results import Result, tokens


class Fits:
    """Relevance scores of tool calls, updated as user messages and tool results arrive."""

    def __init__(self) -> None:
        self.bits: dict[str, int] = {}
        """Mapping from each user word to its bit."""
        self._records: list[tuple[frozenset[str], list[str]]] = []
        self._hits: dict[str, int] = {}

    def add_words(self, user_words: frozenset[str]) -> set[str]:
        """Add words of the user, and return the values whose score may change."""
        fresh = user_words.difference(self.bits)
        self.bits |= {word: 1 << n for n, word in enumerate(sorted(fresh), len(self.bits))}
        changed = {value for value in self._hits if self._add(value, self._bits_of(tokens(value), fresh))}
        for words, values in self._records:
            if more := self._bits_of(words, fresh):
                changed.update(value for value in values if self._add(value, more))
        return changed

    def add_result(self, result: Result) -> set[str]:
        """Add a tool result, and return the values whose score may change."""
        changed = set[str]()
        for record in result.records:
            if values := [str(v) for v in record.values() if not isinstance(v, (dict, list))]:
                words = tokens(" ".join(values))
                self._records.append((words, values))
                if user_words := self._bits_of(words, self.bits.keys()):
                    changed.update(value for value in values if self._add(value, user_words))
        return changed

    def scores(self, columns: Sequence[Sequence[Sequence[str]]], limit: int) -> list[float]:
        """Return the scores of the first `limit` calls, scaled to the range from 0 to 1 among these calls.

        The score of a call is the number of user words in the records that contain one of its argument values.

        Args:
            columns: For each argument, its candidate values, each as a list of the scalars that it contains.
            limit: Maximum number of calls to compare.
        """
        rows: list[int] = [0]
        for column in reversed(columns):  # as in `itertools.product`, the last argument varies fastest
            hits = [*map(self._hit, column)]
            rows = [row | hit for hit in hits for row in rows][:limit]
        counts = [row.bit_count() for row in rows]
        low, high = min(counts), max(counts)
        return [(n - low) / (high - low) for n in counts] if high > low else [0.0] * len(counts)

    def _bits_of(self, words: frozenset[str], among: Set[str]) -> int:
        """Return a bit set of the words that are in both sets."""
        return sum(self.bits[word] for word in words & among)

    def _add(self, value: str, user_words: int) -> bool:
        """Add user words to those stored for a value, and return whether any of them is new."""
        before = self._hits.get(value, 0)
        self._hits[value] = before | user_words
        return before | user_words != before

    def _hit(self, scalars: Sequence[str]) -> int:
        words = 0
        for value in scalars:
            if value not in self._hits:
                self._add(value, self._bits_of(tokens(value), self.bits.keys()))
            words |= self._hits[value]
        return words
