"""Specification of an environment, written before its code."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from trace_gym.types.base import Record, sha256


class Family(Record):
    """A kind of scenario within an environment."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    says: str
    """One sentence with the user's request and the facts on which the correct action depends."""
    weight: int = Field(ge=1, le=100)


class Plan(Record):
    """The plan of an environment in words, which a language model writes before the code."""

    entities: tuple[str, ...]
    """The record types of a scenario with their fields, one sentence each."""
    varies: tuple[str, ...]
    """Properties of a scenario that vary with the seed."""
    families: tuple[Family, ...]
    near_misses: tuple[str, ...]
    """Pairs of similar scenarios that differ in one decisive fact."""
    user: str
    """The scripted user's request, answers and constraints, and when the user ends the conversation."""
    oracle: str
    """The read calls, decisions, write calls and messages of the expert."""
    ablated: str
    """The behavior of the same expert without the capability: the shortcut that failing agents take."""
    hint: str = ""
    """Guidance for the prompt of some rollouts. It is the same for every scenario and never contains an answer."""


class Spec(Record):
    """The specification of one environment, complete enough to write its code."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    capability: str
    target: str
    title: str
    rationale: str
    """Three to five sentences that explain why a skill learned in the environment transfers to the target."""
    tools: tuple[str, ...]
    rules: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    guards: tuple[str, ...] = ()
    levels: tuple[str, ...]
    """One sentence per level, easiest level first."""
    blueprint: str = ""
    """Name of the template in ``templates/env/`` that contains the skeleton of the module; empty for a hand-written
    module."""
    slots: dict[str, Any] = Field(default_factory=dict)
    """Hashes of the files that a base world was generated from; empty for an environment."""
    plan: Plan | None = None
    """Plan of a language model; None for a hand-written module."""

    @property
    def sha256(self) -> str:
        """SHA-256 digest of the specification as JSON."""
        return sha256(self.model_dump_json(exclude_none=True))
