"""Standard streams that no locale, closed descriptor or full disk turns into a traceback."""

from __future__ import annotations

import io
import logging
import os
import sys
from contextlib import suppress
from pathlib import Path

from trace_gym.terminal import visible


def prepare() -> None:
    """Make the standard streams usable: open them where they are closed, and accept every character.

    Messages of loggers go to stderr in the same form as all other output.
    """
    nowhere = Path(os.devnull)
    sys.stdin = sys.stdin or nowhere.open(encoding="utf-8")
    sys.stdout = sys.stdout or nowhere.open("w", encoding="utf-8")
    sys.stderr = sys.stderr or nowhere.open("w", encoding="utf-8")
    for stream, errors in ((sys.stdin, "replace"), (sys.stdout, "backslashreplace"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            with suppress(io.UnsupportedOperation):  # a caller has read from it already
                stream.reconfigure(errors=errors)
    if not logging.getLogger().handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(_Formatter("%(message)s"))
        logging.getLogger().addHandler(handler)


def drop_output_if_broken() -> None:
    """Flush the output, and discard it if it cannot be written; the interpreter would fail on it at its end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class _Formatter(logging.Formatter):
    """Log lines without control characters."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))
