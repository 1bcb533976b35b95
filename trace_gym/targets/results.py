"""Reader of results files. The format of a file is detected from its content."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from trace_gym.errors import ConfigError, ReadError
from trace_gym.parsing import parse_json
from trace_gym.streams import text_lines
from trace_gym.targets.agent_traces import AGENT_TRACE, is_item, read_items
from trace_gym.targets.base import Reader
from trace_gym.targets.catalogue import readers
from trace_gym.targets.chats import is_chat
from trace_gym.targets.conversation import Names
from trace_gym.targets.inspect_logs import INSPECT_LOG, is_archive
from trace_gym.targets.jsonl import distinct, is_trajectory_line, mixed_lines, numbered, read_row, trajectory_lines
from trace_gym.targets.source import Entry, OnInvalid, Outline, Source, outline_of
from trace_gym.types import Trajectory

_OWN = (
    "trajectories of `trace-gym rollout`, or conversations with success or reward in the format of OpenAI, one JSON "
    "object per line or in a JSON list (each may be gzipped). "
)
_EXAMPLE = "For example: trace-gym diagnose data/simulations/my_run/results.json"


def all_readers() -> list[Reader]:
    """Return the readers of JSON files: the target-specific ones, and the ones for logs of any agent."""
    return [*readers(), INSPECT_LOG, AGENT_TRACE]


def expected() -> str:
    """Return the part of an error message that lists the supported formats, which depend on the registered targets."""
    forms = [reader.form for reader in all_readers() if reader.form]
    return f"Expected {'; '.join([*forms, f'or {_OWN}' if forms else _OWN])}{_EXAMPLE}"


def read_results(
    path: str | Path, *, model: str = "", scorer: str = "", on_invalid: OnInvalid | None = None
) -> list[Trajectory]:
    """Return the trajectories of one results file, as a list.

    The arguments and errors are those of `stream_results`.
    """
    return list(stream_results(path, model=model, scorer=scorer, on_invalid=on_invalid))


def stream_results(
    path: str | Path,
    *,
    model: str = "",
    scorer: str = "",
    on_invalid: OnInvalid | None = None,
    on_equal: Callable[[str], None] | None = None,
) -> Iterator[Trajectory]:
    """Yield the trajectories of one results file.

    The records of the file are read one at a time, so that only their ids are kept in memory.

    Args:
        path: A ``.json`` or ``.jsonl`` file, which may be gzipped, or the folder of a run of tau2 or ToolSandbox.
        model: Name of the agent's model, which replaces the name in the file.
        scorer: Name of the scorer whose value is used as the outcome, for logs of Inspect with several scorers.
        on_invalid: Function that is called with each invalid or repeated record. These records are skipped. By default,
            the first one raises `ReadError`.
        on_equal: Function that is called with a message for each record that is equal to an earlier one. Such records
            are kept. It has no effect if `on_invalid` is given.

    Raises:
        ReadError: The file is missing, empty, truncated or has another format. The message contains an example.
        ConfigError: A log of Inspect has several scorers and `scorer` is not one of them, or `scorer` is given for a
            file that is not a log of Inspect.
        MissingExtra: The file is a log of Inspect, and inspect_ai is not installed.
    """
    path = Path(path)
    where = str(path)
    if path.is_dir():
        where, path = f"{where} (a folder)", _main_file(path)
    found = None
    source = Source(path, where, model=model, scorer=scorer, on_invalid=on_invalid, on_equal=on_equal)
    for found in _trajectories(source):
        yield found
    if found is None:
        raise ReadError(f"{where} contains no episode. {expected()}")


def files_of(path: Path) -> list[Path]:
    """Return the files and folders whose content determines the result of `read_results`, beginning with `path`."""
    parts = [path.parent / reader.parts for reader in readers() if reader.parts]
    return [path, *(folder for folder in parts if folder.is_dir())]


def _main_file(folder: Path) -> Path:
    """Return the path of the results file in the folder of a run.

    If the folder contains no supported file, return the path with the first supported name.
    """
    names = [reader.main_file for reader in readers() if reader.main_file]
    return next((folder / name for name in names if (folder / name).exists()), folder / names[0])


def _trajectories(source: Source) -> Iterator[Trajectory]:
    source, read = _recognized(source)
    if source.scorer and read is not INSPECT_LOG.read:
        raise ConfigError(f"scorer {source.scorer!r} has no effect: {source.where} is not a log of Inspect. Remove it")
    yield from read(source)


def _recognized(source: Source) -> tuple[Source, Callable[[Source], Iterator[Trajectory]]]:
    """Return the source with its outline, and the function that reads its format.

    Raises:
        ReadError: The file cannot be read, or its format is unknown.
    """
    if is_archive(source.path):
        return source, INSPECT_LOG.read
    lists = {reader.records for reader in all_readers()} - {""}
    is_jsonl = source.path.name.removesuffix(".gz").endswith(".jsonl")
    try:
        outline = outline_of(
            source.path, source.where, lists, expected(), partial=is_jsonl or source.on_invalid is not None
        )
    except ReadError:
        if is_jsonl:
            return source, _lines  # which reports the line
        raise
    source = replace(source, outline=outline)
    reader = next((reader for reader in all_readers() if reader.accepts(outline)), None)
    if not (is_jsonl or outline.is_first_line) and is_trajectory_line(outline.members):
        return source, _single
    is_line = is_trajectory_line(outline.members) or is_item(outline.members)
    if is_line or (outline.is_first_line and reader in (None, AGENT_TRACE)):
        return source, _lines
    if reader is not None:
        return replace(source, records=reader.records), reader.read
    if outline.is_list and any(is_chat(data) or is_trajectory_line(data) for _, data in outline.examples):
        return source, _listed
    if is_jsonl:
        return source, _lines
    raise ReadError(f"{source.where} has an unknown format: found {_shape(outline)}. {expected()}")


def _stem(source: Source) -> str:
    """Return the name of the file without its suffixes, which names conversations that have no id."""
    return source.path.name.removesuffix(".gz").removesuffix(".jsonl").removesuffix(".json")


def _single(source: Source) -> Iterator[Trajectory]:
    """Yield the trajectory of a JSON file that contains nothing else."""
    found = read_row(source.outline.members, source.where, _stem(source), 1, expected(), Names())
    yield found.model_copy(update={"model": source.model}) if source.model else found


def _listed(source: Source) -> Iterator[Trajectory]:
    """Yield the trajectories of a JSON list."""
    names, numbers = Names(), count(1)

    def convert(entry: Entry) -> Trajectory:
        place = f"{source.where}: entry {entry.place}"
        found = read_row(entry.data, place, _stem(source), next(numbers), expected(), names)
        return found.model_copy(update={"model": source.model}) if source.model else found

    yield from source.convert(source.entries(), convert)


def _lines(source: Source) -> Iterator[Trajectory]:
    """Yield the trajectories of a JSONL file."""
    if _contains_items(source):
        yield from read_items(source, lambda: _parsed_lines(source))
        return
    lines = text_lines(source.path, expected())
    read = mixed_lines(
        lines, source.where, _stem(source), expected(), on_invalid=source.on_invalid, on_equal=source.on_equal
    )
    for found in distinct(read, source.where, source.on_invalid):
        yield found.model_copy(update={"model": source.model}) if source.model else found


def _contains_items(source: Source) -> bool:
    """Return whether the first valid line is an item of a trace."""
    for _, line in text_lines(source.path, expected()):
        with suppress(ReadError):
            return is_item(parse_json(line, source.where, nan=True))
        if source.on_invalid is None:
            return False
    return False


def _parsed_lines(source: Source) -> Iterator[Entry]:
    """Yield the lines as parsed JSON.

    If a line is not JSON, raise an error, or yield the text of the line if `on_invalid` is set.
    """
    for number, line in text_lines(source.path, expected()):
        place = f"line {number}"
        try:
            yield Entry(place, parse_json(line, f"{source.where}, {place}", expected(), nan=True))
        except ReadError:
            if source.on_invalid is None:
                raise
            yield Entry(place, line)


def own_records(text: str, where: str) -> list[Trajectory]:
    """Return the trajectories in a JSONL text that ``trace-gym rollout`` wrote.

    Raises:
        ReadError: A line is not a trajectory, or two lines are the same sample of the same model.
    """
    return list(distinct(trajectory_lines(numbered(text), where, expected()), where, None))


def _shape(outline: Outline) -> str:
    if outline.is_list:
        return f"a JSON list whose first entry is {_kind(outline.examples[0][1] if outline.examples else None)}"
    return _kind(outline.members.get("", outline.members))


def _kind(data: Any) -> str:
    if isinstance(data, dict):
        return f"a JSON object with the keys {', '.join(list(data)[:6]) or '(none)'}"
    return f"a JSON {type(data).__name__} ({str(data)[:40]})"
