"""Termination of worker processes when their parent process ends."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from contextlib import suppress

PR_SET_PDEATHSIG = 1
PERIOD = 0.5
"""Interval between two checks of the parent process, in seconds."""


def die_with_parent(parent: int | None = None) -> None:
    """Kill this process as soon as its parent process has ended.

    On Linux, the kernel sends the signal. On other systems, a thread compares the parent's process id every `PERIOD`
    seconds. The thread also kills the process group if this process is the group leader.

    Args:
        parent: Process id of the parent; the current parent by default. Pass it if the parent may end before this call.
    """
    parent = os.getppid() if parent is None else parent
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    else:
        threading.Thread(target=_watch, args=(parent,), name="lifeline", daemon=True).start()
    if os.getppid() != parent:
        _end()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PERIOD)
    _end()


def _end() -> None:
    with suppress(AttributeError, OSError):  # Windows has no process groups
        if os.getpgid(0) == os.getpid():
            os.killpg(0, signal.SIGKILL)
    os._exit(1)
