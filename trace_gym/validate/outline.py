"""The part of an environment that is needed to plan its validation, read by a separate process.

An environment may hang or end the process that loads it. A separate process can be stopped, and its end is noticed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from trace_gym.errors import ConfigError, EnvBug, EnvNotFound, MissingExtra, ReadError, TraceGymError
from trace_gym.validate.engine import ENDING, begin_worker, process_context
from trace_gym.validate.foreign.address import open_patiently
from trace_gym.validate.foreign.box import Busy, exits_raise
from trace_gym.validate.loading import declaration_faults
from trace_gym.validate.source import Target, load

_RAISED: dict[str, type[TraceGymError]] = {
    kind.__name__: kind for kind in (Busy, ConfigError, EnvBug, EnvNotFound, MissingExtra, ReadError)
}


@dataclass(frozen=True, slots=True)
class Outline:
    """The outline of a world."""

    reference: str
    env: str = ""
    levels: int = 0
    """0 where the class attributes are wrong, which a property reports."""


@dataclass(frozen=True, slots=True)
class ForeignOutline:
    """The outline of an environment of another library."""

    problems: int | None
    """How many problems there are; None where every seed has one."""
    served: bool
    """Whether it runs in a process that others have started."""


def outline(target: Target, seconds: float | None) -> Outline | None:
    """Load a world in a separate process, and return its outline; None if it took too long.

    Raises:
        EnvBug: It cannot be loaded, or ends the process.
        EnvNotFound: There is no such environment.
        ReadError: There is no such file.
    """
    found = _from_process(str(target), partial(_of_world, target), seconds)
    return None if found is None else Outline(**found)


def foreign_outline(address: str, seconds: float | None) -> ForeignOutline | None:
    """Open an environment of another library in a separate process, and return its outline; None if it took too long.

    Raises:
        ConfigError: The address, or one of its options, is not valid.
        EnvNotFound, ReadError, MissingExtra: There is no such environment, or what it needs is missing.
        EnvBug: It cannot be made, or ends the process.
    """
    found = _from_process(address, partial(foreign_facts, address), seconds)
    return None if found is None else ForeignOutline(**found)


def foreign_facts(address: str) -> dict[str, Any]:
    """Open an environment of another library in this process, and return its outline as plain data."""
    with exits_raise(), closing(open_patiently(address)) as box:
        return asdict(ForeignOutline(box.problems, box.served))


def _of_world(target: Target) -> dict[str, Any]:
    world, reference = load(target)
    if declaration_faults(world):
        return {"reference": reference}
    return {"reference": reference, "env": world.id, "levels": len(world.levels)}


def _from_process(what: str, make: Callable[[], dict[str, Any]], seconds: float | None) -> dict[str, Any] | None:
    """Return what a function returns in a separate process; None if it took too long.

    Raises:
        TraceGymError: What the function raises.
        EnvBug: The process ends before, or the function raises something else.
    """
    fresh = process_context()
    pipe, theirs = fresh.Pipe(duplex=False)
    process = fresh.Process(target=_send, args=(theirs, what, make, os.getpid()), daemon=True)
    process.start()
    theirs.close()
    try:
        if not pipe.poll(seconds):
            return None
        found: dict[str, Any] = json.loads(pipe.recv_bytes())
    except (EOFError, ConnectionError):
        process.join(ENDING)
        raise EnvBug(f"{what} ends the process that loads it, with exit code {process.exitcode}") from None
    finally:
        process.kill()
        process.join()
        pipe.close()
    if "error" in found:
        raise _RAISED[found["error"]](found["says"])
    return found


def _send(pipe: Connection, what: str, make: Callable[[], dict[str, Any]], parent: int) -> None:
    """Send the result as JSON: unpickling an object of the module's would import the module."""
    begin_worker(parent)
    try:
        made = make()
    except tuple(_RAISED.values()) as error:
        kind = next(name for name, kind in _RAISED.items() if isinstance(error, kind))
        made = {"error": kind, "says": str(error)}
    except BaseException as error:
        made = {"error": EnvBug.__name__, "says": f"{what} cannot be loaded: {type(error).__name__}: {error}"}
    pipe.send_bytes(json.dumps(made).encode())
