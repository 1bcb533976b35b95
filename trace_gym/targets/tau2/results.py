"""Reader of results files of tau2."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trace_gym.errors import ReadError
from trace_gym.files import read_text
from trace_gym.parsing import parse_json
from trace_gym.targets.conversation import Names, conversation
from trace_gym.targets.source import Entry, Outline, Source
from trace_gym.targets.tau2.log_format import KINDS, UNSCORED, RunHead, Simulation
from trace_gym.targets.tau2.result_fields import ended, gold, outputs, validated
from trace_gym.types import Trajectory


def is_tau2(outline: Outline) -> bool:
    """Return whether a file is a results file of tau2."""
    return outline.has("info", "tasks")


def read_tau2(source: Source) -> Iterator[Trajectory]:
    """Yield the trajectories of a tau2 results file (``{info, tasks, simulations}``) or of the folder of a run.

    Tool calls of the *user* (in the telecom domain) are skipped, because the agent does not see them.

    Raises:
        ReadError: A field is missing or has the wrong type, or a simulation refers to a task that the file lacks.
    """
    head = validated(RunHead, source.outline.members, source.where)
    domain = head.info.environment_info.domain_name
    criteria = {str(task.id): task.evaluation_criteria for task in head.tasks}
    names = Names()

    def convert(entry: Entry) -> Trajectory:
        run = validated(Simulation, entry.data, source.where, entry.place)
        task = str(run.task_id)
        if task not in criteria:
            raise ReadError(
                f"{source.where} contains a simulation of an unknown task: found task_id {task!r}, expected the id of "
                f"one of the {len(criteria)} tasks in this file"
            )
        reward = run.reward_info.reward if run.reward_info and run.termination_reason not in UNSCORED else None
        messages = conversation(run.messages)
        limit = run.termination_reason == "max_steps"
        failed = run.termination_reason not in ("user_stop", "agent_stop", "max_steps", "")
        return Trajectory(
            id=names.unique(f"{domain}/{task}/{run.trial or 0}"),
            task=task,
            messages=messages,
            success=None if reward is None else reward > 1 - 1e-6,
            reward=reward,
            gold=gold(criteria[task]),
            outputs=outputs(criteria[task]),
            ended="error" if failed else ended(messages, scored=not limit),
            source=f"tau2 {domain}",
            model=source.model or head.info.agent_info.llm or "",
            tools=KINDS.get(domain, {}),
        )

    if any(key == source.records for key, _ in source.outline.examples):
        yield from source.convert(source.entries(), convert)
        return
    files = _separate(source)
    yield from source.convert((Entry(f"simulations/{file.name}", file) for file in files), convert, _loaded)


def _loaded(entry: Entry) -> Entry:
    return Entry(entry.place, parse_json(read_text(entry.data), str(entry.data), nan=True))


def _separate(source: Source) -> list[Path]:
    """Return the separate files next to ``results.json`` in which tau2 stored the simulations."""
    folder, index = source.path.parent / "simulations", source.outline.members.get("simulation_index")
    files = {file.stem: file for file in sorted(folder.glob("*.json"))}
    listed = [str(entry["id"]) for entry in index or () if isinstance(entry, dict) and "id" in entry]
    missing = [name for name in listed if name not in files]
    if missing and source.on_invalid is None:
        raise ReadError(
            f"{folder} does not contain all simulations that are listed in results.json: {len(missing)} of "
            f"{len(listed)} are missing, for example {missing[0]}.json. Copy the complete folder of the run"
        )
    return [files.get(name, folder / f"{name}.json") for name in listed or files]
