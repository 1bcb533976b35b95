"""Recorded episodes, and the capabilities that diagnosis finds in them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from trace_gym.types.base import Record
from trace_gym.types.episode import Call, Message, Score

Label = Literal["NA", "PRESENT", "LACKING"]
"""Label of a capability on one trajectory: not needed, needed and present, or needed and lacking.

The labels are those of the TRACE paper (arXiv 2604.05336, section 3.3).
"""


class UserWords(Record):
    """The language model that reworded the messages of an episode's scripted user."""

    model: str
    """Model URI, such as ``openai:gpt-x``."""
    script: tuple[str, ...] = ()
    """Original messages of the scripted user, starting with the first. The trajectory contains the reworded ones."""
    fallbacks: int = 0
    """Number of messages that keep the original wording because the reworded text did not pass the check."""


class Trajectory(Record):
    """The record of one agent's episode on one task, read from a log or produced by a rollout."""

    id: str
    task: str
    """A scenario id, or the task id of another benchmark."""
    messages: tuple[Message, ...]
    success: bool | None = None
    """Whether the episode succeeded; None if it was not scored, such as after an infrastructure failure."""
    reward: float | None = Field(None, allow_inf_nan=False)
    score: Score | None = None
    temperature: float | None = Field(None, ge=0, allow_inf_nan=False)
    """Sampling temperature of the policy; None if it is unknown or the policy does not sample tokens."""
    gold: tuple[Call, ...] | None = None
    """Reference actions of the task; None if they are unknown."""
    outputs: tuple[str, ...] = ()
    """Facts that the reference solution states to the user."""
    ended: Literal["user", "transfer", "turn_limit", "error", "unknown"] = "unknown"
    note: str = ""
    """Reason why the episode ended before the agent finished, such as a full context or a truncated turn."""
    source: str = ""
    model: str = ""
    user: UserWords | None = None
    """Model that reworded the scripted user; None if the user's messages have their original wording."""
    tools: dict[str, Literal["read", "write", "generic"]] = Field(default_factory=dict)
    """Kind of each tool of the interface."""

    @property
    def calls(self) -> list[tuple[Call, bool]]:
        """All tool calls in order, each with a flag that is True if the tool refused the call."""
        made: list[tuple[Call, bool]] = []
        waiting: dict[Any, int] = {}  # some logs repeat ids, so a result belongs to the latest call with its id
        for message in self.messages:
            for call in message.get("tool_calls") or ():
                name, arguments = call["function"]["name"], call["function"]["arguments"]
                waiting[call.get("id")] = len(made)
                try:
                    made.append((Call(name, json.loads(arguments) if isinstance(arguments, str) else arguments), False))
                except (ValueError, RecursionError):  # a number with thousands of digits also raises ValueError
                    made.append((Call(name), True))
            if message.get("role") == "tool" and (at := waiting.pop(message.get("tool_call_id"), None)) is not None:
                answered, unreadable = made[at]
                made[at] = (answered, unreadable or str(message.get("content") or "").lower().startswith("error"))
        return made


class Capability(Record):
    """A capability with statistics that show whether agents lack it, as in definition 1 of the TRACE paper."""

    renamed_fields: ClassVar[Mapping[str, str]] = {"retained": "selected"}

    name: str
    description: str
    coverage: float
    """Fraction of failed trajectories that are labeled LACKING."""
    er_failed: float | None
    """Error rate of failed trajectories: the fraction labeled LACKING among those that need the capability.

    None if no failed trajectory needs the capability.
    """
    er_passed: float | None
    """Error rate of successful trajectories, defined in the same way."""
    gap: float | None
    """``er_failed - er_passed``; None if either is None."""
    gap_interval: tuple[float, float] | None = None
    """Confidence interval of the gap."""
    coverage_interval: tuple[float, float] | None = None
    """Confidence interval of the coverage."""
    er_failed_interval: tuple[float, float] | None = None
    """Confidence interval of `er_failed`."""
    er_passed_interval: tuple[float, float] | None = None
    """Confidence interval of `er_passed`."""
    labels: dict[str, int] = Field(default_factory=dict)
    """Number of trajectories per label and outcome.

    The keys are lacking_failed, present_failed, na_failed, lacking_passed, present_passed and na_passed.
    """
    selected: bool = False
    """Whether the capability meets all criteria of `trace_gym.diagnosis.selection`."""
    frequency: float = 1.0
    """Share of the label runs in which the gap and the coverage reach their thresholds."""
    run_coverages: tuple[float, ...] = ()
    """Coverage in each label run."""
    evidence: tuple[str, ...] = ()
    """Ids of failed trajectories labeled LACKING, clearest first."""
    contrast: tuple[str, ...] = ()
    """Ids of successful trajectories labeled PRESENT."""
    analyst: str = "rules"
