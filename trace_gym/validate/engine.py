"""Where properties are checked: in this process, in processes of their own, or on a Ray cluster.

A finding depends on the job and the code of its property alone, so the verdict is the same wherever it is reached.
The engines differ in speed, and in what they survive: a process that hangs is stopped when the time is over, and
one that dies costs the finding that it was working on.
"""

from __future__ import annotations

import logging
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from trace_gym.errors import MissingExtra
from trace_gym.types import Finding, Scenario
from trace_gym.validate.context import NOTHING, Context, Given, Profile
from trace_gym.validate.foreign.address import is_foreign
from trace_gym.validate.foreign.asked import Asked
from trace_gym.validate.properties import PROPERTIES, Broken, raised
from trace_gym.validate.source import load


@dataclass(frozen=True, slots=True)
class Job:
    """All that a finding depends on besides the code of its property. It travels to other processes."""

    reference: str
    """How people find the world: the path of its module, or ``module:name``; stands in snippets."""
    scenarios: tuple[Scenario, ...]
    profile: Profile
    given: Given = NOTHING
    alone: bool = False
    """One process is to ask at a time."""

    @property
    def place(self) -> str:
        """The reference as other processes find it, wherever they work."""
        return str(Path(self.reference).resolve()) if self.reference.endswith(".py") else self.reference


class Asking(Protocol):
    """What answers for one environment in one process, and keeps what several properties look at."""

    def __call__(self, code: str) -> Finding: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class OfWorld:
    """Answers for a world."""

    context: Context
    scenarios: Sequence[Scenario]

    def __call__(self, code: str) -> Finding:
        return PROPERTIES[code](self.context.world, self.scenarios, self.context)

    def close(self) -> None:
        """A world is never opened."""


def check(job: Job, place: str, code: str) -> Finding:
    """One finding. Plans and plays are kept for the next property of the same job."""
    return _asking(job, place)(code)


@lru_cache(maxsize=1)
def _asking(job: Job, place: str) -> Asking:
    if is_foreign(place):
        return Asked(place, [s.seed for s in job.scenarios], job.profile, job.given)
    return OfWorld(Context(load(place)[0], job.reference, job.profile, job.given), job.scenarios)


def blamed(ask: Callable[[str], Finding], code: str) -> Finding:
    """Return a finding where Ctrl-C cannot arrive: whatever is raised is the environment's failure."""
    try:
        return ask(code)
    except BaseException as error:
        return PROPERTIES[code].failed(Broken(f"the check {raised(error)}"))


def on_ray(job: Job, codes: Sequence[str], workers: int, seconds: float | None) -> Iterator[Finding]:
    """On the Ray cluster that ``RAY_ADDRESS`` names, or on one of `workers` CPUs started here.

    Raises:
        MissingExtra: Ray is not installed.
    """
    try:
        import ray
    except ImportError:
        raise MissingExtra("engine ray needs Ray: pip install 'trace-gym[ray]'") from None
    started = not ray.is_initialized()
    if started:
        address = os.environ.get("RAY_ADDRESS")
        paths = {"env_vars": {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}}
        here: dict[str, Any] = (
            {} if address else {"num_cpus": workers, "include_dashboard": False, "runtime_env": paths}
        )
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **here)
    end = time.monotonic() + (math.inf if seconds is None else seconds)
    try:
        task = ray.remote(max_retries=0)(check)
        pending = {task.remote(job, job.place, code): code for code in codes}
        while pending:
            left = None if end == math.inf else max(0.0, end - time.monotonic())
            ready, _ = ray.wait(list(pending), num_returns=1, timeout=left)
            if not ready:
                for late in pending:
                    ray.cancel(late, force=True)
                return
            code = pending.pop(ready[0])
            try:
                yield ray.get(ready[0])
            except ray.exceptions.RayError as error:
                says = f"the process that checked it died: {type(error).__name__}"
                yield PROPERTIES[code].failed(Broken(says))
    finally:
        if started:
            ray.shutdown()
