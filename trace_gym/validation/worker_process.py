"""Worker processes of a validation, which check one property at a time.

The launchers in `trace_gym.validation.processes` start these workers.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.context import ForkContext, SpawnContext
from multiprocessing.process import BaseProcess

from trace_gym.parent_death import die_with_parent
from trace_gym.types import Finding
from trace_gym.validation.job_engines import ValidationJob, check, finding_or_failure
from trace_gym.validation.properties import DIED, PROPERTIES, CheckFailed
from trace_gym.validation.stacks import StackFile, timeout_message

START = "coordinator" if hasattr(os, "fork") else "spawn"
"""Start method of workers: ``coordinator`` (a separate process forks them), ``fork`` (this process, which must have
only one thread, forks them), or ``spawn`` (fresh interpreters, on systems without fork)."""
ENDING = 2.0
"""Maximum time in seconds that a process may take to end after its pipe was closed."""


def begin_process(parent: int) -> None:
    """Configure this process to end with its parent and to ignore Ctrl-C in the terminal."""
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)  # Ctrl-C is not sent to another process group, and the parent can kill the whole group
    die_with_parent(parent)


def begin_worker(parent: int, inherited: Sequence[Connection]) -> None:
    """Configure this process as a worker that runs an environment.

    Standard output is redirected to standard error, and inherited pipes are closed.
    """
    begin_process(parent)
    for pipe in inherited:
        pipe.close()
    os.dup2(2, 1)


def new_context() -> SpawnContext | ForkContext:
    """Return the multiprocessing context that starts workers from this process."""
    return multiprocessing.get_context("fork") if START == "fork" else multiprocessing.get_context("spawn")


class Worker:
    """Handle of a process that checks one property at a time.

    Args:
        job: Validation job.
        others: Pipes of this process that a forked worker inherits and closes.
        seconds: Time limit; None for no limit.
    """

    def __init__(self, job: ValidationJob, others: Sequence[Connection], seconds: float | None) -> None:
        fresh = new_context()
        self.pipe, child_pipe = fresh.Pipe()
        inherited = [self.pipe, *others] if START == "fork" else []
        self.log = StackFile(seconds)
        self.process = fresh.Process(target=_serve, args=(child_pipe, job, job.place, os.getpid(), inherited, self.log))
        self.process.start()
        child_pipe.close()
        self.alive, self.code = True, ""
        self.families: set[str] = set()

    def ask_next(self, waiting: list[str], busy: Sequence[Worker]) -> None:
        """Remove a code from the waiting codes and request its finding.

        A family is a group of properties with the same code prefix, which share cached rollouts. A worker prefers
        families that it has already started, and then families that no other busy worker has started.
        """
        others = {f for worker in busy if worker is not self for f in worker.families}
        own = (c for c in waiting if _family(c) in self.families)
        new = (c for c in waiting if _family(c) not in others)
        self.code = next(own, None) or next(new, None) or waiting[0]
        waiting.remove(self.code)
        self.families.add(_family(self.code))
        with suppress(ConnectionError):  # if the process died, the method `answer` reports this
            self.pipe.send(self.code)

    def answer(self) -> Finding:
        """Receive and return the requested finding, or return a failed finding if the process died."""
        try:
            found = Finding.model_validate_json(self.pipe.recv_bytes())
        except (EOFError, ConnectionError):
            self.alive = False
            self.process.join(ENDING)  # a process that closed its pipe may still be running, and is killed later
            at = f", in {place}" if (place := self.log.place()) else ""
            message = f"{DIED}, with exit code {self.process.exitcode}{at}"
            return PROPERTIES[self.code].failed(CheckFailed(message))
        return found

    def unfinished_finding(self, seconds: float | None) -> Finding:
        """Return the finding for a check that exceeded the time limit."""
        return PROPERTIES[self.code].finding("unfinished", timeout_message(seconds, self.log))

    def stop(self) -> None:
        """Kill the process and its child processes."""
        kill(self.process)
        self.pipe.close()
        self.log.close()


def kill(process: BaseProcess) -> None:
    """Kill a process and the process group that it leads."""
    if process.pid is not None and process.is_alive():
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
    process.join()


def _family(code: str) -> str:
    """Return the family prefix of a code, such as ``TG3``."""
    return code[:3]


def _serve(
    pipe: Connection, job: ValidationJob, place: str, parent: int, inherited: Sequence[Connection], log: StackFile
) -> None:
    begin_worker(parent, inherited)
    log.write_at_end()
    with suppress(EOFError, ConnectionError):  # the parent has died
        while True:
            found = finding_or_failure(partial(check, job, place), pipe.recv())
            pipe.send_bytes(found.model_dump_json().encode())
