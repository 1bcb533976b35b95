"""What a report shows. Every part is optional; a stage that did not run has none."""

from __future__ import annotations

from typing import Literal

from trace_gym.evaluate import Evaluation
from trace_gym.route import Routing
from trace_gym.types import Capability, Manifest, Record, Trajectory
from trace_gym.validate.variance import VariancePoint

Metrics = dict[str, float | int | None]
"""One iteration of training; see `trace_gym.trainers.torch_grpo`."""


class Stage(Record):
    """One stage of a run, and what did it."""

    name: str
    who: str
    """The analyst, author, trainer or model by name."""
    kind: Literal["rules", "template", "hand", "llm", "model", "code"]
    detail: str = ""


class Spent(Record):
    """What one stage cost."""

    stage: str
    rollouts: int = 0
    tokens: int = 0
    seconds: float = 0.0


class RunInfo(Record):
    """The head of a report."""

    title: str = "A trace_gym run"
    summary: tuple[str, ...] = ()
    """Sentences for someone who reads nothing else."""
    model: str = ""
    stages: tuple[Stage, ...] = ()
    budget: tuple[Spent, ...] = ()


class Training(Record):
    """The metrics of one adapter."""

    name: str
    metrics: tuple[Metrics, ...]


class Example(Record):
    """One task before and after training."""

    title: str
    says: str = ""
    """What to look for."""
    before: Trajectory
    after: Trajectory


class ReportData(Record):
    """Everything a report can show."""

    run: RunInfo = RunInfo()
    capabilities: tuple[Capability, ...] = ()
    environments: tuple[Manifest, ...] = ()
    variance: tuple[VariancePoint, ...] = ()
    training: tuple[Training, ...] = ()
    routing: Routing | dict[str, Routing] | None = None
    """Several are told apart by their names, such as ``level 0``."""
    evaluations: tuple[Evaluation, ...] = ()
    examples: tuple[Example, ...] = ()
