"""Read any results file: the format is told from what is inside, never from a flag."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from trace_gym.errors import ReadError
from trace_gym.files import read_text
from trace_gym.parsing import first_fault, json_lines, parse_json
from trace_gym.targets.tau2.results import read_tau2, read_tau_bench
from trace_gym.types import Trajectory

EXPECTED = (
    "Expected a tau-bench results list, such as [{task_id, reward, info, traj, trial}, ...]; "
    "a tau2 results file {info, tasks, simulations} or its folder; or our own trajectories, one JSON object a line "
    "in a .jsonl file (each may be gzipped). For example: trace-gym diagnose data/simulations/my_run/results.json"
)


def read_results(path: str | Path, *, model: str = "") -> list[Trajectory]:
    """Read the trajectories of one results file.

    Args:
        path: ``.json``, ``.jsonl``, either gzipped, or the folder of a tau2 run.
        model: The agent's model, where the file does not say it; replaces it where it does.

    Raises:
        ReadError: The file is missing, empty, truncated or of another format; the message says what was found,
            what is expected, and an example.
    """
    path = Path(path)
    where = str(path)
    if path.is_dir():
        where, path = f"{where} (a folder)", path / "results.json"
    text = read_text(path, EXPECTED)
    if not text.strip():
        raise ReadError(f"{path} is empty. {EXPECTED}")
    if path.name.removesuffix(".gz").endswith(".jsonl") or _is_own(text):
        found = own_records(text, where, model)
    else:
        found = _foreign(parse_json(text, where, EXPECTED, nan=True), path, where, model)
    if not found:
        raise ReadError(f"{where} holds no episode. {EXPECTED}")
    return found


def _foreign(data: Any, path: Path, where: str, model: str) -> list[Trajectory]:
    if isinstance(data, list):
        if data and not (isinstance(data[0], dict) and {"task_id", "reward", "traj"} <= data[0].keys()):
            raise ReadError(f"{where} is a JSON list whose first entry is {_shape(data[0])}. {EXPECTED}")
        return read_tau_bench(data, where, model)
    if not isinstance(data, dict) or not {"info", "tasks"} <= data.keys():
        raise ReadError(f"{where} is {_shape(data)}. {EXPECTED}")
    if not data.get("simulations"):
        data = {**data, "simulations": _simulations(path.parent / "simulations", data.get("simulation_index"))}
    return read_tau2(data, where, model)


def _simulations(folder: Path, index: Any) -> list[Any]:
    """The simulations that tau2 stored in files of their own, beside ``results.json``."""
    files = {file.stem: file for file in sorted(folder.glob("*.json"))}
    listed = [str(entry["id"]) for entry in index or () if isinstance(entry, dict) and "id" in entry]
    if missing := [name for name in listed if name not in files]:
        raise ReadError(
            f"{folder} lacks {len(missing)} of the {len(listed)} simulations that results.json lists, "
            f"{missing[0]}.json first; copy the whole folder of the run"
        )
    return [parse_json(read_text(files[name]), str(files[name]), nan=True) for name in listed or files]


def own_records(text: str, where: str, model: str = "") -> list[Trajectory]:
    """Return the trajectories of a JSONL text of ``trace-gym rollout``.

    Raises:
        ReadError: A line is not a trajectory, or two lines are the same sample of the same model.
    """
    found: list[Trajectory] = []
    lines: dict[tuple[str, str], int] = {}
    for number, row in json_lines(text, where, EXPECTED):
        try:
            read = Trajectory.model_validate(row)
            _ = read.calls
        except ValidationError as error:
            raise ReadError(f"{where}, line {number}: {first_fault(error)}. {EXPECTED}") from None
        except (LookupError, TypeError, AttributeError):
            raise ReadError(f"{where}, line {number}: a tool call is not an OpenAI tool call. {EXPECTED}") from None
        if (first := lines.setdefault((read.model, read.id), number)) != number:
            raise ReadError(
                f"{where}, line {number}: {read.id} of {read.model or 'one model'} is there twice, first in line "
                f"{first}: expected one line for each sample. Repeat the `trace-gym rollout` command, which removes "
                "duplicates, or delete the line"
            )
        found.append(read.model_copy(update={"model": model}) if model else read)
    return found


def _is_own(text: str) -> bool:
    """Whether a text holds records of ``trace-gym rollout``, whatever the file is called."""
    try:
        row = parse_json(text.strip().partition("\n")[0], "")
    except ReadError:
        return False
    return isinstance(row, dict) and {"id", "task", "messages"} <= row.keys()


def _shape(data: Any) -> str:
    if isinstance(data, dict):
        return f"a JSON object with the keys {', '.join(list(data)[:6]) or '(none)'}"
    return f"a JSON {type(data).__name__} ({str(data)[:40]})"
