"""Property TG805: each level has an effect on the scenarios.

The test is an intervention on the level: `generate` gets the same random generator once with a level and once with the
next one. If almost all pairs of scenarios are identical, the levels are the same. Because both calls use the same
randomness, names and numbers do not differ by chance. A statistical comparison of two samples would have to ignore such
differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random

from trace_gym.types import Scenario
from trace_gym.validation.context import Context
from trace_gym.validation.oracle_rollouts import MIN_SEEDS
from trace_gym.validation.properties import CheckFailed, Passed, Skipped, property_check
from trace_gym.validation.random_calls import to_plain_data
from trace_gym.world import World

ALLOWED = 0.95
"""Share of identical pairs of scenarios at which two levels count as the same."""


@property_check(
    "TG805",
    statement="With the same random numbers, neighboring levels generate different scenarios.",
    reason="If two levels are the same, the cases that a level promises never occur.",
    fix="Check the ranges and indices that select the cases of a level.",
)
def levels_have_an_effect(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    levels = sorted({s.level for s in scenarios} - set(world.alike))
    pairs = [(low, high) for low, high in pairwise(levels) if high == low + 1]
    if not pairs:
        raise Skipped("there are no two neighboring levels to compare")
    metrics = {}
    for low, high in pairs:
        shares = [_identical(context, Scenario(env=world.id, level=low, seed=seed), high) for seed in range(MIN_SEEDS)]
        metrics[f"identical_{low}_{high}"] = share = sum(shares) / len(shares)
        if share >= ALLOWED:
            first = Scenario(env=world.id, level=low, seed=0)
            message = (
                f"levels {low} and {high} are the same: {share:.0%} of {len(shares)} pairs of scenarios that "
                f"`generate` builds from the same random numbers are identical"
            )
            tail = "\n".join(
                [
                    "from random import Random",
                    "world = type(episode.world)",
                    f"print(world.generate(Random(0), {low}) == world.generate(Random(0), {high}))",
                ]
            )
            raise CheckFailed(f"{first}: {message}", context.snippet(first, tail=tail), metrics)
    worst = max(metrics.values())
    return Passed(f"at most {worst:.0%} of the scenarios stay identical if only the level changes", metrics)


def _identical(context: Context, scenario: Scenario, level: int) -> bool:
    """Return whether `generate` builds the same state and first message at a different level."""
    with context.catch_failures(scenario):
        one, two = (context.world.generate(Random(str(scenario)), n) for n in (scenario.level, level))
        return one.opening() == two.opening() and bool(to_plain_data(one) == to_plain_data(two))
