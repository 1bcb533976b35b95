"""Setup of the standard streams, so that locales, closed descriptors and full disks cause no traceback."""

from __future__ import annotations

import io
import logging
import os
import sys
from contextlib import suppress
from pathlib import Path

from trace_gym.terminal import visible


def prepare() -> None:
    """Replace closed standard streams, escape characters that they cannot encode, and send log messages to stderr."""
    nowhere = Path(os.devnull)
    sys.stdin = sys.stdin or nowhere.open(encoding="utf-8")
    sys.stdout = sys.stdout or nowhere.open("w", encoding="utf-8")
    sys.stderr = sys.stderr or nowhere.open("w", encoding="utf-8")
    for stream, errors in ((sys.stdin, "replace"), (sys.stdout, "backslashreplace"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            with suppress(io.UnsupportedOperation):  # the stream was read before
                stream.reconfigure(errors=errors)
    if not logging.getLogger().handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(_Formatter("%(message)s"))
        logging.getLogger().addHandler(handler)


def drop_output_if_broken() -> None:
    """Flush the output. Discard output that cannot be written, because the interpreter would fail at exit otherwise."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class _Formatter(logging.Formatter):
    """Formatter that escapes control characters."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))
