"""JSONL files of trajectories. Only one process at a time can append to a file. Incomplete files are repaired."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from trace_gym.errors import ConfigError, ReadError
from trace_gym.files import GZIP, cannot_write, read_start, read_text, write
from trace_gym.locks import locked
from trace_gym.targets.jsonl import trajectory_of
from trace_gym.targets.results import expected, own_records
from trace_gym.types import Trajectory

FIX = "Move the file away, or delete the line"
"""Last sentence of the error messages about an invalid trajectory file."""
BEGINS = '{"id":'
"""Prefix of every line. It distinguishes an incomplete line from the content of another kind of file."""


def read_records(path: Path) -> list[Trajectory]:
    """Return the trajectories in a JSONL file that ``trace-gym rollout`` has written. The file may be gzipped.

    Raises:
        ReadError: The file cannot be read, a line is not a trajectory, or the file contains a sample twice.
    """
    return own_records(read_text(path, expected()), str(path))


@contextmanager
def appending(
    path: Path, model: str, temperature: float | None = None, user: str = ""
) -> Iterator[tuple[dict[str, Trajectory], Callable[[Trajectory], None]]]:
    """Lock a file, and yield a mapping from ids to the model's scored records, and a function that appends a record.

    The file is repaired first: duplicates, an incomplete last line, and unscored records of the model are removed.
    Records of other models are kept.

    Args:
        path: The file. It is created if it does not exist.
        model: Name of the policy.
        temperature: Sampling temperature of the policy, None if it has none.
        user: Name of the model that rewords the messages of the scripted user; empty if no model does.

    Raises:
        InUse: Another process is writing the file.
        ReadError: The file contains something other than trajectories.
        ConfigError: The model's existing records have a different temperature or a different user.
        WriteError: The file cannot be written.
    """
    if path.is_dir() or path.is_fifo() or path.is_socket():
        kind = "a folder" if path.is_dir() else "a pipe, which cannot be continued"
        raise ConfigError(f"{path} is {kind}: expected a JSONL file. Choose another path")
    with locked(path):
        known = _resume(path, model) if path.exists() else {}
        for record in known.values():
            if None not in (temperature, record.temperature) and record.temperature != temperature:
                raise ConfigError(
                    f"{path} contains rollouts of {model} at temperature {record.temperature:g}, but this run uses "
                    f"temperature {temperature:g}. Choose another file, or use the same temperature"
                )
            if (found := record.user.model if record.user else "") != user:
                raise ConfigError(
                    f"{path} contains rollouts of {model} with the simulated user {found or 'script'}, but this run "
                    f"uses the simulated user {user or 'script'}. Choose another file, or use the same simulated user"
                )
        try:
            file = path.open("a", encoding="utf-8")
        except OSError as error:
            raise cannot_write(path, error) from None

        def append(record: Trajectory) -> None:
            try:
                file.write(record.model_dump_json() + "\n")
                file.flush()
            except OSError as error:
                raise cannot_write(path, error) from None

        try:
            yield known, append
        finally:
            with suppress(OSError):  # close() flushes the buffer again; `append` has already raised the error
                file.close()


def _resume(path: Path, model: str) -> dict[str, Trajectory]:
    """Repair the file, and return the scored records of `model` by id."""
    if not path.is_file():
        return {}  # a device, such as /dev/null
    if read_start(path).startswith(GZIP):
        raise ReadError(
            f"{path} is compressed with gzip, so nothing can be appended to it. Decompress it, or choose another file"
        )
    *lines, torn = read_text(path, FIX).split("\n")
    known: dict[tuple[str, str], Trajectory] = {}
    good: list[str] = []
    for number, line in enumerate([*lines, torn], 1):
        try:
            record = trajectory_of(line, f"{path}, line {number}", FIX) if line else None
        except ReadError:
            if number <= len(lines) or not (line.startswith(BEGINS) or BEGINS.startswith(line)):
                raise
            record = None
        unscored = record is None or (record.model == model and record.success is None)
        if record is None or unscored or (record.model, record.id) in known:
            continue
        known[record.model, record.id] = record
        good.append(line)
    if torn or len(good) < len(lines):
        write(path, "".join(line + "\n" for line in good))
    return {record.id: record for record in known.values() if record.model == model}
