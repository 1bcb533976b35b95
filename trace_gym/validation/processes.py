"""Launchers of the worker processes of a validation.

The caller's process may have other threads. Forking it would copy their locks in a locked state. A `Coordinator`
therefore starts one fresh process, which imports the validation modules once and forks every worker. The sandbox
process has only one thread and forks its workers directly, with a `LocalLauncher`.
"""

from __future__ import annotations

import gc
import json
import math
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Protocol, Self

from trace_gym.errors import ConfigError, EnvBug, EnvNotFound, MissingExtra, ReadError, TraceGymError
from trace_gym.types import Finding
from trace_gym.validation import worker_process
from trace_gym.validation.job_engines import ValidationJob
from trace_gym.validation.stacks import StackFile
from trace_gym.validation.third_party.black_box import Busy
from trace_gym.validation.worker_process import ENDING, Worker, begin_process, begin_worker, kill, new_context

ProcessFacts = dict[str, Any]
"""Plain data about an environment."""


@dataclass(frozen=True, slots=True)
class TimedOut:
    """Result of a process that exceeded its time limit."""

    place: str
    """Code location that the process had reached at the time limit; an empty string if it is unknown."""


class ProcessLauncher(Protocol):
    """Interface for launching the worker processes of one validation. It is a context manager."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...

    def facts(self, what: str, make: Callable[[], ProcessFacts], seconds: float | None) -> ProcessFacts | TimedOut:
        """Run a function in a separate process, because an environment may hang or exit, and return the result.

        Args:
            what: Name of the environment, for error messages.
            make: A picklable function.
            seconds: Time limit; None for no limit.

        Raises:
            TraceGymError: The exception that the function raised.
            EnvBug: The process ended early, or the function raised an exception of a different type.
        """
        ...

    def findings(
        self, job: ValidationJob, codes: Sequence[str], workers: int, seconds: float | None
    ) -> Iterator[Finding]:
        """Yield findings from up to `workers` concurrent checks, each in a process that can be stopped."""
        ...


def process_launcher() -> ProcessLauncher:
    """Return the process launcher for this system."""
    return Coordinator() if worker_process.START == "coordinator" else LocalLauncher()


class LocalLauncher:
    """Launcher that starts workers from this process.

    Args:
        caller: Connection to the process that requests the work. Workers are stopped when it sends data or closes.
    """

    def __init__(self, caller: Connection | None = None) -> None:
        self._caller = [caller] if caller is not None else []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Do nothing, because each method stops the processes that it started."""

    def facts(self, what: str, make: Callable[[], ProcessFacts], seconds: float | None) -> ProcessFacts | TimedOut:
        """Implement `ProcessLauncher.facts`."""
        fresh = new_context()
        pipe, child_pipe = fresh.Pipe(duplex=False)
        inherited = [pipe, *self._caller] if worker_process.START == "fork" else []
        log = StackFile(seconds)
        process = fresh.Process(target=_send, args=(child_pipe, what, make, os.getpid(), inherited, log), daemon=True)
        process.start()
        child_pipe.close()
        try:
            if pipe not in wait([pipe, *self._caller], seconds):
                return TimedOut(log.place())
            found: ProcessFacts = json.loads(pipe.recv_bytes())
        except (EOFError, ConnectionError):
            process.join(ENDING)
            at = f", in {place}" if (place := log.place()) else ""
            raise EnvBug(f"{what} ends the process that loads it, with exit code {process.exitcode}{at}") from None
        finally:
            kill(process)
            pipe.close()
            log.close()
        if "error" in found:
            raise _RAISED[found["error"]](found["message"])
        return found

    def findings(
        self, job: ValidationJob, codes: Sequence[str], workers: int, seconds: float | None
    ) -> Iterator[Finding]:
        """Implement `ProcessLauncher.findings`."""
        end = time.monotonic() + (math.inf if seconds is None else seconds)
        waiting = list(codes)
        busy: list[Worker] = []
        try:
            while waiting or busy:
                while waiting and len(busy) < workers:
                    most = None if end == math.inf else end - time.monotonic()
                    busy.append(Worker(job, [*(w.pipe for w in busy), *self._caller], most))
                    busy[-1].ask_next(waiting, busy)
                left = None if end == math.inf else max(0.0, end - time.monotonic())
                ready = wait([*(w.pipe for w in busy), *self._caller], left)
                if not ready:
                    yield from (worker.unfinished_finding(seconds) for worker in busy)
                if not ready or set(ready) & {*self._caller}:
                    return
                for worker in [w for w in busy if w.pipe in ready]:
                    yield worker.answer()
                    if waiting and worker.alive:
                        worker.ask_next(waiting, busy)
                    else:
                        busy.remove(worker)
                        worker.stop()
        finally:
            for worker in busy:
                worker.stop()


