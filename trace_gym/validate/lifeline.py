"""Worker processes end when the process that started them does, however that ended."""

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
"""Seconds between two checks of whether the parent is alive."""


def die_with_parent(parent: int | None = None) -> None:
    """Kill this process as soon as its parent is gone.

    On Linux the kernel does it. Elsewhere a thread compares the parent's id every `PERIOD` seconds, and kills the
    process group as well if this process leads one.

    Args:
        parent: Process id of the parent; the current one by default. A process that may start after its parent died
            has to be told.
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
