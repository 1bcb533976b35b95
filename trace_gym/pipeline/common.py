"""What the stages of a run share: names, hashes of what they depend on, progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from trace_gym import registry
from trace_gym.lab import model_folder
from trace_gym.parsing import read_json
from trace_gym.pipeline.jobs import Job, PlayJob, run_all
from trace_gym.pipeline.ledger import VERSION, Run
from trace_gym.records import read_records
from trace_gym.types import Scenario, Trajectory
from trace_gym.user_model import LanguageUser

BASE = "base"
MIXTURE = "mixture"
GRPO_TARGET = "grpo_target"
REDO = "Delete it, and the stage that writes it runs again"


def model(run: Run) -> str:
    """The folder or hub name of the base model."""
    return model_folder(run.config.model)


def base(run: Run) -> dict[str, Any]:
    """What identifies the base model in a key: the weights of a folder, else its name."""
    folder = Path(model(run))
    files = sorted(folder.glob("*.safetensors")) + sorted(folder.glob("*.jinja")) + sorted(folder.glob("tokenizer*"))
    more: dict[str, Any] = {"tokens": budget(run)} if budget(run) != PlayJob.budget else {}
    more |= {"dtype": run.config.train.dtype} if run.config.train.dtype != PlayJob.dtype else {}
    more |= {"user": run.config.user} if run.config.user else {}
    return {"model": files or model(run), "version": VERSION, **more}


def budget(run: Run) -> tuple[int, int]:
    """Return the tokens of a conversation and of a turn where nothing is trained: at least as many as in training."""
    tokens, turn = PlayJob.budget
    return max(tokens, run.config.train.max_tokens), max(turn, run.config.train.max_turn_tokens)


def user(run: Run) -> tuple[str, Path] | None:
    """Return the model that rewords the scripted user, with the folder of its answers; None without one."""
    return (run.config.user, run.path("user")) if run.config.user else None


def speaker(run: Run) -> LanguageUser | None:
    """Return the opened model of `user`; None without one."""
    if (found := user(run)) is None:
        return None
    address, folder = found
    return LanguageUser(address, folder=folder)


def env(name: str) -> dict[str, str]:
    """What identifies an environment in a key: the content of its module."""
    return {f"module {name}": registry.manifest(name).module_sha256}


def environments(run: Run) -> dict[str, dict[str, str]]:
    """Name -> capability, author and module hash of the environments that the synthesize stage chose."""
    found: dict[str, dict[str, str]] = stored(run.path("environments.json"))["environments"]
    for folder in (*run.config.folders, run.path("envs"), written_to(run)):
        if folder.is_dir():
            registry.add_folder(folder)
    return found


def written_to(run: Run) -> Path:
    """The folder of what a language model writes."""
    return (run.config.llm.folder or run.path("envs")).expanduser().resolve()


def levels(run: Run, name: str) -> list[int]:
    """The levels of an environment that the run trains on."""
    return [level for level, weight in _calibrated(run, name).items() if weight]


def weights(run: Run, name: str, levels: Sequence[int]) -> dict[int, float]:
    """How often each of these levels is drawn: as the manifest says, where the run does not name the levels."""
    known = _calibrated(run, name)
    return {level: known.get(level, 1.0) for level in levels}


def _calibrated(run: Run, name: str) -> dict[int, float]:
    every = range(registry.level_count(name))
    if name in run.config.levels or name not in registry.names():
        return dict.fromkeys(run.config.levels.get(name, every), 1.0)
    return dict(enumerate(registry.manifest(name).mix or [1.0] * len(every)))


def sampled(run: Run, scenarios: Sequence[Scenario], path: Path, temperature: float, samples: int) -> PlayJob:
    """A job that lets the base model attempt scenarios several times."""
    plays = ((tuple(map(str, scenarios)), path),)
    return play(run, BASE, None, plays, temperature, samples)


def play(
    run: Run,
    name: str,
    adapter: Path | None,
    plays: tuple[tuple[tuple[str, ...], Path], ...],
    temperature: float,
    samples: int = 1,
) -> PlayJob:
    """Return a job that lets the model of the run attempt scenarios, on the device and in the data type of training."""
    train = run.config.train
    return PlayJob(
        name, model(run), adapter, plays, temperature, samples, budget(run), train.device, train.dtype, user(run)
    )


def trajectories(path: Path) -> list[Trajectory]:
    """The records of a JSONL file.

    Raises:
        ReadError: A line is no trajectory.
    """
    return read_records(path)


def stored(path: Path) -> Any:
    """The JSON that an earlier stage wrote.

    Raises:
        ReadError: It is missing or damaged.
    """
    return read_json(path, REDO)


def lines(path: Path) -> int:
    """Lines of a file that may not exist yet."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


def watch(run: Run, jobs: Sequence[Job], count: Callable[[], int], total: int, unit: str) -> list[dict[str, Any]]:
    """Run jobs in worker processes with a progress bar over what they have written so far."""
    columns = (TextColumn("  {task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=run.console, transient=True) as bar:
        task = bar.add_task(unit, total=total)
        return run_all(jobs, run.config.workers, lambda: bar.update(task, completed=count()))