class Coordinator:
    """Launcher that starts all workers from one fresh process.

    The process starts at the first request and ends when the context manager exits.
    """

    def __init__(self) -> None:
        self._pipe: Connection | None = None
        self._process: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pipe is not None:
            self._pipe.close()  # the coordinator then stops its workers and exits
            self._process.join(ENDING)
            self._process.kill()
            self._process.join()
            self._process.close()

    def facts(self, what: str, make: Callable[[], ProcessFacts], seconds: float | None) -> ProcessFacts | TimedOut:
        """Implement `ProcessLauncher.facts`."""
        match list(self._request("facts", what, make, seconds)):
            case [(str(kind), str(message))]:
                raise _RAISED[kind](message)
            case [dict() | TimedOut() as found]:
                return found
        raise EnvBug(f"{what} cannot be loaded: the process that starts its workers was killed. Try again")

    def findings(
        self, job: ValidationJob, codes: Sequence[str], workers: int, seconds: float | None
    ) -> Iterator[Finding]:
        """Implement `ProcessLauncher.findings`."""
        yield from self._request("findings", job, codes, workers, seconds)

    def _request(self, what: str, *arguments: Any) -> Iterator[Any]:
        """Send a request to the fresh process and yield its responses. The marker `_OVER` ends the responses."""
        if self._pipe is None:
            fresh = multiprocessing.get_context("spawn")
            self._pipe, child_pipe = fresh.Pipe()
            self._process = fresh.Process(target=_coordinate, args=(child_pipe, os.getpid()))
            self._process.start()
            child_pipe.close()
        self._pipe.send((what, arguments))
        with suppress(EOFError, ConnectionError):  # the coordinator was killed, so the remaining checks are unfinished
            while (made := self._pipe.recv()) != _OVER:
                yield made


_RAISED: dict[str, type[TraceGymError]] = {
    kind.__name__: kind for kind in (Busy, ConfigError, EnvBug, EnvNotFound, MissingExtra, ReadError)
}
_OVER = "over"


def _coordinate(pipe: Connection, parent: int) -> None:
    """Serve the requests of a `Coordinator`.

    This process imports the validation modules and runs no environment.
    """
    begin_process(parent)
    worker_process.START = "fork"
    gc.freeze()  # garbage collection in a fork would write to, and thus copy, every shared memory page
    local = LocalLauncher(pipe)
    with suppress(EOFError, ConnectionError):  # the caller has finished or died
        while True:
            what, arguments = pipe.recv()
            if what == "facts":
                try:
                    pipe.send(local.facts(*arguments))
                except tuple(_RAISED.values()) as error:
                    pipe.send((_name(error), str(error)))
            else:
                for finding in local.findings(*arguments):
                    pipe.send(finding)
            pipe.send(_OVER)


def _send(
    pipe: Connection,
    what: str,
    make: Callable[[], ProcessFacts],
    parent: int,
    inherited: Sequence[Connection],
    log: StackFile,
) -> None:
    """Run a function and send its result as JSON, because unpickling could make the receiver import the environment."""
    begin_worker(parent, inherited)
    log.write_at_end()
    try:
        made = make()
    except tuple(_RAISED.values()) as error:
        made = {"error": _name(error), "message": str(error)}
    except BaseException as error:
        made = {"error": EnvBug.__name__, "message": f"{what} cannot be loaded: {type(error).__name__}: {error}"}
    pipe.send_bytes(json.dumps(made).encode())


def _name(error: BaseException) -> str:
    return next(name for name, kind in _RAISED.items() if isinstance(error, kind))
