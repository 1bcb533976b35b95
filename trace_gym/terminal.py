r"""Output to the terminal. Text from environments, models and files is shown literally.

Everything that a command prints passes through this module: markup in the text is not interpreted, and control
characters, which could move the cursor or change the terminal's settings, are shown as escapes such as ``\x1b``.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import partial
from typing import Any, TextIO

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.segment import Segment

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Pattern of control characters except tab and newline, of text direction marks, and of lone surrogates."""
_STYLE = re.compile("\x1b\\[[0-9;]*m")
MOST_CELLS = 10_000
"""Largest width and height of a terminal."""


def visible(text: str) -> str:
    r"""Return the text with each control character replaced by an escape sequence such as ``\x1b``."""
    return text if text.isprintable() else _CONTROL.sub(_escape, text)


def unstyled(text: str) -> str:
    """Return the text without the terminal codes for colors and styles, which the warnings of Gymnasium contain."""
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

    Output of other code, such as an environment, is redirected to stderr. Otherwise it would corrupt a protocol or file
    that is written to stdout.
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


@contextmanager
def progress_bar(
    text: str,
    total: int,
    shown: bool = True,
    completed: int = 0,
    *,
    on: Console | None = None,
    transient: bool = True,
) -> Iterator[Callable[..., None]]:
    """Show a progress bar while the block runs.

    Args:
        text: Text in front of the bar.
        total: Number of steps.
        shown: Whether to show the bar.
        completed: Number of steps that are already completed.
        on: Console of the bar; stderr by default.
        transient: Remove the bar at the end, and show it only on a terminal. Otherwise, the last state is kept, and is
            also written to a file.

    Yields:
        A function that updates the bar. Keyword arguments: ``advance`` (additional steps), ``completed`` (all
        completed steps) and ``description`` (text in front of the bar).
    """
    on = on or console(stderr=True)
    if not shown or (transient and not on.is_terminal):
        yield lambda **state: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=on, transient=transient) as bar:
        yield partial(bar.update, bar.add_task(text, total=total, completed=completed))


def _size() -> tuple[int, int] | tuple[None, None]:
    """Return the width and height of the terminal if the variable COLUMNS or LINES is set.

    Values above `MOST_CELLS` are reduced, and invalid values such as 0 are ignored. rich would use such values.
    """
    if not (os.environ.get("COLUMNS") or os.environ.get("LINES")):
        return None, None
    found = shutil.get_terminal_size()
    return min(found.columns, MOST_CELLS), min(found.lines, MOST_CELLS)


class _Console(Console):
    """Console that raises `BrokenPipeError` if its output is closed. rich would end the process with exit code 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError

    def input(self, *args: Any, **options: Any) -> str:
        """Read a line with stdout restored, because Python supports line editing only if stdout is the terminal."""
        with redirect_stdout(stdout()):
            return super().input(*args, **options)


class _Literal(RenderHook):
    """Render hook that applies `visible` to the text of everything that a console prints."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [r if isinstance(r, _Visible) else _Visible(r) for r in renderables]


class _Visible:
    """Renderable that replaces control characters in the text. Control codes of the console itself are unchanged."""

    def __init__(self, inner: ConsoleRenderable) -> None:
        self.inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        segments: Iterable[Segment] = console.render(self.inner, options)
        for segment in segments:
            yield segment if segment.control else Segment(visible(segment.text), segment.style)
