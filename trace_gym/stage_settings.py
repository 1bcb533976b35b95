"""Settings of the stages of a run: the sections of the configuration file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from trace_gym.targets.catalogue import default_target
from trace_gym.types import Record


def _distinct(values: tuple[int, ...]) -> tuple[int, ...]:
    if duplicates := [value for value in values if values.count(value) > 1]:
        raise ValueError(
            f"the number {duplicates[0]} occurs more than once, expected distinct numbers. Remove the duplicate"
        )
    return values


Levels = Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1), AfterValidator(_distinct)]
"""Type of a nonempty tuple of distinct levels or seeds."""


class RunTarget(Record):
    """The environment that the agent is trained for, and evaluated on."""

    env: str = Field(default_factory=lambda: default_target().tasks)
    levels: Levels = (0,)
    """Levels of the target. They are diagnosed together and evaluated separately."""


class Rollouts(Record):
    """Settings of the rollouts that are diagnosed."""

    tasks: int = Field(200, ge=1)
    samples: int = Field(1, ge=1)
    temperature: float = Field(1.0, ge=0)


class Diagnose(Record):
    """Thresholds of the diagnosis; see docs/guides/diagnose.md."""

    delta: float = Field(0.20, ge=0, le=1)
    rho: float = Field(0.10, ge=0, le=1)
    alpha: float = Field(0.05, gt=0, le=1)
    confidence: float = Field(0.95, gt=0, lt=1)
    analyst: str = "rules"
    """``rules``, or the URI of a language model that discovers and labels capabilities."""
    runs: int = Field(10, ge=1)
    """Number of label runs of a language model."""
    keep: int = Field(8, ge=0)
    """Minimum number of label runs in which a selected capability reaches `delta` and `rho`."""
    outcome_aware: bool = False
    """Whether the language model sees the outcomes while it labels."""
    tokens: int | None = Field(None, ge=1)
    """Budget in tokens for the language model."""
    dollars: float | None = Field(None, ge=0)
    """Budget in US dollars; requires `price`."""
    price: str = ""
    """US dollars per million tokens as ``prompt/completion``."""


class Llm(Record):
    """The language model that generates environments if `author` is ``llm``, and its limits."""

    model: str = ""
    """``openai:MODEL``, ``openai:MODEL@URL``, ``replay:DIR`` or ``files:DIR``. The API key is read from
    an environment variable."""
    folder: Path | None = None
    """Folder for generated environments, answers and the ledger; ``envs`` in the run folder by default."""
    repairs: int = Field(3, ge=0)
    """Maximum number of repair attempts per module."""
    seconds: float = Field(300.0, gt=0)
    """Time limit in seconds for the validation of one version of a module."""
    workers: int = Field(2, ge=1)
    """Number of environments that are generated in parallel."""
    policy: str = ""
    """Policy whose rewards must vary within groups: ``openai:MODEL``, ``hf:MODEL`` or ``mixture:P``."""
    tokens: int | None = Field(None, ge=1)
    """Budget in tokens for all runs that use `folder`."""
    dollars: float | None = Field(None, ge=0)
    """Budget in US dollars; requires `price`."""
    price: str = ""
    """US dollars per million tokens as prompt/completion, such as ``0.5/1.5``."""
    by: str = ""
    """Name of the person or program that answers ``files:DIR``; recorded in the manifests."""
    reviewer: str = ""
    """Model that reviews each version that passed the other checks, in the same format as `model`. Empty for no
    review."""
    solver: str = ""
    """Model that solves scenarios of each version that passed the other checks, in the same format as `model`. If
    empty, `model` solves them in separate conversations, unless it is replayed. ``none`` if no model solves them."""
    reader: str = ""
    """Model that judges the evidence of `reviewer` and `solver`. If empty, they judge it themselves, in a new
    conversation."""


class Skill(Record):
    """Settings of the skill stage, which excludes environments with too few groups of varying rewards."""

    groups: int = Field(24, ge=1)
    informative: float = Field(0.2, ge=0, le=1)
    """Minimum share of groups with varying rewards. Environments below this share are not used for training."""


class Route(Record):
    """Settings of the router."""

    permutations: int | None = Field(None, ge=1)
    """Number of orders of the options (the adapters and the base model) over which the probabilities are averaged. By
    default the number of options, so that each option is at each position once."""
    threshold: float = Field(0.0, ge=0, le=1)


class Evaluate(Record):
    """Settings of the evaluation."""

    tasks: int = Field(300, ge=1)
    validation_tasks: int = Field(150, ge=1)
    """Number of tasks of the validate split that oracle routing uses to choose among several needed adapters."""
    own_tasks: int = Field(100, ge=1)
    """Number of held-out scenarios per training environment for comparing its adapter to the base model."""
    temperature: float = Field(0.0, ge=0)
    mixture: bool = False
    """Also train one LoRA adapter on a mixture of all environments, with the same total number of rollouts."""
    grpo_target: bool = False
    """Also train one LoRA adapter on the target, with the same total number of rollouts."""
