"""Every environment as a `gymnasium.Env` whose actions and observations are text.

A seed is a task: ``reset(seed=s)`` begins the scenario of seed `s` in the chosen split, whatever came before.
The turn limit is the world's own, not gymnasium's `TimeLimit`, so that an episode cut short is still scored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from functools import partial
from typing import Any

import gymnasium
from gymnasium.spaces import Space
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv, VectorEnv

from trace_gym import registry
from trace_gym.actions import FORMATS, MAX_TEXT
from trace_gym.episode import Episode, interface_of
from trace_gym.errors import ConfigError, EnvNotFound, ScenarioError
from trace_gym.score import DEFAULT_WEIGHTS, SPARSE_WEIGHTS, RewardWeights, reward
from trace_gym.types import Call, Message, Scenario

WEIGHTS: dict[str, RewardWeights] = {"default": DEFAULT_WEIGHTS, "sparse": SPARSE_WEIGHTS}
"""How a finished episode is paid, by name: partly for progress, or only for success."""


class UnicodeText(Space[str]):
    """Any text up to a length.

    `gymnasium.spaces.Text` is no base of it: that one needs an alphabet, and through the shared memory of
    `AsyncVectorEnv` its observations arrive as zeros. This space is refused there with a clear error.
    """

    def __init__(self, max_length: int, seed: int | None = None) -> None:
        self.max_length = max_length
        super().__init__(dtype=str, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        return False

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> str:
        """Up to 32 printable ASCII characters."""
        return "".join(map(chr, self.np_random.integers(32, 127, size=int(self.np_random.integers(1, 33)))))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other).get("max_length") == self.max_length

    def __hash__(self) -> int:
        return hash((type(self), self.max_length))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(max_length={self.max_length})"


class Turns(UnicodeText):
    """Assistant turns; two samples of three are calls of the environment's tools that read well."""

    def __init__(self, tools: Mapping[str, Message], style: str, seed: int | None = None) -> None:
        self.tools, self.style = dict(tools), style
        super().__init__(MAX_TEXT, seed)

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> str:
        if not self.tools or self.np_random.random() < 1 / 3:
            return super().sample()
        name = sorted(self.tools)[self.np_random.integers(len(self.tools))]
        parameters = self.tools[name]["function"]["parameters"]
        arguments = {k: self._value(s) for k, s in parameters.get("properties", {}).items()}
        return FORMATS[self.style].render(Call(name, arguments))

    def _value(self, schema: Message) -> Any:
        """A value of the schema's type; what it means is chance."""
        if choices := schema.get("enum"):
            return choices[self.np_random.integers(len(choices))]
        number = int(self.np_random.integers(100))
        made: dict[str, Any] = {"integer": number, "number": number / 4, "boolean": number < 50, "object": {}}
        if schema.get("type") == "array":
            return [self._value(schema.get("items", {})) for _ in range(number % 3)]
        return made.get(str(schema.get("type")), super().sample())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Turns) and (other.tools, other.style) == (self.tools, self.style)

    __hash__ = UnicodeText.__hash__


