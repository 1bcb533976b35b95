"""The variance and report stages of a run: reward variance curves, and an HTML page about all stages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trace_gym import registry
from trace_gym.diagnosis import Diagnosis
from trace_gym.errors import ReadError
from trace_gym.evaluation import Evaluation
from trace_gym.files import read_text, write
from trace_gym.llm.ledger import LedgerEntry, Usage, read_ledger
from trace_gym.parsing import json_lines, read_model
from trace_gym.pipeline import common
from trace_gym.pipeline.ledger import BOOKKEEPING, VERSION, Run
from trace_gym.records import read_records
from trace_gym.report import (
    Example,
    ReportData,
    RunInfo,
    Spent,
    Stage,
    Training,
    VariancePoint,
    render_page,
    variance_curve,
)
from trace_gym.route import Routing
from trace_gym.settings import RunConfig

EXAMPLES = 3
"""Number of tasks shown with the rollouts of the base model and of the routed agent."""


def variance(run: Run) -> None:
    """Compute the reward variance in each chosen environment for scripted policies of increasing competence."""
    out, names = run.path("variance.jsonl"), list(common.environments(run))

    def work() -> str:
        points = [p for n in names for level in common.levels(run, n) for p in variance_curve(n, level)]
        write(out, "".join(p.model_dump_json() + "\n" for p in points))
        return f"{len(points)} points for {len(names)} environments"

    depends = {"levels": {n: common.levels(run, n) for n in names}, "version": VERSION}
    run.stage("variance", {**depends, **{n: common.environment_key(n) for n in names}}, [out], work)


def report(run: Run) -> None:
    """Write report.html from the available outputs of the run."""
    out = run.path("report.html")

    def work() -> str:
        write(out, render_page(collect(run)))
        return out.name

    inputs = [p for p in sorted(run.folder.glob("*.json*")) if p.name not in BOOKKEEPING]
    more = {"requests": run.requests} if run.requests.exists() else {}
    run.stage(
        "report", {"inputs": inputs, "evaluation": run.path("evaluation"), "version": VERSION, **more}, [out], work
    )


def open_run(folder: Path) -> Run:
    """Return the run in a folder.

    Raises:
        ReadError: The folder does not contain a run.
    """
    path = folder / "config.json"
    if not path.exists():
        make = f"trace-gym run --preset demo --out {folder}"
        raise ReadError(f"{folder} is not a run folder, because {path} does not exist. To start a run, use {make}")
    return Run(read_model(path, RunConfig, "the configuration of a run"), folder)


def collect(run: Run) -> ReportData:
    """Return the data of the HTML report. Sections of stages that have not run are empty."""
    diagnosis, diagnosed = run.path("diagnosis.json"), run.config.diagnoses
    chosen = list(common.environments(run)) if run.path("environments.json").exists() else []
    evaluations = [Evaluation.read(p) for p in sorted(run.path("evaluation").glob("level-*.json"))]
    routing = _json(run.path("routing.json")).get("routing", {})
    return ReportData(
        run=_info(run, evaluations),
        capabilities=read_model(diagnosis, Diagnosis, "a diagnosis").capabilities
        if diagnosed and diagnosis.exists()
        else (),
        environments=tuple(registry.manifest(n) for n in chosen),
        variance=tuple(VariancePoint.model_validate(line) for line in _lines(run.path("variance.jsonl"))),
        training=tuple(_training(run)),
        routing={f"level {level}": Routing.model_validate(r) for level, r in routing.items()} or None,
        evaluations=tuple(evaluations),
        examples=tuple(_examples(run, evaluations)),
    )


def _info(run: Run, evaluations: list[Evaluation]) -> RunInfo:
    c = run.config
    ledger = run.ledger
    who: dict[str, tuple[str, Any]] = {
        "rollouts": (c.source.name if c.source else c.model.served or c.model.name, "model"),
        "diagnose": ("rules over reference and actual writes", "rules"),
        "synthesize": _author(c),
        "validate": (f"properties, profile {c.validation}", "code"),
        "train": (f"{c.train.trainer}, LoRA rank {c.train.lora_rank}, seeds {', '.join(map(str, c.seeds))}", "code"),
        "route": (f"label logits of {c.model.name}", "model"),
    }
    rollouts = {"rollouts": common.lines(run.path("rollouts", "select.jsonl")) * (c.source is None and c.diagnoses)}
    rollouts["skill"] = sum(common.lines(p) for p in run.path("rollouts").glob("skill-*.jsonl"))
    rollouts["train"] = sum(r.get("rollouts", 0) for r in _json(run.path("adapters.json"), []))
    rollouts["evaluate"] = sum(common.lines(p) for p in run.path("rollouts").glob("*/*.jsonl"))
    tokens = sum(int(m.get("tokens") or 0) for t in _training(run) for m in t.metrics)
    return RunInfo(
        title=f"trace_gym run: {run.folder.resolve().name}",
        summary=tuple(f"{n}: {done['message']}" for n, done in ledger.items() if n not in ("report", "variance")),
        model=c.model.name,
        stages=tuple(
            Stage(name=n, who=by, kind=kind, detail=ledger[n]["message"])
            for n, (by, kind) in who.items()
            if n in ledger
        ),
        requests=_requests(run),
        budget=tuple(
            Spent(stage=n, rollouts=rollouts.get(n, 0), tokens=tokens if n == "train" else 0, seconds=done["seconds"])
            for n, done in ledger.items()
        ),
    )  # fmt: skip


def _requests(run: Run) -> dict[str, Usage]:
    """Return the totals of the agent's requests to an endpoint in each stage, and in all stages together."""
    by_stage: dict[str, list[LedgerEntry]] = {}
    for entry in read_ledger(run.requests):
        by_stage.setdefault(entry.purpose.partition(" ")[0], []).append(entry)
    groups = by_stage | ({"total": [e for part in by_stage.values() for e in part]} if len(by_stage) > 1 else {})
    return {stage: Usage.of_entries(entries) for stage, entries in groups.items()}


