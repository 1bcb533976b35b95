"""Export of scenarios and rollouts as data sets for Hugging Face `datasets`, in Parquet and JSON lines.

Messages are in OpenAI's format. All messages of a column have the same keys, with None for missing values. JSON values
without a fixed structure, such as schemas, are stored as text. Otherwise, `datasets` would add each key that occurs in
any row to all other rows, with the value None.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from trace_gym import registry
from trace_gym.episode import interface_of
from trace_gym.errors import MissingExtra, ReadError, ScenarioError
from trace_gym.files import replacement, write
from trace_gym.types import Call, Message, Scenario, Score, Trajectory

Row = dict[str, Any]

_CALL = {"id": "string", "type": "string", "function": {"name": "string", "arguments": "string"}}
_MESSAGE = {"role": "string", "content": "string", "tool_calls": [_CALL], "tool_call_id": "string", "name": "string"}
_CHECK = {"kind": "string", "description": "string", "passed": "bool", "at_start": "bool"}

SCENARIO: Row = {
    "scenario": "string", "env": "string", "level": "int64", "seed": "int64", "split": "string", "capability": "string",
    "prompt": [_MESSAGE], "tools": "string",
}  # fmt: skip
"""Columns of a scenario row and their types. The column `tools` is a list of OpenAI function tools as JSON text."""

ROLLOUT: Row = {
    "id": "string", "task": "string", "split": "string", "messages": [_MESSAGE], "tools": "string", "success": "bool",
    "reward": "float64", "wellformed": "float64", "conduct": "float64", "progress": "float64", "broken": ["string"],
    "checks": [_CHECK], "ended": "string", "model": "string", "source": "string", "gold": "string",
    "outputs": ["string"], "kinds": "string",
}  # fmt: skip
"""Columns of a rollout row and their types. `tools`, `gold` (reference calls), `kinds` (tool kinds) are JSON texts."""

LOGS = "logs"
"""Name of the split for rollouts whose task is not a scenario."""


def scenario_rows(scenarios: Iterable[Scenario]) -> Iterator[Row]:
    """Yield a row for each scenario. A mixture's scenario is replaced by the scenario of the selected environment.

    Raises:
        EnvNotFound, TamperedEnv, ScenarioError: A scenario cannot be loaded.
        EnvBug: An environment fails when a scenario is started.
    """
    for scenario in map(registry.part_of, scenarios):
        episode = registry.start_episode(scenario)
        yield {
            "scenario": str(scenario),
            **scenario.model_dump(),
            "split": registry.split_of(scenario),
            "capability": registry.manifest(scenario.env).capability,
            "prompt": list(map(_full, episode.messages)),
            "tools": json.dumps(episode.tools),
        }


def rollout_rows(rollouts: Iterable[Trajectory]) -> Iterator[Row]:
    """Yield a row for each rollout. The function `trajectories` converts rows back to rollouts.

    Raises:
        ReadError: A message has a key that is not a column.
    """
    for rollout in rollouts:
        score = rollout.score
        yield {
            **rollout.model_dump(include={"id", "task", "success", "reward", "ended", "model", "source"}),
            "split": _split(rollout.task),
            "messages": list(map(_full, rollout.messages)),
            "tools": json.dumps(_tools(rollout.task)),
            "wellformed": score and score.wellformed,
            "conduct": score and score.conduct,
            "progress": score and score.progress,
            "broken": list(score.broken) if score else [],
            "checks": [c.model_dump() for c in score.checks] if score else [],
            "gold": json.dumps(rollout.gold and [{"tool": c.tool, "arguments": c.arguments} for c in rollout.gold]),
            "outputs": list(rollout.outputs),
            "kinds": json.dumps(rollout.tools),
        }


def trajectories(rows: Iterable[Mapping[str, Any]]) -> Iterator[Trajectory]:
    """Yield the rollouts of rows that `rollout_rows` created, read from a `datasets.Dataset` or from JSON lines.

    Raises:
        ReadError: A row does not have the columns of a rollout.
    """
    same = ("id", "task", "success", "reward", "ended", "model", "source", "outputs")
    for row in rows:
        try:
            gold = json.loads(row["gold"])
            score = {k: row[k] for k in ("wellformed", "progress", "broken", "checks")}
            score["conduct"] = row.get("conduct", 1.0)  # older files do not have this column
            yield Trajectory.model_validate(
                {
                    **{k: row[k] for k in same},
                    "messages": [_lean(m) for m in row["messages"]],
                    "score": None if row["progress"] is None else Score(success=row["success"], **score),
                    "gold": None if gold is None else tuple(Call(**c) for c in gold),
                    "tools": json.loads(row["kinds"]),
                }
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ReadError(
                f"a row cannot be read as a rollout ({type(error).__name__}: {error}). Expected a table with the "
                f"columns {', '.join(ROLLOUT)}"
            ) from None


def dataset(rows: Iterable[Row], columns: Row) -> Any:
    """Return the rows as a `datasets.Dataset`.

    Args:
        rows: Rows of `scenario_rows` or `rollout_rows`.
        columns: `SCENARIO` or `ROLLOUT`.

    Raises:
        MissingExtra: datasets is not installed.
    """
    library = _library()
    return library.Dataset.from_list(list(rows), features=library.Features(_typed(columns, library)))


def write_jsonl(path: Path, rows: Iterable[Row]) -> int:
    """Write one row per line and return the number of rows. The write is atomic."""
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    write(path, "".join(lines))
    return len(lines)


def write_folder(
    folder: Path, scenarios: Mapping[str, Sequence[Scenario]], rollouts: Sequence[Trajectory] = ()
) -> dict[str, dict[str, int]]:
    """Write ``scenarios/<split>.parquet`` and ``rollouts/<split>.parquet``, and the same rows as ``.jsonl`` files.

    Args:
        folder: Output folder; created if it does not exist.
        scenarios: Scenarios by split.
        rollouts: Episodes to write. Each is assigned to the split of its scenario, or to `LOGS` if it has no scenario.

    Returns:
        Number of rows, by kind (``scenarios`` or ``rollouts``) and split.

    Raises:
        MissingExtra: datasets is not installed.
        ReadError: A message has a key that is not a column.
    """
    _library()
    played: dict[str, list[Row]] = {}
    for row in rollout_rows(rollouts):
        played.setdefault(row["split"], []).append(row)
    begun = {split: list(scenario_rows(some)) for split, some in scenarios.items()}
    counts: dict[str, dict[str, int]] = {}
    for kind, columns, splits in (("scenarios", SCENARIO, begun), ("rollouts", ROLLOUT, played)):
        for split, rows in splits.items():
            counts.setdefault(kind, {})[split] = write_jsonl(folder / kind / f"{split}.jsonl", rows)
            _write_parquet(folder / kind / f"{split}.parquet", dataset(rows, columns))
    return counts


def _write_parquet(path: Path, rows: Any) -> None:
    """Write a Parquet file atomically, without the progress bar of `datasets`."""
    library = _library()
    quiet = library.are_progress_bars_disabled()
    library.disable_progress_bars()
    try:
        with replacement(path) as new:
            rows.to_parquet(new)
    finally:
        if not quiet:
            library.enable_progress_bars()


def _library() -> Any:
    try:
        return import_module("datasets")
    except ImportError:
        raise MissingExtra("datasets is missing; pip install 'trace-gym[datasets]'") from None


def _typed(columns: Any, library: Any) -> Any:
    """Convert column types to `datasets` features. A list of dicts remains a list of dicts."""
    if isinstance(columns, dict):
        return {name: _typed(part, library) for name, part in columns.items()}
    return [_typed(columns[0], library)] if isinstance(columns, list) else library.Value(columns)


def _full(message: Message) -> Row:
    """Return a message with all keys of the message columns; missing keys are None."""
    if odd := message.keys() - _MESSAGE.keys():
        raise ReadError(
            f"a message contains unknown keys: found {', '.join(sorted(odd))}, expected only {', '.join(_MESSAGE)}"
        )
    calls = [{**c, "function": dict(c["function"])} for c in message.get("tool_calls") or ()]
    return {key: message.get(key) for key in _MESSAGE} | {"tool_calls": calls or None}


def _lean(message: Mapping[str, Any]) -> Message:
    """Return a message without empty values, except that ``content`` is always kept."""
    return {k: v for k, v in message.items() if v or k == "content"}


def _scenario(task: str) -> Scenario | None:
    try:
        return registry.part_of(Scenario.parse(re.sub(r"#\d+$", "", task)))
    except (ScenarioError, KeyError):
        return None


def _split(task: str) -> str:
    return LOGS if (scenario := _scenario(task)) is None else registry.split_of(scenario)


def _tools(task: str) -> Sequence[Message]:
    """Return the tool schemas for a task; empty if the task is not a scenario of a registered environment."""
    return () if (scenario := _scenario(task)) is None else interface_of(registry.load_world(scenario.env)).tools
