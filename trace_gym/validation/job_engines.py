"""Execution engines: checks run in this process, in worker processes, or on a Ray cluster.

A finding depends only on the job and the property code, so all engines return the same verdict. The engines differ in
speed and isolation. Worker processes and Ray stop a check that hangs at the time limit, and if a worker dies, only the
finding that it was computing is lost.
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
from trace_gym.validation.context import NO_INPUTS, Context, Profile, ValidationInputs
from trace_gym.validation.properties import PROPERTIES, CheckFailed, describe_exception
from trace_gym.validation.source import load
from trace_gym.validation.third_party.black_box_context import BlackBoxContext
from trace_gym.validation.third_party.checks import BlackBoxFindings
from trace_gym.validation.third_party.uri import is_third_party


@dataclass(frozen=True, slots=True)
class ValidationJob:
    """Picklable description of a validation. A finding depends only on the job and on the code of the property."""

    reference: str
    """Location of the world that is shown to users and in snippets: the path of its module, or ``module:name``."""
    scenarios: tuple[Scenario, ...]
    profile: Profile
    inputs: ValidationInputs = NO_INPUTS
    alone: bool = False
    """True if only one process may use the environment at a time."""

    @property
    def place(self) -> str:
        """Reference with an absolute path, which is valid in processes with a different working directory."""
        return str(Path(self.reference).resolve()) if self.reference.endswith(".py") else self.reference


class FindingSource(Protocol):
    """Interface of an object that computes the findings for one environment in this process."""

    def __call__(self, code: str) -> Finding: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class WorldFindings:
    """Findings for a world."""

    context: Context
    scenarios: Sequence[Scenario]

    def __call__(self, code: str) -> Finding:
        return PROPERTIES[code](self.context.world, self.scenarios, self.context)

    def close(self) -> None:
        """Do nothing, because a world has no resources to release."""


def check(job: ValidationJob, place: str, code: str) -> Finding:
    """Return the finding for a property code. Plans and rollouts are cached for later properties of the same job."""
    return _finding_source(job, place)(code)


@lru_cache(maxsize=1)
def _finding_source(job: ValidationJob, place: str) -> FindingSource:
    if is_third_party(place):
        seeds = [s.seed for s in job.scenarios]
        return BlackBoxFindings(BlackBoxContext(place, seeds, job.profile, job.inputs))
    return WorldFindings(Context(load(place)[0], job.reference, job.profile, job.inputs), job.scenarios)


def finding_or_failure(source: Callable[[str], Finding], code: str) -> Finding:
    """Return the finding for a property, or a failed finding if any exception is raised.

    Use this function only where Ctrl-C cannot interrupt the process, because it catches every `BaseException`.
    """
    try:
        return source(code)
    except BaseException as error:
        return PROPERTIES[code].failed(CheckFailed(f"the check {describe_exception(error)}"))


def on_ray(job: ValidationJob, codes: Sequence[str], workers: int, seconds: float | None) -> Iterator[Finding]:
    """Yield findings from the Ray cluster at ``RAY_ADDRESS``, or from a local cluster with `workers` CPUs.

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
                message = f"the process that checked it died: {type(error).__name__}"
                yield PROPERTIES[code].failed(CheckFailed(message))
    finally:
        if started:
            ray.shutdown()
