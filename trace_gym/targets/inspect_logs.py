"""Reader of the logs of Inspect (the package inspect_ai) in both formats, ``.eval`` (a zip archive) and ``.json``."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from trace_gym import files
from trace_gym.errors import ConfigError, MissingExtra, ReadError
from trace_gym.parsing import parse_json
from trace_gym.targets.base import Reader
from trace_gym.targets.conversation import Logged, Names, conversation
from trace_gym.targets.source import Entry, Outline, Source
from trace_gym.types import Trajectory

ZIP = b"PK\x03\x04"
"""First bytes of a log in the format ``.eval``."""
SAMPLES = "samples"
"""Key of the samples in a ``.json`` log, and folder of the samples in an ``.eval`` log."""
_UNUSED = {"events", "events_data", "store", "timelines"}
"""Large fields of a sample that the reader skips."""
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Rewards for the letter grades of Inspect: correct, partially correct, incorrect, and no answer."""


def is_archive(path: Path) -> bool:
    """Return whether a file is a zip archive, which is the container of the ``.eval`` format."""
    return path.is_file() and files.read_start(path).startswith(ZIP)


def _is_json_log(outline: Outline) -> bool:
    return outline.has("version", "status", "eval")


def read_inspect(source: Source) -> Iterator[Trajectory]:
    """Yield the trajectories of a log of Inspect, one per sample and epoch.

    Raises:
        MissingExtra: The package inspect_ai is not installed.
        ReadError: The log or a sample is not valid.
        ConfigError: The log has several scorers, or none of the chosen name.
    """
    try:
        package = import_module("inspect_ai.log")
    except ImportError as error:
        raise MissingExtra(
            f"{source.where} is a log of Inspect, which requires {error.name}. Run pip install 'trace-gym[inspect]'"
        ) from None
    packed = is_archive(source.path)
    try:
        if packed:
            log = package.read_eval_log(str(source.path), header_only=True, format="eval")
        else:
            log = package.EvalLog.model_validate(source.outline.members | {SAMPLES: None})
    except Exception as error:
        raise ReadError(f"{source.where} is not a valid log of Inspect: {_line(error)}") from None
    names = Names()

    def convert(entry: Entry) -> Trajectory:
        try:
            sample = package.EvalSample.model_validate({k: v for k, v in entry.data.items() if k not in _UNUSED})
            sample = package.resolve_sample_attachments(sample, "full")
        except Exception as error:
            place = f"{source.where}: {entry.place}"
            raise ReadError(f"{place} is not a valid sample of Inspect: {_line(error)}") from None
        return _trajectory(sample, log, source, names)

    if not packed:
        yield from source.convert(source.entries(), convert)
        return
    with zipfile.ZipFile(source.path) as archive:
        yield from source.convert(_members(archive), convert, lambda entry: _loaded(source, archive, entry))


def _line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def _members(archive: zipfile.ZipFile) -> Iterator[Entry]:
    """Yield the name of each sample in an archive once. If a name occurs more than once, the last member is read."""
    for name in dict.fromkeys(archive.namelist()):
        if name.startswith(f"{SAMPLES}/") and name.endswith(".json"):
            yield Entry(name, name)


def _loaded(source: Source, archive: zipfile.ZipFile, entry: Entry) -> Entry:
    """Return the parsed content of a sample in an archive."""
    where = f"{source.where}: {entry.place}"
    try:
        with archive.open(entry.data) as file:
            text = files.read_limited(file, where)
    except ReadError:
        raise
    except Exception as error:
        raise ReadError(f"{where} cannot be read: {_line(error)}") from None
    return Entry(entry.place, parse_json(text, where, nan=True))


def _trajectory(sample: Any, log: Any, source: Source, names: Names) -> Trajectory:
    stopped = sample.error or sample.limit or sample.invalidation
    reward = None if stopped else _reward(sample, log, source)
    task = f"{log.eval.task}/{sample.id}"
    return Trajectory(
        id=names.unique(f"{task}/{sample.epoch}"),
        task=task,
        messages=conversation([_logged(message) for message in sample.messages]),
        success=None if reward is None else reward > 1 - 1e-6,
        reward=reward,
        ended=_ended(sample),
        note=_note(sample),
        source=f"Inspect {log.eval.task}",
        model=source.model or log.eval.model,
        temperature=log.plan.config.temperature,
    )


def _ended(sample: Any) -> Literal["error", "turn_limit", "unknown"]:
    if sample.error:
        return "error"
    return "turn_limit" if sample.limit and sample.limit.type in ("message", "turn") else "unknown"


def _note(sample: Any) -> str:
    """Return the reason why a sample ended early, or an empty string."""
    if sample.error:
        return str(sample.error.message)[:300]
    if sample.limit:
        return f"{sample.limit.type} limit of {sample.limit.limit:g}"
    return "invalidated" if sample.invalidation else ""


def _logged(message: Any) -> Logged:
    """Convert a message of Inspect to the format of the other logs, and join the text of its content blocks."""
    error = getattr(message, "error", None)
    return Logged(
        role=message.role,
        content=message.text or (error.message if error else ""),
        tool_call_id=getattr(message, "tool_call_id", None),
        error=error is not None,
        tool_calls=[
            {"id": call.id, "name": call.function, "arguments": call.arguments}
            for call in getattr(message, "tool_calls", None) or ()
        ]
        or None,
    )


def _reward(sample: Any, log: Any, source: Source) -> float | None:
    """Return the value that the chosen scorer assigned to a sample, or None if it assigned none."""
    scores: dict[str, Any] = {}
    for scorer, score in (sample.scores or {}).items():
        parts = score.value.items() if isinstance(score.value, dict) else [("", score.value)]
        scores |= {f"{scorer}.{key}".rstrip("."): value for key, value in parts}
    if not source.scorer and len(scores) > 1:
        raise ConfigError(
            f"{source.where} contains several scores ({', '.join(scores)}). Select the one that is the outcome, for "
            f"example with --scorer {next(iter(scores))}, or in Python with read_results(path, scorer=NAME)"
        )
    name, place = source.scorer or next(iter(scores), ""), f"{source.where}: sample {sample.id}, epoch {sample.epoch}"
    if name in scores:
        return _number(scores[name], name, place)
    results = log.results.scores if log.results else []
    known = {name for score in results for name in (score.name, score.scorer)}
    if name in known or not scores:
        return None
    if known and name.partition(".")[0] not in known:
        raise ConfigError(f"unknown scorer: found {name!r}, expected one of {', '.join(scores)}")
    raise ReadError(f"{place} has no score {name!r}: found {', '.join(scores)}. Choose one of them with --scorer")


def _number(value: Any, name: str, place: str) -> float | None:
    """Convert a score to a reward. NaN, which marks a sample that was not scored, becomes None."""
    number = _LETTERS.get(value) if isinstance(value, str) else value
    if isinstance(number, (int, float)):
        if math.isnan(number):
            return None
        if 0 <= number <= 1:
            return float(number)
    raise ReadError(
        f"{place}: the score {name} is not a valid reward: found {value!r}, expected C, P, I, N, true, false or a "
        "number from 0 to 1. Choose another scorer, or score the log again with `inspect score`"
    )


INSPECT_LOG = Reader("a log of Inspect (.eval or .json)", _is_json_log, read_inspect, records=SAMPLES)
"""Reader of the ``.json`` logs of Inspect. Use `is_archive` to detect logs in the ``.eval`` format."""