def _author(config: RunConfig) -> tuple[str, str]:
    """Return a description of the source of a run's environments, and the kind of the source."""
    if not config.diagnoses:
        return "the settings", "hand"
    return ("registered environments", "hand") if config.reuse else (f"author {config.author}", config.author)


def _training(run: Run) -> Iterator[Training]:
    for path in sorted(run.path("adapters").glob("*/metrics.jsonl")):
        if metrics := tuple(_lines(path)):
            yield Training(name=path.parent.name, metrics=metrics)


def _examples(run: Run, evaluations: list[Evaluation]) -> Iterator[Example]:
    """Yield for each adapter the first task that the base model fails and the routed agent solves."""
    if not evaluations or len(evaluations[0].rows) < 2:
        return
    level, seed = evaluations[0].levels[0], run.config.seeds[0]
    chosen = _json(run.path("routing.json")).get("choices", {})
    capability = {registry.load_world(n).capability: n for n in common.environments(run)}
    before = {t.task: t for t in read_records(run.path("rollouts", common.BASE, f"test-{level}.jsonl"))}
    shown: set[str] = set()
    for task, was in before.items():
        option = chosen.get(task, "none")
        records = run.path("rollouts", f"{capability.get(option)}-s{seed}", f"test-{level}.jsonl")
        if was.success or option in shown or not records.exists():
            continue
        now = next((t for t in read_records(records) if t.task == task), None)
        if now is not None and now.success:
            shown.add(option)
            yield Example(title=task, message=f"routed to the adapter for {option}", before=was, after=now)
        if len(shown) == EXAMPLES:
            return


def _json(path: Path, missing: Any = None) -> Any:
    return common.read_stage_output(path) if path.exists() else ({} if missing is None else missing)


def _lines(path: Path) -> list[Any]:
    """Return the values of the complete lines of a JSONL file. A running trainer may still be writing the last line."""
    whole = read_text(path).rpartition("\n")[0] if path.exists() else ""
    return [value for _, value in json_lines(whole, str(path), common.REDO)]
