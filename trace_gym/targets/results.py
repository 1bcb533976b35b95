"""Reader of results files in any supported format, which is detected from the content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from trace_gym.errors import ReadError
from trace_gym.files import read_text
from trace_gym.parsing import parse_json
from trace_gym.targets.catalogue import readers
from trace_gym.targets.jsonl import OnInvalid, is_trajectory_jsonl, mixed_lines, trajectory_lines
from trace_gym.types import Trajectory

_OWN = (
    "trajectories of `trace-gym rollout`, or conversations with success or reward in the format of OpenAI, one JSON "
    "object per line in a .jsonl file (each may be gzipped). "
)
_EXAMPLE = "For example: trace-gym diagnose data/simulations/my_run/results.json"


def expected() -> str:
    """Return the part of an error message that lists the supported formats, which depend on the registered targets."""
    forms = [reader.form for reader in readers() if reader.form]
    return f"Expected {'; '.join([*forms, f'or {_OWN}' if forms else _OWN])}{_EXAMPLE}"


def read_results(path: str | Path, *, model: str = "", on_invalid: OnInvalid | None = None) -> list[Trajectory]:
    """Read the trajectories of one results file.

    Args:
        path: A ``.json`` or ``.jsonl`` file, which may be gzipped, or the folder of a run of tau2 or ToolSandbox.
        model: Name of the agent's model; replaces the name in the file.
        on_invalid: Function that is called with the error message of each invalid line of a ``.jsonl`` file, and of
            each repeated record. These records are skipped. By default, the first one raises `ReadError`.

    Raises:
        ReadError: The file is missing, empty, truncated or has another format. The message contains an example.
    """
    path = Path(path)
    where = str(path)
    if path.is_dir():
        where, path = f"{where} (a folder)", _main_file(path)
    text = read_text(path, expected())
    if not text.strip():
        raise ReadError(f"{path} is empty. {expected()}")
    if path.name.removesuffix(".gz").endswith(".jsonl") or is_trajectory_jsonl(text):
        stem = path.name.removesuffix(".gz").removesuffix(".jsonl")
        lines = mixed_lines(text, where, stem, expected(), on_invalid=on_invalid)
        found = list(_distinct(lines, where, on_invalid))
        found = [t.model_copy(update={"model": model}) for t in found] if model else found
    else:
        found = _foreign(parse_json(text, where, expected(), nan=True), path, where, model)
    if not found:
        raise ReadError(f"{where} contains no episode. {expected()}")
    return found


def _main_file(folder: Path) -> Path:
    """Return the path of the results file in the folder of a run. If no supported file exists, use the first name."""
    names = [reader.main_file for reader in readers() if reader.main_file]
    return next((folder / name for name in names if (folder / name).exists()), folder / names[0])


def _foreign(data: Any, path: Path, where: str, model: str) -> list[Trajectory]:
    """Read trajectories with the first benchmark reader that accepts the data."""
    for reader in readers():
        if reader.accepts(data):
            return reader.read(data, path, where, model)
    if isinstance(data, list):
        raise ReadError(f"{where} is a JSON list whose first entry is {_shape(data[0])}. {expected()}")
    raise ReadError(f"{where} is {_shape(data)}. {expected()}")


def own_records(text: str, where: str) -> list[Trajectory]:
    """Return the trajectories in a JSONL text that ``trace-gym rollout`` wrote.

    Raises:
        ReadError: A line is not a trajectory, or two lines are the same sample of the same model.
    """
    return list(_distinct(trajectory_lines(text, where, expected()), where, None))


def _distinct(read: Iterable[tuple[int, Trajectory]], where: str, on_invalid: OnInvalid | None) -> Iterator[Trajectory]:
    """Yield the trajectories without repeated samples of a model, which are an error by default."""
    lines: dict[tuple[str, str], int] = {}
    for number, found in read:
        if (first := lines.setdefault((found.model, found.id), number)) == number:
            yield found
            continue
        fault = (
            f"{where}, line {number}: {found.id} of {found.model or 'one model'} is there twice, first in line "
            f"{first}: expected one line for each sample. Repeat the `trace-gym rollout` command, which removes "
            "duplicates, or delete the line"
        )
        if on_invalid is None:
            raise ReadError(fault)
        on_invalid(fault)


def _shape(data: Any) -> str:
    if isinstance(data, dict):
        return f"a JSON object with the keys {', '.join(list(data)[:6]) or '(none)'}"
    return f"a JSON {type(data).__name__} ({str(data)[:40]})"