class TraceEnv(gymnasium.Env[str, Any]):
    """One environment or mixture of the registry; ``gymnasium.make("trace/<name>-v<version>")`` builds it.

    An action is an assistant turn: text in the chat format `style`, or an OpenAI assistant message. Whatever it
    holds is answered, never raised. The observation is the text of what is new: after `reset` the conversation
    so far, after `step` the answers. The reward comes with the end and is 0 before.

    The info of `reset` and `step` holds ``messages`` (the conversation, OpenAI shape), ``tools`` (the raw JSON
    Schemas), ``scenario`` (the address that was asked for), ``part`` (the environment that it belongs to, which
    differs for a mixture) and ``turns``; at the end also ``score`` (`trace_gym.Score` as a dict, with its named
    checks) and ``success``. All of it is the caller's to change.

    Args:
        name: Name in the registry, or gymnasium id.
        level: Level of every task; None draws one from the seed.
        split: Which seeds ``reset(seed=...)`` counts through, a key of `trace_gym.registry.SPLITS`.
        weights: How an episode is paid, a key of `WEIGHTS`.
        style: Chat format of text actions, a key of `trace_gym.actions.FORMATS`.
        render_mode: None, ``ansi`` (`render` returns the conversation) or ``human`` (it is printed as it grows).
        domain: Another domain of tau2 to play in, one of `trace_gym.registry.DOMAINS`; None leaves `name` as it is.

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
    ) -> None:
        _one_of("split", split, registry.SPLITS)
        _one_of("weights", weights, WEIGHTS)
        _one_of("style", style, FORMATS)
        _one_of("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        self.name = registry.name_of(name) if domain is None else registry.in_domain(name, domain)
        if level is not None and level not in range(count := registry.level_count(self.name)):
            raise ScenarioError(f"{self.name} has levels 0 to {count - 1}, not {level}")
        self.level, self.split, self.weights, self.style = level, split, weights, style
        self.render_mode = render_mode
        self.observation_space = UnicodeText(2**20)
        self.action_space = Turns(_tools(self.name), style)
        self._episode: Episode | None = None
        self._scenario: Scenario | None = None
        self._tools: list[Message] = []

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
            options: ``{"scenario": "env/level/seed"}`` begins exactly that one.

        Raises:
            ScenarioError: The address does not parse, or names a level that does not exist.
            EnvNotFound: The address is another environment's.
        """
        episode = self.begin(seed=seed, options=options)
        if self._tools != (tools := list(episode.tools)):  # schemas are large: one copy until it is changed
            self._tools = deepcopy(tools)
        self._show(episode.messages)
        return _text(episode.messages), self._info()

    def begin(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Episode:
        """Begin a task as `reset` does, and return the attempt instead of its text."""
        super().reset(seed=seed)
        self._scenario = self._address((options or {}).get("scenario"), seed)
        self._episode = self._begin(self._scenario)
        return self._episode

    def step(self, action: str | Message) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take one assistant turn."""
        episode, before = self.episode, self.episode.done
        answers = episode.step(action)
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
        return registry.episode(scenario, style=self.style)

    def _address(self, asked: Any, seed: int | None) -> Scenario:
        if asked is not None:
            scenario = asked if isinstance(asked, Scenario) else Scenario.parse(str(asked))
            if scenario.env != self.name:
                raise EnvNotFound(
                    f"{scenario} is no scenario of {self.name}; make {registry.gym_id(scenario.env)} for it"
                )
            return scenario
        seeds = registry.SPLITS[self.split]
        at = seeds[(seed if seed is not None else int(self.np_random.integers(len(seeds)))) % len(seeds)]
        level = self.level if self.level is not None else registry.level_for(self.name, at)
        return Scenario(env=self.name, level=level, seed=at)

    def _info(self) -> dict[str, Any]:
        return {
            "messages": list(map(_copied, self.episode.messages)),
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
    where the caller's own work between steps is what takes time.
    """
    # "trace_gym:" makes a spawned process import what registers the id.
    build: Callable[[], gymnasium.Env[str, Any]] = partial(
        gymnasium.make, f"trace_gym:{registry.gym_id(registry.name_of(name))}", **options
    )
    # Through shared memory text would have to be cut to a fixed length.
    return AsyncVectorEnv([build] * num_envs, shared_memory=False) if processes else SyncVectorEnv([build] * num_envs)


def _one_of(key: str, given: str | None, choices: Iterable[str | None]) -> None:
    if given not in (known := list(choices)):
        raise ConfigError(f"{key} {given!r} is unknown; expected one of {', '.join(map(str, known))}")


def _tools(name: str) -> dict[str, Message]:
    """The tools of an environment, or of all parts of a mixture, by name."""
    parts = list(registry.mixture(name).mixture) if name in registry.mixtures() else [name]
    return {t["function"]["name"]: t for part in parts for t in interface_of(registry.load(part)).tools}


def _copied(message: Message) -> Message:
    """A message that shares nothing with another but its texts."""
    if "tool_calls" not in message:
        return {**message}
    return {**message, "tool_calls": [{**c, "function": {**c["function"]}} for c in message["tool_calls"]]}


def _text(messages: list[Message]) -> str:
    """Messages as people read them, each after its role."""
    return "\n\n".join(f"{_speaker(m)}: {_said(m)}" for m in messages)


def _speaker(message: Message) -> str:
    return f"tool {message['name']}" if message["role"] == "tool" else str(message["role"])


def _said(message: Message) -> str:
    calls = [f"{c['function']['name']}({c['function']['arguments']})" for c in message.get("tool_calls", ())]
    return " ".join([message["content"], *calls]).strip()
