"""The caller's side of the keeper: starting it, giving it jobs, and reading what they tell."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any

from trace_gym.errors import SandboxError
from trace_gym.sandbox import view
from trace_gym.sandbox.verdict import Outcome

PASSED_ON = ("PATH", "LD_LIBRARY_PATH", "TMPDIR", "TZ", "SYSTEMROOT")
"""Variables of the caller's environment that the keeper gets."""


class Keeper:
    """A keeper process with an environment of its own. One job runs at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        own = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        own |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PYTHONDONTWRITEBYTECODE"), "1")
        own |= {
            "PYTHONPATH": view.import_path(),
            "PYTHONHASHSEED": "0",
            "LANG": "C.UTF-8",
            "HOME": tempfile.gettempdir(),
        }
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-W", "ignore", "-m", "trace_gym.sandbox.keeper"],
            env=own,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C is for the caller, who ends the keeper
        )

    def write(self, what: dict[str, Any]) -> None:
        """Send one line; that the keeper is gone shows when its answer is read."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.write(json.dumps(what) + "\n")
            self.process.stdin.flush()

    def read(self, seconds: float) -> dict[str, Any]:
        """Return the next line of an answer.

        Raises:
            SandboxError: There was none in time; the keeper is ended.
        """
        assert self.process.stdout is not None
        late = threading.Timer(seconds, self.kill)
        late.start()
        try:
            line = self.process.stdout.readline()
        except BaseException:
            self.kill()  # what it answers now would be taken for the answer to the next question
            raise
        finally:
            late.cancel()
        if not line.endswith("\n"):
            raise SandboxError(
                f"the sandbox did not answer, and ended with exit code {self.process.wait()}; "
                "trace-gym doctor shows what it has to work with"
            )
        made: dict[str, Any] = json.loads(line)
        return made

    def kill(self) -> None:
        """End the keeper at once, and with it all that it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()

    def close(self) -> None:
        """End the keeper, and whatever it still holds."""
        assert self.process.stdin is not None and self.process.stdout is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.kill()
            self.process.wait()
        self.process.stdout.close()


class Running:
    """One job of a keeper, from its start to its outcome.

    Args:
        keeper: Has no other job.
        job: As data.
        seconds: For one line where `each` is true, else for the whole job.
    """

    def __init__(self, keeper: Keeper, job: dict[str, Any], seconds: float, each: bool = False) -> None:
        self.keeper, self.seconds, self.each = keeper, seconds, each
        self.end = time.monotonic() + seconds
        self.turn = threading.Lock()
        self.lines: list[dict[str, Any]] = []
        """The authenticated lines of a job that is read as a whole."""
        self.outcome: Outcome | None = None
        keeper.write({"job": job})

    def say(self, what: dict[str, Any]) -> None:
        """Send a request to the job's process."""
        self.keeper.write({"say": what})

    def hear(self) -> dict[str, Any] | None:
        """Return the next authenticated line of the job's process; None once the job is over.

        Raises:
            SandboxError: The keeper did not answer.
        """
        if self.outcome is not None:
            return None
        line = self.keeper.read(self.seconds if self.each else max(0.0, self.end - time.monotonic()))
        if "over" in line:
            self.outcome = Outcome(self.lines, **line["over"])
            return None
        told: dict[str, Any] = line["told"]
        return told

    def __iter__(self) -> Iterator[dict[str, Any]]:
        while (line := self.hear()) is not None:
            self.lines.append(line)
            yield line
