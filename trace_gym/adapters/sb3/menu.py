"""Environments as `gymnasium.Env` with a menu of discrete actions and observation vectors of fixed size.

The menu allows reinforcement learning without a language model: a small network selects one of the tool calls and
sentences that fit the conversation. The menu and the observation depend only on the messages and the tools, which are
also visible to an agent with a language model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from trace_gym import registry
from trace_gym.adapters.gymnasium import WEIGHTS, TraceEnv
from trace_gym.adapters.sb3.layout import Layout
from trace_gym.adapters.sb3.talk import ConversationState, MenuChoice, Obs
from trace_gym.adapters.sb3.vocabulary import Vocabulary, vocabulary
from trace_gym.adapters.step_limit import step_limit
from trace_gym.episode import interface_of
from trace_gym.errors import ConfigError
from trace_gym.score import reward
from trace_gym.types import Call, Message, Say

PHRASES = ("Shall I proceed?", "What is the reason?", "All done.")
"""Sentences that the agent can always say: ask for confirmation, ask for the reason, end the conversation."""


class Menu:
    """Mapping between conversations and discrete actions (slots), and encoding of conversations as observations.

    The slots are, in this order:

    - for each tool, a number of calls that the vocabulary specifies;
    - the phrases, which are always offered;
    - for each item that the user named with an id-like word, a refusal;
    - for each field of the vocabulary, a statement of the field's value.

    A slot without an action in the current conversation is not offered. Calls, refusals and statements are offered only
    once, unless the answer was an error.

    An observation contains numbers from 0 to 1, in this order:

    1. the number of turns taken divided by `TURNS`, and whether the last answer was an error;
    2. for each word of the vocabulary, whether the user said it;
    3. for each fact (field and value) of the vocabulary, whether the latest result with this field contains the value;
    4. for each field with dates, the interval of its latest value, one-hot: over a day before the time in the
       instructions, within a day before, within a day after, later;
    5. for each slot, whether it is offered, whether its action was taken before, whether that action failed, and its
       relevance: how many of the user's words are in records with its argument values, relative to the other calls of
       the tool.
    """

    def __init__(self, tools: Sequence[Message], words: Vocabulary, phrases: Sequence[str] = PHRASES) -> None:
        self.tools, self.vocabulary = list(tools), words
        self.layout = Layout(tools, words, phrases)
        self.slots, self.size = self.layout.slots, self.layout.size
        self._state = ConversationState(self.layout)

    def offer(self, messages: Sequence[Message]) -> list[MenuChoice]:
        """Return the current choice of each slot."""
        talk = self.follow(messages)
        return [talk.choice(slot) for slot in range(self.slots)]

    def encode(self, messages: Sequence[Message]) -> Obs:
        """Return the observation of a conversation, shape `(size,)`."""
        return self.follow(messages).observation

    def follow(self, messages: Sequence[Message]) -> ConversationState:
        """Return the state of a conversation. If it continues the previous conversation, read only the new messages."""
        if not self._state.follows(messages):
            self._state = ConversationState(self.layout)
        self._state.read(messages)
        return self._state


class MenuEnv(gymnasium.Env[Obs, np.int64]):
    """An environment or mixture of the registry with discrete actions.

    Args:
        name: Name in the registry, or gymnasium id.
        level: Level of every scenario; None draws a level from the seed.
        split: Split of the seeds, a key of `trace_gym.registry.SPLITS`.
        weights: Name of the reward weights, a key of `trace_gym.adapters.gymnasium.WEIGHTS`.
        phrases: Sentences that the agent can always say.
        render_mode: None, or ``ansi`` (`render` returns the conversation).

    Raises:
        EnvNotFound, DuplicateEnv, TamperedEnv: The environment cannot be loaded.
        ScenarioError, ConfigError: An argument is not valid.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}

    def __init__(
        self,
        name: str,
        level: int | None = None,
        split: str = "train",
        weights: str = "default",
        phrases: Sequence[str] = PHRASES,
        render_mode: str | None = None,
    ) -> None:
        self.text = TraceEnv(name, level=level, split=split, weights=weights, render_mode=render_mode)
        self.render_mode = render_mode
        self._limit: int | None = None
        self._steps = 0
        self.menu = Menu(_tools(self.text.name), vocabulary(self.text.name, level), phrases)
        self.action_space = gymnasium.spaces.Discrete(self.menu.slots)
        self.observation_space = gymnasium.spaces.Box(0.0, 1.0, (self.menu.size,), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Obs, dict[str, Any]]:
        """Start an episode with the same arguments as `TraceEnv.reset`; return the initial observation and info."""
        super().reset(seed=seed)
        episode = self.text.begin(seed=seed, options=options)
        self._limit, self._steps = step_limit(self), 0
        return self._state.observation, {"scenario": str(episode.scenario)}

    def step(self, action: np.int64) -> tuple[Obs, float, bool, bool, dict[str, Any]]:
        """Take the action of a slot and return observation, reward, terminated, truncated and info."""
        episode, before = self.text.episode, self.text.episode.done
        episode.step(self.chosen(int(action)))
        self._steps += 1
        if self._limit is not None and self._steps >= self._limit:
            episode.finish()  # `TimeLimit` truncates after this step
        info: dict[str, Any] = {"scenario": str(episode.scenario)}
        episode_reward = 0.0
        if episode.score is not None:
            info["success"] = episode.score.success
            episode_reward = 0.0 if before else reward(episode.score, WEIGHTS[self.text.weights])
        return self._state.observation, episode_reward, episode.done and not episode.truncated, episode.truncated, info

    def chosen(self, slot: int) -> Call | Say:
        """Return the action of a slot. If the slot is not offered, return the action of a slot that is."""
        if not (offered := (talk := self._state).offered)[slot]:
            instead = np.flatnonzero(offered)
            slot = int(instead[slot % len(instead)])
        return talk.choice(slot).action

    def render(self) -> str | None:
        return self.text.render()

    def action_masks(self) -> NDArray[np.bool_]:
        """Return a mask of the offered slots, shape `(slots,)`. sb3-contrib requires this method name."""
        return self._state.offered > 0

    @property
    def offered(self) -> list[MenuChoice]:
        """Current choice of each slot."""
        return self.menu.offer(self.text.episode.messages)

    @property
    def _state(self) -> ConversationState:
        return self.menu.follow(self.text.episode.messages)


def _tools(name: str) -> tuple[Message, ...]:
    """Return the tools of an environment, or of all parts of a mixture.

    Raises:
        ConfigError: The environments of the mixture have different tools, so one menu cannot serve all of them.
    """
    parts = list(registry.mixture(name).mixture) if name in registry.list_mixtures() else [name]
    first, *others = [interface_of(registry.load_world(part)).tools for part in parts]
    if unlike := [part for part, tools in zip(parts[1:], others, strict=True) if tools != first]:
        raise ConfigError(
            f"the environments of the mixture {name} must have the same tools, but the tools of {parts[0]} and "
            f"{unlike[0]} differ. Use each environment of the mixture separately"
        )
    return first
