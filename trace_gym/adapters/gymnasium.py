"""Environments as `gymnasium.Env` with text actions and text observations.

A seed identifies a scenario: ``reset(seed=s)`` always starts the scenario of seed `s` in the selected split, regardless
of earlier episodes. The world sets the turn limit. Gymnasium's `TimeLimit` (``max_episode_steps``) may truncate an
episode earlier; the episode is then scored in its current state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import partial
from operator import index
from typing import Any

import gymnasium
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv, VectorEnv

from trace_gym import registry
from trace_gym.adapters.shown import ShownMessages
from trace_gym.adapters.spaces import Turns, UnicodeText
from trace_gym.adapters.step_limit import step_limit
from trace_gym.chat_formats import FORMATS
from trace_gym.domains import in_domain
from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, EnvNotFound, ScenarioError, expect_choice
from trace_gym.score import DEFAULT_WEIGHTS, SPARSE_WEIGHTS, RewardWeights, reward
from trace_gym.speech import Speaker
from trace_gym.types import Message, Scenario
from trace_gym.user_model import LanguageUser

__all__ = ["OPTIONS", "WEIGHTS", "TraceEnv", "Turns", "UnicodeText", "make_vec"]

WEIGHTS: dict[str, RewardWeights] = {"default": DEFAULT_WEIGHTS, "sparse": SPARSE_WEIGHTS}
"""Reward weights by name: ``default`` also rewards partial progress, ``sparse`` rewards only success."""

OPTIONS = frozenset({"scenario", "level"})
"""Valid keys of the `options` of `TraceEnv.reset`."""


class TraceEnv(gymnasium.Env[str, Any]):
    """One environment or mixture of the registry, created with ``gymnasium.make("trace/<name>-v<version>")``.

    An action is an assistant turn: text in the chat format `style`, or an OpenAI assistant message. An invalid action
    does not raise an exception; instead, the observation is an error message. After `reset`, the observation is the
    text of the initial messages, and after `step`, the text of the answers. The reward is 0 until the last step, which
    returns the reward of the episode.

    The info of `reset` and `step` contains ``messages`` (the conversation in OpenAI's format), ``tools`` (the raw JSON
    Schemas), ``scenario`` (the requested scenario id), ``part`` (the environment of the scenario, which differs from
    the requested name for a mixture) and ``turns``; at the end also ``score`` (`trace_gym.Score` as a dict, with its
    named checks) and ``success``. You may modify the info, because changes affect neither the episode nor later infos.
    However, all infos of an episode share one object per message, so a change is also visible in earlier infos. To
    avoid this, modify a copy.

    Args:
        name: Name in the registry, or gymnasium id.
        level: Level of every scenario; None draws a level from the seed.
        split: Split of the seeds, a key of `trace_gym.registry.SPLITS`.
        weights: Name of the reward weights, a key of `WEIGHTS`.
        style: Chat format of text actions, a key of `trace_gym.chat_formats.FORMATS`.
        render_mode: None, ``ansi`` (`render` returns the conversation) or ``human`` (new messages are printed).
        domain: Domain of the benchmark, such as ``retail``, one of `trace_gym.domains.domains`. None keeps `name`.
        user: Language model that rewords the messages of the scripted user, such as ``openai:MODEL@URL``, or a
            `trace_gym.user_model.LanguageUser`. None keeps the messages of the script. If the model fails, `reset` or
            `step` raises `UserUnavailable`, and the episode is not scored.

    Raises:
        EnvNotFound, DuplicateEnv, TamperedEnv: The environment cannot be loaded.
        ScenarioError, ConfigError: An argument is not valid.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", "human"], "render_fps": 1}

    def __init__(
        self,
        name: str,
        level: int | None = None,
        split: str = "train",
        weights: str = "default",
        style: str = "hermes",
        render_mode: str | None = None,
        domain: str | None = None,
        user: str | Speaker | None = None,
    ) -> None:
        expect_choice("split", split, registry.SPLITS)
        expect_choice("value of weights", weights, WEIGHTS)
        expect_choice("value of style", style, FORMATS)
        expect_choice("value of render_mode", render_mode, (None, *self.metadata["render_modes"]))
        self.environment = registry.environment(name if domain is None else in_domain(name, domain))
        level = None if level is None else self._existing_level(level)
        self.level, self.split, self.weights, self.style = level, split, weights, style
        self.render_mode = render_mode
        self.user = LanguageUser(user) if isinstance(user, str) else user
        self.observation_space = UnicodeText(2**20)
        self.action_space = Turns(self.environment.tools, style)
        self._episode: Episode | None = None
        self._scenario: Scenario | None = None
        self._tools: list[Message] = []
        self._shown = ShownMessages([])
        self._limit: int | None = None
        self._steps = 0

    @property
    def name(self) -> str:
        """Name of the environment or mixture in the registry."""
        return self.environment.name

    @property
    def episode(self) -> Episode:
        """The current episode."""
        if self._episode is None:
            raise gymnasium.error.ResetNeeded("call reset() first")
        return self._episode

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Start an episode and return the initial observation and info.

        Args:
            seed: Seed of the scenario. None draws a seed from `np_random`.
            options: ``{"level": 2}`` selects the level of this episode only; ``{"scenario": "env/level/seed"}`` selects
                a scenario and ignores the seed.

        Raises:
            ConfigError: An option is unknown, or both options are given.
            ScenarioError: The scenario id does not parse, or a level does not exist.
            EnvNotFound: The scenario belongs to another environment.
        """
        episode = self.begin(seed=seed, options=options)
        self._limit = step_limit(self)
        if self._tools != (tools := list(episode.tools)):  # schemas are large: copy them only if they differ
            self._tools = deepcopy(tools)
        self._show(episode.messages)
        return _text(episode.messages), self._info()

    def begin(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Episode:
        """Start an episode like `reset`, but return the episode instead of an observation."""
        super().reset(seed=seed)
        scenario = self._choose(seed, options or {})
        self._episode, self._scenario = self._begin(scenario), scenario
        self._limit, self._steps = None, 0
        self._shown = ShownMessages(self._episode.messages)
        return self._episode

    def step(self, action: str | Message) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take one assistant turn and return observation, reward, terminated, truncated and info."""
        episode, before = self.episode, self.episode.done
        answers = episode.step(action)
        self._steps += 1
        if self._limit is not None and self._steps >= self._limit:
            episode.finish()  # `TimeLimit` truncates after this step
        self._show(episode.messages[-1 - len(answers) :] if not before else answers)
        info, episode_reward = self._info(), 0.0
        if episode.score is not None:
            info |= {"score": episode.score.model_dump(), "success": episode.score.success}
            episode_reward = 0.0 if before else reward(episode.score, WEIGHTS[self.weights])
        observation = _text(answers) or "(the conversation is over)"
        return observation, episode_reward, episode.done and not episode.truncated, episode.truncated, info

    def render(self) -> str | None:
        """Return the conversation so far in mode ``ansi``. Mode ``human`` prints each message when it is added."""
        return _text(self.episode.messages) if self.render_mode == "ansi" else None

    def _begin(self, scenario: Scenario) -> Episode:
        """Return a new episode of a scenario. The subclass for validation overrides this to disable `share_start`."""
        episode = self.environment.start(scenario, style=self.style, user=self.user)
        if episode.failure is not None:
            raise episode.failure
        return episode

    def _choose(self, seed: int | None, options: Mapping[str, Any]) -> Scenario:
        """Return the scenario that the arguments of `reset` select."""
        if not isinstance(options, Mapping) or not options.keys() <= OPTIONS:
            found = ", ".join(sorted(map(str, options))) if isinstance(options, Mapping) else repr(options)
            raise ConfigError(
                f"invalid options of reset(): found {found}, expected a dictionary with the key "
                f"{' or '.join(sorted(OPTIONS))}"
            )
        scenario, level = options.get("scenario"), options.get("level")
        if scenario is not None and level is not None:
            raise ConfigError(
                f"reset() received both the scenario {scenario} and the level {level}. Pass only one of them, because "
                "a scenario id already contains the level"
            )
        if scenario is not None:
            return self._parse_scenario(scenario)
        seeds = registry.SPLITS[self.split]
        at = seeds[(seed if seed is not None else int(self.np_random.integers(len(seeds)))) % len(seeds)]
        chosen = self.level if level is None else self._existing_level(level)
        return Scenario(env=self.name, level=self.environment.level_for(at) if chosen is None else chosen, seed=at)

    def _existing_level(self, given: Any) -> int:
        """Return the level as an int and check that the level exists. Any integer type is accepted."""
        try:
            level = -1 if isinstance(given, bool) else index(given)
        except TypeError:
            level = -1
        if level not in range(count := self.environment.level_count):
            raise ScenarioError(f"{self.name} has no level {given!r}: expected an integer from 0 to {count - 1}")
        return level

    def _parse_scenario(self, requested: Any) -> Scenario:
        scenario = requested if isinstance(requested, Scenario) else Scenario.parse(str(requested))
        if scenario.env != self.name:
            raise EnvNotFound(
                f"the scenario belongs to another environment: found {scenario}, expected a scenario of {self.name}. "
                f"Create {registry.gym_id(scenario.env)} with gymnasium.make instead"
            )
        return scenario

    def _info(self) -> dict[str, Any]:
        return {
            "messages": self._shown.copies(),
            "tools": list(self._tools),
            "scenario": str(self._scenario),
            "part": self.episode.scenario.env,
            "turns": self.episode.turns,
        }

    def _show(self, messages: list[Message]) -> None:
        if self.render_mode == "human":
            print(_text(messages), flush=True)


