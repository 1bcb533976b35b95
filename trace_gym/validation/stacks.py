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
from types import FrameType
from typing import TextIO

import trace_gym

MARGIN = 1.0
"""Seconds before the time limit at which the stack is written."""
_PACKAGE = str(Path(trace_gym.__file__).parent) + os.sep
_PYTHON = sysconfig.get_path("stdlib") + os.sep
_FRAME = re.compile(r'^  File "([^"\n]{1,500})", line (\d{1,9}) in ([^\n]{1,100})$', re.MULTILINE)
_START = "most recent call first"
_OTHER_CALL = "(the call of the environment is not the same as before)"
"""Line in a written stack: no call of the environment was active both at half of the time limit and at its end."""


def write_stack_at_end(file: TextIO, seconds: float = math.inf) -> None:
    """Make this process write its stack to a file when it crashes, calls `os._exit`, or approaches its time limit.

    Args:
        file: An open file with a descriptor, which must stay open.
        seconds: Time limit of this process.
    """
    faulthandler.enable(file)
    if seconds < math.inf and hasattr(signal, "setitimer"):
        half = max(seconds - MARGIN, seconds / 2, 0.01) / 2
        signal.signal(signal.SIGALRM, _CallWatch(file))
        faulthandler.register(signal.SIGALRM, file, chain=True)  # in C, so an endless loop cannot block it
        signal.setitimer(signal.ITIMER_REAL, half, half)
    leave = os._exit

    def exit_with_stack(status: int) -> None:
        faulthandler.dump_traceback(file)
        leave(status)

    os._exit = exit_with_stack  # type: ignore[assignment]  # like the original function, this function never returns


class _CallWatch:
    """Signal handler that writes `_OTHER_CALL` if no call of the environment is active at two successive signals.

    Args:
        file: An open file.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._active: FrameType | None = None
        """Outermost frame of the environment's code at the previous signal."""

    def __call__(self, number: int, frame: FrameType | None) -> None:
        frames = []
        while frame is not None:
            frames.append(frame)
            frame = frame.f_back
        if self._active not in (None, *frames):
            self._file.write(f"{_OTHER_CALL}\n")
            self._file.flush()
        self._active = next((f for f in reversed(frames) if _is_environment_frame(f)), frames[0] if frames else None)


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
        return environment_frame(self._text())

    def shows_one_call(self) -> bool:
        """Return whether one call of the environment took at least half of the time limit."""
        return _OTHER_CALL not in self._text()

    def _text(self) -> str:
        with suppress(OSError):
            return Path(self.path).read_text(encoding="utf-8", errors="replace")
        return ""

    def close(self) -> None:
        """Delete the file."""
        with suppress(OSError):
            os.unlink(self.path)


def timeout_message(seconds: float | None, log: StackFile) -> str:
    """Return the report message for a check that exceeded its time limit.

    The message names the environment's code only if a single call took most of the time. Otherwise, the check consists
    of many calls, and the location at the time limit is arbitrary.
    """
    place = log.place() if log.shows_one_call() else ""
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


def _is_environment_frame(frame: FrameType) -> bool:
    path = frame.f_globals.get("__file__")  # reading `f_code` would be an audit event
    return isinstance(path, str) and "site-packages" not in path and not _is_library_file(path)


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
