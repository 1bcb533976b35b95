"""Policies without a model: the experts of a world, their mixture, the idle and the random.

All are pure functions of the episode (its scenario, its turn, its messages) and of a sample number,
so one instance serves any number of episodes, in any order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random as Generator
from typing import Any, Literal, Self

from trace_gym.episode import Action, Episode
from trace_gym.errors import EnvBug
from trace_gym.types import Call, Message, Say
from trace_gym.world import Step, plan_of

DONE = Say("Done.")
"""What an expert says once its plan is exhausted."""


def plan(episode: Episode, expert: Literal["oracle", "ablated"]) -> list[Step]:
    """Every step of a world's expert, from the untouched start state.

    Raises:
        EnvBug: The expert raised.
    """
    try:
        return list(plan_of(episode.start, expert))
    except Exception as error:
        raise EnvBug(f"{episode.scenario}: {expert} raised {type(error).__name__}: {error}") from error


def _follow(episode: Episode, expert: Literal["oracle", "ablated"]) -> Action:
    steps = plan(episode, expert)
    return steps[episode.turns] if episode.turns < len(steps) else DONE


@dataclass(frozen=True, slots=True)
class Oracle:
    """The expert who exercises the capability."""

    name: str = "oracle"

    def act(self, episode: Episode) -> Action:
        return _follow(episode, "oracle")


@dataclass(frozen=True, slots=True)
class Ablated:
    """The same expert without the capability."""

    name: str = "ablated"

    def act(self, episode: Episode) -> Action:
        return _follow(episode, "ablated")


@dataclass(frozen=True, slots=True)
class Mixture:
    """An agent of competence `p`: the oracle's plan with that probability, else the ablated one's.

    The choice is made once an episode, from `seed`, the scenario and the sample's number.
    """

    p: float
    seed: int = 0
    sample: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.p <= 1:
            raise ValueError(f"p is a probability, found {self.p}")

    @property
    def name(self) -> str:
        return f"mixture-{self.p:g}-{self.seed}"

    def with_sample(self, sample: int) -> Self:
        return replace(self, sample=sample)

    def act(self, episode: Episode) -> Action:
        competent = Generator(f"{self.seed}/{episode.scenario}/{self.sample}").random() < self.p
        return _follow(episode, "oracle" if competent else "ablated")


@dataclass(frozen=True, slots=True)
class Idle:
    """Says the same nothing for ever."""

    text: str = "..."
    name: str = "idle"

    def act(self, episode: Episode) -> Action:
        return Say(self.text)


@dataclass(frozen=True, slots=True)
class Random:
    """Well-typed calls at random, with strings and numbers that the conversation has shown; sometimes a word."""

    seed: int = 0
    sample: int = 0
    talk: float = 0.1
    """Probability of a message instead of a call."""

    @property
    def name(self) -> str:
        return f"random-{self.seed}"

    def with_sample(self, sample: int) -> Self:
        return replace(self, sample=sample)

    def act(self, episode: Episode) -> Action:
        rng = Generator(f"{self.seed}/{episode.scenario}/{self.sample}/{episode.turns}")
        strings, numbers = _seen(episode.messages)
        if not episode.tools or rng.random() < self.talk:
            return Say(rng.choice(strings))
        function = rng.choice(episode.tools)["function"]
        made = _Draw(rng, strings, numbers, function["parameters"]).value(function["parameters"])
        return Call(function["name"], made if isinstance(made, dict) else {})


def _seen(messages: list[Message]) -> tuple[list[str], list[int]]:
    """The strings and whole numbers in the users' words and the tools' results, in order of appearance."""
    strings: dict[str, None] = {"yes": None}
    for message in messages:
        if message["role"] in ("user", "tool"):
            text = str(message.get("content") or "")
            found = [json.loads(s) for s in re.findall(r'"(?:[^"\\]|\\.)*"', text)] if message["role"] == "tool" else []
            strings.update(dict.fromkeys([*found, *re.findall(r"[\w@#+-]+(?:[.:/][\w@#+-]+)*", text)]))
    return list(strings), [0, 1, 2, *(int(s) for s in strings if s.isascii() and s.isdigit() and len(s) < 10)]


@dataclass(slots=True)
class _Draw:
    """Draws JSON values that fit a schema."""

    rng: Generator
    strings: list[str]
    numbers: list[int]
    root: Mapping[str, Any]
    depth: int = 6

    def value(self, schema: Mapping[str, Any], depth: int = 0) -> object:
        schema = self._resolved(schema)
        if "enum" in schema or "const" in schema:
            return self.rng.choice(schema.get("enum") or [schema["const"]])
        if options := schema.get("anyOf") or schema.get("oneOf"):
            return self.value(self.rng.choice(options), depth + 1)
        kind = schema.get("type", "string")
        match self.rng.choice(kind) if isinstance(kind, list) else kind:
            case "object":
                return self._object(schema, depth)
            case "array":
                count = 0 if depth > self.depth else self.rng.randint(max(1, schema.get("minItems", 1)), 3)
                return [self.value(schema.get("items", {}), depth + 1) for _ in range(count)]
            case "integer":
                return self._number(schema)
            case "number":
                return float(self._number(schema))
            case "boolean":
                return self.rng.random() < 0.5
            case "null":
                return None
            case _:
                return self.rng.choice(self.strings)

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, object]:
        needed = schema.get("required", ())
        return {
            key: self.value(part, depth + 1)
            for key, part in schema.get("properties", {}).items()
            if key in needed or (depth <= self.depth and self.rng.random() < 0.5)
        }

    def _number(self, schema: Mapping[str, Any]) -> int:
        low, high = schema.get("minimum"), schema.get("maximum")
        fit = [n for n in self.numbers if (low is None or n >= low) and (high is None or n <= high)]
        return self.rng.choice(fit or [int(low if low is not None else high or 0)])

    def _resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Follow a ``#/...`` reference into the tool's own schema."""
        while ref := schema.get("$ref"):
            schema = self.root
            for part in ref.removeprefix("#/").split("/"):
                schema = schema[part]
        return schema
