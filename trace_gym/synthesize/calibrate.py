"""Which levels of an environment to draw, and how often, so that an agent's rewards spread.

The quantities of the variance property are means over problems, so those of a mixture of levels are the weighted means
of the levels' own. The weights are searched on a small grid; of those that lie in every band the most even ones win.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

from trace_gym.types import Report, Scenario
from trace_gym.validate.learning import by_part
from trace_gym.validate.measure import BANDS, LOOKS, Quantity, VarianceVerdict, inside, measure_until_clear, words
from trace_gym.validate.policies import Playable, played, resolve
from trace_gym.validate.variance import Group
from trace_gym.world import World

SPREAD = "TG501"
"""The property that measures at which competences the rewards of each level spread."""
STEPS = (0, 1, 2, 4)
"""Weights that are tried for each level."""
Spread = Mapping[Quantity, float]
Direction = Literal["easy", "hard", ""]


@dataclass(frozen=True)
class Calibration:
    """The weights of the levels, and what an agent's groups are like under them."""

    mix: tuple[float, ...]
    """One for each level; they sum to 1."""
    fits: bool
    """Whether every quantity lies in its band."""
    says: str
    distance: float = 0.0
    """How far the quantities lie outside their bands, all together."""
    direction: Direction = ""
    """What is wrong where it does not fit: too easy, or too hard."""


def by_policy(world: type[World] | Playable, policy: str) -> Calibration:
    """Weigh the levels for a policy that is played here, or whose rollouts were recorded.

    Raises:
        ConfigError, PolicyError, ReadError, MissingExtra: The policy cannot be asked.
    """
    subject = resolve(policy)
    if isinstance(subject, list):
        found = by_part(subject, world.id)
        verdicts = {level: found[f"level {level}"] for level in world.levels if f"level {level}" in found}
    else:

        def draw(level: int) -> Callable[[int, int], list[Group]]:
            def groups(first: int, last: int) -> list[Group]:
                return played(subject, world, [Scenario(env=world.id, level=level, seed=s) for s in range(first, last)])

            return groups

        verdicts = {level: measure_until_clear(draw(level), looks=LOOKS) for level in world.levels}
    return weigh({level: _values(v) for level, v in verdicts.items()}, len(world.levels))


def by_experts(report: Report, count: int) -> Calibration:
    """Weigh the levels alike where one competence serves them all, and otherwise those that share one.

    The range of competences in which a level's bands hold is what the property TG501 measured.
    """
    figures = next(f.figures for f in report.findings if f.code == SPREAD)
    ranges = [(figures[f"from_{n}"], figures[f"to_{n}"]) for n in range(count)]
    runs = [(a, b) for a in range(count) for b in range(a + 1, count + 1) if _shared(ranges[a:b])]
    first, last = max(runs, key=lambda run: (run[1] - run[0], -run[0]))
    low, high = max(r[0] for r in ranges[first:last]), min(r[1] for r in ranges[first:last])
    mix = tuple((first <= n < last) / (last - first) for n in range(count))
    served = "all levels" if last - first == count else f"levels {first} to {last - 1}"
    return Calibration(mix, True, f"{served} suit an agent of competence {low:.2f} to {high:.2f}")


def weigh(levels: Mapping[int, Spread], count: int) -> Calibration:
    """The most even weights under which every quantity lies in its band, or those that come nearest.

    Args:
        levels: The quantities of each level that was measured.
        count: How many levels there are; those that were not measured are not drawn.
    """
    best = min((_tried(levels, w) for w in product(STEPS, repeat=len(levels)) if any(w)), key=lambda t: t[0])
    (distance, *_), weights, values = best
    drawn = dict(zip(levels, weights, strict=True))
    mix = tuple(drawn.get(n, 0) / sum(weights) for n in range(count))
    told = ", ".join(f"{words(q)} {v:.2f}" for q, v in values.items())
    share = ", ".join(f"level {n} {m:.0%}" for n, m in enumerate(mix) if m)
    fits = distance == 0.0
    direction: Direction = "" if fits else _direction(values)
    says = f"with {share}: {told}" + ("" if fits else f"; {_outside(values)}")
    return Calibration(mix, fits, says, distance, direction)


def _tried(
    levels: Mapping[int, Spread], weights: Sequence[int]
) -> tuple[tuple[float, float, float], Sequence[int], Spread]:
    """How good these weights are (smaller is better), the weights, and the quantities under them."""
    shares = [w / sum(weights) for w in weights]
    quantities = [q for q in BANDS if all(q in level for level in levels.values())]
    values = {q: sum(s * level[q] for s, level in zip(shares, levels.values(), strict=True)) for q in quantities}
    distance = sum(max(0.0, BANDS[q][0] - v, v - BANDS[q][1]) for q, v in values.items() if not inside(v, BANDS[q]))
    uneven = sum(s * s for s in shares)
    return (round(distance, 9), round(uneven, 9), -values["informative"]), weights, values


def _outside(values: Spread) -> str:
    wrong = [q for q, v in values.items() if not inside(v, BANDS[q])]
    return ", ".join(f"{words(q)} should lie in {BANDS[q][0]:g} to {BANDS[q][1]:g}" for q in wrong)


def _direction(values: Spread) -> Direction:
    """Too easy where the mean is above its band or too many groups earn everything, else too hard."""
    above = max(0.0, values["mean"] - BANDS["mean"][1]) + max(0.0, values["all_one"] - BANDS["all_one"][1])
    below = max(0.0, BANDS["mean"][0] - values["mean"]) + max(0.0, values["all_zero"] - BANDS["all_zero"][1])
    return "easy" if above > below else "hard"


def _values(verdict: VarianceVerdict) -> Spread:
    return {q: e.value for q, e in verdict.estimates.items()}


def _shared(ranges: Sequence[tuple[float, float]]) -> bool:
    return max(r[0] for r in ranges) <= min(r[1] for r in ranges)
