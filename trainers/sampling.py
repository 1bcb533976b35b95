"""Rollouts of a GRPO iteration: K rollouts per scenario, and further scenarios in place of groups with equal rewards.

If several processes train together, each process samples the rollouts of its share of the scenarios. The results are
then exchanged without the episodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from trace_gym.errors import EnvBug
from trace_gym.score import RewardWeights, reward
from trace_gym.trainers.advantage import advantages
from trace_gym.trainers.config import GRPOConfig
from trace_gym.trainers.loop import Learner, OpenEpisode, derive
from trace_gym.types import Scenario

if TYPE_CHECKING:
    from trace_gym.trajectories import TokenRollout


@dataclass(slots=True)
class Outcome:
    """A finished rollout without its episode."""

    scenario: str
    start_hash: str
    ids: list[int]
    mask: list[bool]
    logprobs: list[float]
    hint: str
    overflow: bool
    reward: float
    success: bool
    wellformed: float
    turns: int

    @classmethod
    def of(cls, rollout: TokenRollout, weights: RewardWeights) -> Outcome:
        """Return the outcome of a rollout, which ends its episode."""
        score = rollout.episode.finish()
        return cls(
            scenario=str(rollout.scenario),
            start_hash=rollout.start_hash,
            ids=list(rollout.ids),
            mask=list(rollout.mask),
            logprobs=list(rollout.logprobs),
            hint=rollout.hint,
            overflow=rollout.overflow,
            reward=reward(score, weights),
            success=score.success,
            wellformed=score.wellformed,
            turns=rollout.episode.turns,
        )


def sample(
    learner: Learner,
    config: GRPOConfig,
    iteration: int,
    draws: Iterator[list[Scenario]],
    open_episode: OpenEpisode,
) -> list[Outcome]:
    """Return K rollouts of each scenario of an iteration, and of the scenarios that replace groups with equal rewards.

    Args:
        learner: Model with its adapter, and the sampling policy.
        config: Settings of the run.
        iteration: Number of the iteration.
        draws: Scenarios of the iteration, and then further scenarios. Groups with equal rewards are replaced by groups
            of further scenarios, at most `config.max_resamples` times.
        open_episode: Function that creates the episode of a scenario.
    """
    from trace_gym.policies.hints import drawn

    ranks = learner.ranks
    own = (ranks.rank,) if ranks.count > 1 else ()
    generator = torch.Generator().manual_seed(derive(config.seed, iteration, "rollout", *own))
    outcomes: list[Outcome] = []
    missing = config.groups
    for again in range(config.max_resamples + 1):
        episodes = [open_episode(s) for s in ranks.share(next(draws)[:missing]) for _ in range(config.samples)]
        seed = "/".join(map(str, (config.seed, iteration, "hints", *([again] if again else []), *own)))
        hints = drawn(episodes, config.hints, seed) if config.hints else ()
        new = learner.rollout(iteration, episodes, temperature=config.temperature, generator=generator, hints=hints)
        made = [Outcome.of(r, config.reward) for r in new]
        assert_same_start(made, config.samples)
        groups = ranks.gather([made[n : n + config.samples] for n in range(0, len(made), config.samples)])
        together = [outcome for group in groups for outcome in group]
        outcomes += together
        missing -= int(advantages(rewards(together, config), config.advantage).kept_G.sum())
        if not missing:
            break
    return outcomes


def rewards(outcomes: Sequence[Outcome], config: GRPOConfig) -> NDArray[np.float64]:
    """Return the rewards of rollouts, with one row per group."""
    return np.array([outcome.reward for outcome in outcomes]).reshape(-1, config.samples)


def assert_same_start(outcomes: Sequence[Outcome], samples: int) -> None:
    """Check that all rollouts of a group start from the same state.

    Args:
        outcomes: Rollouts of all groups, in order.
        samples: Number of rollouts per group.

    Raises:
        EnvBug: The rollouts of a group start from different states.
    """
    for g in range(0, len(outcomes), samples):
        group = outcomes[g : g + samples]
        if len({(r.scenario, r.start_hash) for r in group}) > 1:
            env = group[0].scenario.partition("/")[0]
            raise EnvBug(
                f"{group[0].scenario}: {samples} rollouts of one scenario start from different states; "
                f"generate must depend on its rng only. Check the environment with trace-gym validate {env}"
            )
