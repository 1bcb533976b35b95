"""Statistics of the reward variance, on which the GRPO gradient depends, in groups of K rollouts of one problem.

`group_statistics` computes the statistics from sampled or recorded rollouts. `mixture_statistics` computes them for a
simulated agent of competence p, which follows the oracle with probability p and otherwise the ablated expert. Each
expert has a fixed reward r per problem. Let d be the difference of the two rewards, and J ~ Binomial(K, p) the number
of rollouts in which the agent follows the oracle. These formulas are exact:

    mean = p r_oracle + (1 - p) r_ablated      std = |d| E[ sqrt(J/K (1 - J/K)) ]
    P(group is informative) = 1 - p^K - (1 - p)^K  if d is not 0, else 0
    P(all rewards of the group are 0) = (p [r_oracle = 0] + (1 - p) [r_ablated = 0])^K
    signal = E[ 2 J/K (1 - J/K) |d| / (sqrt(J/K (1 - J/K)) |d| + eps) ]

For any K and p, only one rollout of each expert per problem is required.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import comb, sqrt
from statistics import fmean, pstdev
from typing import NamedTuple

from pydantic import Field

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.errors import ConfigError
from trace_gym.policies.scripted import Ablated, Oracle
from trace_gym.rollouts import play
from trace_gym.score import DEFAULT_WEIGHTS, RewardWeights, reward
from trace_gym.statistics import pass_at_k
from trace_gym.types import Record, Scenario

SAME, EPS = 1e-9, 1e-6
"""Maximum difference between rewards that count as equal, and the constant in the denominator of the advantage. The
module `trace_gym.trainers.advantage` uses the same constant."""
COMPETENCES = tuple(n / 20 for n in range(21))
DRAWS = (1, 2, 4, 8, 16)
"""Values of k for pass@k."""


class ExpertPair(NamedTuple):
    """Rewards and successes of both experts in one problem."""

    oracle: float
    ablated: float
    oracle_succeeds: bool = True
    ablated_succeeds: bool = False


class RewardGroup(NamedTuple):
    """Scored rollouts of one problem."""

    problem: str
    rewards: tuple[float, ...]
    """Rewards in [0, 1]."""
    successes: tuple[bool, ...] | None = None
    """Successes of the rollouts; None if the log does not contain them."""


class GroupStatistics(Record):
    """Mean statistics of the groups of one agent."""

    mean: float
    success: float | None
    """Fraction of successful rollouts; None if successes are unknown."""
    std: float
    """Mean population standard deviation of the rewards within a group."""
    informative: float
    """Fraction of groups with different rewards. GRPO learns only from these groups."""
    all_zero: float
    """Fraction of groups in which no rollout gets a reward."""
    all_one: float
    """Fraction of groups in which every rollout gets the full reward."""
    signal: float
    """Mean absolute advantage. It is 0 if all rewards of each group are equal, and at most 1."""
    pass_at: dict[int, float]
    """pass@k by k: the estimated probability that at least one of k rollouts succeeds."""


def mixture_statistics(pairs: Sequence[ExpertPair], p: float, k: int) -> GroupStatistics:
    """Return the exact statistics of groups of `k` rollouts of an agent of competence `p`.

    Args:
        pairs: One pair per problem, at least one.
        p: Probability that the agent acts as the oracle.
        k: Rollouts per group.
    """
    success_rates = [p * o.oracle_succeeds + (1 - p) * o.ablated_succeeds for o in pairs]
    shares = [(comb(k, j) * p**j * (1 - p) ** (k - j), sqrt(j / k * (1 - j / k))) for j in range(k + 1)]
    gaps = [abs(o.oracle - o.ablated) for o in pairs]
    return GroupStatistics(
        mean=fmean(p * o.oracle + (1 - p) * o.ablated for o in pairs),
        success=fmean(success_rates),
        std=sum(chance * root for chance, root in shares) * fmean(gaps),
        informative=(1 - p**k - (1 - p) ** k) * fmean(gap > SAME for gap in gaps),
        all_zero=fmean((p * (o.oracle <= SAME) + (1 - p) * (o.ablated <= SAME)) ** k for o in pairs),
        all_one=fmean((p * (o.oracle >= 1 - SAME) + (1 - p) * (o.ablated >= 1 - SAME)) ** k for o in pairs),
        signal=fmean(sum(c * 2 * r * r * gap / (r * gap + EPS) for c, r in shares) for gap in gaps),
        pass_at={n: fmean(1 - (1 - right) ** n for right in success_rates) for n in DRAWS if n <= k},
    )


def group_statistics(groups: Sequence[RewardGroup]) -> GroupStatistics:
    """Return the statistics of sampled groups. Every group has the same weight, regardless of its size."""
    reported = [g.successes for g in groups if g.successes is not None]
    known = reported if len(reported) == len(groups) else []
    least = min((len(s) for s in known), default=0)
    return GroupStatistics(
        mean=fmean(fmean(g.rewards) for g in groups),
        success=fmean(fmean(s) for s in known) if known else None,
        std=fmean(pstdev(g.rewards) for g in groups),
        informative=fmean(_differ(g.rewards) for g in groups),
        all_zero=fmean(max(g.rewards) <= SAME for g in groups),
        all_one=fmean(min(g.rewards) >= 1 - SAME for g in groups),
        signal=fmean(_signal(g.rewards) for g in groups),
        pass_at={k: fmean(pass_at_k(len(s), sum(s), k) for s in known) for k in DRAWS if k <= least},
    )


class VariancePoint(Record):
    """Reward statistics of the groups of one environment at one competence."""

    env: str
    level: int
    p: float = Field(ge=0, le=1)
    """Probability that the agent acts as the oracle."""
    mean: float
    std: float
    """Expected population standard deviation of the rewards within a group."""
    informative: float
    """Expected fraction of groups with different rewards. GRPO learns only from these groups."""
    groups: int
    """Number of scenarios over which the statistics are averaged."""
    k: int
    """Rollouts per group."""


def variance_curve(
    env: str,
    level: int,
    p_values: Sequence[float] = COMPETENCES,
    groups: int = 32,
    k: int = 8,
    *,
    weights: RewardWeights = DEFAULT_WEIGHTS,
    split: str = "train",
    open_episode: Callable[[Scenario], Episode] | None = None,
) -> list[VariancePoint]:
    """Return reward statistics of groups of rollouts at each competence.

    Args:
        env: Environment id.
        level: Level.
        p_values: Competences.
        groups: Number of scenarios. The first scenarios of the split are used.
        k: Rollouts per scenario.
        weights: Reward weights.
        split: Split of the scenarios.
        open_episode: Function that returns a new episode of a scenario; `trace_gym.registry.episode_starter` if None.

    Raises:
        ConfigError: There are no groups, or a group has fewer than two rollouts.
        EnvBug: The environment failed.
    """
    if groups < 1 or k < 2:
        raise ConfigError(
            f"invalid number of rollouts: found {groups} groups of {k} rollouts, expected at least 1 group of at least "
            "2 rollouts"
        )
    scenarios = [Scenario(env=env, level=level, seed=seed) for seed in registry.SPLITS[split][:groups]]
    start = open_episode or registry.episode_starter()
    outcomes = [[play(expert, start(s)).finish() for expert in (Oracle(), Ablated())] for s in scenarios]
    pairs = [ExpertPair(reward(o, weights), reward(a, weights), o.success, a.success) for o, a in outcomes]
    return [_point(env, level, p, k, pairs) for p in p_values]


def _point(env: str, level: int, p: float, k: int, pairs: Sequence[ExpertPair]) -> VariancePoint:
    at = mixture_statistics(pairs, p, k)
    return VariancePoint(
        env=env, level=level, p=p, mean=at.mean, std=at.std, informative=at.informative, groups=len(pairs), k=k
    )


def _differ(rewards: Sequence[float]) -> bool:
    return max(rewards) - min(rewards) > SAME


def _signal(rewards: Sequence[float]) -> float:
    """Return the mean of |r - mean| / (population std + eps), or 0 if the rewards are equal."""
    if not _differ(rewards):
        return 0.0
    mean = fmean(rewards)
    return fmean(abs(r - mean) for r in rewards) / (pstdev(rewards) + EPS)
