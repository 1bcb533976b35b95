"""The tokens of one conversation during a rollout, for policies that sample token ids (`HFPolicy` and `VLLMPolicy`)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, PolicyError
from trace_gym.policies.chat import Chat
from trace_gym.policies.hints import with_hint
from trace_gym.trajectories import TokenRollout
from trace_gym.types import Message


class Limited(Protocol):
    """Interface of a policy that samples token ids: its chat template and its limits in tokens."""

    chat: Chat
    max_tokens: int
    max_turn_tokens: int


@dataclass(slots=True, eq=False)
class SampledConversation:
    """One conversation. Its tokens are sampled turn by turn."""

    out: TokenRollout
    hidden: int = 0
    """Number of tokens of a hint. The model reads them, but they are not part of the rollout."""
    turn: int = 0
    """Index of the first token of the current turn. If the turn is empty, the model has not started it."""

    def append(self, tokens: Sequence[int]) -> None:
        """Append tokens that the model did not sample, and start a new turn."""
        self.out.ids += tokens
        self.out.mask += [False] * len(tokens)
        self.out.logprobs += [0.0] * len(tokens)
        self.turn = len(self.out.ids)

    def sampled(self, tokens: Sequence[int], logprobs: Sequence[float]) -> None:
        """Append tokens that the model sampled, with their log-probabilities."""
        self.out.ids += tokens
        self.out.mask += [True] * len(tokens)
        self.out.logprobs += logprobs

    def room(self, policy: Limited) -> int:
        """Return the number of tokens that the model may still sample in the current turn."""
        left = policy.max_tokens - self.hidden - len(self.out.ids)
        return min(left, policy.max_turn_tokens - (len(self.out.ids) - self.turn))

    def turn_over(self, policy: Limited) -> bool:
        """Return whether the current turn is complete or has reached a limit."""
        return self.out.ids[-1] == policy.chat.eos or self.room(policy) <= 0

    def turn_fits(self, policy: Limited) -> bool:
        """Return whether the current turn can be passed to the episode.

        A turn that was truncated because the conversation has reached its limit is not passed to the episode.
        """
        return self.out.ids[-1] == policy.chat.eos or len(self.out.ids) < policy.max_tokens - self.hidden

    def answered(self, policy: Limited, answers: Sequence[Message] | None) -> None:
        """Append the answers to the current turn. If they do not fit, end the episode in its current state.

        Args:
            policy: The policy that samples the conversation.
            answers: Messages with which the episode answered the turn. None if `turn_fits` is False, so that the turn
                was not passed to the episode.
        """
        out, episode, chat = self.out, self.out.episode, policy.chat
        if answers is not None:
            closed = out.ids[-1] == chat.eos
            suffix = [] if episode.done else [*([] if closed else [chat.eos]), *chat.answer(answers, episode.tools)]
            if len(out.ids) + len(suffix) < policy.max_tokens - self.hidden:
                self.append(suffix)
        if not episode.done and self.turn < len(out.ids):  # the answers do not fit into the token budget
            out.overflow = True
            with suppress(PolicyError):  # the user's language model failed at the first message
                episode.finish()


def new_rollout(policy: Limited, episode: Episode, hint: str) -> TokenRollout:
    """Return the rollout of a new episode, without tokens. The episode reads turns in the chat format of the policy.

    Raises:
        ConfigError: The episode was already started.
    """
    if episode.turns or episode.done:
        raise ConfigError(
            f"the episode of {episode.scenario} was already started: found {episode.turns} turns, expected a new "
            "episode"
        )
    episode.style = policy.chat.style
    return TokenRollout(episode.scenario, [], [], [], episode, episode.state_hash, hint=hint)


def prompt(policy: Limited, episode: Episode, hint: str = "") -> list[int]:
    """Return the tokens of the initial observation, with a hint if there is one.

    Raises:
        ConfigError: The initial observation exceeds `max_tokens` of the policy.
    """
    ids = policy.chat.opening(with_hint(episode.messages, hint), episode.tools)
    if len(ids) >= policy.max_tokens:
        raise ConfigError(
            f"the initial observation of {episode.scenario} is too long: found {len(ids)} tokens, expected fewer than "
            f"{policy.max_tokens}. Increase max_tokens, which is limited by the model's context length"
        )
    return ids


def take_turn(episode: Episode, text: str) -> list[Message]:
    """Pass a turn to its episode, and return the answers. If the user's language model fails, there are no answers."""
    with suppress(PolicyError):  # the user's language model failed: this episode is over and not scored
        return episode.step(text)
    return []
