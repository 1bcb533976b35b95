"""Supervisor process that starts sandboxed processes, monitors them, and kills everything that they started.

Run as ``python -m trace_gym.sandbox.supervisor``. The supervisor reads requests from standard input, one JSON object
per line, and writes JSON lines to standard output:

- ``{"probe": [LAYER, ...]}`` requests the state of all protection layers. The listed layers are disabled.
- ``{"job": {...}}`` starts a job. While the job runs, the supervisor forwards each authenticated line of the job's
  process as ``{"output": ...}``, and sends the content of each ``{"input": ...}`` line to the job's process.
- ``{"result": ...}`` is the last line of every response.

The supervisor is started without secrets in its environment variables. It imports trace_gym once and forks a process
for each job.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import secrets
import selectors
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import Any, TextIO

from trace_gym.sandbox import linux
from trace_gym.sandbox.job_processes import Pipes, enter_namespaces, run_and_exit
from trace_gym.sandbox.layer_list import active
from trace_gym.sandbox.limits import MIB, Limits
from trace_gym.sandbox.process_monitor import ProcessMonitor, kill_tree
from trace_gym.sandbox.worker import TAMPERED, SandboxJob

PERIOD = 0.05
"""Interval between two measurements of a job's resource usage, in seconds."""
MAX_LOG_CHARACTERS = 20_000
"""Maximum number of characters of a job's printed output that are stored."""


@dataclass
class JobEnd:
    """Result of a job."""

    ended: str = ""
    """Reason for the end of the job, such as the exceeded limit or ``died``; `""` if the job ended normally."""
    message: str = ""
    log: str = ""
    unkilled_processes: bool = False
    """True if a process of the job could not be killed."""


class CallerConnection:
    """Connection to the caller through standard input and output."""

    def __init__(self) -> None:
        self.answers: TextIO = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)  # printed text must not mix with responses
        self.rest = bytearray()
        self.gone = False

    def answer(self, **what: Any) -> None:
        """Write a response line. If the caller has closed the pipe, set `gone`, which ends the job."""
        try:
            self.answers.write(json.dumps(what) + "\n")
            self.answers.flush()
        except BrokenPipeError:
            self.gone = True
            self.answers = io.StringIO()

    def read(self) -> list[bytes]:
        """Wait for input and return the complete lines. At the end of the input, set `gone`."""
        chunk = os.read(0, MIB)
        self.gone = self.gone or not chunk
        *lines, rest = bytes(self.rest + chunk).split(b"\n")
        self.rest = bytearray(rest)
        return lines


def main() -> None:
    """Process requests until the input ends."""
    caller = CallerConnection()
    if sys.platform == "linux":
        linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
        linux.prctl(linux.PR_SET_DUMPABLE, 0)  # processes of the same user cannot inspect this process
    gc.collect()
    gc.freeze()  # garbage collection in a fork would write to, and thus copy, shared memory pages
    while not caller.gone:
        for line in caller.read():
            request = json.loads(line)
            if "probe" in request:
                caller.answer(result={"layers": active(request["probe"])})
            elif "job" in request:  # other requests belong to a job that has ended
                caller.answer(result=vars(run_job(request["job"], caller)))


def run_job(request: dict[str, Any], caller: CallerConnection) -> JobEnd:
    """Run one job, kill all of its processes at the end, and return the result."""
    job = SandboxJob(**request)
    limits = Limits(**job.limits)
    folder = tempfile.mkdtemp(prefix="trace-gym-")
    input_pipe, output_pipe, log_pipe = os.pipe(), os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        child_ends = Pipes(input_pipe[0], output_pipe[1], log_pipe[1])
        run_and_exit(lambda: enter_namespaces(job, limits, folder, child_ends))
    for end in (input_pipe[0], output_pipe[1], log_pipe[1]):
        os.close(end)
    outcome = JobEnd()
    try:
        pipes = _JobPipes(caller, job.auth_token, input_pipe[1], output_pipe[0], log_pipe[0])
        _forward_until_end(outcome, pipes, ProcessMonitor(limits, os.getpid(), deadline=job.deadline), child)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        outcome.unkilled_processes = not kill_tree(os.getpid())
        shutil.rmtree(folder, ignore_errors=True)
        for end in (input_pipe[1], output_pipe[0], log_pipe[0]):
            os.close(end)
    return outcome


