"""Reader of the logs in which the library's benchmark stores its results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trace_gym.targets.base import Reader
from trace_gym.types import Call, Trajectory

KINDS = {"search": "read", "lend": "write", "take_back": "write"}


def _is_log(data: Any) -> bool:
    return isinstance(data, dict) and "visits" in data


def _read(data: Any, path: Path, where: str, model: str) -> list[Trajectory]:
    return [
        Trajectory(
            id=f"visit-{number}",
            task=f"visit-{number}",
            model=model or data["agent"],
            success=visit["served"],
            reward=float(visit["served"]),
            messages=visit["messages"],
            tools=KINDS,
            gold=[Call(name, arguments) for name, arguments in visit["expected"]],
        )
        for number, visit in enumerate(data["visits"])
    ]


READER = Reader("a visit log {agent, visits}", _is_log, _read, "visits.json")
