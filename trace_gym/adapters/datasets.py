"""Scenarios and rollouts as rows: a folder that Hugging Face `datasets` loads, and JSON lines that anything reads.

Messages are in OpenAI's shape; in a column all have the same keys, so what a message lacks is None. Schemas and other
JSON of no fixed shape stand as text, as columns of `datasets` would fill them up with None.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from trace_gym import registry
from trace_gym.episode import interface_of
from trace_gym.errors import MissingExtra, ReadError, ScenarioError
from trace_gym.files import write
from trace_gym.types import Call, Message, Scenario, Score, Trajectory

Row = dict[str, Any]

_CALL = {"id": "string", "type": "string", "function": {"name": "string", "arguments": "string"}}
_MESSAGE = {"role": "string", "content": "string", "tool_calls": [_CALL], "tool_call_id": "string", "name": "string"}
_CHECK = {"kind": "string", "says": "string", "holds": "bool", "at_start": "bool"}

SCENARIO: Row = {
    "scenario": "string", "env": "string", "level": "int64", "seed": "int64", "split": "string", "capability": "string",
    "prompt": [_MESSAGE], "tools": "string",
}  # fmt: skip
"""Columns of a scenario and their types; `tools` is JSON text, a list of OpenAI function tools."""

ROLLOUT: Row = {
    "id": "string", "task": "string", "split": "string", "messages": [_MESSAGE], "tools": "string", "success": "bool",
    "reward": "float64", "wellformed": "float64", "conduct": "float64", "progress": "float64", "broken": ["string"],
    "checks": [_CHECK], "ended": "string", "model": "string", "source": "string", "gold": "string",
    "outputs": ["string"], "kinds": "string",
}  # fmt: skip
"""Columns of a rollout; `tools`, `gold` (the reference calls) and `kinds` (of the tools) are JSON text."""

LOGS = "logs"
"""The split of rollouts whose task is no scenario."""


def scenario_rows(scenarios: Iterable[Scenario]) -> Iterator[Row]:
    """A row for each scenario; a mixture's is that of its part.

    Raises:
        EnvNotFound, TamperedEnv, ScenarioError: A scenario cannot be begun.
        EnvBug: It does not begin.
    """
    for scenario in map(registry.part_of, scenarios):
        episode = registry.episode(scenario)
        yield {
            "scenario": str(scenario),
            **scenario.model_dump(),
            "split": registry.split_of(scenario),
            "capability": registry.manifest(scenario.env).capability,
            "prompt": list(map(_full, episode.messages)),
            "tools": json.dumps(episode.tools),
        }


def rollout_rows(rollouts: Iterable[Trajectory]) -> Iterator[Row]:
    """A row for each rollout; `trajectories` turns it back.

    Raises:
        ReadError: A message holds something that the columns have no place for.
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
    """The rollouts that rows were made from: of a `datasets.Dataset`, or of JSON lines.

    Raises:
        ReadError: A row is not one of `rollout_rows`.
    """
    same = ("id", "task", "success", "reward", "ended", "model", "source", "outputs")
    for row in rows:
        try:
            gold = json.loads(row["gold"])
            score = {k: row[k] for k in ("wellformed", "progress", "broken", "checks")}
            score["conduct"] = row.get("conduct", 1.0)  # older files do not have it
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
            raise ReadError(f"a row is no rollout ({error}); expected the columns {', '.join(ROLLOUT)}") from None


def dataset(rows: Iterable[Row], columns: Row) -> Any:
    """The rows as a `datasets.Dataset`.

    Args:
        rows: Of `scenario_rows` or `rollout_rows`.
        columns: `SCENARIO` or `ROLLOUT`.

    Raises:
        MissingExtra: datasets is not installed.
    """
    library = _library()
    return library.Dataset.from_list(list(rows), features=library.Features(_typed(columns, library)))


def write_jsonl(path: Path, rows: Iterable[Row]) -> int:
    """Write one row a line, the whole file or nothing, and return how many there are."""
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    write(path, "".join(lines))
    return len(lines)


def write_folder(
    folder: Path, scenarios: Mapping[str, Sequence[Scenario]], rollouts: Sequence[Trajectory] = ()
) -> dict[str, dict[str, int]]:
    """Write ``scenarios/<split>.parquet`` and ``rollouts/<split>.parquet``, and the same rows as ``.jsonl`` beside.

    Args:
        folder: Where; made if it is not there.
        scenarios: By split.
        rollouts: Each goes to the split of its scenario, those without one to `LOGS`.

    Returns:
        How many rows there are, by kind and split.

    Raises:
        MissingExtra: datasets is not installed.
        ReadError: As `rollout_rows`.
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
    """Write the whole file or nothing, and no bar of progress."""
    library, beside = _library(), path.with_name(f"{path.name}.{os.getpid()}")
    quiet = library.are_progress_bars_disabled()
    library.disable_progress_bars()
    try:
        rows.to_parquet(beside)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
        if not quiet:
            library.enable_progress_bars()


def _library() -> Any:
    try:
        return import_module("datasets")
    except ImportError:
        raise MissingExtra("datasets is missing; pip install 'trace-gym[datasets]'") from None


def _typed(columns: Any, library: Any) -> Any:
    """Columns as `datasets` wants them: a list of structures is a list, not a structure of lists."""
    if isinstance(columns, dict):
        return {name: _typed(part, library) for name, part in columns.items()}
    return [_typed(columns[0], library)] if isinstance(columns, list) else library.Value(columns)


def _full(message: Message) -> Row:
    """A message with every key that messages have."""
    if odd := message.keys() - _MESSAGE.keys():
        raise ReadError(f"a message has {', '.join(sorted(odd))}; the columns have {', '.join(_MESSAGE)}")
    calls = [{**c, "function": dict(c["function"])} for c in message.get("tool_calls") or ()]
    return {key: message.get(key) for key in _MESSAGE} | {"tool_calls": calls or None}


def _lean(message: Mapping[str, Any]) -> Message:
    """A message with what it has; content is always there."""
    return {k: v for k, v in message.items() if v or k == "content"}


def _scenario(task: str) -> Scenario | None:
    try:
        return registry.part_of(Scenario.parse(re.sub(r"#\d+$", "", task)))
    except (ScenarioError, KeyError):
        return None


def _split(task: str) -> str:
    return LOGS if (scenario := _scenario(task)) is None else registry.split_of(scenario)


def _tools(task: str) -> Sequence[Message]:
    """The schemas that the agent saw; none where the task is no scenario of an environment here."""
    return () if (scenario := _scenario(task)) is None else interface_of(registry.load(scenario.env)).tools
