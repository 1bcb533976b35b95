"""Audit hook that blocks and records operations of an untrusted module, such as opening files or starting processes.

The hook uses the audit events of the Python interpreter (PEP 578) and cannot be removed. An operation is attributed to
the module if a function of the module, or text that the module evaluates, is on the call stack.

The hook is a closure that copies everything it depends on when it is created. The untrusted module can therefore not
affect the hook by replacing constants in this file or attributes of an `AuditHook`.
"""

from __future__ import annotations

import sys
from _thread import get_ident
from collections.abc import Callable
from types import FrameType
from typing import Any

IGNORED_EVENTS = frozenset({"builtins.id", "pickle.find_class"})
"""Events that are always permitted. For example, copying a world looks up classes by name."""
ATTRIBUTE_EVENT, FUNCTION_ATTRIBUTES = "object.__getattr__", ("__code__", "__defaults__", "__kwdefaults__")
"""Audit event of attribute reads, and attributes for which it is permitted, because libraries read them often. Use of
the resulting code objects causes a separate audit event."""
STANDARD_MODULES = ("dataclasses", "typing", "collections", "inspect")
"""Standard modules that may compile code and read their caller's frame, because they need this to work."""
INTERNAL_EVENTS = frozenset(
    {
        *("compile", "exec", "code.__new__", "function.__new__", "object.__setattr__"),
        *("sys._getframe", "sys._getframemodulename"),
    }
)
PATCHES_TYPING = "typing_extensions"
"""Library that replaces parts of `typing`. It may read its caller's frame but may not compile code."""
FRAME_EVENTS = frozenset({"sys._getframe", "sys._getframemodulename"})
MAX_FORBIDDEN_ACTIONS = 20
"""Maximum number of operations that are recorded."""

Hook = Callable[[str, tuple[Any, ...]], None]


class AuditViolation(PermissionError):
    """Error raised in a module that attempts a forbidden operation."""


class AuditHook:
    """Audit hook for one module, with a record of blocked operations.

    Args:
        path: File name in the code objects of the module.
        name: Full name of the module.
    """

    def __init__(self, path: str, name: str) -> None:
        standard = frozenset(vars(sys.modules[n]).get("__file__") for n in STANDARD_MODULES if n in sys.modules)
        patch = vars(sys.modules[PATCHES_TYPING]).get("__file__") if PATCHES_TYPING in sys.modules else None
        self._hook, self._read = _create_hook(path, name, standard, patch)

    @property
    def forbidden_actions(self) -> list[str]:
        """Copy of the list of blocked operations."""
        return self._read()

    def arm(self) -> Callable[[], list[str]]:
        """Activate the hook. It cannot be deactivated.

        Returns:
            A function that returns the blocked operations. It uses no attributes that a module could replace.
        """
        sys.addaudithook(self._hook)
        return self._read


def _create_hook(path: str, name: str, standard: frozenset[Any], patch: Any) -> tuple[Hook, Callable[[], list[str]]]:
    """Return an audit hook for a module, and a function that returns the operations that the hook blocked.

    Local variables store everything that the two functions use, so that a module cannot replace these objects.
    """
    frames, quiet, looking, of_functions, means, most, tripped = (
        FRAME_EVENTS,
        IGNORED_EVENTS,
        ATTRIBUTE_EVENT,
        FUNCTION_ATTRIBUTES,
        INTERNAL_EVENTS,
        MAX_FORBIDDEN_ACTIONS,
        AuditViolation,
    )
    frame_at, thread, kind, shown, plain = sys._getframe, get_ident, type, repr, (str, int, bytes, bool)
    value_of, length, copied, text = dict.get, len, list, str
    notes: list[str] = []
    busy: set[int] = set()
    """Threads in which the hook is running. Events that the hook itself causes are ignored."""

    def is_to_blame(event: str, frame: FrameType | None) -> bool:
        if event in means and frame is not None and frame.f_code.co_filename in standard:
            return False
        if event in frames and frame is not None and frame.f_code.co_filename == patch:
            return False
        while frame is not None:
            if frame.f_code.co_filename == path:
                return True
            runs_as = value_of(frame.f_globals, "__name__")  # evaluated text of the module
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
                # Other arguments are omitted, because their `repr` could call code of the module.
                argument_texts = ", ".join([shown(a)[:80] for a in arguments if kind(a) in plain])
                notes.append(f"{event} {argument_texts}".strip())
        finally:
            busy.discard(here)
        raise tripped(f"an environment may not do this: {event}")

    def read() -> list[str]:
        return copied(notes)

    return hook, read