class _JobPipes:
    """Non-blocking data transfer between the caller and the process of one job."""

    def __init__(
        self, caller: CallerConnection, auth_token: str, input_pipe: int, output_pipe: int, log_pipe: int
    ) -> None:
        self.caller, self.auth_token = caller, auth_token
        self.input_pipe, self.output_pipe, self.log_pipe = input_pipe, output_pipe, log_pipe
        self.buffers = {output_pipe: bytearray(), log_pipe: bytearray()}
        self.count = 0
        """Number of bytes that the process has written."""
        self.pending = bytearray()
        """Requests that the process has not read yet."""
        self.ready = selectors.DefaultSelector()
        for pipe in (input_pipe, output_pipe, log_pipe):
            os.set_blocking(pipe, False)
        for pipe in (0, output_pipe, log_pipe):
            self.ready.register(pipe, selectors.EVENT_READ)

    def exchange(self, seconds: float) -> None:
        """Wait at most `seconds` for data, and transfer the available data in both directions."""
        for key, _ in self.ready.select(seconds):
            if key.fd == 0:
                self._read_caller()
            elif key.fd == self.input_pipe:
                self._write_pending()
            elif not self.read(key.fd):
                self.ready.unregister(key.fd)

    def read(self, pipe: int) -> bool:
        """Read from a pipe of the process and forward authenticated lines. Return False at the end of the pipe."""
        chunk = os.read(pipe, MIB)
        self.count += len(chunk)
        text = self.buffers[pipe]
        text += chunk
        if pipe == self.output_pipe and b"\n" in chunk:
            *lines, rest = bytes(text).split(b"\n")
            self.buffers[pipe] = bytearray(rest)
            for line in lines:
                if (made := _parse_authenticated(line, self.auth_token)) is not None:
                    self.caller.answer(output=made)
        elif pipe == self.log_pipe:
            del text[:-MAX_LOG_CHARACTERS]
        return bool(chunk)

    def drain(self, most: int) -> None:
        """Read the remaining output of a process that has ended."""
        for pipe in self.buffers:
            with contextlib.suppress(BlockingIOError):
                while self.count <= most and self.read(pipe):
                    pass

    def _read_caller(self) -> None:
        for line in self.caller.read():
            if "input" in (request := json.loads(line)):
                self.pending += (json.dumps(request["input"]) + "\n").encode()
        if self.caller.gone:
            self.ready.unregister(0)
        if self.pending and self.input_pipe not in self.ready.get_map():
            self.ready.register(self.input_pipe, selectors.EVENT_WRITE)

    def _write_pending(self) -> None:
        try:
            del self.pending[: os.write(self.input_pipe, self.pending)]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self.pending.clear()
        if not self.pending:
            self.ready.unregister(self.input_pipe)


def _forward_until_end(outcome: JobEnd, pipes: _JobPipes, monitor: ProcessMonitor, child: int) -> None:
    """Forward messages until the job ends or exceeds a limit."""
    most = monitor.limits.output_mib * MIB
    looked = 0.0
    with pipes.ready:
        while not outcome.ended:
            exited, status = os.waitpid(child, os.WNOHANG)
            pipes.exchange(0 if exited else PERIOD)
            if pipes.caller.gone:
                outcome.ended, outcome.message = "caller", "the caller closed the connection"
                return
            if exited or time.monotonic() - looked > PERIOD:
                outcome.ended, outcome.message = monitor.find_exceeded_limit()
                looked = time.monotonic()
            if exited and not outcome.ended:
                pipes.drain(most)
            if pipes.count > most:
                outcome.ended, outcome.message = "output", f"the module wrote more than {monitor.limits.output_mib} MiB"
            elif exited and not outcome.ended:
                outcome.ended, outcome.message = _describe_exit(status)
                break
    outcome.log = bytes(pipes.buffers[pipes.log_pipe]).decode("utf-8", "replace")


def _parse_authenticated(line: bytes, auth_token: str) -> dict[str, Any] | None:
    """Return the content of a line that contains the job's authentication token, or None."""
    with contextlib.suppress(ValueError, RecursionError):
        made = json.loads(line)
        if isinstance(made, dict) and secrets.compare_digest(ascii(made.pop("auth_token", "")), ascii(auth_token)):
            return made
    return None


def _describe_exit(status: int) -> tuple[str, str]:
    code = os.waitstatus_to_exitcode(status)
    if code in (
        0,
        TAMPERED,
    ):  # tampering is also reported in the output, but the module could prevent this
        return "" if code == 0 else "tampered", ""
    if code in (128 + signal.SIGXCPU, 128 + signal.SIGKILL):
        return "cpu", "the module was killed, probably at its limit of processor time"
    if code > 128:
        return "died", f"the process of the module was killed by {signal.Signals(code - 128).name}"
    return "died", f"the process of the module ended with exit code {code}"


if __name__ == "__main__":
    main()
