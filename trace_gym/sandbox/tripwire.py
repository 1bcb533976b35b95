"""A tripwire: whatever a module does besides computing is refused, and noted for the verdict.

It is an audit hook of the interpreter (PEP 578), which cannot be removed: opening files, importing, starting
processes, sockets, looking at frames or at the collector's objects, compiling code. What happens while a function of
the module is running, or of text that it had evaluated, is the module's doing.
"""

from __future__ import annotations

import sys
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
MOST = 20
"""Deeds that are noted."""


class Tripped(PermissionError):
    """What a module meets when it does something that is not its business."""


class Tripwire:
    """The hook, and what tripped it.

    Args:
        path: File name of the module's code.
        name: Full name of the module.
    """

    def __init__(self, path: str, name: str) -> None:
        self.path, self.name = path, name
        self.deeds: list[str] = []
        self.asleep = True
        self._standard = {vars(sys.modules[n]).get("__file__") for n in STANDARD if n in sys.modules}

    def arm(self) -> None:
        """Watch from now on; there is no way back."""
        self.asleep = False
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.asleep or event in QUIET or (event == LOOKING and arguments[1] in OF_FUNCTIONS):
            return
        self.asleep = True
        try:
            if not self._is_to_blame(event, sys._getframe(1)):
                return
            if len(self.deeds) < MOST:
                self.deeds.append(f"{event} {_shown(arguments)}".strip())
        finally:
            self.asleep = False
        raise Tripped(f"an environment may not do this: {event}")

    def _is_to_blame(self, event: str, frame: FrameType | None) -> bool:
        if event in MEANS and frame is not None and frame.f_code.co_filename in self._standard:
            return False
        while frame is not None:
            if frame.f_code.co_filename == self.path or frame.f_globals.get("__name__") == self.name:
                return True  # the second is text of the module's that somebody evaluates, such as an annotation
            frame = frame.f_back
        return False


def _shown(arguments: tuple[Any, ...]) -> str:
    """The arguments of an event that can be shown without calling anything of the module's."""
    plain = [repr(a)[:80] for a in arguments if type(a) in (str, int, bytes, bool)]
    return ", ".join(plain)
