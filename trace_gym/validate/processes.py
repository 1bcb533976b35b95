"""Worker processes that check properties, and the process that starts them.

A worker is a fork of a process that has imported the harness and nothing else. The caller's process cannot be forked,
because a fork would share locks that other threads hold, so a `Coordinator` starts one fresh process, which imports the
harness once and forks every worker. The process of the sandbox has one thread and forks its workers itself.
"""

from __future__ import annotations

import gc
import json
import math
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkContext, SpawnContext
from multiprocessing.process import BaseProcess
from typing import Any, Protocol, Self

from trace_gym.errors import ConfigError, EnvBug, EnvNotFound, MissingExtra, ReadError, TraceGymError
from trace_gym.types import Finding
from trace_gym.validate.engine import Job, blamed, check
from trace_gym.validate.foreign.box import Busy
from trace_gym.validate.lifeline import die_with_parent
from trace_gym.validate.properties import DIED, PROPERTIES, Broken
from trace_gym.validate.stacks import StackFile, not_finished

START = "coordinator" if hasattr(os, "fork") else "spawn"
"""How workers start: as forks of a coordinator, with ``fork`` as forks of this process, which must have one thread, or
with ``spawn`` as fresh interpreters, where the system has no fork."""
ENDING = 2.0
"""Seconds that a process may take to end once its pipe is closed."""


Facts = dict[str, Any]
"""Plain data about an environment."""


@dataclass(frozen=True, slots=True)
class Hanging:
    """The answer of a process that was not finished in time."""

    place: str
    """Where it was; an empty string if that is not known."""


class Workplace(Protocol):
    """What starts the processes of one validation. A context manager."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...

    def facts(self, what: str, make: Callable[[], Facts], seconds: float | None) -> Facts | Hanging:
        """Return what a function returns in a separate process, because an environment may hang or exit.

        Args:
            what: The environment, for error messages.
            make: A function that can be pickled.
            seconds: The time that it has; None if it has no limit.

        Raises:
            TraceGymError: What the function raises.
            EnvBug: The process ends before, or the function raises something else.
        """
        ...

    def findings(self, job: Job, codes: Sequence[str], workers: int, seconds: float | None) -> Iterator[Finding]:
        """Check up to `workers` properties at once, each in a process that can be stopped."""
        ...


def workplace() -> Workplace:
    """Return what starts processes here."""
    return Coordinator() if START == "coordinator" else Local()


class Local:
    """Starts workers from this process.

    Args:
        caller: The connection to the process that asked. All workers are stopped when it is closed.
    """

    def __init__(self, caller: Connection | None = None) -> None:
        self._caller = [caller] if caller is not None else []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Do nothing: every process has been stopped by the method that started it."""

    def facts(self, what: str, make: Callable[[], Facts], seconds: float | None) -> Facts | Hanging:
        """Implement `Workplace.facts`."""
        fresh = _context()
        pipe, theirs = fresh.Pipe(duplex=False)
        held = [pipe, *self._caller] if START == "fork" else []
        log = StackFile(seconds)
        process = fresh.Process(target=_send, args=(theirs, what, make, os.getpid(), held, log), daemon=True)
        process.start()
        theirs.close()
        try:
            if pipe not in wait([pipe, *self._caller], seconds):
                return Hanging(log.place())
            found: Facts = json.loads(pipe.recv_bytes())
        except (EOFError, ConnectionError):
            process.join(ENDING)
            at = f", in {place}" if (place := log.place()) else ""
            raise EnvBug(f"{what} ends the process that loads it, with exit code {process.exitcode}{at}") from None
        finally:
            _kill(process)
            pipe.close()
            log.close()
        if "error" in found:
            raise _RAISED[found["error"]](found["says"])
        return found

    def findings(self, job: Job, codes: Sequence[str], workers: int, seconds: float | None) -> Iterator[Finding]:
        """Implement `Workplace.findings`."""
        end = time.monotonic() + (math.inf if seconds is None else seconds)
        waiting = list(codes)
        busy: list[_Worker] = []
        try:
            while waiting or busy:
                while waiting and len(busy) < workers:
                    most = None if end == math.inf else end - time.monotonic()
                    busy.append(_Worker(job, [*(w.pipe for w in busy), *self._caller], most))
                    busy[-1].ask_next(waiting, busy)
                left = None if end == math.inf else max(0.0, end - time.monotonic())
                ready = wait([*(w.pipe for w in busy), *self._caller], left)
                if not ready:
                    yield from (worker.late(seconds) for worker in busy)
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
    """Starts workers from one fresh process, which starts at the first request and ends with the context."""

    def __init__(self) -> None:
        self._pipe: Connection | None = None
        self._process: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pipe is not None:
            self._pipe.close()  # it then stops its workers and ends
            self._process.join(ENDING)
            self._process.kill()
            self._process.join()
            self._process.close()

    def facts(self, what: str, make: Callable[[], Facts], seconds: float | None) -> Facts | Hanging:
        """Implement `Workplace.facts`."""
        match list(self._asked("facts", what, make, seconds)):
            case [(str(kind), str(says))]:
                raise _RAISED[kind](says)
            case [dict() | Hanging() as found]:
                return found
        raise EnvBug(f"{what} cannot be loaded: the process that starts its workers was killed. Try again")

    def findings(self, job: Job, codes: Sequence[str], workers: int, seconds: float | None) -> Iterator[Finding]:
        """Implement `Workplace.findings`."""
        yield from self._asked("findings", job, codes, workers, seconds)

    def _asked(self, what: str, *arguments: Any) -> Iterator[Any]:
        """Yield the answers to a request, which end with `_OVER`."""
        if self._pipe is None:
            fresh = multiprocessing.get_context("spawn")
            self._pipe, theirs = fresh.Pipe()
            self._process = fresh.Process(target=_coordinate, args=(theirs, os.getpid()))
            self._process.start()
            theirs.close()
        self._pipe.send((what, arguments))
        with suppress(EOFError, ConnectionError):  # it was killed, so the rest is unfinished
            while (made := self._pipe.recv()) != _OVER:
                yield made


