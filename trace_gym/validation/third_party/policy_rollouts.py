"""Rollouts of a policy in a third-party environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from trace_gym.errors import PolicyError
from trace_gym.policies.base import BatchPolicy, Policy, Sampled
from trace_gym.rollouts import play
from trace_gym.types import Message, Scenario, sha256
from trace_gym.validation.expert_plans import evenly_spaced
from trace_gym.validation.policy_groups import ROLLOUTS_PER_PROBLEM, open_policy_or_groups
from trace_gym.validation.variance import RewardGroup

if TYPE_CHECKING:
    from trace_gym.episode import Episode
    from trace_gym.validation.third_party.black_box_context import BlackBoxContext

PROBLEMS = 32
"""Maximum number of problems; each has one group of rollouts."""


class BlackBoxEpisode:
    """Rollout in a third-party environment with the `Episode` attributes that policies use.

    The conversation consists of text messages, and there are no tools.
    """

    def __init__(self, context: BlackBoxContext, seed: int) -> None:
        self.context, self.seed, self.actions = context, seed, list[str]()
        self.total_reward, self.done, self.state_hash = 0.0, False, ""
        self.scenario = Scenario(env=context.box.name, level=0, seed=seed)
        self.interface, self.tools, self.failure = None, list[Message](), None
        with context.catch_failures(seed):
            self.messages: list[Message] = [{"role": "user", "content": context.box.begin(seed)}]

    @property
    def turns(self) -> int:
        return len(self.actions)

    def step(self, action: Any) -> list[Message]:
        """Take the policy's turn and return the response.

        The rollout ends when the environment ends it or at the turn limit.
        """
        text = str(action.get("content") or "") if isinstance(action, dict) else str(getattr(action, "text", action))
        self.actions.append(text)
        with self.context.catch_failures(self.seed, self.actions):
            turn = self.context.box.act(text)
        self.total_reward, self.done = (
            self.total_reward + turn.reward,
            turn.done or self.turns >= self.context.box.limit,
        )
        answers = [] if turn.done else [{"role": "user", "content": turn.observation}]
        self.messages += [{"role": "assistant", "content": text}, *answers]
        return answers

    def finish(self) -> None:
        """End the rollout."""
        self.done = True


def policy_groups(context: BlackBoxContext, name: str) -> list[RewardGroup]:
    """Return the reward groups of a policy, from new rollouts or from a log.

    Raises:
        ConfigError: The policy does not exist, or does not support text conversations.
        ReadError, MissingExtra: The model cannot be loaded.
        PolicyError: No rollout was scored.
    """
    policy = open_policy_or_groups(name)
    if isinstance(policy, list):
        return policy
    groups = []
    lost: PolicyError | None = None
    for seed in evenly_spaced(context.seeds, PROBLEMS):
        rewards: list[float] = []
        for number in range(ROLLOUTS_PER_PROBLEM):
            try:
                rewards.append(_attempt(context, policy, seed, number))
            except PolicyError as error:
                lost = error
        if rewards:
            groups.append(RewardGroup(f"{context.address}/0/{seed}", tuple(rewards), _successes(rewards)))
    if not groups:
        raise lost or PolicyError("there are no rollouts")
    return groups


def _attempt(context: BlackBoxContext, policy: Policy | BatchPolicy, seed: int, number: int) -> float:
    """Return the reward of one rollout, scaled to [0, 1]."""
    talk = BlackBoxEpisode(context, seed)
    episode = cast("Episode", talk)  # policies use only the attributes that are defined here
    if isinstance(policy, BatchPolicy):  # batch size 1, because the environment runs one problem at a time
        import torch

        digest = int(sha256(f"{talk.scenario}#{number}")[:15], 16)
        policy.rollout([episode], generator=torch.Generator().manual_seed(digest))
    else:
        player = policy.with_sample(number) if isinstance(policy, Sampled) else policy
        play(player, episode)
    box = context.box
    return min(1.0, max(0.0, (talk.total_reward - box.low) / (box.high - box.low)))


def _successes(rewards: Sequence[float]) -> tuple[bool, ...]:
    return tuple(reward >= 1 - 1e-9 for reward in rewards)
