"""Heuristics that choose among displayed values by position, order, length or form, without reading the request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from trace_gym.types import Scenario

PLACES = 4
"""Number of positions, from the start of a list, for which there is a heuristic ("take the second value")."""


@dataclass(frozen=True, slots=True)
class ChoiceCase:
    """One choice that the oracle made in one scenario."""

    scenario: Scenario
    values: tuple[str, ...]
    """At least two values, in display order."""
    right: str
    rival: str | None
    """Value that the ablated expert uses; None if the ablated expert does not make this call."""

    @property
    def chance(self) -> float:
        return 1 / len(self.values) if self.right in self.values else 0.0


def heuristic_picks(case: ChoiceCase) -> Iterator[tuple[str, str]]:
    """Yield each heuristic with the value that it selects."""
    values, ordered = case.values, sorted(case.values, key=_order)
    yield from ((f"no. {n}", value) for n, value in enumerate(values[:PLACES], 1))
    yield from (("the last", values[-1]), ("the smallest", ordered[0]), ("the largest", ordered[-1]))
    if len(values) > 2:
        yield from (("the second-to-last", values[-2]), ("the middle one", values[len(values) // 2]))
        yield from (("the second smallest", ordered[1]), ("the second largest", ordered[-2]))
        yield ("the median", ordered[len(ordered) // 2])
    by_length = sorted(values, key=len)
    if len(by_length[0]) < len(by_length[1]):
        yield ("the shortest", by_length[0])
    if len(by_length[-1]) > len(by_length[-2]):
        yield ("the longest", by_length[-1])
    for parity, name in enumerate(("even", "odd")):
        fitting = [v for v in values if v[-1:].isdigit() and int(v[-1]) % 2 == parity]
        if len(fitting) == 1:
            yield (f"the only one that ends with an {name} digit", fitting[0])
    if case.rival is not None:
        others = [v for v in values if v != case.rival]
        if others:
            yield from (
                ("the first except the ablated expert's", others[0]),
                ("the last except the ablated expert's", others[-1]),
            )


def _order(value: str) -> tuple[float, str]:
    """Return a sort key: numbers by size, other values alphabetically, which also sorts ISO dates."""
    return (float(value), "") if re.fullmatch(r"-?\d+(\.\d+)?", value) else (float("inf"), value)
