"""Where properties are checked: in this process, in processes of their own, or on a Ray cluster.

A finding depends on the job and the code of its property alone, so the verdict is the same wherever it is reached.
The engines differ in speed, and in what they survive: a process that hangs is stopped when the time is over, and
one that dies costs the finding that it was working on.
"""

from __future__ import annotations

import logging
import math
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkContext, SpawnContext
from pathlib import Path
from typing import Any, Protocol

from trace_gym.errors import MissingExtra
from trace_gym.types import Finding, Scenario
from trace_gym.validate.context import NOTHING, Context, Given, Profile
from trace_gym.validate.foreign.address import is_foreign
from trace_gym.validate.foreign.asked import Asked
from trace_gym.validate.lifeline import die_with_parent
from trace_gym.validate.properties import PROPERTIES, Broken, raised
from trace_gym.validate.source import load

START = "spawn"
"""How worker processes start: a forked one would share locks that other threads hold. The sandbox, whose process has
one thread, sets ``fork``, which saves each worker the imports."""
ENDING = 2.0
"""Seconds that a process may take to end once its pipe is closed."""


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


Engine = Callable[[Job, Sequence[str], int, float | None], Iterator[Finding]]
"""Job, codes, workers and seconds -> findings as they come; what the time did not suffice for is left out."""


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


def process_context() -> SpawnContext | ForkContext:
    return multiprocessing.get_context("fork") if START == "fork" else multiprocessing.get_context("spawn")


def begin_worker(parent: int) -> None:
    """Prepare a process that runs an environment: it dies with its parent, and its prints are no results."""
    die_with_parent(parent)
    os.dup2(2, 1)


def processes(job: Job, codes: Sequence[str], workers: int, seconds: float | None) -> Iterator[Finding]:
    """As many properties at once as there are workers, each in a process that can be stopped."""
    end = time.monotonic() + (math.inf if seconds is None else seconds)
    waiting = list(codes)
    busy: list[_Worker] = []
    try:
        while waiting or busy:
            while waiting and len(busy) < workers:
                busy.append(_Worker(job))
                busy[-1].ask(waiting.pop(0))
            left = None if end == math.inf else max(0.0, end - time.monotonic())
            if not (ready := wait([w.pipe for w in busy], left)):
                return
            for worker in [w for w in busy if w.pipe in ready]:
                yield worker.answer()
                if waiting and worker.alive:
                    worker.ask(waiting.pop(0))
                else:
                    busy.remove(worker)
                    worker.stop()
    finally:
        for worker in busy:
            worker.stop()


class _Worker:
    """A process that answers one code at a time."""

    def __init__(self, job: Job) -> None:
        fresh = process_context()
        self.pipe, theirs = fresh.Pipe()
        self.process = fresh.Process(target=_serve, args=(theirs, job, job.place, os.getpid()))
        self.process.start()
        theirs.close()
        self.alive, self.code = True, ""

    def ask(self, code: str) -> None:
        self.code = code
        self.pipe.send(code)

    def answer(self) -> Finding:
        try:
            found = Finding.model_validate_json(self.pipe.recv_bytes())
        except (EOFError, ConnectionError):
            self.alive = False
            self.process.join(ENDING)  # one that closed its pipe may run on, and is killed
            says = f"the process that checked it died, with exit code {self.process.exitcode}"
            return PROPERTIES[self.code].failed(Broken(says))
        return found

    def stop(self) -> None:
        """Kill the process and what it has started."""
        if self.process.pid is not None and self.process.is_alive():
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.kill()
        self.process.join()
        self.pipe.close()


def _serve(pipe: Connection, job: Job, place: str, parent: int) -> None:
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)  # Ctrl-C is for the parent, and the group is stopped as one
    begin_worker(parent)
    with suppress(EOFError, ConnectionError):  # the parent is gone
        while True:
            found = blamed(partial(check, job, place), pipe.recv())
            pipe.send_bytes(found.model_dump_json().encode())


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


ENGINES: dict[str, Engine] = {"processes": processes, "ray": on_ray}
