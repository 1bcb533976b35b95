"""Every environment as a `gymnasium.Env` with a menu of discrete actions and observations of fixed size.

Reinforcement learning without a language model: a small network picks one of the calls and phrases that the
conversation offers. Menu and observation are functions of the messages and the tools, which is what an agent sees.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from trace_gym import registry
from trace_gym.adapters.gymnasium import WEIGHTS, TraceEnv
from trace_gym.adapters.layout import Layout
from trace_gym.adapters.step_limit import step_limit
from trace_gym.adapters.talk import Choice, Obs, Talk
from trace_gym.adapters.vocabulary import Vocabulary, vocabulary
from trace_gym.episode import interface_of
from trace_gym.errors import ConfigError
from trace_gym.score import reward
from trace_gym.types import Call, Message, Say

PHRASES = ("Shall I proceed?", "What is the reason?", "All done.")
"""What can always be said: ask to confirm, ask for the reason, close."""


class Menu:
    """The slots of an environment, what they offer in a conversation, and how both are encoded.

    The slots are, in this order: calls of each tool, as many as its vocabulary expects; the phrases; a refusal for
    each thing that the user named; a statement for each field of the vocabulary. Phrases can be said again; a call
    that was answered, a refusal and a statement are offered once.

    An observation holds, in this order, numbers from 0 to 1:

    1. the share of `TURNS` that were taken, and whether the last answer was an error;
    2. for each word of the vocabulary whether a user said it;
    3. for each fact of the vocabulary whether the last result that holds its field shows it;
    4. for each field with dates where its last value lies: over a day before the time that the instructions name,
       within a day before, within a day after, later;
    5. for each slot whether it offers something, whether that was done before, whether it was refused, and how many
       of the user's words the records of its values hold, compared with the other calls of the tool.
    """

    def __init__(self, tools: Sequence[Message], words: Vocabulary, phrases: Sequence[str] = PHRASES) -> None:
        self.tools, self.vocabulary = list(tools), words
        self.layout = Layout(tools, words, phrases)
        self.slots, self.size = self.layout.slots, self.layout.size
        self._talk = Talk(self.layout)

    def offer(self, messages: Sequence[Message]) -> list[Choice]:
        """What each slot does now."""
        talk = self.follow(messages)
        return [talk.choice(slot) for slot in range(self.slots)]

    def encode(self, messages: Sequence[Message]) -> Obs:
        """The observation of a conversation and what it offers, shape `(size,)`."""
        return self.follow(messages).observation

    def follow(self, messages: Sequence[Message]) -> Talk:
        """Read a conversation; only what is new, where it goes on."""
        if not self._talk.follows(messages):
            self._talk = Talk(self.layout)
        self._talk.read(messages)
        return self._talk


class MenuEnv(gymnasium.Env[Obs, np.int64]):
    """An environment or mixture of the registry as a menu.

    Args:
        name: Name in the registry, or gymnasium id.
        level: Level of every task; None draws one from the seed.
        split: Which seeds ``reset(seed=...)`` counts through, a key of `trace_gym.registry.SPLITS`.
        weights: How an episode is paid, a key of `trace_gym.adapters.gymnasium.WEIGHTS`.
        phrases: What can always be said.
        render_mode: None, or ``ansi`` (`render` returns the conversation).

    Raises:
        EnvNotFound, DuplicateEnv, TamperedEnv: The environment cannot be loaded.
        ScenarioError, ConfigError: An argument is none of its choices.
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
        """Begin a task, as `TraceEnv.reset` does."""
        super().reset(seed=seed)
        episode = self.text.begin(seed=seed, options=options)
        self._limit, self._steps = step_limit(self), 0
        return self._talk.observation, {"scenario": str(episode.scenario)}

    def step(self, action: np.int64) -> tuple[Obs, float, bool, bool, dict[str, Any]]:
        """Do what the slot offers."""
        episode, before = self.text.episode, self.text.episode.done
        episode.step(self.chosen(int(action)))
        self._steps += 1
        if self._limit is not None and self._steps >= self._limit:
            episode.finish()  # `TimeLimit` truncates after this step
        info: dict[str, Any] = {"scenario": str(episode.scenario)}
        paid = 0.0
        if episode.score is not None:
            info["success"] = episode.score.success
            paid = 0.0 if before else reward(episode.score, WEIGHTS[self.text.weights])
        return self._talk.observation, paid, episode.done and not episode.truncated, episode.truncated, info

    def chosen(self, slot: int) -> Call | Say:
        """What a slot does now; one that offers nothing stands for another, so that every action is legal."""
        if not (offered := (talk := self._talk).offered)[slot]:
            instead = np.flatnonzero(offered)
            slot = int(instead[slot % len(instead)])
        return talk.choice(slot).action

    def render(self) -> str | None:
        return self.text.render()

    def action_masks(self) -> NDArray[np.bool_]:
        """Which slots offer something, shape `(slots,)`; the name is the one that sb3-contrib asks for."""
        return self._talk.offered > 0

    @property
    def offered(self) -> list[Choice]:
        """What each slot does now."""
        return self.menu.offer(self.text.episode.messages)

    @property
    def _talk(self) -> Talk:
        return self.menu.follow(self.text.episode.messages)


def _tools(name: str) -> tuple[Message, ...]:
    """The tools of an environment, or of all parts of a mixture.

    Raises:
        ConfigError: The parts have different ones, which no menu of fixed slots can offer.
    """
    parts = list(registry.mixture(name).mixture) if name in registry.mixtures() else [name]
    first, *others = [interface_of(registry.load(part)).tools for part in parts]
    if unlike := [part for part, tools in zip(parts[1:], others, strict=True) if tools != first]:
        raise ConfigError(f"{unlike[0]} has other tools than {parts[0]}; take one part of {name} at a time")
    return first
