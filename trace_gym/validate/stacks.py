"""The place where a process that runs an environment hangs or ends: its Python stack, written without its help."""

from __future__ import annotations

import faulthandler
import math
import os
import re
import signal
import sysconfig
import tempfile
from contextlib import suppress
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


class StackFile:
    """A file for the stack of another process; only the path travels to that process.

    Args:
        seconds: The time that the process has; None if it has no limit.
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = math.inf if seconds is None else seconds
        descriptor, self.path = tempfile.mkstemp(prefix="trace-gym-stack-")
        os.close(descriptor)

    def write_at_end(self) -> None:
        """Let the current process write its stack here when its time is over, or it crashes."""
        write_stack_at_end(open(self.path, "w", encoding="utf-8"), self.seconds)  # noqa: SIM115  # until the end

    def place(self) -> str:
        """Return where the process was, or an empty string if that is not known."""
        with suppress(OSError):
            return place_in(Path(self.path).read_text(encoding="utf-8", errors="replace"))
        return ""

    def close(self) -> None:
        """Delete the file."""
        with suppress(OSError):
            os.unlink(self.path)


def not_finished(seconds: float | None, place: str) -> str:
    """Return the words of a report about a check that hung, or that needed more time."""
    at = f"; it was in {place}. Look for a loop without an end there, or" if place else ";"
    return f"not finished within {seconds or 0:g} seconds{at} give it a larger budget"


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
