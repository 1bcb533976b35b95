"""A policy's attempts at the problems of a black box."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from trace_gym.errors import ConfigError, PolicyError
from trace_gym.policies.base import BatchPolicy, Policy, Sampled
from trace_gym.types import Message, Scenario
from trace_gym.validate.attempts import spread
from trace_gym.validate.foreign.box import BlackBox
from trace_gym.validate.policies import ATTEMPTS, resolve
from trace_gym.validate.variance import Group

if TYPE_CHECKING:
    from trace_gym.episode import Episode
    from trace_gym.validate.foreign.asked import Asked

PROBLEMS = 32
"""Groups that are played."""


class Conversation:
    """What a policy reads of an attempt: messages, no tools, and the name of the problem."""

    def __init__(self, box: BlackBox, seed: int) -> None:
        self.box, self.paid, self.done = box, 0.0, False
        self.scenario = Scenario(env=box.name, level=0, seed=seed)
        self.tools: list[Message] = []
        self.messages: list[Message] = [{"role": "user", "content": box.begin(seed)}]

    def take(self, action: Any) -> None:
        """Take the policy's turn."""
        text = str(action.get("content") or "") if isinstance(action, dict) else str(getattr(action, "text", action))
        turn = self.box.act(text)
        self.paid, self.done = self.paid + turn.reward, turn.done
        self.messages += [{"role": "assistant", "content": text}]
        if not turn.done:
            self.messages += [{"role": "user", "content": turn.observation}]


def groups_of(asked: Asked, name: str) -> list[Group]:
    """The groups of the policy of that name, played here or read from a log.

    Raises:
        ConfigError: There is no such policy, or it cannot be played in a conversation of text.
        PolicyError: None of its attempts was scored.
    """
    policy = resolve(name)
    if isinstance(policy, list):
        return policy
    if isinstance(policy, BatchPolicy):
        raise ConfigError("it plays episodes of ours alone; serve it behind an endpoint and name openai:MODEL@URL")
    groups = []
    lost: PolicyError | None = None
    for seed in spread(asked.seeds, PROBLEMS):
        rewards: list[float] = []
        for number in range(ATTEMPTS):
            try:
                rewards.append(
                    _attempt(asked, policy.with_sample(number) if isinstance(policy, Sampled) else policy, seed)
                )
            except PolicyError as error:
                lost = error
        if rewards:
            groups.append(Group(f"{asked.address}/0/{seed}", tuple(rewards), _successes(rewards)))
    if not groups:
        raise lost or PolicyError("nothing was played")
    return groups


def _attempt(asked: Asked, policy: Policy, seed: int) -> float:
    """The reward of one attempt, on a scale from 0 to 1."""
    box = asked.box
    with asked.blame(seed):
        talk = Conversation(box, seed)
    for _ in range(box.limit):
        action = policy.act(cast("Episode", talk))  # it reads the messages and the tools
        with asked.blame(seed):
            talk.take(action)
        if talk.done:
            break
    return min(1.0, max(0.0, (talk.paid - box.low) / (box.high - box.low)))


def _successes(rewards: Sequence[float]) -> tuple[bool, ...]:
    return tuple(reward >= 1 - 1e-9 for reward in rewards)
