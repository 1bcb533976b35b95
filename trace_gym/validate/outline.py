"""The part of an environment that is needed to plan its validation, read by a separate process.

An environment may hang or end the process that loads it. A separate process can be stopped, and its end is noticed.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from trace_gym.validate.foreign.address import open_patiently
from trace_gym.validate.foreign.box import exits_raise
from trace_gym.validate.loading import declaration_faults
from trace_gym.validate.processes import Hanging, Workplace
from trace_gym.validate.source import Target, load


@dataclass(frozen=True, slots=True)
class Outline:
    """The outline of a world."""

    reference: str
    env: str = ""
    levels: int = 0
    """0 if the class attributes are invalid, which a property reports."""


@dataclass(frozen=True, slots=True)
class ForeignOutline:
    """The outline of an environment of another library."""

    problems: int | None
    """How many problems there are; None where every seed has one."""
    served: bool
    """Whether it runs in a process that others have started."""


def outline(place: Workplace, target: Target, seconds: float | None) -> Outline | Hanging:
    """Load a world in a separate process, and return its outline.

    Raises:
        EnvBug: It cannot be loaded, or ends the process.
        EnvNotFound: There is no such environment.
        ReadError: There is no such file.
    """
    found = place.facts(str(target), partial(_of_world, target), seconds)
    return found if isinstance(found, Hanging) else Outline(**found)


def foreign_outline(place: Workplace, address: str, seconds: float | None) -> ForeignOutline | Hanging:
    """Open an environment of another library in a separate process, and return its outline.

    Raises:
        ConfigError: The address, or one of its options, is not valid.
        EnvNotFound, ReadError, MissingExtra: There is no such environment, or what it needs is missing.
        EnvBug: It cannot be made, or ends the process.
    """
    found = place.facts(address, partial(foreign_facts, address), seconds)
    return found if isinstance(found, Hanging) else ForeignOutline(**found)


def foreign_facts(address: str) -> dict[str, Any]:
    """Open an environment of another library in this process, and return its outline as plain data."""
    with exits_raise(), closing(open_patiently(address)) as box:
        return asdict(ForeignOutline(box.problems, box.served))


def _of_world(target: Target) -> dict[str, Any]:
    world, reference = load(target)
    if declaration_faults(world):
        return {"reference": reference}
    return {"reference": reference, "env": world.id, "levels": len(world.levels)}
