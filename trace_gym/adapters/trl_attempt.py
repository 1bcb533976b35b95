"""What TRL's `GRPOTrainer` holds for one rollout: an attempt at a scenario, which it resets and pays.

TRL offers every public method of such a class as a tool, but for `reset` and `get_reward`. So a world is never handed
over itself: its `oracle` and `verify` would be tools. What else is ours begins with an underscore.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from copy import copy
from typing import Any, ClassVar

from trace_gym import registry
from trace_gym.adapters.attempt import library
from trace_gym.episode import Action, Episode, interface_of
from trace_gym.errors import ConfigError, EnvBug
from trace_gym.score import DEFAULT_WEIGHTS, RewardWeights, reward
from trace_gym.types import Message, Scenario, Score

TRIED = "1.16"
"""The TRL whose private parts were read: `_env_tools` and `_standalone_tools`, `_generate_single_turn`."""

OVER = "The user has left; the conversation is over."
Trainer = Any
"""A `trl.GRPOTrainer`; by TRL's own annotations, parts of it may be missing that never are."""

_log = logging.getLogger(__name__)


def check_version(why: str) -> None:
    """Refuse a TRL whose private parts may be others.

    Raises:
        MissingExtra: TRL is not installed.
        ConfigError: It is another minor version than `TRIED`; the message begins with `why`.
    """
    found = library("trl", "trl").__version__
    if not f"{found}.".startswith(f"{TRIED}."):
        raise ConfigError(
            f"{why} private parts of TRL that were read in {TRIED}, found trl {found}; pip install 'trl=={TRIED}.*'"
        )


class ScoredEpisode(Episode):
    """An episode whose score is there whenever it is read: the episode ends then, if it has not ended before."""

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


class Attempt:
    """One rollout slot of the trainer. TRL keeps a pool of them and resets each for every rollout."""

    _env: ClassVar[str] = ""
    _schemas: ClassVar[tuple[Message, ...]] = ()
    _weights: ClassVar[RewardWeights] = DEFAULT_WEIGHTS
    _last: ClassVar[Episode | None] = None
    """What the latest reset of this class began."""

    episode: Episode | None = None
    """The attempt under way, for your reward functions; None once the environment itself broke.

    It ends when its `score` is read, as TRL never says that a rollout is over. Read it in reward functions only.
    """

    def reset(self, scenario: str = "", prompt: Sequence[Message] = (), **row: Any) -> None:
        """Begin the attempt at a row's scenario.

        Raises:
            ConfigError: The row has no scenario, or another environment's; or it opens with other words than the
                scenario, so it was made for another version.
            EnvBug: Two attempts at one scenario did not start from one state.
        """
        if not scenario:
            raise ConfigError("the row has no scenario; build the dataset with trace_gym.adapters.trl.dataset")
        at = registry.part_of(Scenario.parse(scenario))
        if at.env != self._env:
            raise ConfigError(f"{scenario} is a scenario of {at.env}, its row is for {self._env}")
        self.episode = None
        try:
            self.episode = ScoredEpisode(registry.load(at.env), at, share_start=True)
        except EnvBug as bug:
            self._fail(bug)
            return
        opening = self.episode.messages[-1]["content"]
        if prompt and (found := prompt[-1]["content"]) != opening:
            says = f"{at} opens with {opening[:80]!r}, its row with {found[:80]!r}"
            raise ConfigError(f"{says}; build the dataset anew with trace_gym.adapters.trl.dataset")
        self._compare(self.episode)

    def get_reward(self) -> float | None:
        """The reward of the attempt as it stands; None, which TRL leaves out of the group, if the environment broke."""
        try:
            return None if self.episode is None else reward(self.episode.finish(), self._weights)
        except EnvBug as bug:
            self._fail(bug)
            return None

    def _take(self, action: Action) -> list[Message]:
        """Take an assistant turn; the messages that answer it, none once the environment broke."""
        try:
            return [] if self.episode is None else self.episode.step(action)
        except EnvBug as bug:
            self._fail(bug)
            return []

    def _answer(self, action: Action) -> str:
        """Take an assistant turn; the text that TRL shows to the policy."""
        if answers := self._take(action):
            return str(answers[0]["content"])
        return OVER if self.episode else "Error: the environment failed and nothing was done."

    def _fail(self, bug: EnvBug) -> None:
        _log.warning("not scored: %s", bug)
        self.episode = None

    def _compare(self, began: Episode) -> None:
        """Members of a group are reset one after the other: each must start where the one before it did."""
        last, type(self)._last = type(self)._last, began
        if last is None or last.scenario != began.scenario or last.start == began.start:
            return
        if _start_hash(last) != _start_hash(began):  # not every world can be compared by ==
            says = f"{began.scenario}: two attempts start from different states"
            raise EnvBug(f"{says}; trace-gym validate {self._env}")


def _start_hash(episode: Episode) -> str:
    """Hash of the state that an episode began in, however far it has come."""
    fresh = copy(episode)
    fresh.world = fresh.start
    return fresh.state_hash


def attempt_class(env: str, weights: RewardWeights = DEFAULT_WEIGHTS) -> type[Attempt]:
    """The attempts at scenarios of an environment, with no tool for TRL to find; TRL logs rewards under its name."""
    schemas = interface_of(registry.load(env)).tools
    made: type[Attempt] = type(env, (Attempt,), {"_env": env, "_schemas": schemas, "_weights": weights})
    return made
