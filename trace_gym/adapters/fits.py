"""How well calls fit what the users said: by the words that stand beside their values in the results."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from trace_gym.adapters.offers import records, tokens


class Fits:
    """How well the calls of a tool fit what the users said."""

    def __init__(self) -> None:
        self.said: frozenset[str] = frozenset()
        self._results: list[str] = []
        self._hits: dict[str, frozenset[str]] = {}

    def hear(self, said: frozenset[str]) -> set[str]:
        """Go by these words from now on, and tell for which values they change what counts."""
        self.said, before, self._hits = said, self._hits, {}
        return {value for value, hits in before.items() if self._hit(value) != hits}

    def show(self, result: str) -> set[str]:
        """Read one more result, and tell for which values it counts."""
        self._results.append(result)
        beside, changed = _beside(result), set()
        for value in self._hits.keys() & beside.keys():
            if more := (self.said & beside[value]) - self._hits[value]:
                self._hits[value] |= more
                changed.add(value)
        return changed

    def of(self, rivals: Sequence[Sequence[str]]) -> list[float]:
        """How many of the users' words the records of these calls' values hold, from 0 to 1 among them.

        Args:
            rivals: The values of each call, as `leaves` finds them.
        """
        counts = [len(frozenset().union(*map(self._hit, values))) for values in rivals if len(rivals) > 1]
        low, high = min(counts, default=0), max(counts, default=0)
        return [(n - low) / (high - low) if high > low else 0.0 for n in counts or [0] * len(rivals)]

    def _hit(self, value: str) -> frozenset[str]:
        if (known := self._hits.get(value)) is None:
            beside = (_beside(r).get(value, ()) for r in self._results)
            known = self._hits[value] = self.said & tokens(value).union(*beside)
        return known


def leaves(value: Any) -> list[str]:
    """Every scalar in a value, as text."""
    if isinstance(value, (dict, list)):
        found: list[str] = []
        for part in value.values() if isinstance(value, dict) else value:
            found += leaves(part) if isinstance(part, (dict, list)) else (str(part),)
        return found
    return [str(value)]


@lru_cache(maxsize=4096)
def _beside(result: str) -> dict[str, frozenset[str]]:
    """Each value of a result with the words of the records that hold it."""
    found: dict[str, frozenset[str]] = {}
    for record in records(result):
        values = [str(v) for v in record.values() if not isinstance(v, (dict, list))]
        words = frozenset[str]().union(*map(tokens, values))
        found.update((v, found.get(v, frozenset()) | words) for v in values)
    return found
