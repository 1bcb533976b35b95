"""Readers that convert results files of tau-bench and tau2-bench to `Trajectory` records.

The two formats contain the same data under slightly different keys. `RENAMES` maps the keys of tau-bench to those of
tau2, so that the same models read both formats. Fields that the models do not declare are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import TypeAdapter, ValidationError

from trace_gym.errors import ReadError
from trace_gym.files import read_text
from trace_gym.parsing import parse_json
from trace_gym.targets.conversation import Names, called, conversation
from trace_gym.targets.source import Entry, Outline, Source
from trace_gym.targets.tau2.log_format import (
    KINDS,
    RENAMES,
    SHARED,
    UNSCORED,
    Criteria,
    RunHead,
    Simulation,
    TauBenchCalls,
    TauBenchEpisode,
)
from trace_gym.types import Call, Message, Trajectory


def is_tau_bench(outline: Outline) -> bool:
    """Return whether a file is a results list of tau-bench."""
    records = [record for _, record in outline.examples]
    keys = {"task_id", "reward", "traj"}
    return outline.is_list and (not records or any(isinstance(r, dict) and keys <= r.keys() for r in records))


def is_tau2(outline: Outline) -> bool:
    """Return whether a file is a results file of tau2."""
    return outline.has("info", "tasks")


def read_tau_bench(source: Source) -> Iterator[Trajectory]:
    """Yield the trajectories of a tau-bench results list (``[{task_id, reward, info, traj, trial}, ...]``).

    Raises:
        ReadError: An entry lacks a field, or a field has the wrong type.
    """
    domain, names = _domain(_tools(source)), Names()

    def convert(entry: Entry) -> Trajectory:
        episode = _validated(TauBenchEpisode, _renamed(entry.data), source.where, entry.place)
        crashed = episode.info.error is not None
        messages = conversation(episode.messages)
        return Trajectory(
            id=names.unique(f"{domain or 'tau-bench'}/{episode.task_id}/{episode.trial or 0}"),
            task=str(episode.task_id),
            messages=messages,
            success=None if crashed else episode.reward > 1 - 1e-6,
            reward=None if crashed else episode.reward,
            gold=_gold(episode.info.task),
            outputs=_outputs(episode.info.task),
            ended="error" if crashed else _ended(messages, scored=episode.info.reward_info is not None),
            source=f"tau-bench {domain}".strip(),
            model=source.model,
            tools=KINDS.get(domain, {}),
        )

    yield from source.convert(source.entries(), convert)


def read_tau2(source: Source) -> Iterator[Trajectory]:
    """Yield the trajectories of a tau2 results file (``{info, tasks, simulations}``) or of the folder of a run.

    Tool calls of the *user* (in the telecom domain) are skipped, because the agent does not see them.

    Raises:
        ReadError: A field is missing or has the wrong type, or a simulation refers to a task that the file lacks.
    """
    head = _validated(RunHead, source.outline.members, source.where)
    domain = head.info.environment_info.domain_name
    criteria = {str(task.id): task.evaluation_criteria for task in head.tasks}
    names = Names()

    def convert(entry: Entry) -> Trajectory:
        run = _validated(Simulation, entry.data, source.where, entry.place)
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
            gold=_gold(criteria[task]),
            outputs=_outputs(criteria[task]),
            ended="error" if failed else _ended(messages, scored=not limit),
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
    if missing := [name for name in listed if name not in files]:
        raise ReadError(
            f"{folder} does not contain all simulations that are listed in results.json: {len(missing)} of "
            f"{len(listed)} are missing, for example {missing[0]}.json. Copy the complete folder of the run"
        )
    return [files[name] for name in listed or files]


_T = TypeVar("_T")


def _validated(shape: type[_T], data: Any, where: str, record: str = "") -> _T:
    try:
        return TypeAdapter(shape).validate_python(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in (record, *first["loc"]) if part != "") or "top level"
        raise ReadError(
            f"{where} is not a valid result file of tau2: {place}: {first['msg']} ({error.error_count()} invalid "
            "fields in total)"
        ) from None


def _tools(source: Source) -> Iterator[str]:
    """Yield the names of the tools in the calls of a tau-bench results list. Invalid records are ignored."""
    with suppress(ReadError):  # the records are read again
        for entry in source.entries():
            with suppress(ReadError):
                episode = _validated(TauBenchCalls, entry.data, source.where)
                yield from called(episode.traj)
                yield from (a.name for a in (episode.info.task and episode.info.task.actions) or ())


def _renamed(value: Any) -> Any:
    """Return the data with the keys of tau-bench replaced by the keys of tau2, including JSON in tool results."""
    if isinstance(value, list):
        return [_renamed(v) for v in value]
    if not isinstance(value, dict):
        return value
    renamed = {RENAMES.get(k, k): _renamed(v) for k, v in value.items()}
    content = value.get("content")
    if value.get("role") == "tool" and isinstance(content, str) and any(f'"{old}"' in content for old in RENAMES):
        with suppress(ValueError, RecursionError):  # text that is not JSON and contains a key in quotation marks
            renamed["content"] = json.dumps(_renamed(json.loads(content)))
    return renamed


def _domain(names: Iterable[str]) -> str:
    """Return the domain to which most of the tools belong, or an empty string if none belongs to a known domain."""
    hits = dict.fromkeys(KINDS, 0)
    for name in names:
        for domain, kinds in KINDS.items():
            hits[domain] += name in kinds and name not in SHARED
    best = max(hits, key=lambda domain: hits[domain])
    return best if hits[best] else ""


def _ended(messages: tuple[Message, ...], *, scored: bool) -> Literal["user", "transfer", "turn_limit", "unknown"]:
    """Return the reason why an episode without errors ended. An unscored episode reached the turn limit."""
    last = messages[-1] if messages else {}
    text = str(last.get("content") or "")
    if last.get("name") == "transfer_to_human_agents" or "###TRANSFER###" in text:
        return "transfer"
    if last.get("role") == "user" and "###STOP###" in text:
        return "user"
    return "unknown" if scored else "turn_limit"


def _gold(task: Criteria | None) -> tuple[Call, ...] | None:
    if task is None or task.actions is None:
        return None
    return tuple(Call(a.name, a.arguments) for a in task.actions if a.requestor == "assistant")


def _outputs(task: Criteria | None) -> tuple[str, ...]:
    return tuple(task.communicate_info or ()) if task else ()
