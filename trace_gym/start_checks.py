"""A verifier's checks of a start state, evaluated once for all episodes that share the state."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, TypeVar

from trace_gym.types import Check
from trace_gym.world import World

T = TypeVar("T")
KEPT = 512
"""Start states whose checks are kept: more than the scenarios of a GRPO batch, and a few megabytes."""
_verified: ContextVar[tuple[World, dict[str, Any]] | None] = ContextVar("_verified", default=None)
"""The start state that an episode is being scored against, and what was derived from it."""


def checks_at_start(start: World) -> tuple[Check, ...]:
    """Return the checks of a start state with nothing said.

    They are looked up by the world class, its `verify` and the content of the state as it is now, so a state that was
    changed is verified anew. Worlds that are not copied by pickling are always verified.
    """
    world: Any = type(start)  # mypy does not take a class for hashable
    if world.copy is not World.copy:
        return tuple(start.verify(start, []))
    try:
        state = pickle.dumps(start, -1)
    except Exception:  # something was put into the state that does not pickle
        return tuple(start.verify(start, []))
    return _checks(world, world.verify, _State(state, start))


@contextmanager
def verifying(start: World) -> Iterator[None]:
    """Let `once` keep what is derived from a start state; a verifier does not change it."""
    token = _verified.set((start, {}))
    try:
        yield
    finally:
        _verified.reset(token)


def once(start: World, name: str, derive: Callable[[], T]) -> T:
    """Return what is derived from a state, derived once while an episode is scored against this very state.

    A verifier runs on the start and on the final state, and both need it. Nobody may change the result.
    """
    scope = _verified.get()
    if scope is None or scope[0] is not start:
        return derive()
    kept = scope[1]
    if name not in kept:
        kept[name] = derive()
    return kept[name]  # type: ignore[no-any-return]


class _State:
    """A start state as a key: equal where the pickled content is. The state itself is there until it was verified."""

    __slots__ = ("content", "start")

    def __init__(self, content: bytes, start: World) -> None:
        self.content = content
        self.start: World | None = start

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _State) and self.content == other.content

    def __hash__(self) -> int:
        return hash(self.content)


@lru_cache(maxsize=KEPT)
def _checks(world: type[World], verify: Callable[..., Any], state: _State) -> tuple[Check, ...]:
    start, state.start = state.start, None
    assert start is not None
    return tuple(start.verify(start, []))
