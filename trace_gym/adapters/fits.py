"""How well calls fit what the users said: by the words that stand beside their values in the results.

A set of the users' words is kept as a number with a bit for each, so that sets are joined and counted quickly.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from trace_gym.adapters.results import Result, tokens


class Fits:
    """How well the calls of a tool fit what the users said."""

    def __init__(self) -> None:
        self.bits: dict[str, int] = {}
        """The users' words."""
        self._records: list[tuple[frozenset[str], list[str]]] = []
        self._hits: dict[str, int] = {}

    def hear(self, said: frozenset[str]) -> set[str]:
        """Count these words too from now on, and tell for which values that changes something."""
        fresh = said.difference(self.bits)
        self.bits |= {word: 1 << n for n, word in enumerate(sorted(fresh), len(self.bits))}
        changed = {value for value in self._hits if self._add(value, self._said(tokens(value), fresh))}
        for words, values in self._records:
            if more := self._said(words, fresh):
                changed.update(value for value in values if self._add(value, more))
        return changed

    def show(self, result: Result) -> set[str]:
        """Read one more result, and tell for which values it changes something."""
        changed = set[str]()
        for record in result.records:
            if values := [str(v) for v in record.values() if not isinstance(v, (dict, list))]:
                words = tokens(" ".join(values))
                self._records.append((words, values))
                if said := self._said(words, self.bits.keys()):
                    changed.update(value for value in values if self._add(value, said))
        return changed

    def of(self, columns: Sequence[Sequence[Sequence[str]]], limit: int) -> list[float]:
        """How many of the users' words the records of the first calls' values hold, from 0 to 1 among these calls.

        Args:
            columns: The values of each argument, and of each value its scalars.
            limit: How many calls are compared.
        """
        rows: list[int] = [0]
        for column in reversed(columns):  # the last one changes first
            hits = [*map(self._hit, column)]
            rows = [row | hit for hit in hits for row in rows][:limit]
        counts = [row.bit_count() for row in rows]
        low, high = min(counts), max(counts)
        return [(n - low) / (high - low) for n in counts] if high > low else [0.0] * len(counts)

    def _said(self, words: frozenset[str], among: Set[str]) -> int:
        """The users' words among these."""
        return sum(self.bits[word] for word in words & among)

    def _add(self, value: str, said: int) -> bool:
        """Count these words for a value, and tell whether that changes something."""
        before = self._hits.get(value, 0)
        self._hits[value] = before | said
        return before | said != before

    def _hit(self, scalars: Sequence[str]) -> int:
        words = 0
        for value in scalars:
            if value not in self._hits:
                self._add(value, self._said(tokens(value), self.bits.keys()))
            words |= self._hits[value]
        return words
