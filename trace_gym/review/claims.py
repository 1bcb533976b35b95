"""Structured answers of language models: claims of the reviewer, and verdicts of a second model, the reader."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from trace_gym.types import Record

MAX_CLAIMS = 5
"""Maximum number of claims of each kind."""


class EpisodeClaim(Record):
    """Claim that the reward of one episode is wrong."""

    scenario: str
    """Scenario, such as ``tau2_precondition/0/1``."""
    lookups: tuple[dict[str, Any], ...] = ()
    """Tool calls that show the records that are needed to judge the episode."""
    steps: tuple[dict[str, Any], ...] | None = None
    """Actions of the agent, each ``{"tool": NAME, "arguments": {...}}`` or ``{"say": TEXT}``. None means the oracle."""
    should_succeed: bool
    """Whether this behavior deserves the reward. The claim is supported if the environment decides otherwise."""
    reason: str
    """Reason, with the words of the policy, the request or the description that decide it."""


class MeasurementClaim(Record):
    """Claim about many scenarios, with a function that measures it."""

    code: str
    """Python code with a function ``measure(world, opening, plan)`` that returns a short value for one scenario."""
    reason: str
    """Meaning of the values, and why it spoils the environment."""


class Review(Record):
    """Answer of the reviewer. A correct environment has no claims."""

    episodes: tuple[EpisodeClaim, ...] = Field((), max_length=MAX_CLAIMS)
    measurements: tuple[MeasurementClaim, ...] = Field((), max_length=MAX_CLAIMS)


class EpisodeVerdict(Record):
    """Verdict of the reader on one episode. The reader does not know its reward."""

    item: str
    success: Literal["yes", "no", "unclear"]
    reason: str


class MeasurementVerdict(Record):
    """Verdict of the reader on one measurement."""

    item: str
    severity: Literal["ruins", "weakens", "harmless"]
    reason: str


class Verdicts(Record):
    """Answer of the reader."""

    episodes: tuple[EpisodeVerdict, ...] = ()
    measurements: tuple[MeasurementVerdict, ...] = ()
