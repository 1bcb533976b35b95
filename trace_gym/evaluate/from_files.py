"""An evaluation of rollout files: each file, and each model in it, is one policy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from trace_gym import registry
from trace_gym.errors import ConfigError, ScenarioError, SplitError
from trace_gym.evaluate.record import Evaluation, Row, mean
from trace_gym.targets.results import read_results
from trace_gym.types import Scenario, Trajectory

SUFFIXES = (".gz", ".jsonl", ".json")
BENCHMARK = "benchmark"
"""The split of tasks that are not scenarios of an environment."""
UNSEEN = "test"
"""The only split whose tasks no other stage sees."""

Records = Mapping[str, Sequence[Trajectory]]
"""Task -> its rollouts by one policy."""


def compare_files(files: Sequence[Path]) -> Evaluation:
    """Compare the policies of rollout files on the tasks that all of them have attempted.

    Several rollouts of a task are averaged per task, as training seeds are. The tasks must come from one environment
    and one split, which the evaluation names; a split other than test is pointed out in its note.

    Args:
        files: Files of ``trace-gym rollout``, or results files of tau-bench or tau2; the base first.

    Raises:
        ConfigError: A file is given twice, or the tasks are from several environments.
        ReadError: A file cannot be read.
        SplitError: The tasks are from several splits, or the files have no task in common.
    """
    policies = _policies(files)
    by_task = {name: _by_task(records) for name, records in policies.items()}
    tasks = _common_tasks(by_task)
    env, split, levels = _origin(tasks, policies)
    used = [r for records in by_task.values() for task in tasks for r in records[task]]
    return Evaluation(
        rows=tuple(_row(name, tasks, records) for name, records in by_task.items()),
        split=split,
        env=env,
        levels=levels,
        temperature=_temperature(used),
        note=f"{_note(split, tasks, by_task)} {_users(by_task)}".strip(),
    )


def _policies(files: Sequence[Path]) -> dict[str, list[Trajectory]]:
    """The records of each policy by its name: that of the file, and of the model where a file holds several."""
    made: dict[str, list[Trajectory]] = {}
    for path, name in zip(files, _names(files), strict=True):
        models: dict[str, list[Trajectory]] = {}
        for record in read_results(path):
            models.setdefault(record.model, []).append(record)
        for model, records in models.items():
            made[name if len(models) == 1 else f"{name} ({model or 'no model'})"] = records
    return made


def _names(files: Sequence[Path]) -> list[str]:
    """The shortest ends of the paths that tell the files apart, without suffixes."""
    paths = [path.resolve() for path in files]
    if twice := [str(files[n]) for n, path in enumerate(paths) if path in paths[:n]]:
        raise ConfigError(f"{', '.join(twice)} is given twice: expected a different file for each policy")
    bare = [path.with_name(_stem(path.name)) for path in paths]
    if len(set(bare)) < len(bare):  # such as base.jsonl and base.jsonl.gz
        bare = paths
    for depth in range(1, max(len(path.parts) for path in bare) + 1):
        names = ["/".join(path.parts[-depth:]) for path in bare]
        if len(set(names)) == len(names):
            break
    return names


def _stem(name: str) -> str:
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix) or name
    return name


def _by_task(records: Iterable[Trajectory]) -> dict[str, list[Trajectory]]:
    made: dict[str, list[Trajectory]] = {}
    for record in records:
        made.setdefault(record.task, []).append(record)
    return made


def _common_tasks(policies: Mapping[str, Records]) -> list[str]:
    shared = set.intersection(*(set(records) for records in policies.values()))
    if not shared:
        told = "; ".join(f"{name} has {len(r)}, such as {next(iter(r))}" for name, r in policies.items())
        raise SplitError(f"the files have no task in common ({told}). Roll out the same tasks with each policy")
    return sorted(shared, key=lambda task: (len(task), task))


def _origin(tasks: Sequence[str], policies: Mapping[str, Sequence[Trajectory]]) -> tuple[str, str, tuple[int, ...]]:
    """The environment, the split and the levels of the tasks."""
    scenarios = [s for s in map(_scenario, tasks) if s is not None]
    if not scenarios:
        sources = {r.source for records in policies.values() for r in records} - {""}
        return " and ".join(sorted(sources)) or BENCHMARK, BENCHMARK, ()
    envs = sorted({s.env for s in scenarios} | ({BENCHMARK} if len(scenarios) < len(tasks) else set()))
    if len(envs) > 1:
        raise ConfigError(f"the tasks are from {', '.join(envs)}: expected one environment. Evaluate each by itself")
    splits = Counter(map(registry.split_of, scenarios))
    if len(splits) > 1:
        told = ", ".join(f"{count} from {split}" for split, count in splits.items())
        raise SplitError(f"the tasks are from several splits ({told}): expected one. Roll out one split per file")
    return envs[0], next(iter(splits)), tuple(sorted({s.level for s in scenarios}))


def _scenario(task: str) -> Scenario | None:
    try:
        return Scenario.parse(task)
    except ScenarioError:
        return None


def _row(name: str, tasks: Sequence[str], records: Records) -> Row:
    """One policy's outcomes; a task with fewer rollouts than others is filled up with ones that are not scored."""
    samples = max(len(records[task]) for task in tasks)
    outcomes: list[bool | None] = []
    for number in range(samples):
        outcomes += [records[task][number].success if number < len(records[task]) else None for task in tasks]
    return Row(
        name=name,
        label=name,
        scenarios=tuple(tasks),
        successes=tuple(outcomes),
        reward_mean=mean(mean(r.reward for r in records[task]) for task in tasks),
        samples=samples,
    )


def _temperature(records: Iterable[Trajectory]) -> float | Literal["mixed", "unknown"]:
    found = {record.temperature for record in records}
    if len(found) > 1:
        return "mixed"
    (used,) = found
    return "unknown" if used is None else used


def _note(split: str, tasks: Sequence[str], policies: Mapping[str, Records]) -> str:
    made = []
    if split not in (UNSEEN, BENCHMARK):
        made.append(f"These are {split} tasks, which other stages may have seen; measure gains on --split {UNSEEN}.")
    if left := {t for records in policies.values() for t in records} - set(tasks):
        made.append(f"{len(left)} tasks that not every file has are left out.")
    return " ".join(made)


def _users(policies: Mapping[str, Records]) -> str:
    """Name the language models that reworded the users; empty if all users spoke in the words of their scripts."""
    used = {n: {r.user.model if r.user else "the script" for rs in p.values() for r in rs} for n, p in policies.items()}
    every = set().union(*used.values())
    if every <= {"the script"}:
        return ""
    if len(every) == 1:
        return f"The users spoke in the words of {every.pop()}."
    told = "; ".join(f"{name}: {', '.join(sorted(found))}" for name, found in used.items())
    return f"The users of the policies spoke in different words ({told}), so the rows are not comparable."
