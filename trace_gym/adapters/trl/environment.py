"""Environment class for TRL's `GRPOTrainer`, which resets an instance for each rollout and reads its reward.

TRL offers every public method of an environment class as a tool, except for `reset` and `get_reward`. Methods that are
not tools therefore start with an underscore. For the same reason, a world cannot be used directly as an environment
class: its methods `oracle` and `verify` would become tools.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from copy import copy
from typing import Any, ClassVar

from trace_gym import registry
from trace_gym.adapters.rollout import library
from trace_gym.episode import Action, Episode, interface_of
from trace_gym.errors import ConfigError, EnvBug
from trace_gym.score import DEFAULT_WEIGHTS, RewardWeights, reward
from trace_gym.types import Message, Scenario, Score
from trace_gym.world import World

TRIED = "1.16"
"""Supported TRL version. The adapter uses its private attributes `_env_tools`, `_standalone_tools` and
`_generate_single_turn`."""

OVER = "The user has left; the conversation is over."
Trainer = Any
"""A `trl.GRPOTrainer`. The type is `Any`, because TRL annotates attributes as optional although they are always set."""

_log = logging.getLogger(__name__)


def check_version(why: str) -> None:
    """Check that the installed TRL has the private attributes that the adapter uses.

    Args:
        why: The feature that uses private attributes, for the error message.

    Raises:
        MissingExtra: TRL is not installed.
        ConfigError: The minor version of the installed TRL is not the one in `TRIED`.
    """
    found = library("trl", "trl").__version__
    if not f"{found}.".startswith(f"{TRIED}."):
        raise ConfigError(
            f"this version of TRL does not support {why}: found trl {found}, expected {TRIED}, because private "
            f"attributes of TRL are used. Run pip install 'trl=={TRIED}.*'"
        )


class ScoredEpisode(Episode):
    """An episode that ends when its score is read, if it is not over yet."""

    _score: Score | None

    @property
    def score(self) -> Score | None:
        """The score, with its named checks.

        Raises:
            EnvBug: The verifier failed.
        """
        return self._score if self.done else self.finish()

    @score.setter
    def score(self, score: Score | None) -> None:
        self._score = score


class TrlEnvironment:
    """One environment of the trainer. TRL keeps a pool of environments and resets one for each rollout."""

    _env: ClassVar[str] = ""
    _world: ClassVar[type[World]]
    _schemas: ClassVar[tuple[Message, ...]] = ()
    _weights: ClassVar[RewardWeights] = DEFAULT_WEIGHTS
    _last: ClassVar[Episode | None] = None
    """Episode of the latest reset of any instance of this class."""

    episode: Episode | None = None
    """The current episode, for use in your reward functions; None after an error of the environment.

    The episode ends when its `score` is read, because TRL does not signal the end of a rollout. Read the score only in
    reward functions.
    """

    def reset(self, scenario: str = "", prompt: Sequence[Message] = (), **row: Any) -> None:
        """Start an episode of a row's scenario.

        Raises:
            ConfigError: The row has no scenario, has a scenario of another environment, or was written for another
                version of the environment, with a different first user message.
            EnvBug: Two consecutive episodes of the same scenario did not start from the same state.
        """
        if not scenario:
            raise ConfigError(
                "the dataset row contains no scenario id. Create the dataset with trace_gym.adapters.trl.dataset"
            )
        at = registry.part_of(Scenario.parse(scenario))
        if at.env != self._env:
            raise ConfigError(
                f"the dataset row belongs to another environment: found the scenario {scenario}, expected a scenario "
                f"of {self._env}. Create the dataset with trace_gym.adapters.trl.dataset"
            )
        self.episode = None
        try:
            self.episode = ScoredEpisode(self._world, at, share_start=True)
        except EnvBug as bug:
            self._fail(bug)
            return
        opening = self.episode.messages[-1]["content"]
        if prompt and (found := prompt[-1]["content"]) != opening:
            raise ConfigError(
                f"the dataset row of {at} was written for another version of the environment: found the first user "
                f"message {found[:80]!r}, expected {opening[:80]!r}. Create the dataset again with "
                "trace_gym.adapters.trl.dataset"
            )
        self._check_same_start(self.episode)

    def get_reward(self) -> float | None:
        """End the episode and return its reward.

        Return None after an error of the environment; TRL then excludes the rollout from its group.
        """
        try:
            return None if self.episode is None else reward(self.episode.finish(), self._weights)
        except EnvBug as bug:
            self._fail(bug)
            return None

    def _take(self, action: Action) -> list[Message]:
        """Take an assistant turn and return the answers; an empty list after an error of the environment."""
        try:
            return [] if self.episode is None else self.episode.step(action)
        except EnvBug as bug:
            self._fail(bug)
            return []

    def _answer(self, action: Action) -> str:
        """Take an assistant turn and return the text that TRL shows to the policy as the tool result."""
        if answers := self._take(action):
            return str(answers[0]["content"])
        return OVER if self.episode else "Error: the environment failed and nothing was done."

    def _fail(self, bug: EnvBug) -> None:
        _log.warning("not scored: %s", bug)
        self.episode = None

    def _check_same_start(self, started: Episode) -> None:
        """Check that consecutive episodes of the same scenario, which form a group, start from the same state."""
        last, type(self)._last = type(self)._last, started
        if last is None or last.scenario != started.scenario or last.start == started.start:
            return
        if _start_hash(last) != _start_hash(started):  # not every world can be compared by ==
            raise EnvBug(
                f"{started.scenario}: two episodes of this scenario start from different states, expected the same "
                f"state. Run trace-gym validate {self._env}"
            )


def _start_hash(episode: Episode) -> str:
    """Return the hash of an episode's start state, independently of the turns taken."""
    fresh = copy(episode)
    fresh.world = fresh.start
    return fresh.state_hash


def environment_class(env: str, weights: RewardWeights = DEFAULT_WEIGHTS) -> type[TrlEnvironment]:
    """Return an environment class for TRL without tools, named after the environment.

    TRL logs rewards under the name of the class.
    """
    world = registry.load_world(env)
    members = {"_env": env, "_world": world, "_schemas": interface_of(world).tools, "_weights": weights}
    made: type[TrlEnvironment] = type(env, (TrlEnvironment,), members)
    return made