_RAISED: dict[str, type[TraceGymError]] = {
    kind.__name__: kind for kind in (Busy, ConfigError, EnvBug, EnvNotFound, MissingExtra, ReadError)
}
_OVER = "over"


def _coordinate(pipe: Connection, parent: int) -> None:
    """Answer the requests of a `Coordinator` in a process that imports the harness and runs no environment."""
    global START
    _begin_process(parent)
    START = "fork"
    gc.freeze()  # a collection in a fork would copy every page that it visits
    local = Local(pipe)
    with suppress(EOFError, ConnectionError):  # the caller is done, or gone
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


def _begin_process(parent: int) -> None:
    """Prepare a process: it dies with its parent, and Ctrl-C in the terminal reaches only the caller."""
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)  # the parent stops the group as a whole
    die_with_parent(parent)


def _begin_worker(parent: int, held: Sequence[Connection]) -> None:
    """Prepare a process that runs an environment: its prints are no results, and it has no other process's pipes."""
    _begin_process(parent)
    for pipe in held:
        pipe.close()
    os.dup2(2, 1)


def _send(
    pipe: Connection, what: str, make: Callable[[], Facts], parent: int, held: Sequence[Connection], log: StackFile
) -> None:
    """Send the result as JSON: unpickling an object of the module would import the module."""
    _begin_worker(parent, held)
    log.write_at_end()
    try:
        made = make()
    except tuple(_RAISED.values()) as error:
        made = {"error": _name(error), "says": str(error)}
    except BaseException as error:
        made = {"error": EnvBug.__name__, "says": f"{what} cannot be loaded: {type(error).__name__}: {error}"}
    pipe.send_bytes(json.dumps(made).encode())


def _name(error: BaseException) -> str:
    return next(name for name, kind in _RAISED.items() if isinstance(error, kind))


def _context() -> SpawnContext | ForkContext:
    return multiprocessing.get_context("fork") if START == "fork" else multiprocessing.get_context("spawn")


class _Worker:
    """A process that checks one property at a time.

    Args:
        job: What it checks.
        others: Pipes of this process, which a fork closes.
        seconds: The time that it has; None if it has no limit.
    """

    def __init__(self, job: Job, others: Sequence[Connection], seconds: float | None) -> None:
        fresh = _context()
        self.pipe, theirs = fresh.Pipe()
        held = [self.pipe, *others] if START == "fork" else []
        self.log = StackFile(seconds)
        self.process = fresh.Process(target=_serve, args=(theirs, job, job.place, os.getpid(), held, self.log))
        self.process.start()
        theirs.close()
        self.alive, self.code = True, ""
        self.families: set[str] = set()

    def ask_next(self, waiting: list[str], busy: Sequence[_Worker]) -> None:
        """Take a code from those that are waiting and ask for its finding.

        Properties of one family share intermediate results, so a family stays with the worker that began it as long as
        another one is left for the other workers.
        """
        others = {f for worker in busy if worker is not self for f in worker.families}
        own = (c for c in waiting if _family(c) in self.families)
        new = (c for c in waiting if _family(c) not in others)
        self.code = next(own, None) or next(new, None) or waiting[0]
        waiting.remove(self.code)
        self.families.add(_family(self.code))
        with suppress(ConnectionError):  # the process died, which shows when its answer is read
            self.pipe.send(self.code)

    def answer(self) -> Finding:
        """Return the finding that was asked for, or a failure if the process died."""
        try:
            found = Finding.model_validate_json(self.pipe.recv_bytes())
        except (EOFError, ConnectionError):
            self.alive = False
            self.process.join(ENDING)  # one that closed its pipe may run on, and is killed
            at = f", in {place}" if (place := self.log.place()) else ""
            says = f"{DIED}, with exit code {self.process.exitcode}{at}"
            return PROPERTIES[self.code].failed(Broken(says))
        return found

    def late(self, seconds: float | None) -> Finding:
        """Return the finding for a check that is not finished when the time is over."""
        return PROPERTIES[self.code].finding("unfinished", not_finished(seconds, self.log.place()))

    def stop(self) -> None:
        """Kill the process and what it has started."""
        _kill(self.process)
        self.pipe.close()
        self.log.close()


def _kill(process: BaseProcess) -> None:
    """Kill a process and the group that it leads."""
    if process.pid is not None and process.is_alive():
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
    process.join()


def _family(code: str) -> str:
    """Return the part of a code that properties of one family have in common, such as ``TG3``."""
    return code[:3]


def _serve(pipe: Connection, job: Job, place: str, parent: int, held: Sequence[Connection], log: StackFile) -> None:
    _begin_worker(parent, held)
    log.write_at_end()
    with suppress(EOFError, ConnectionError):  # the parent is gone
        while True:
            found = blamed(partial(check, job, place), pipe.recv())
            pipe.send_bytes(found.model_dump_json().encode())
