"""Outline of an environment: basic facts, such as the number of levels, for planning its validation.

The facts are read in a separate process, because an environment may hang or exit when it is loaded. A separate process
can be stopped, and its exit can be detected.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from trace_gym.validation.loading import declaration_errors
from trace_gym.validation.processes import ProcessLauncher, TimedOut
from trace_gym.validation.source import EnvironmentReference, load
from trace_gym.validation.third_party.black_box import exits_raise
from trace_gym.validation.third_party.uri import open_with_retry


@dataclass(frozen=True, slots=True)
class WorldOutline:
    """Outline of a world."""

    reference: str
    env: str = ""
    levels: int = 0
    """Number of levels; 0 if the class attributes are invalid, which TG001 reports."""


@dataclass(frozen=True, slots=True)
class BlackBoxOutline:
    """Outline of a third-party environment."""

    problems: int | None
    """Number of problems; None if every seed is a problem."""
    served: bool
    """True if the environment runs in an existing server process."""


def outline(place: ProcessLauncher, target: EnvironmentReference, seconds: float | None) -> WorldOutline | TimedOut:
    """Load a world in a separate process and return its outline.

    Raises:
        EnvBug: The world cannot be loaded, or ends the process.
        EnvNotFound: The environment does not exist.
        ReadError: The file does not exist.
    """
    found = place.facts(str(target), partial(_of_world, target), seconds)
    return found if isinstance(found, TimedOut) else WorldOutline(**found)


def black_box_outline(place: ProcessLauncher, address: str, seconds: float | None) -> BlackBoxOutline | TimedOut:
    """Open a third-party environment in a separate process and return its outline.

    Raises:
        ConfigError: The URI, or one of its options, is not valid.
        EnvNotFound, ReadError, MissingExtra: The environment or one of its requirements does not exist.
        EnvBug: The environment cannot be created, or ends the process.
    """
    found = place.facts(address, partial(black_box_facts, address), seconds)
    return found if isinstance(found, TimedOut) else BlackBoxOutline(**found)


def black_box_facts(address: str) -> dict[str, Any]:
    """Open a third-party environment in this process and return its outline as plain data."""
    with exits_raise(), closing(open_with_retry(address)) as box:
        return asdict(BlackBoxOutline(box.problems, box.served))


def _of_world(target: EnvironmentReference) -> dict[str, Any]:
    world, reference = load(target)
    if declaration_errors(world):
        return {"reference": reference}
    return {"reference": reference, "env": world.id, "levels": len(world.levels)}