def make(name: str, **options: Any) -> gymnasium.Env[str, Any]:
    """Return the Gymnasium environment of an environment or mixture.

    Equivalent to ``gymnasium.make("trace_gym:trace/<name>-v<version>", **options)``.

    Args:
        name: Name in the registry, such as ``tau2_precondition``, or Gymnasium id.
        options: Arguments of `TraceEnv`, such as ``level`` or ``split``.

    Raises:
        EnvNotFound, DuplicateEnv, TamperedEnv: The environment cannot be loaded.
        ScenarioError, ConfigError: An argument is not valid.
    """
    return gymnasium.make(f"trace_gym:{registry.gym_id(registry.name_of(name))}", **options)


def make_vec(num_envs: int = 1, *, name: str, processes: bool = False, **options: Any) -> VectorEnv[Any, Any, Any]:
    """Return a vector environment of `num_envs` copies, in this process or with one process per copy.

    A step takes tens of microseconds, which is less than the communication with another process takes. Set `processes`
    only if your own code between two steps takes much longer than a step. The function
    ``gymnasium.make_vec(..., vectorization_mode="async")`` also works, with or without shared memory.
    """
    # The prefix "trace_gym:" makes a spawned process import the module that registers the id.
    build: Callable[[], gymnasium.Env[str, Any]] = partial(
        gymnasium.make, f"trace_gym:{registry.gym_id(registry.name_of(name))}", **options
    )
    # Shared memory has no advantage for text, and requires 4 MiB per environment.
    return AsyncVectorEnv([build] * num_envs, shared_memory=False) if processes else SyncVectorEnv([build] * num_envs)


def _text(messages: list[Message]) -> str:
    """Return messages as readable text, each message with its role as a prefix."""
    return "\n\n".join(f"{_speaker(m)}: {_body(m)}" for m in messages)


def _speaker(message: Message) -> str:
    return f"tool {message['name']}" if message["role"] == "tool" else str(message["role"])


def _body(message: Message) -> str:
    calls = [f"{c['function']['name']}({c['function']['arguments']})" for c in message.get("tool_calls", ())]
    return " ".join([message["content"], *calls]).strip()
