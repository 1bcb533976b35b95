"""The mathematics of reward variance: what GRPO can learn from groups of K attempts at one problem each.

The attempts are played or recorded (`spread_of`), or those of an agent of competence p that follows the expert with
probability p and otherwise the expert without the capability (`mixture`). A problem pays either expert a fixed reward,
so with d the difference between the two and J ~ Binomial(K, p) the number of attempts as the expert,

    mean = p r_oracle + (1 - p) r_ablated      std = |d| E[ sqrt(J/K (1 - J/K)) ]
    chance that the group is informative = 1 - p^K - (1 - p)^K  where d is not 0, else 0
    chance that all of the group earn nothing = (p [r_oracle = 0] + (1 - p) [r_ablated = 0])^K
    signal = E[ 2 J/K (1 - J/K) |d| / (sqrt(J/K (1 - J/K)) |d| + eps) ]

are exact: each problem is played twice, whatever K, p and the number of groups a sampled estimate would need.
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
from trace_gym.rollout import play
from trace_gym.score import DEFAULT_WEIGHTS, RewardWeights, reward
from trace_gym.statistics import pass_at_k
from trace_gym.types import Record, Scenario

SAME, EPS = 1e-9, 1e-6
"""Rewards closer than this are equal, and the constant of the advantage, as in `trace_gym.trainers.advantage`."""
COMPETENCES = tuple(n / 20 for n in range(21))
DRAWS = (1, 2, 4, 8, 16)
"""The k of pass@k."""


class Pair(NamedTuple):
    """What one problem pays the expert, and the expert without the capability."""

    oracle: float
    ablated: float
    oracle_succeeds: bool = True
    ablated_succeeds: bool = False


class Group(NamedTuple):
    """The scored attempts at one problem."""

    problem: str
    rewards: tuple[float, ...]
    """Each in [0, 1]."""
    successes: tuple[bool, ...] | None = None
    """None where the log does not say."""


class Spread(Record):
    """What the groups of one agent are like, on average."""

    mean: float
    success: float | None
    """Share of the attempts that succeed; None where that is not known."""
    std: float
    """Standard deviation (population) of the rewards within a group."""
    informative: float
    """Share of groups with different rewards: those that GRPO can learn from."""
    all_zero: float
    """Share of groups in which no attempt earns anything."""
    all_one: float
    """Share of groups in which every attempt earns all there is."""
    signal: float
    """Mean absolute advantage, that of uninformative groups being 0. At most 1: half the attempts right."""
    pass_at: dict[int, float]
    """Unbiased chance that at least one of k attempts succeeds, by k."""


def mixture(pairs: Sequence[Pair], p: float, k: int) -> Spread:
    """The groups of `k` attempts of an agent of competence `p`, exactly.

    Args:
        pairs: One for each problem, at least one.
        p: Probability of an attempt as the expert.
        k: Attempts in a group.
    """
    rights = [p * o.oracle_succeeds + (1 - p) * o.ablated_succeeds for o in pairs]
    shares = [(comb(k, j) * p**j * (1 - p) ** (k - j), sqrt(j / k * (1 - j / k))) for j in range(k + 1)]
    gaps = [abs(o.oracle - o.ablated) for o in pairs]
    return Spread(
        mean=fmean(p * o.oracle + (1 - p) * o.ablated for o in pairs),
        success=fmean(rights),
        std=sum(chance * root for chance, root in shares) * fmean(gaps),
        informative=(1 - p**k - (1 - p) ** k) * fmean(gap > SAME for gap in gaps),
        all_zero=fmean((p * (o.oracle <= SAME) + (1 - p) * (o.ablated <= SAME)) ** k for o in pairs),
        all_one=fmean((p * (o.oracle >= 1 - SAME) + (1 - p) * (o.ablated >= 1 - SAME)) ** k for o in pairs),
        signal=fmean(sum(c * 2 * r * r * gap / (r * gap + EPS) for c, r in shares) for gap in gaps),
        pass_at={n: fmean(1 - (1 - right) ** n for right in rights) for n in DRAWS if n <= k},
    )


def spread_of(groups: Sequence[Group]) -> Spread:
    """What groups that were played are like; groups count alike, whatever their size."""
    told = [g.successes for g in groups if g.successes is not None]
    known = told if len(told) == len(groups) else []
    least = min((len(s) for s in known), default=0)
    return Spread(
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
    ends = [[play(expert, open_episode(s)).finish() for expert in (Oracle(), Ablated())] for s in scenarios]
    pairs = [Pair(reward(o, weights), reward(a, weights), o.success, a.success) for o, a in ends]
    return [_point(env, level, p, k, pairs) for p in p_values]


def _point(env: str, level: int, p: float, k: int, pairs: Sequence[Pair]) -> VariancePoint:
    at = mixture(pairs, p, k)
    return VariancePoint(
        env=env, level=level, p=p, mean=at.mean, std=at.std, informative=at.informative, groups=len(pairs), k=k
    )


def _differ(rewards: Sequence[float]) -> bool:
    return max(rewards) - min(rewards) > SAME


def _signal(rewards: Sequence[float]) -> float:
    """Mean of |r - mean| / (population std + eps), 0 where the rewards are equal."""
    if not _differ(rewards):
        return 0.0
    mean = fmean(rewards)
    return fmean(abs(r - mean) for r in rewards) / (pstdev(rewards) + EPS)
