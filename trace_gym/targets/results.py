"""Read any results file: the format is told from what is inside, never from a flag."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from trace_gym.errors import ReadError
from trace_gym.targets.tau2.results import read_tau2, read_tau_bench
from trace_gym.types import Trajectory

EXPECTED = (
    "expected a tau-bench results list, such as [{task_id, reward, info, traj, trial}, ...]; "
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
    text = _text(path)
    if path.name.removesuffix(".gz").endswith(".jsonl"):
        found = _own(text, where, model)
    else:
        found = _foreign(_json(text, where), path, where, model)
    if not found:
        raise ReadError(f"{where} holds no episode; {EXPECTED}")
    return found


def _foreign(data: Any, path: Path, where: str, model: str) -> list[Trajectory]:
    if isinstance(data, list):
        if data and not (isinstance(data[0], dict) and {"task_id", "reward", "traj"} <= data[0].keys()):
            raise ReadError(f"{where} is a JSON list whose first entry is {_shape(data[0])}; {EXPECTED}")
        return read_tau_bench(data, where, model)
    if not isinstance(data, dict) or not {"info", "tasks"} <= data.keys():
        raise ReadError(f"{where} is {_shape(data)}; {EXPECTED}")
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
    return [_json(_text(files[name]), str(files[name])) for name in listed or files]


def _own(text: str, where: str, model: str) -> list[Trajectory]:
    """Our own records, one a line."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            read = Trajectory.model_validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"]) or "the line"
            raise ReadError(f"{where}, line {number}: {place}: {first['msg']}; {EXPECTED}") from None
        found.append(read.model_copy(update={"model": model}) if model else read)
    return found


def _text(path: Path) -> str:
    """The file's text, gunzipped where its first bytes say so."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise ReadError(f"there is no file {path}; {EXPECTED}") from None
    except OSError as error:
        raise ReadError(f"{path} cannot be read ({error.strerror}); {EXPECTED}") from None
    try:
        raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    except (EOFError, OSError, zlib.error) as error:
        raise ReadError(f"{path} is a damaged or truncated gzip file ({error}); copy or download it again") from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReadError(f"{path} is not text in UTF-8 (byte {error.start}); {EXPECTED}") from None
    if not text.strip():
        raise ReadError(f"{path} is empty; {EXPECTED}")
    return text


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        broke_off = error.pos >= len(text.rstrip()) - 1 or error.msg.startswith("Unterminated")
        if text.lstrip()[0] in "[{" and broke_off:
            raise ReadError(
                f"{where} is truncated: its JSON breaks off at line {error.lineno}; copy it again"
            ) from None
        raise ReadError(f"{where} is not JSON ({error}); it begins {text[:40]!r}; {EXPECTED}") from None
    except RecursionError:
        raise ReadError(f"{where} is JSON nested too deep to be results; {EXPECTED}") from None


def _shape(data: Any) -> str:
    if isinstance(data, dict):
        return f"a JSON object with the keys {', '.join(list(data)[:6]) or '(none)'}"
    return f"a JSON {type(data).__name__} ({str(data)[:40]})"
