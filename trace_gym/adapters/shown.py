"""Copies of an episode's messages for Gymnasium's `info`, which callers may modify.

Each message is copied only once instead of at every step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from trace_gym.types import Message

OnChange = Callable[[], None]


class ShownMessages:
    """Copies of an episode's messages.

    Every info of an episode contains a new list of the same copies, so that the time for a step depends only on the
    number of new messages. If the caller modifies a copy, the next info contains a new copy of that message. The
    modification therefore affects neither the episode nor later infos.

    Args:
        originals: The message list of the episode, to which the episode appends.
    """

    def __init__(self, originals: list[Message]) -> None:
        self._originals = originals
        self._copies: list[Message] = []
        self._changed: set[int] = set()

    def copies(self) -> list[Message]:
        """Return a list of copies of all messages."""
        for n in list(self._changed):
            self._changed.discard(n)
            self._copies[n] = self._copy(n)
        self._copies += [self._copy(n) for n in range(len(self._copies), len(self._originals))]
        return list(self._copies)

    def _copy(self, n: int) -> Message:
        message, note = self._originals[n], partial(self._changed.add, n)
        if "tool_calls" not in message:
            return _Dict(message, note)
        calls = [_Dict({**c, "function": _Dict(c["function"], note)}, note) for c in message["tool_calls"]]
        return _Dict({**message, "tool_calls": _List(calls, note)}, note)

    def __reduce__(self) -> tuple[type[ShownMessages], tuple[list[Message]]]:
        return ShownMessages, (self._originals,)  # the unpickled object creates new copies


class _Dict(dict[str, Any]):
    """A dict that calls `note` when it is modified. Copies (`dict`, `copy`, `deepcopy`, pickles) are plain dicts."""

    __slots__ = ("note",)

    def __init__(self, content: Message, note: OnChange) -> None:
        super().__init__(content)
        self.note = note

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)


class _List(list[Any]):
    """A list that calls `note` when it is modified. Copies of it are plain lists."""

    __slots__ = ("note",)

    def __init__(self, content: list[Any], note: OnChange) -> None:
        super().__init__(content)
        self.note = note

    def __reduce__(self) -> tuple[type[list[Any]], tuple[list[Any]]]:
        return list, (list(self),)


def _noting(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def noting(self: _Dict | _List, *args: Any, **kwargs: Any) -> Any:
        self.note()
        return method(self, *args, **kwargs)

    return noting


for _name in ("__setitem__", "__delitem__", "__ior__", "clear", "pop", "popitem", "setdefault", "update"):
    setattr(_Dict, _name, _noting(getattr(dict, _name)))
for _name in (
    *("__setitem__", "__delitem__", "__iadd__", "__imul__"),
    *("append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"),
):
    setattr(_List, _name, _noting(getattr(list, _name)))
