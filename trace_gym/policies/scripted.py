"""Policies without a language model: the experts of a world, a mixture of them, a no-op policy and a random policy.

The actions of all policies depend only on the episode (scenario, turn and messages) and a sample number. Therefore one
instance can be used for any number of episodes in any order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random as Generator
from typing import Any, Literal, Self

from trace_gym.episode import Action, Episode, plan
from trace_gym.schemas import resolved
from trace_gym.types import Call, Message, Say

DONE = Say("Done.")
"""Message of an expert after the last step of its plan."""


def _follow(episode: Episode, expert: Literal["oracle", "ablated"]) -> Action:
    steps = plan(episode, expert)
    return steps[episode.turns] if episode.turns < len(steps) else DONE


@dataclass(frozen=True, slots=True)
class Oracle:
    """Policy that follows the world's expert with the capability, which solves the scenario."""

    name: str = "oracle"

    def act(self, episode: Episode) -> Action:
        return _follow(episode, "oracle")


@dataclass(frozen=True, slots=True)
class Ablated:
    """Policy that follows the world's ablated expert, which lacks the capability."""

    name: str = "ablated"

    def act(self, episode: Episode) -> Action:
        return _follow(episode, "ablated")


@dataclass(frozen=True, slots=True)
class ExpertMixture:
    """Policy that follows the oracle with probability `p`, and otherwise the ablated expert.

    The expert is selected once per episode, from `seed`, the scenario and the sample number.
    """

    p: float
    seed: int = 0
    sample: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.p <= 1:
            raise ValueError(f"invalid probability p: found {self.p}, expected a number from 0 to 1")

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
    """No-op policy, which always sends the same message and calls no tools."""

    text: str = "..."
    name: str = "idle"

    def act(self, episode: Episode) -> Action:
        return Say(self.text)


@dataclass(frozen=True, slots=True)
class Random:
    """Policy that makes random well-typed calls with strings and numbers from the conversation.

    With probability `talk`, the policy sends a random string to the user instead.
    """

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
    """Return the strings and integers in the user messages and the tool results, in order of appearance."""
    strings: dict[str, None] = {"yes": None}
    for message in messages:
        if message["role"] in ("user", "tool"):
            text = str(message.get("content") or "")
            found = [json.loads(s) for s in re.findall(r'"(?:[^"\\]|\\.)*"', text)] if message["role"] == "tool" else []
            strings.update(dict.fromkeys([*found, *re.findall(r"[\w@#+-]+(?:[.:/][\w@#+-]+)*", text)]))
    return list(strings), [0, 1, 2, *(int(s) for s in strings if s.isascii() and s.isdigit() and len(s) < 10)]


@dataclass(slots=True)
class _Draw:
    """Generator of random JSON values that match a schema."""

    rng: Generator
    strings: list[str]
    numbers: list[int]
    root: Mapping[str, Any]
    depth: int = 6

    def value(self, schema: Mapping[str, Any], depth: int = 0) -> object:
        schema = resolved(schema, self.root)
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
