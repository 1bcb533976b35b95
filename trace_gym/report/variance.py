"""How much reward varies within a group, over the competence of the agent, without any model.

The agent is `trace_gym.policies.Mixture`: in each of the K attempts at a scenario it follows the expert with
probability p and otherwise the expert without the capability. A scenario pays either of them a fixed reward, so
with d the difference between the two and J ~ Binomial(K, p) the number of attempts as the expert,

    mean = p r_oracle + (1 - p) r_ablated      std = |d| E[ sqrt(J/K (1 - J/K)) ]
    chance that the group is informative = 1 - p^K - (1 - p)^K  where d is not 0, else 0

are exact: each scenario is played twice, whatever K, p and the number of groups a sampled estimate would need.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import comb, sqrt
from statistics import fmean

from pydantic import Field

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.errors import ConfigError
from trace_gym.policies.scripted import Ablated, Oracle
from trace_gym.rollout import play
from trace_gym.score import DEFAULT_WEIGHTS, RewardWeights, reward
from trace_gym.types import Record, Scenario

SAME = 1e-9
"""Rewards closer than this are equal, as in `trace_gym.trainers.advantage`."""
COMPETENCES = tuple(n / 20 for n in range(21))


class VariancePoint(Record):
    """The reward of one environment's groups at one competence."""

    env: str
    level: int
    p: float = Field(ge=0, le=1)
    """Probability of an attempt as the expert."""
    mean: float
    std: float
    """Expected standard deviation (population) within a group."""
    informative: float
    """Expected share of groups with different rewards: those that GRPO can learn from."""
    groups: int
    """Scenarios over which this is the mean."""
    k: int
    """Attempts in a group."""


def variance_curve(
    env: str,
    level: int,
    p_values: Sequence[float] = COMPETENCES,
    groups: int = 32,
    k: int = 8,
    *,
    weights: RewardWeights = DEFAULT_WEIGHTS,
    split: str = "train",
    open_episode: Callable[[Scenario], Episode] = registry.episode,
) -> list[VariancePoint]:
    """Mean, spread and informativeness of the reward at each competence.

    Args:
        env: The environment.
        level: Its level.
        p_values: Competences.
        groups: Scenarios, the first of the split.
        k: Attempts at each.
        weights: What the reward pays.
        split: Where the scenarios come from.
        open_episode: Scenario -> fresh episode.

    Raises:
        ConfigError: There are no groups, or a group has a single attempt.
        EnvBug: The environment failed.
    """
    if groups < 1 or k < 2:
        raise ConfigError(f"a curve needs at least one group of at least two attempts, found {groups} of {k}")
    scenarios = [Scenario(env=env, level=level, seed=seed) for seed in registry.SPLITS[split][:groups]]
    pairs = [
        (
            reward(play(Oracle(), open_episode(s)).finish(), weights),
            reward(play(Ablated(), open_episode(s)).finish(), weights),
        )
        for s in scenarios
    ]
    return [_point(env, level, p, k, pairs) for p in p_values]


def _point(env: str, level: int, p: float, k: int, pairs: Sequence[tuple[float, float]]) -> VariancePoint:
    spread = sum(comb(k, j) * p**j * (1 - p) ** (k - j) * sqrt(j / k * (1 - j / k)) for j in range(k + 1))
    mixed = 1 - p**k - (1 - p) ** k
    return VariancePoint(
        env=env,
        level=level,
        p=p,
        mean=fmean(p * oracle + (1 - p) * ablated for oracle, ablated in pairs),
        std=spread * fmean(abs(oracle - ablated) for oracle, ablated in pairs),
        informative=mixed * fmean(abs(oracle - ablated) > SAME for oracle, ablated in pairs),
        groups=len(pairs),
        k=k,
    )
