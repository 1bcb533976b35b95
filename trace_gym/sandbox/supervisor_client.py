"""Client of the supervisor process. It starts the supervisor, sends jobs, and reads their output."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any

from trace_gym import target_packages
from trace_gym.errors import SandboxError
from trace_gym.interpreter import command
from trace_gym.sandbox import filesystem_view
from trace_gym.sandbox.trusted_report import JobOutcome

FORWARDED_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "TMPDIR", "TZ", "SYSTEMROOT")
"""Environment variables of the caller that are passed to the supervisor."""


class SupervisorClient:
    """Handle of a supervisor process. The supervisor runs one job at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        own = {name: os.environ[name] for name in FORWARDED_VARIABLES if name in os.environ}
        own |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PYTHONDONTWRITEBYTECODE"), "1")
        own |= {
            "PYTHONPATH": filesystem_view.import_path(),
            target_packages.TARGETS_VARIABLE: target_packages.with_folders(),
            "PYTHONHASHSEED": "0",
            "LANG": "C.UTF-8",
            "HOME": tempfile.gettempdir(),
        }
        self.process = subprocess.Popen(
            command("trace_gym.sandbox.supervisor", safe_path=True),
            env=own,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C interrupts only the caller, which then ends the supervisor
        )

    def write(self, what: dict[str, Any]) -> None:
        """Send one line. If the supervisor has ended, do nothing; the next `read` raises an error."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.write(json.dumps(what) + "\n")
            self.process.stdin.flush()

    def read(self, seconds: float) -> dict[str, Any]:
        """Return the next line of a response.

        Raises:
            SandboxError: No line arrived in time. The supervisor is killed.
        """
        assert self.process.stdout is not None
        late = threading.Timer(seconds, self.kill)
        late.start()
        try:
            line = self.process.stdout.readline()
        except BaseException:
            self.kill()  # otherwise, a late response would be read as the response to the next request
            raise
        finally:
            late.cancel()
        if not line.endswith("\n"):
            raise SandboxError(
                "the sandbox did not respond, because its supervisor process ended with exit code "
                f"{self.process.wait()}. Run trace-gym doctor to check the sandbox"
            )
        made: dict[str, Any] = json.loads(line)
        return made

    def kill(self) -> None:
        """Kill the supervisor and, as a consequence, all processes that it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()

    def close(self) -> None:
        """End the supervisor and all of its processes."""
        assert self.process.stdin is not None and self.process.stdout is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.kill()
            self.process.wait()
        self.process.stdout.close()


class RunningJob:
    """Handle of a job that a supervisor runs. Iteration yields the output lines of the job.

    Args:
        client: Client of a supervisor that currently runs no other job.
        job: Fields of a `trace_gym.sandbox.worker.SandboxJob`.
        seconds: Time limit.
        per_line: Whether the time limit applies to each line instead of the whole job.
    """

    def __init__(self, client: SupervisorClient, job: dict[str, Any], seconds: float, per_line: bool = False) -> None:
        self.client, self.seconds, self.per_line = client, seconds, per_line
        self.end = time.monotonic() + seconds
        self.request_lock = threading.Lock()
        self.lines: list[dict[str, Any]] = []
        """Authenticated output lines that iteration has yielded."""
        self.outcome: JobOutcome | None = None
        client.write({"job": job})

    def send(self, what: dict[str, Any]) -> None:
        """Send a request to the job's process."""
        self.client.write({"input": what})

    def receive(self) -> dict[str, Any] | None:
        """Return the next authenticated line of the job's process, or None after the job has ended.

        Raises:
            SandboxError: The supervisor did not respond.
        """
        if self.outcome is not None:
            return None
        line = self.client.read(self.seconds if self.per_line else max(0.0, self.end - time.monotonic()))
        if "result" in line:
            self.outcome = JobOutcome(self.lines, **line["result"])
            return None
        output: dict[str, Any] = line["output"]
        return output

    def __iter__(self) -> Iterator[dict[str, Any]]:
        while (line := self.receive()) is not None:
            self.lines.append(line)
            yield line
