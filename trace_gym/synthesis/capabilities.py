"""Reader of files that list the capabilities to write environments for."""

from __future__ import annotations

import json
import re
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from trace_gym.diagnosis import Diagnosis
from trace_gym.errors import ReadError
from trace_gym.files import read_text
from trace_gym.parsing import first_fault, parse_json, parse_yaml
from trace_gym.types import Capability


def read_capabilities(path: Path) -> list[Capability]:
    """Read capabilities from a file: the selected ones of a diagnosis, or a list of names and descriptions.

    Raises:
        ReadError: The file does not exist, or contains neither of the two.
    """
    text = read_text(path)
    is_json = text.lstrip().startswith("{") and path.suffix not in (".yaml", ".yml")  # YAML parses slowly
    data = parse_json(text, str(path)) if is_json else parse_yaml(text, str(path))
    blank = {"coverage": 0.0, "er_failed": None, "er_passed": None, "gap": None, "analyst": "given"}
    try:
        if isinstance(data, dict):
            return list(Diagnosis.model_validate_json(json.dumps(data, default=str)).selected)
        if not isinstance(data, list) or not all(isinstance(row, dict) for row in data):
            raise _no_capabilities(path, f"found {_kind(data)}")
        found = TypeAdapter(list[Capability]).validate_python([{**blank, **row} for row in data])
    except ValidationError as error:
        raise _no_capabilities(path, first_fault(error)) from None
    if not found:
        raise ReadError(f"{path} contains no capabilities: found an empty list, expected at least one capability")
    if wrong := [c.name for c in found if not re.fullmatch(r"[a-z][a-z0-9_]*", c.name)]:
        raise ReadError(
            f"invalid capability name in {path}: found {wrong[0]!r}, expected lower-case letters, digits and "
            "underscores. Correct the name"
        )
    return found


def _no_capabilities(path: Path, reason: str) -> ReadError:
    return ReadError(
        f"{path} is not a valid file of capabilities: {reason}; expected a file that `trace-gym diagnose --out` wrote, "
        "or a list of objects such as {name: find_refunds, description: Find the refund of an order.}. Correct the file"
    )


def _kind(data: object) -> str:
    if isinstance(data, list):
        return f"a list with {next(_kind(row) for row in data if not isinstance(row, dict))}"
    return "nothing" if data is None else f"{data!r:.60}"
