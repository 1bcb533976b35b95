"""The data of a run report. Every part is optional; the parts for stages that did not run are empty."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from trace_gym.evaluation import Evaluation
from trace_gym.llm.ledger import Usage
from trace_gym.route import Routing
from trace_gym.types import Capability, Manifest, Record, Trajectory
from trace_gym.validation.variance import VariancePoint

Metrics = dict[str, float | int | None]
"""Metrics of one training iteration; see `trace_gym.trainers.torch_grpo`."""


class Stage(Record):
    """A stage of a run, and the analyst, author, trainer or model that executed it."""

    name: str
    who: str
    """Name of the analyst, author, trainer or model."""
    kind: Literal["rules", "recorded", "hand", "llm", "model", "code"]
    detail: str = ""


class Spent(Record):
    """Cost of one stage."""

    stage: str
    rollouts: int = 0
    tokens: int = 0
    seconds: float = 0.0


class RunInfo(Record):
    """General information about a run: title, summary, stages and cost."""

    title: str = "A trace_gym run"
    summary: tuple[str, ...] = ()
    """Sentences that summarize the run."""
    model: str = ""
    stages: tuple[Stage, ...] = ()
    budget: tuple[Spent, ...] = ()
    requests: dict[str, Usage] = Field(default_factory=dict)
    """Totals of the agent's requests to an endpoint, by stage, and in all stages (``total``)."""


class Training(Record):
    """Training metrics of one adapter."""

    name: str
    metrics: tuple[Metrics, ...]


class Example(Record):
    """A task with a rollout before and a rollout after training."""

    title: str
    message: str = ""
    """Explanation for the reader."""
    before: Trajectory
    after: Trajectory


class ReportData(Record):
    """All data of a run report."""

    run: RunInfo = RunInfo()
    capabilities: tuple[Capability, ...] = ()
    environments: tuple[Manifest, ...] = ()
    variance: tuple[VariancePoint, ...] = ()
    training: tuple[Training, ...] = ()
    routing: Routing | dict[str, Routing] | None = None
    """Routing accuracy, or a mapping of names such as ``level 0`` to routing accuracies."""
    evaluations: tuple[Evaluation, ...] = ()
    examples: tuple[Example, ...] = ()
