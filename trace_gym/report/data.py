"""What a report shows, and where a run folder keeps it. Every part is optional; a stage that did not run has none.

run.json                       `RunInfo`: title, summary, model, who did what, what it cost
capabilities.jsonl             a `Capability` a line
environments.jsonl             a `Manifest` a line
variance.jsonl                 a `VariancePoint` a line
adapters/<name>/metrics.jsonl  what the trainer writes, a line an iteration
routing.json                   `Routing`
evaluation*.json               an `Evaluation` each
examples.jsonl                 an `Example` a line
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import TypeAdapter, ValidationError

from trace_gym.errors import ReadError
from trace_gym.evaluate import Evaluation
from trace_gym.report.variance import VariancePoint
from trace_gym.route import Routing
from trace_gym.types import Capability, Manifest, Record, Trajectory

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
    routing: Routing | None = None
    evaluations: tuple[Evaluation, ...] = ()
    examples: tuple[Example, ...] = ()


_R = TypeVar("_R", bound=Record)
_METRICS = TypeAdapter(Metrics)


def read_run(folder: Path) -> ReportData:
    """Everything that a run folder holds for a report.

    Raises:
        ReadError: The folder does not exist, holds none of the files, or one of them cannot be read.
    """
    data = ReportData(
        run=_one(folder / "run.json", RunInfo) or RunInfo(title=folder.resolve().name),
        capabilities=tuple(_lines(folder / "capabilities.jsonl", Capability)),
        environments=tuple(_lines(folder / "environments.jsonl", Manifest)),
        variance=tuple(_lines(folder / "variance.jsonl", VariancePoint)),
        training=tuple(_training(folder / "adapters")),
        routing=_one(folder / "routing.json", Routing),
        evaluations=tuple(Evaluation.read(path) for path in sorted(folder.glob("evaluation*.json"))),
        examples=tuple(_lines(folder / "examples.jsonl", Example)),
    )
    if data == ReportData(run=data.run) and not (folder / "run.json").exists():
        raise ReadError(f"{folder} holds no results of a run; make some with trace-gym run --out {folder}")
    return data


def _one(path: Path, kind: type[_R]) -> _R | None:
    try:
        return kind.model_validate_json(path.read_bytes()) if path.exists() else None
    except (OSError, ValidationError) as error:
        raise ReadError(f"{path} is no {kind.__name__}: {error}") from None


def _lines(path: Path, kind: type[_R]) -> Iterator[_R]:
    for number, line in enumerate(path.read_bytes().splitlines() if path.exists() else (), 1):
        try:
            yield kind.model_validate_json(line)
        except ValidationError as error:
            raise ReadError(f"{path}:{number} is no {kind.__name__}: {error}") from None


def _training(folder: Path) -> Iterator[Training]:
    for path in sorted(folder.glob("*/metrics.jsonl")):
        *lines, _torn = path.read_bytes().split(b"\n")  # a trainer at work may be writing the last line
        try:
            metrics = tuple(_METRICS.validate_json(line) for line in lines if line)
        except ValidationError as error:
            raise ReadError(f"{path} holds something other than training metrics: {error}") from None
        if metrics:
            yield Training(name=path.parent.name, metrics=metrics)
