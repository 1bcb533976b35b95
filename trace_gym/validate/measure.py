"""The verdict on a policy: whether groups of its attempts differ enough for GRPO to learn from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from trace_gym.errors import ConfigError
from trace_gym.statistics import Interval, wilson
from trace_gym.types import Record
from trace_gym.validate.variance import SAME, Group, Spread, spread_of

LOOKS = (16, 32, 64, 128)
"""Groups after which a sequential measurement looks at what it has."""
CONFIDENCE = 0.95

Quantity = Literal["mean", "success", "informative", "all_zero", "all_one"]
BANDS: dict[Quantity, tuple[float, float]] = {
    "mean": (0.2, 0.6),
    "success": (0.2, 0.6),
    "informative": (0.5, 1.0),
    "all_zero": (0.0, 0.2),
    "all_one": (0.0, 0.2),
}
"""Where an agent's groups should lie before GRPO is run: neither hopeless nor finished, and most of them of use."""


class Estimate(Record):
    """One measured quantity, its interval, and the band that it should lie in."""

    value: float
    low: float
    high: float
    band: tuple[float, float]

    @property
    def fits(self) -> bool:
        """Whether the value lies in the band."""
        return inside(self.value, self.band)

    @property
    def clear(self) -> bool:
        """Whether the interval lies inside the band, or outside, and reaches over none of its edges."""
        low, high = self.band
        return self.high < low or self.low > high or (inside(self.low, self.band) and inside(self.high, self.band))


class VarianceVerdict(Record):
    """What the groups of a policy are like, and whether GRPO would learn from them."""

    groups: int
    attempts: int
    spread: Spread
    estimates: dict[Quantity, Estimate]

    @property
    def passed(self) -> bool:
        """Whether every quantity lies in its band."""
        return all(e.fits for e in self.estimates.values())

    @property
    def clear(self) -> bool:
        """Whether more groups would not change the verdict: one is clearly outside its band, or all clearly inside."""
        outside = any(e.clear and not e.fits for e in self.estimates.values())
        return outside or all(e.clear for e in self.estimates.values())

    @property
    def says(self) -> str:
        """The verdict in a few words."""
        wrong = [f"{words(q)} {e.value:.2f} {_side(e)}" for q, e in self.estimates.items() if not e.fits]
        found = ", ".join(wrong) or ", ".join(f"{words(q)} {e.value:.2f}" for q, e in self.estimates.items())
        doubtful = [f"{words(q)} {e.low:.2f} to {e.high:.2f}" for q, e in self.estimates.items() if not e.clear]
        doubt = f"; not clear yet: {', '.join(doubtful)}" if doubtful and not self.clear else ""
        return f"{found} over {self.groups} groups{doubt}"


def words(quantity: str) -> str:
    """A quantity as people call it."""
    return quantity.replace("_", "-")


def inside(value: float, band: tuple[float, float]) -> bool:
    """Whether a value lies in a band; its edges belong to it."""
    return band[0] - SAME <= value <= band[1] + SAME


def measure(
    groups: Iterable[Group],
    bands: Mapping[Quantity, tuple[float, float]] = BANDS,
    *,
    confidence: float = CONFIDENCE,
) -> VarianceVerdict:
    """Judge a policy by groups of its attempts, whoever played them.

    The groups, not the attempts, are the independent units. The intervals are Wilson's. For the means of rewards and of
    successes these are wider than need be, as nothing in [0, 1] varies more around its mean than what is binary.

    Args:
        groups: Of two attempts or more; smaller ones are left out.
        bands: What each quantity should lie in; one that the log does not tell is not judged.
        confidence: Of each interval.

    Raises:
        ConfigError: No group has two attempts.
    """
    kept = [g for g in groups if len(g.rewards) > 1]
    if not kept:
        raise ConfigError("no problem was attempted twice; GRPO compares attempts at the same problem")
    found = spread_of(kept)
    values = {q: value for q in bands if (value := getattr(found, q)) is not None}
    estimates = {}
    for quantity, value in values.items():
        low, high = interval(value, len(kept), confidence)
        estimates[quantity] = Estimate(value=value, low=low, high=high, band=bands[quantity])
    attempts = sum(len(g.rewards) for g in kept)
    return VarianceVerdict(groups=len(kept), attempts=attempts, spread=found, estimates=estimates)


def measure_until_clear(
    draw: Callable[[int, int], Iterable[Group]],
    bands: Mapping[Quantity, tuple[float, float]] = BANDS,
    *,
    looks: Sequence[int] = LOOKS,
    confidence: float = CONFIDENCE,
) -> VarianceVerdict:
    """Judge a policy by as few groups as it takes.

    Looking again and again at plain 95 % intervals would find something in the end. Here the looks are few, at sizes
    fixed beforehand, and the chance of error is divided among them and the quantities (Bonferroni), so that all
    intervals of all looks hold together with `confidence`, whenever the measurement stops. For one quantity S. J.
    Pocock, Biometrika 64 (1977), has a sharper constant; K. K. G. Lan and D. L. DeMets, Biometrika 70 (1983), spend
    the error unequally.

    Args:
        draw: From a first and a last number to the groups of these numbers, the last left out.
        bands: As in `measure`.
        looks: Numbers of groups at which to stop if the verdict is clear, ascending; at the last in any case.
        confidence: Of all intervals together.
    """
    each = 1 - (1 - confidence) / (len(looks) * len(bands))
    groups: list[Group] = []
    for before, count in zip((0, *looks), looks, strict=False):
        groups += draw(before, count)
        verdict = measure(groups, bands, confidence=each)
        if verdict.clear:
            break
    return verdict


def interval(value: float, n: int, confidence: float) -> Interval:
    """Wilson's interval of a mean of n; where it is no whole number of n, the hull of those of its neighbours."""
    low = wilson(max(0, math.floor(value * n + SAME)), n, confidence)
    high = wilson(min(n, math.ceil(value * n - SAME)), n, confidence)
    assert low is not None and high is not None  # n is at least 1
    return Interval(low.low, high.high)


def _side(estimate: Estimate) -> str:
    low, high = estimate.band
    return f"is below {low:g}" if estimate.value < low else f"is above {high:g}"
