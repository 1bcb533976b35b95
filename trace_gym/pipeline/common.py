"""Helpers shared by the stages of a run: names, cache keys, rollout jobs, progress bars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from trace_gym import registry
from trace_gym.errors import EnvNotFound
from trace_gym.parsing import read_json
from trace_gym.pipeline.jobs import Job, RolloutJob, run_jobs
from trace_gym.pipeline.ledger import VERSION, Run
from trace_gym.targets import DEFAULT_TARGET
from trace_gym.terminal import progress_bar
from trace_gym.types import Scenario
from trace_gym.user_model import LanguageUser

BASE = "base"
MIXTURE = "mixture"
GRPO_TARGET = "grpo_target"
REDO = "Delete it to run the stage that writes it again"


def model_key(run: Run) -> dict[str, Any]:
    """Return the part of a stage's cache key that identifies the model.

    It consists of the model files, or the hub name, and of the settings that affect the rollouts.
    """
    model = run.config.model
    folder = Path(model.folder)
    files = sorted(folder.glob("*.safetensors")) + sorted(folder.glob("*.jinja")) + sorted(folder.glob("tokenizer*"))
    more: dict[str, Any] = {"endpoint": model.endpoint} if model.endpoint else {}
    more |= {"engine": model.engine} if model.engine != "process" else {}
    more |= {"dtype": model.dtype} if model.dtype != "auto" else {}
    more |= {"template": model.template} if model.template else {}
    more |= {"tool_calls": model.tool_calls} if model.tool_calls != "auto" else {}
    more |= {"truncation": str(model.truncation)} if model.truncation else {}
    more |= {"user": run.config.user} if run.config.user else {}
    return {"model": files or model.folder, "tokens": model.limits, "version": VERSION, **more}


def user(run: Run) -> tuple[str, Path] | None:
    """Return the URI of the model that rewords the user and the folder of its answers, or None if not configured."""
    return (run.config.user, run.path("user")) if run.config.user else None


def user_model(run: Run) -> LanguageUser | None:
    """Return the model that rewords the user, or None if not configured."""
    if (found := user(run)) is None:
        return None
    uri, folder = found
    return LanguageUser(uri, folder=folder)


def environment_key(name: str) -> dict[str, str]:
    """Return the part of a stage's cache key that identifies an environment: the hash of its module."""
    return {f"module {name}": registry.manifest(name).module_sha256}


def target_of(env: str) -> str:
    """Return the target that an environment simulates; the default target if the manifest contains none."""
    try:
        return registry.manifest(env).target or DEFAULT_TARGET
    except EnvNotFound:
        return DEFAULT_TARGET


def environments(run: Run) -> dict[str, dict[str, str]]:
    """Return capability, author and module hash of each environment that the synthesize stage chose."""
    found: dict[str, dict[str, str]] = read_stage_output(run.path("environments.json"))["environments"]
    for folder in (*run.config.folders, run.path("envs"), authored_folder(run)):
        if folder.is_dir():
            registry.add_folder(folder)
    return found


def authored_folder(run: Run) -> Path:
    """Return the folder for environments that a language model writes."""
    return (run.config.llm.folder or run.path("envs")).expanduser().resolve()


def levels(run: Run, name: str) -> list[int]:
    """Return the levels of an environment that the run trains on."""
    return [level for level, weight in _calibrated(run, name).items() if weight]


def weights(run: Run, name: str, levels: Sequence[int]) -> dict[int, float]:
    """Return the sampling weight of each level. The weights of the manifest apply unless the settings list levels."""
    known = _calibrated(run, name)
    return {level: known.get(level, 1.0) for level in levels}


def _calibrated(run: Run, name: str) -> dict[int, float]:
    every = range(registry.level_count(name))
    if name in run.config.levels or name not in registry.list_environments():
        return dict.fromkeys(run.config.levels.get(name, every), 1.0)
    return dict(enumerate(registry.manifest(name).level_weights or [1.0] * len(every)))


def sampling_job(
    run: Run, stage: str, scenarios: Sequence[Scenario], path: Path, temperature: float, samples: int
) -> RolloutJob:
    """Return a job that collects several rollouts of the base model per scenario."""
    scenario_sets = ((tuple(map(str, scenarios)), path),)
    return rollout_job(run, stage, BASE, None, scenario_sets, temperature, samples)


def rollout_job(
    run: Run,
    stage: str,
    name: str,
    adapter: Path | None,
    scenario_sets: tuple[tuple[tuple[str, ...], Path], ...],
    temperature: float,
    samples: int = 1,
) -> RolloutJob:
    """Return a job that collects rollouts of the model."""
    model, speaker = run.config.model, user(run)
    return RolloutJob(name, model, adapter, scenario_sets, temperature, samples, speaker, run.requests, stage)


def read_stage_output(path: Path) -> Any:
    """Return the content of a JSON file that an earlier stage wrote.

    Raises:
        ReadError: The file is missing or damaged.
    """
    return read_json(path, REDO)


def lines(path: Path) -> int:
    """Return the number of lines of a file, or 0 if the file does not exist."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


def run_with_progress(
    run: Run, jobs: Sequence[Job], count: Callable[[], int], total: int, unit: str
) -> list[dict[str, Any]]:
    """Run jobs in worker processes with a progress bar; `count` returns the number of finished units."""
    jobs, workers = divide_concurrency(_with_server(run, jobs), run.config.workers)
    with progress_bar(f"  {unit}", total, on=run.console) as update:
        return run_jobs(jobs, workers, lambda: update(completed=count()))


def divide_concurrency(jobs: Sequence[Job], workers: int) -> tuple[list[Job], int]:
    """Divide the conversations that may run at the same time among the worker processes.

    Args:
        jobs: Jobs with the same settings of the model.
        workers: Maximum number of worker processes.

    Returns:
        The jobs with their share of the setting `concurrency`, and the number of worker processes. Jobs that use no
        endpoint are not changed.
    """
    if not jobs or not all(job.uses_endpoint for job in jobs):
        return list(jobs), workers
    concurrency = jobs[0].model.used_concurrency
    workers = min(workers, len(jobs), concurrency)
    share = {"concurrency": concurrency // workers}
    return [replace(job, model=job.model.model_copy(update=share)) for job in jobs], workers


def _with_server(run: Run, jobs: Sequence[Job]) -> list[Job]:
    """Return the jobs with the endpoint of the run's server, which is started if a job requires it."""
    if run.server is None or not any(job.uses_engine for job in jobs):
        return list(jobs)
    return [replace(job, model=run.server.start()) if job.uses_engine else job for job in jobs]
