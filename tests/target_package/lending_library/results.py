"""Reader of the logs in which the library's benchmark stores its results."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from trace_gym.targets.base import Reader
from trace_gym.targets.source import Entry, Outline, Source
from trace_gym.types import Call, Trajectory

KINDS = {"search": "read", "lend": "write", "take_back": "write"}


def _is_log(outline: Outline) -> bool:
    return outline.has("visits")


def _read(source: Source) -> Iterator[Trajectory]:
    numbers = count()

    def convert(entry: Entry) -> Trajectory:
        visit, name = entry.data, f"visit-{next(numbers)}"
        return Trajectory(
            id=name,
            task=name,
            model=source.model or source.outline.members["agent"],
            success=visit["served"],
            reward=float(visit["served"]),
            messages=visit["messages"],
            tools=KINDS,
            gold=[Call(name, arguments) for name, arguments in visit["expected"]],
        )

    yield from source.convert(source.entries(), convert)


READER = Reader("a visit log {agent, visits}", _is_log, _read, main_file="visits.json", records="visits")
