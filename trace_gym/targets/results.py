"""Reader of results files in any supported format, which is detected from the content."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trace_gym.errors import ReadError
from trace_gym.files import read_text
from trace_gym.parsing import parse_json
from trace_gym.targets.catalogue import readers
from trace_gym.targets.jsonl import is_trajectory_jsonl, trajectory_lines
from trace_gym.types import Trajectory

_OWN = "trajectories of `trace-gym rollout`, one JSON object per line in a .jsonl file (each may be gzipped). "
_EXAMPLE = "For example: trace-gym diagnose data/simulations/my_run/results.json"


def expected() -> str:
    """Return the part of an error message that lists the supported formats, which depend on the registered targets."""
    forms = [reader.form for reader in readers() if reader.form]
    return f"Expected {'; '.join([*forms, f'or {_OWN}' if forms else _OWN])}{_EXAMPLE}"


def read_results(path: str | Path, *, model: str = "") -> list[Trajectory]:
    """Read the trajectories of one results file.

    Args:
        path: A ``.json`` or ``.jsonl`` file, which may be gzipped, or the folder of a tau2 run.
        model: Name of the agent's model; replaces the name in the file.

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
        found = own_records(text, where, model)
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


def own_records(text: str, where: str, model: str = "") -> list[Trajectory]:
    """Return the trajectories in a JSONL text that ``trace-gym rollout`` wrote.

    Raises:
        ReadError: A line is not a trajectory, or two lines are the same sample of the same model.
    """
    found: list[Trajectory] = []
    lines: dict[tuple[str, str], int] = {}
    for number, read in trajectory_lines(text, where, expected()):
        if (first := lines.setdefault((read.model, read.id), number)) != number:
            raise ReadError(
                f"{where}, line {number}: {read.id} of {read.model or 'one model'} is there twice, first in line "
                f"{first}: expected one line for each sample. Repeat the `trace-gym rollout` command, which removes "
                "duplicates, or delete the line"
            )
        found.append(read.model_copy(update={"model": model}) if model else read)
    return found


def _shape(data: Any) -> str:
    if isinstance(data, dict):
        return f"a JSON object with the keys {', '.join(list(data)[:6]) or '(none)'}"
    return f"a JSON {type(data).__name__} ({str(data)[:40]})"
