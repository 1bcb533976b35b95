"""Types for episodes: the interface that an agent sees, the agent's actions, and the score.

`Call`, `Say`, `Event` and `Check` are plain dataclasses because episodes create millions of them. The other types are
written to disk and are pydantic models.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from trace_gym.errors import ScenarioError
from trace_gym.types.base import Record

Message = dict[str, Any]
"""A chat message in OpenAI format with `role`, `content`, and optionally `tool_calls`."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of the agent."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Say:
    """A message of the agent to the user."""

    text: str


@dataclass(frozen=True, slots=True)
class Event:
    """A tool call or message of the agent, with the answer to it."""

    step: Call | Say
    answer: str
    """The user's answer or the result of the tool call; empty if the user ended the conversation."""
    refused: bool = False
    """Whether the tool refused the call."""


@dataclass(frozen=True, slots=True)
class Check:
    """One requirement of a verifier, and whether it is satisfied.

    A *goal* is a part of the task. A *guard* must stay true during the episode. *Conduct* is a rule about how the
    agent reaches the outcome, such as consent before a change; it affects the reward but not the success.
    """

    kind: Literal["goal", "guard", "conduct"]
    description: str
    passed: bool

    @classmethod
    def goal(cls, description: str, passed: bool) -> Self:
        """Return a goal check."""
        return cls("goal", description, bool(passed))

    @classmethod
    def guard(cls, description: str, passed: bool) -> Self:
        """Return a guard check."""
        return cls("guard", description, bool(passed))

    @classmethod
    def conduct(cls, description: str, passed: bool) -> Self:
        """Return a conduct check."""
        return cls("conduct", description, bool(passed))


class Interface(Record):
    """The parts of a target that an agent sees: policy, tools, and conventions of the conversation."""

    name: str
    policy: str
    """Policy text for the agent. It paraphrases the benchmark's text, unless it was imported from an installed copy."""
    tools: tuple[dict[str, Any], ...]
    """OpenAI function tools with their JSON Schemas, in the order of the target."""
    kinds: dict[str, Literal["read", "write", "generic"]]
    """Kind of each tool: ``read`` if it reads the state, ``write`` if it changes the state, ``generic`` otherwise."""
    conventions: str = ""
    """One or two sentences about the format of a turn."""
    calls_per_turn: int = 1
    """Maximum number of tool calls in a turn."""
    text_with_call: bool = False
    """Whether a turn may contain both a message to the user and a tool call."""

    @property
    def system_prompt(self) -> str:
        """The system message: the conventions followed by the policy."""
        return f"{self.conventions}\n\n{self.policy}".strip()


class Scenario(Record):
    """The id of one seeded instance of an environment, written ``env/level/seed``.

    A dataset stores only scenario ids. A GRPO group is one scenario repeated K times.
    """

    env: str
    level: int = Field(ge=0)
    seed: int = Field(ge=0)

    def __str__(self) -> str:
        return f"{self.env}/{self.level}/{self.seed}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the scenario with the id `text`.

        Raises:
            ScenarioError: The text is not a valid scenario id.
        """
        if not (m := re.fullmatch(r"([a-z][a-z0-9_]*)/(\d+)/(\d+)", text)):
            raise ScenarioError(
                f"{text!r} is not a valid scenario id; expected env/level/seed, such as tau2_precondition/0/7"
            )
        return cls(env=m[1], level=int(m[2]), seed=int(m[3]))


class NamedCheck(Record):
    """A `Check` as it is stored with a finished episode."""

    renamed_fields: ClassVar[Mapping[str, str]] = {"says": "description", "holds": "passed"}

    kind: Literal["goal", "guard", "conduct"]
    description: str
    passed: bool
    at_start: bool
    """Whether the check already passed before the first action. A goal that already passed gives no reward."""


class Score(Record):
    """Result of a finished episode."""

    wellformed: float = Field(ge=0, le=1)
    """Fraction of assistant turns that followed the protocol; 0 if there were no turns."""
    progress: float = Field(ge=0, le=1)
    """Fraction of the goals that failed at the start and pass at the end."""
    success: bool
    """Whether all goals pass and no guard is broken."""
    broken: tuple[str, ...] = ()
    """Guards that fail at the end, and goals that passed at the start and fail at the end."""
    conduct: float = Field(1.0, ge=0, le=1)
    """Fraction of the conduct checks that pass; 1 if there are none."""
    checks: tuple[NamedCheck, ...] = ()
