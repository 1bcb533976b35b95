"""The place where a process that runs an environment hangs or ends: its Python stack, written without its help."""

from __future__ import annotations

import faulthandler
import math
import os
import re
import signal
import sysconfig
from pathlib import Path
from typing import TextIO

import trace_gym

MARGIN = 1.0
"""Seconds before the end of the time at which the stack is written."""
_PACKAGE = str(Path(trace_gym.__file__).parent) + os.sep
_PYTHON = sysconfig.get_path("stdlib") + os.sep
_FRAME = re.compile(r'^  File "([^"\n]{1,500})", line (\d{1,9}) in ([^\n]{1,100})$', re.MULTILINE)
_START = "most recent call first"


def write_stack_at_end(file: TextIO, seconds: float = math.inf) -> None:
    """Write the stack to a file when this process crashes or calls `os._exit`, and before its time is over.

    Args:
        file: An open file with a descriptor; it has to stay open.
        seconds: The time that this process has.
    """
    faulthandler.enable(file)
    if seconds < math.inf and hasattr(signal, "setitimer"):
        faulthandler.register(signal.SIGALRM, file)  # runs in C, so a loop cannot keep it waiting
        signal.setitimer(signal.ITIMER_REAL, max(seconds - MARGIN, seconds / 2, 0.01))
    leave = os._exit

    def exit_with_stack(status: int) -> None:
        faulthandler.dump_traceback(file)
        leave(status)

    os._exit = exit_with_stack  # type: ignore[assignment]  # it returns as little as the original


def place_in(written: str) -> str:
    """Return the innermost frame of the environment's code in the last stack that has one, or an empty string.

    For example ``find_user (my_env.py, line 12)``.
    """
    for stack in reversed(written.split(_START)[1:]):
        frames = [frame for frame in _FRAME.findall(stack) if not _is_ours(frame[0])]
        own = [frame for frame in frames if "site-packages" not in frame[0]] or frames
        if own:
            path, line, name = own[0]
            return f"{name} ({os.path.basename(path)}, line {line})"
    return ""


def _is_ours(path: str) -> bool:
    """Return whether a file belongs to Python, to this package, or to Gymnasium, and not to an environment."""
    if path.startswith(_PYTHON) and "site-packages" not in path:
        return True
    inside = path.removeprefix(_PACKAGE)
    return (
        (inside != path and not inside.startswith("generated_envs"))
        or path.startswith("<frozen")
        or f"site-packages{os.sep}gymnasium{os.sep}" in path
    )
