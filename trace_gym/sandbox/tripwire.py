"""A tripwire: whatever a module does besides computing is refused, and noted for the verdict.

It is an audit hook of the interpreter (PEP 578), which cannot be removed: opening files, importing, starting
processes, sockets, looking at frames or at the collector's objects, compiling code. What happens while a function of
the module is running, or of text that it had evaluated, is the module's doing.

The hook is a closure. All that it depends on (tables, builtins, notes) is copied into it when it is armed, so that
replacing a constant of this module, or an attribute of a `Tripwire`, changes nothing from then on.
"""

from __future__ import annotations

import sys
from _thread import get_ident
from collections.abc import Callable
from types import FrameType
from typing import Any

QUIET = frozenset({"builtins.id", "pickle.find_class"})
"""What worlds may cause: copying one looks its classes up."""
LOOKING, OF_FUNCTIONS = "object.__getattr__", ("__code__", "__defaults__", "__kwdefaults__")
"""Libraries look at these all the time, and nothing can be done with a code object that is not noted itself."""
STANDARD = ("dataclasses", "typing", "collections", "inspect")
"""Modules that compile code, and look at their caller's frame, to do what environments ask of them."""
MEANS = frozenset(
    {
        *("compile", "exec", "code.__new__", "function.__new__", "object.__setattr__"),
        *("sys._getframe", "sys._getframemodulename"),
    }
)
PATCHES_TYPING = "typing_extensions"
"""A library that replaces parts of `typing`. It may look at its caller's frame, and may not compile code."""
FRAMES = frozenset({"sys._getframe", "sys._getframemodulename"})
MOST = 20
"""Deeds that are noted."""

Hook = Callable[[str, tuple[Any, ...]], None]


class Tripped(PermissionError):
    """What a module meets when it does something that is not its business."""


class Tripwire:
    """The hook, and what tripped it.

    Args:
        path: File name of the module's code.
        name: Full name of the module.
    """

    def __init__(self, path: str, name: str) -> None:
        standard = frozenset(vars(sys.modules[n]).get("__file__") for n in STANDARD if n in sys.modules)
        patch = vars(sys.modules[PATCHES_TYPING]).get("__file__") if PATCHES_TYPING in sys.modules else None
        self._hook, self._read = _wired(path, name, standard, patch)

    @property
    def deeds(self) -> list[str]:
        """A copy of the notes."""
        return self._read()

    def arm(self) -> Callable[[], list[str]]:
        """Watch from now on; there is no way back.

        Returns:
            What reads the notes. Who keeps it does not depend on attributes that a module could replace.
        """
        sys.addaudithook(self._hook)
        return self._read


def _wired(path: str, name: str, standard: frozenset[Any], patch: Any) -> tuple[Hook, Callable[[], list[str]]]:
    """Return a hook for the module, and what reads its notes; both hold all that they use."""
    frames, quiet, looking, of_functions, means, most, tripped = (
        FRAMES,
        QUIET,
        LOOKING,
        OF_FUNCTIONS,
        MEANS,
        MOST,
        Tripped,
    )
    frame_at, thread, kind, shown, plain = sys._getframe, get_ident, type, repr, (str, int, bytes, bool)
    value_of, length, copied, text = dict.get, len, list, str
    notes: list[str] = []
    busy: set[int] = set()
    """Threads in which the hook itself is at work; what it causes is its own doing."""

    def is_to_blame(event: str, frame: FrameType | None) -> bool:
        if event in means and frame is not None and frame.f_code.co_filename in standard:
            return False
        if event in frames and frame is not None and frame.f_code.co_filename == patch:
            return False
        while frame is not None:
            if frame.f_code.co_filename == path:
                return True
            runs_as = value_of(frame.f_globals, "__name__")  # text of the module's that somebody evaluates
            if kind(runs_as) is text and runs_as == name:
                return True
            frame = frame.f_back
        return False

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        here = thread()
        if here in busy or event in quiet or (event == looking and arguments[1] in of_functions):
            return
        busy.add(here)
        try:
            if not is_to_blame(event, frame_at(1)):
                return
            if length(notes) < most:
                # Only arguments that can be shown without calling anything of the module's.
                told = ", ".join([shown(a)[:80] for a in arguments if kind(a) in plain])
                notes.append(f"{event} {told}".strip())
        finally:
            busy.discard(here)
        raise tripped(f"an environment may not do this: {event}")

    def read() -> list[str]:
        return copied(notes)

    return hook, read
