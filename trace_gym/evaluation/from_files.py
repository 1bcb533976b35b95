"""Evaluation of rollout files. The rollouts of each model in each file are the results of one policy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from trace_gym import registry
from trace_gym.errors import ConfigError, ReadError, ScenarioError, SplitError
from trace_gym.evaluation.record import Evaluation, PolicyResult, mean
from trace_gym.targets.results import read_results
from trace_gym.types import Scenario, Trajectory

SUFFIXES = (".gz", ".jsonl", ".json")
BENCHMARK = "benchmark"
"""Name of the split for tasks that are not scenarios of an environment."""
UNSEEN = "test"
"""Name of the only split that no stage before the evaluation uses."""

RolloutsByPolicy = Mapping[str, Sequence[Trajectory]]
"""Mapping of task to its rollouts by one policy."""


def compare_files(files: Sequence[Path]) -> Evaluation:
    """Compare the policies of rollout files on the tasks that all files contain.

    Several rollouts of a task are averaged. The tasks must come from one environment and one split. If the split is not
    the test split, the note of the evaluation contains a warning.

    Args:
        files: Files of ``trace-gym rollout``, or results files of tau-bench or tau2. The first file is the
            baseline.

    Raises:
        ConfigError: A file is given twice, or the tasks come from several environments.
        ReadError: A file cannot be read.
        SplitError: The tasks come from several splits, or the files have no task in common.
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
    """Return the rollouts of each policy by the name of the policy.

    The name is the name of the file. If the file contains several models, the name of the model is added.
    """
    made: dict[str, list[Trajectory]] = {}
    for path, name in zip(files, _names(files), strict=True):
        if path.is_file() and not path.stat().st_size:
            raise ReadError(
                f"{path} is empty: the rollout did not finish. Run the same trace-gym rollout command again"
            )
        models: dict[str, list[Trajectory]] = {}
        for record in read_results(path):
            models.setdefault(record.model, []).append(record)
        for model, records in models.items():
            made[name if len(models) == 1 else f"{name} ({model or 'no model'})"] = records
    return made


def _names(files: Sequence[Path]) -> list[str]:
    """Return a short, distinct name for each file: the last parts of its path, without file name extensions."""
    paths = [path.resolve() for path in files]
    if duplicates := [str(files[n]) for n, path in enumerate(paths) if path in paths[:n]]:
        raise ConfigError(f"the file {', '.join(duplicates)} is given twice. Pass a different file for each policy")
    bare = [path.with_name(_stem(path.name)) for path in paths]
    if len(set(bare)) < len(bare):  # for example base.jsonl and base.jsonl.gz
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


def _common_tasks(policies: Mapping[str, RolloutsByPolicy]) -> list[str]:
    shared = set.intersection(*(set(records) for records in policies.values()))
    if not shared:
        details = "; ".join(f"{name} has {len(r)}, such as {next(iter(r))}" for name, r in policies.items())
        raise SplitError(
            f"the files have no task in common ({details}). Use files with rollouts of the same tasks for each policy"
        )
    return sorted(shared, key=lambda task: (len(task), task))


def _origin(tasks: Sequence[str], policies: Mapping[str, Sequence[Trajectory]]) -> tuple[str, str, tuple[int, ...]]:
    """Return the environment, the split and the levels of the tasks."""
    scenarios = [s for s in map(_scenario, tasks) if s is not None]
    if not scenarios:
        sources = {r.source for records in policies.values() for r in records} - {""}
        return " and ".join(sorted(sources)) or BENCHMARK, BENCHMARK, ()
    envs = sorted({s.env for s in scenarios} | ({BENCHMARK} if len(scenarios) < len(tasks) else set()))
    if len(envs) > 1:
        raise ConfigError(
            f"the tasks come from several environments: found {', '.join(envs)}, expected one environment. Evaluate "
            "each environment separately"
        )
    splits = Counter(map(registry.split_of, scenarios))
    if len(splits) > 1:
        details = ", ".join(f"{count} from {split}" for split, count in splits.items())
        raise SplitError(
            f"the tasks come from several splits: found {details}, expected one split. Evaluate each split separately"
        )
    return envs[0], next(iter(splits)), tuple(sorted({s.level for s in scenarios}))


def _scenario(task: str) -> Scenario | None:
    try:
        return Scenario.parse(task)
    except ScenarioError:
        return None


def _row(name: str, tasks: Sequence[str], records: RolloutsByPolicy) -> PolicyResult:
    """Return the result of one policy. Tasks with fewer rollouts than others are padded with unscored rollouts."""
    samples = max(len(records[task]) for task in tasks)
    outcomes: list[bool | None] = []
    for number in range(samples):
        outcomes += [records[task][number].success if number < len(records[task]) else None for task in tasks]
    return PolicyResult(
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


def _note(split: str, tasks: Sequence[str], policies: Mapping[str, RolloutsByPolicy]) -> str:
    made = []
    if split not in (UNSEEN, BENCHMARK):
        made.append(
            f"The tasks come from split {split}, which other stages may have used; measure gains on --split {UNSEEN}."
        )
    if left := {t for records in policies.values() for t in records} - set(tasks):
        made.append(f"{len(left)} tasks are excluded because they are not in every file.")
    return " ".join(made)


def _users(policies: Mapping[str, RolloutsByPolicy]) -> str:
    """Return a note about the models that reworded the user messages, or `""` if none were reworded."""
    used = {n: {r.user.model if r.user else "the script" for rs in p.values() for r in rs} for n, p in policies.items()}
    every = set().union(*used.values())
    if every <= {"the script"}:
        return ""
    if len(every) == 1:
        return f"All user messages were reworded by {every.pop()}."
    details = "; ".join(f"{name}: {', '.join(sorted(found))}" for name, found in used.items())
    return f"The user messages were reworded by different models ({details}), so the policies are not comparable."
