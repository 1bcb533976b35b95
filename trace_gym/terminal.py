r"""Output to the terminal. Text from environments, models and files is shown literally.

Everything that a command prints passes through this module: markup in the text is not interpreted, and control
characters, which could move the cursor or change the terminal's settings, are shown as escapes such as ``\x1b``.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, TextIO

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.segment import Segment

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters except tab and newline, marks that change the direction of text, and lone surrogates."""
_STYLE = re.compile("\x1b\\[[0-9;]*m")
MOST_CELLS = 10_000
"""Largest width and height of a terminal."""


def visible(text: str) -> str:
    """Return the text with each control character as an escape that a terminal does not interpret."""
    return text if text.isprintable() else _CONTROL.sub(_escape, text)


def unstyled(text: str) -> str:
    """Return the text without the codes of colors and styles, such as those in the warnings of Gymnasium."""
    return _STYLE.sub("", text) if "\x1b" in text else text


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def say(text: object = "", *, err: bool = False) -> None:
    """Print a line to stdout or stderr."""
    stream = sys.stderr if err else stdout()
    print(visible(str(text)), file=stream, flush=err)


_reserved: TextIO | None = None


def stdout() -> TextIO:
    """Return the stream for the output of a command."""
    return _reserved or sys.stdout


@contextmanager
def reserved_stdout() -> Iterator[None]:
    """Reserve stdout for the output of this package while the block runs.

    What other code prints, such as an environment, goes to stderr. It would corrupt a protocol or a file otherwise.
    """
    global _reserved
    before, _reserved = _reserved, stdout()
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _reserved = before


def console(*, stderr: bool = False) -> Console:
    """Return a console that prints text literally; style it with `rich.text.Text` or the `style` argument."""
    file = sys.stderr if stderr else stdout()
    width, height = _size()
    made = _Console(file=file, stderr=stderr, markup=False, highlight=False, emoji=False, width=width, height=height)
    made.push_render_hook(_Literal())
    return made


def _size() -> tuple[int, int] | tuple[None, None]:
    """Return the size if COLUMNS or LINES is set, within bounds; values such as 0, which rich obeys, are ignored."""
    if not (os.environ.get("COLUMNS") or os.environ.get("LINES")):
        return None, None
    found = shutil.get_terminal_size()
    return min(found.columns, MOST_CELLS), min(found.lines, MOST_CELLS)


class _Console(Console):
    """A console that reports a closed pipe to its caller, where rich would end the process with code 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError

    def input(self, *args: Any, **options: Any) -> str:
        """Read a line; Python edits lines only if `sys.stdout` is the terminal."""
        with redirect_stdout(stdout()):
            return super().input(*args, **options)


class _Literal(RenderHook):
    """Passes every renderable of a console through `visible`."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [r if isinstance(r, _Visible) else _Visible(r) for r in renderables]


class _Visible:
    """A renderable whose text has no control characters; the console's own ones are unchanged."""

    def __init__(self, inner: ConsoleRenderable) -> None:
        self.inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        segments: Iterable[Segment] = console.render(self.inner, options)
        for segment in segments:
            yield segment if segment.control else Segment(visible(segment.text), segment.style)
