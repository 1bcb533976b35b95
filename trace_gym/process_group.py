"""A command in a separate process group, which ends when the process that started it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from trace_gym import parent_death
from trace_gym.errors import ConfigError


class ProcessGroup:
    """A running command with its child processes, in a separate process group.

    Ctrl-C in the terminal interrupts only the caller, which must then call `stop`. If the caller is killed, the group
    is killed too (`trace_gym.parent_death`).

    Args:
        command: Program and arguments.
        env: Environment variables of the command.
        output: File to which stdout and stderr are appended.

    Raises:
        ConfigError: The program does not exist or cannot be executed.
    """

    def __init__(self, command: Sequence[str], *, env: Mapping[str, str], output: Path) -> None:
        _require_program(command[0], env)
        watched = [sys.executable, "-I", parent_death.__file__, str(os.getpid()), *command]
        with output.open("ab") as log:
            self._leader = subprocess.Popen(
                watched, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    @property
    def pid(self) -> int:
        """Process id of the group leader, which is the parent of the command."""
        return self._leader.pid

    def status(self) -> int | None:
        """Return the exit status of the command, or None while it runs. After a signal N, the status is 128 + N."""
        found = self._leader.poll()
        return found if found is None or found >= 0 else 128 - found

    def stop(self, seconds: float) -> None:
        """Send SIGTERM to the command, and kill the group after `seconds` seconds or on another Ctrl-C."""
        try:
            self._leader.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._leader.wait(seconds)
        finally:
            self.kill()

    def kill(self) -> None:
        """Kill all processes of the group, including those that have outlived the command."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._leader.wait()


def _require_program(program: str, env: Mapping[str, str]) -> None:
    from shutil import which

    if which(program, path=env.get("PATH")) is None:
        raise ConfigError(f"{program} cannot be executed: expected the path of a program. Correct the path")
