"""Agreement between label runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean

from trace_gym.types import Label

LabelRun = Mapping[str, Mapping[str, Label]]
"""Mapping from trajectory id to capability to label."""


def cohen_kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Return Cohen's kappa of pairs of labels, or None if there are no pairs.

    If both raters use only one and the same label, kappa is 1.
    """
    if not pairs:
        return None
    observed = fmean(a == b for a, b in pairs)
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    expected = sum(first[label] * second[label] for label in first) / len(pairs) ** 2
    return 1.0 if expected == 1 else (observed - expected) / (1 - expected)


def mean_kappa(runs: Sequence[LabelRun]) -> float | None:
    """Return the mean kappa over all pairs of runs, or None if no two runs label the same trajectories."""
    found = [cohen_kappa(_common(a, b)) for a, b in combinations(runs, 2)]
    known = [k for k in found if k is not None]
    return fmean(known) if known else None


def _common(first: LabelRun, second: LabelRun) -> list[tuple[str, str]]:
    return [
        (label, second[i][name])
        for i, labels in first.items()
        if i in second
        for name, label in labels.items()
        if name in second[i]
    ]
