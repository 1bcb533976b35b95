"""Stack traces of environment processes that hang or exit unexpectedly."""

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
"""Seconds before the time limit at which the stack is written."""
_PACKAGE = str(Path(trace_gym.__file__).parent) + os.sep
_PYTHON = sysconfig.get_path("stdlib") + os.sep
_FRAME = re.compile(r'^  File "([^"\n]{1,500})", line (\d{1,9}) in ([^\n]{1,100})$', re.MULTILINE)
_START = "most recent call first"


def write_stack_at_end(file: TextIO, seconds: float = math.inf) -> None:
    """Make this process write its stack to a file when it crashes, calls `os._exit`, or approaches its time limit.

    Args:
        file: An open file with a descriptor, which must stay open.
        seconds: Time limit of this process.
    """
    faulthandler.enable(file)
    if seconds < math.inf and hasattr(signal, "setitimer"):
        faulthandler.register(signal.SIGALRM, file)  # implemented in C, so an endless loop cannot block it
        signal.setitimer(signal.ITIMER_REAL, max(seconds - MARGIN, seconds / 2, 0.01))
    leave = os._exit

    def exit_with_stack(status: int) -> None:
        faulthandler.dump_traceback(file)
        leave(status)

    os._exit = exit_with_stack  # type: ignore[assignment]  # like the original function, this function never returns


class StackFile:
    """File for the stack of another process. Only its path is sent to that process.

    Args:
        seconds: Time limit of the process; None for no limit.
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = math.inf if seconds is None else seconds
        descriptor, self.path = tempfile.mkstemp(prefix="trace-gym-stack-")
        os.close(descriptor)

    def write_at_end(self) -> None:
        """Make the current process write its stack to this file when it crashes or approaches its time limit."""
        write_stack_at_end(open(self.path, "w", encoding="utf-8"), self.seconds)  # noqa: SIM115  # until the end

    def place(self) -> str:
        """Return the code location in the stack, or an empty string if it is unknown."""
        with suppress(OSError):
            return environment_frame(Path(self.path).read_text(encoding="utf-8", errors="replace"))
        return ""

    def close(self) -> None:
        """Delete the file."""
        with suppress(OSError):
            os.unlink(self.path)


def timeout_message(seconds: float | None, place: str) -> str:
    """Return the report message for a check that exceeded its time limit."""
    at = f"; it was in {place}. Look for an endless loop there, or" if place else ";"
    return f"not finished within {seconds or 0:g} seconds{at} increase the budget"


def environment_frame(written: str) -> str:
    """Return the innermost frame of the environment's code in a written stack trace, or an empty string.

    If the text contains several stacks, the last stack with such a frame is used.

    An example is ``find_user (my_env.py, line 12)``.
    """
    for stack in reversed(written.split(_START)[1:]):
        frames = [frame for frame in _FRAME.findall(stack) if not _is_library_file(frame[0])]
        environment_frames = [frame for frame in frames if "site-packages" not in frame[0]] or frames
        if environment_frames:
            path, line, name = environment_frames[0]
            return f"{name} ({os.path.basename(path)}, line {line})"
    return ""


def _is_library_file(path: str) -> bool:
    """Return whether a file belongs to the standard library, this package or Gymnasium."""
    if path.startswith(_PYTHON) and "site-packages" not in path:
        return True
    inside = path.removeprefix(_PACKAGE)
    return (
        (inside != path and not inside.startswith("generated_envs"))
        or path.startswith("<frozen")
        or f"site-packages{os.sep}gymnasium{os.sep}" in path
    )
