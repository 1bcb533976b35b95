r"""Output to the terminal. Text from environments, models and files is shown literally.

Everything that a command prints passes through this module: markup in the text is not interpreted, and control
characters, which could move the cursor or change the terminal's settings, are shown as escapes such as ``\x1b``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.segment import Segment

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters except tab and newline, marks that change the direction of text, and lone surrogates."""


def visible(text: str) -> str:
    """Return the text with each control character as an escape that a terminal does not interpret."""
    return text if text.isprintable() else _CONTROL.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def say(text: object = "", *, err: bool = False) -> None:
    """Print a line to stdout or stderr."""
    stream = sys.stderr if err else sys.stdout
    print(visible(str(text)), file=stream, flush=err)


def console(*, stderr: bool = False) -> Console:
    """Return a console that prints text literally; style it with `rich.text.Text` or the `style` argument."""
    made = _Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    made.push_render_hook(_Literal())
    return made


class _Console(Console):
    """A console that reports a closed pipe to its caller, where rich would end the process with code 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


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
