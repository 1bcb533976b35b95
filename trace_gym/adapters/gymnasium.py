"""Every environment as a `gymnasium.Env` whose actions and observations are text.

A seed is a task: ``reset(seed=s)`` begins the scenario of seed `s` in the chosen split, whatever came before.
The turn limit is the world's own. Gymnasium's `TimeLimit` (``max_episode_steps``) may cut an episode shorter; it is
scored as it stands then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from functools import partial
from operator import index
from typing import Any

import gymnasium
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv, VectorEnv

from trace_gym import registry
from trace_gym.actions import FORMATS
from trace_gym.adapters.shown import ShownMessages
from trace_gym.adapters.spaces import Turns, UnicodeText
from trace_gym.adapters.step_limit import step_limit
from trace_gym.episode import Episode, interface_of
from trace_gym.errors import ConfigError, EnvNotFound, ScenarioError
from trace_gym.score import DEFAULT_WEIGHTS, SPARSE_WEIGHTS, RewardWeights, reward
from trace_gym.speech import Speaker
from trace_gym.types import Message, Scenario
from trace_gym.user_model import LanguageUser

__all__ = ["OPTIONS", "WEIGHTS", "TraceEnv", "Turns", "UnicodeText", "make_vec"]

WEIGHTS: dict[str, RewardWeights] = {"default": DEFAULT_WEIGHTS, "sparse": SPARSE_WEIGHTS}
"""How a finished episode is paid, by name: partly for progress, or only for success."""

OPTIONS = frozenset({"scenario", "level"})
"""Options of `TraceEnv.reset`."""


class TraceEnv(gymnasium.Env[str, Any]):
    """One environment or mixture of the registry; ``gymnasium.make("trace/<name>-v<version>")`` builds it.

    An action is an assistant turn: text in the chat format `style`, or an OpenAI assistant message. Whatever it
    holds is answered, never raised. The observation is the text of what is new: after `reset` the conversation
    so far, after `step` the answers. The reward comes with the end and is 0 before.

    The info of `reset` and `step` holds ``messages`` (the conversation, OpenAI shape), ``tools`` (the raw JSON
    Schemas), ``scenario`` (the address that was asked for), ``part`` (the environment that it belongs to, which
    differs for a mixture) and ``turns``; at the end also ``score`` (`trace_gym.Score` as a dict, with its named
    checks) and ``success``. All of it is the caller's to change: neither the episode nor a later info shows a change.
    A message is one object in all infos of its episode, so an earlier info that was kept does show it; to edit a
    message and keep the original, edit a copy.

    Args:
        name: Name in the registry, or gymnasium id.
        level: Level of every task; None draws one from the seed.
        split: Which seeds ``reset(seed=...)`` counts through, a key of `trace_gym.registry.SPLITS`.
        weights: How an episode is paid, a key of `WEIGHTS`.
        style: Chat format of text actions, a key of `trace_gym.actions.FORMATS`.
        render_mode: None, ``ansi`` (`render` returns the conversation) or ``human`` (it is printed as it grows).
        domain: Another domain of tau2 to play in, one of `trace_gym.registry.DOMAINS`; None leaves `name` as it is.
        user: Language model that rewords the scripted user, such as ``openai:MODEL@URL``, or a
            `trace_gym.user_model.LanguageUser`; None for the words of the script. If the model fails, `reset` or `step`
            raises `UserUnavailable`, and the episode is not scored.

    Raises:
        EnvNotFound, DuplicateEnv, TamperedEnv: The environment cannot be loaded.
        ScenarioError, ConfigError: An argument is none of its choices.
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
        _one_of("split", split, registry.SPLITS)
        _one_of("weights", weights, WEIGHTS)
        _one_of("style", style, FORMATS)
        _one_of("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        self.name = registry.name_of(name) if domain is None else registry.in_domain(name, domain)
        level = None if level is None else _level(self.name, level)
        self.level, self.split, self.weights, self.style = level, split, weights, style
        self.render_mode = render_mode
        self.user = LanguageUser(user) if isinstance(user, str) else user
        self.observation_space = UnicodeText(2**20)
        self.action_space = Turns(_tools(self.name), style)
        self._episode: Episode | None = None
        self._scenario: Scenario | None = None
        self._tools: list[Message] = []
        self._shown = ShownMessages([])
        self._limit: int | None = None
        self._steps = 0

    @property
    def episode(self) -> Episode:
        """The attempt that is under way."""
        if self._episode is None:
            raise gymnasium.error.ResetNeeded("call reset() first")
        return self._episode

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Begin a task.

        Args:
            seed: Which one. Without it a seed is drawn from `np_random`.
            options: ``{"level": 2}`` chooses the level of this task only; ``{"scenario": "env/level/seed"}`` begins
                exactly that scenario, whatever the seed.

        Raises:
            ConfigError: An option is unknown, or both options are given.
            ScenarioError: The scenario id does not parse, or a level does not exist.
            EnvNotFound: The scenario is another environment's.
        """
        episode = self.begin(seed=seed, options=options)
        self._limit = step_limit(self)
        if self._tools != (tools := list(episode.tools)):  # schemas are large: one copy until it is changed
            self._tools = deepcopy(tools)
        self._show(episode.messages)
        return _text(episode.messages), self._info()

    def begin(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Episode:
        """Begin a task as `reset` does, and return the attempt instead of its text."""
        super().reset(seed=seed)
        scenario = self._choose(seed, options or {})
        self._episode, self._scenario = self._begin(scenario), scenario
        self._limit, self._steps = None, 0
        self._shown = ShownMessages(self._episode.messages)
        return self._episode

    def step(self, action: str | Message) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take one assistant turn."""
        episode, before = self.episode, self.episode.done
        answers = episode.step(action)
        self._steps += 1
        if self._limit is not None and self._steps >= self._limit:
            episode.finish()  # `TimeLimit` truncates after this step
        self._show(episode.messages[-1 - len(answers) :] if not before else answers)
        info, paid = self._info(), 0.0
        if episode.score is not None:
            info |= {"score": episode.score.model_dump(), "success": episode.score.success}
            paid = 0.0 if before else reward(episode.score, WEIGHTS[self.weights])
        observation = _text(answers) or "(the conversation is over)"
        return observation, paid, episode.done and not episode.truncated, episode.truncated, info

    def render(self) -> str | None:
        """The conversation so far in mode ``ansi``; in mode ``human`` it has been printed already."""
        return _text(self.episode.messages) if self.render_mode == "ansi" else None

    def _begin(self, scenario: Scenario) -> Episode:
        """The attempt at a scenario; validation plays worlds that no registry holds."""
        episode = registry.episode(scenario, style=self.style, user=self.user)
        if episode.failure is not None:
            raise episode.failure
        return episode

    def _choose(self, seed: int | None, options: Mapping[str, Any]) -> Scenario:
        """The scenario that the arguments of `reset` name."""
        if not isinstance(options, Mapping) or not options.keys() <= OPTIONS:
            found = ", ".join(sorted(map(str, options))) if isinstance(options, Mapping) else repr(options)
            raise ConfigError(f"unknown options of reset: found {found}, expected {' or '.join(sorted(OPTIONS))}")
        scenario, level = options.get("scenario"), options.get("level")
        if scenario is not None and level is not None:
            raise ConfigError(f"a scenario names its level: found scenario {scenario} and level {level}; leave out one")
        if scenario is not None:
            return self._address(scenario)
        seeds = registry.SPLITS[self.split]
        at = seeds[(seed if seed is not None else int(self.np_random.integers(len(seeds)))) % len(seeds)]
        chosen = self.level if level is None else _level(self.name, level)
        return Scenario(env=self.name, level=registry.level_for(self.name, at) if chosen is None else chosen, seed=at)

    def _address(self, asked: Any) -> Scenario:
        scenario = asked if isinstance(asked, Scenario) else Scenario.parse(str(asked))
        if scenario.env != self.name:
            raise EnvNotFound(f"{scenario} is no scenario of {self.name}; make {registry.gym_id(scenario.env)} for it")
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


def make_vec(num_envs: int = 1, *, name: str, processes: bool = False, **options: Any) -> VectorEnv[Any, Any, Any]:
    """What `gymnasium.make_vec` builds: `num_envs` copies in this process, or in one process each.

    A step takes tens of microseconds, less than sending it to a process and back; `processes` pays off
    where the caller's own work between steps is what takes time. Gymnasium's own
    ``gymnasium.make_vec(..., vectorization_mode="async")`` works as well, with or without shared memory.
    """
    # "trace_gym:" makes a spawned process import what registers the id.
    build: Callable[[], gymnasium.Env[str, Any]] = partial(
        gymnasium.make, f"trace_gym:{registry.gym_id(registry.name_of(name))}", **options
    )
    # Shared memory gains nothing for text, and takes 4 MiB for each environment.
    return AsyncVectorEnv([build] * num_envs, shared_memory=False) if processes else SyncVectorEnv([build] * num_envs)


def _one_of(key: str, given: str | None, choices: Iterable[str | None]) -> None:
    if given not in (known := list(choices)):
        raise ConfigError(f"{key} {given!r} is unknown; expected one of {', '.join(map(str, known))}")


def _level(name: str, given: Any) -> int:
    """A level of an environment, from any kind of integer."""
    try:
        level = -1 if isinstance(given, bool) else index(given)
    except TypeError:
        level = -1
    if level not in range(count := registry.level_count(name)):
        raise ScenarioError(f"{name} has levels 0 to {count - 1}, not {given!r}")
    return level


def _tools(name: str) -> dict[str, Message]:
    """The tools of an environment, or of all parts of a mixture, by name."""
    parts = list(registry.mixture(name).mixture) if name in registry.mixtures() else [name]
    return {t["function"]["name"]: t for part in parts for t in interface_of(registry.load(part)).tools}


def _text(messages: list[Message]) -> str:
    """Messages as people read them, each after its role."""
    return "\n\n".join(f"{_speaker(m)}: {_said(m)}" for m in messages)


def _speaker(message: Message) -> str:
    return f"tool {message['name']}" if message["role"] == "tool" else str(message["role"])


def _said(message: Message) -> str:
    calls = [f"{c['function']['name']}({c['function']['arguments']})" for c in message.get("tool_calls", ())]
    return " ".join([message["content"], *calls]).strip()
