"""Termination of child processes when their parent process ends, even if it is killed.

Code that runs in the child process calls `die_with_parent`. For other programs, `trace_gym.process_group` runs this
file as a script between the parent and the program: ``python parent_death.py PARENT_PID COMMAND ...``.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

PR_SET_PDEATHSIG = 1
PERIOD = 0.5
"""Interval between two checks of the parent process, in seconds."""


def die_with_parent(parent: int | None = None) -> None:
    """Kill this process as soon as its parent process has ended.

    On Linux, the kernel sends the signal. On other systems, a thread checks every `PERIOD` seconds whether the parent's
    process id has changed. The thread also kills the process group if this process is the group leader.

    Args:
        parent: Process id of the parent; the current parent by default. Pass it if the parent may end before this call.
    """
    parent = os.getppid() if parent is None else parent
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    else:
        _start_watch(parent)
    if os.getppid() != parent:
        _end()


def run_command(parent: int, command: list[str]) -> int:
    """Run a command in the process group of this process, and return its exit status.

    The whole group is killed when the parent ends. A signal from the kernel would reach only this process, so a thread
    watches the parent on all systems. SIGTERM is passed on to the command.
    """
    _start_watch(parent)
    with subprocess.Popen(command) as child:
        signal.signal(signal.SIGTERM, lambda *_: child.terminate())
        status = child.wait()
    return status if status >= 0 else 128 - status  # as in a shell


def _start_watch(parent: int) -> None:
    threading.Thread(target=_watch, args=(parent,), name="lifeline", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PERIOD)
    _end()


def _end() -> None:
    with suppress(AttributeError, OSError):  # Windows has no process groups
        if os.getpgid(0) == os.getpid():
            os.killpg(0, signal.SIGKILL)
    os._exit(1)


if __name__ == "__main__":
    sys.exit(run_command(int(sys.argv[1]), sys.argv[2:]))
