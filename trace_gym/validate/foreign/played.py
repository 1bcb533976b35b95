"""A policy's attempts at the problems of a black box."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from trace_gym.errors import PolicyError
from trace_gym.policies.base import BatchPolicy, Policy, Sampled
from trace_gym.rollout import play
from trace_gym.types import Message, Scenario, sha256
from trace_gym.validate.attempts import spread
from trace_gym.validate.policies import ATTEMPTS, resolve
from trace_gym.validate.variance import Group

if TYPE_CHECKING:
    from trace_gym.episode import Episode
    from trace_gym.validate.foreign.asked import Asked

PROBLEMS = 32
"""Groups that are played."""


class Conversation:
    """An attempt as policies read and play it: messages, no tools, and turns of text."""

    def __init__(self, asked: Asked, seed: int) -> None:
        self.asked, self.seed, self.actions = asked, seed, list[str]()
        self.paid, self.done, self.state_hash = 0.0, False, ""
        self.scenario = Scenario(env=asked.box.name, level=0, seed=seed)
        self.interface, self.tools, self.failure = None, list[Message](), None
        with asked.blame(seed):
            self.messages: list[Message] = [{"role": "user", "content": asked.box.begin(seed)}]

    @property
    def turns(self) -> int:
        return len(self.actions)

    def step(self, action: Any) -> list[Message]:
        """Take the policy's turn and return what it is answered, until the environment ends or so many are taken."""
        text = str(action.get("content") or "") if isinstance(action, dict) else str(getattr(action, "text", action))
        self.actions.append(text)
        with self.asked.blame(self.seed, self.actions):
            turn = self.asked.box.act(text)
        self.paid, self.done = self.paid + turn.reward, turn.done or self.turns >= self.asked.box.limit
        answers = [] if turn.done else [{"role": "user", "content": turn.observation}]
        self.messages += [{"role": "assistant", "content": text}, *answers]
        return answers

    def finish(self) -> None:
        """End the attempt where it stands."""
        self.done = True


def groups_of(asked: Asked, name: str) -> list[Group]:
    """The groups of the policy of that name, played here or read from a log.

    Raises:
        ConfigError: There is no such policy, or it cannot be played in a conversation of text.
        ReadError, MissingExtra: Its model cannot be loaded.
        PolicyError: None of its attempts was scored.
    """
    policy = resolve(name)
    if isinstance(policy, list):
        return policy
    groups = []
    lost: PolicyError | None = None
    for seed in spread(asked.seeds, PROBLEMS):
        rewards: list[float] = []
        for number in range(ATTEMPTS):
            try:
                rewards.append(_attempt(asked, policy, seed, number))
            except PolicyError as error:
                lost = error
        if rewards:
            groups.append(Group(f"{asked.address}/0/{seed}", tuple(rewards), _successes(rewards)))
    if not groups:
        raise lost or PolicyError("nothing was played")
    return groups


def _attempt(asked: Asked, policy: Policy | BatchPolicy, seed: int, number: int) -> float:
    """The reward of one attempt, on a scale from 0 to 1."""
    talk = Conversation(asked, seed)
    episode = cast("Episode", talk)  # policies use no more of it than there is
    if isinstance(policy, BatchPolicy):  # one at a time, as the environment plays one problem at a time
        import torch

        digest = int(sha256(f"{talk.scenario}#{number}")[:15], 16)
        policy.rollout([episode], generator=torch.Generator().manual_seed(digest))
    else:
        player = policy.with_sample(number) if isinstance(policy, Sampled) else policy
        play(player, episode)
    box = asked.box
    return min(1.0, max(0.0, (talk.paid - box.low) / (box.high - box.low)))


def _successes(rewards: Sequence[float]) -> tuple[bool, ...]:
    return tuple(reward >= 1 - 1e-9 for reward in rewards)
