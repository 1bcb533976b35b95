"""Messages of an episode for `info`: safe to change, and copied once instead of at every step."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from trace_gym.types import Message

Note = Callable[[], None]


class ShownMessages:
    """Copies of an episode's messages.

    Every info of the episode holds a new list of the same copies, so a step costs as much as its new messages. A copy
    that the caller changes is replaced by a new one before the next info: a change shows neither in the episode nor
    in any later info.

    Args:
        originals: The messages of the episode, a list that grows.
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
        return ShownMessages, (self._originals,)  # the receiver makes its own copies


class _Dict(dict[str, Any]):
    """A dict that notes when it is changed. Copies of it (`dict`, `copy`, `deepcopy`, pickles) are plain dicts."""

    __slots__ = ("note",)

    def __init__(self, content: Message, note: Note) -> None:
        super().__init__(content)
        self.note = note

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)


class _List(list[Any]):
    """A list that notes when it is changed. Copies of it are plain lists."""

    __slots__ = ("note",)

    def __init__(self, content: list[Any], note: Note) -> None:
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
