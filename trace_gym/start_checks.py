"""Cache for the checks of a verifier on start states, so that episodes with equal start states share them."""

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
"""Maximum number of start states in the cache, which is more than the number of scenarios in a GRPO batch."""
_verified: ContextVar[tuple[World, dict[str, Any]] | None] = ContextVar("_verified", default=None)
"""Start state of the episode that is being scored, and values that were computed from it."""


def checks_at_start(start: World) -> tuple[Check, ...]:
    """Return the verifier's checks of a start state, as they are before the first message. The checks are cached.

    The key of the cache consists of the world class, its method `verify` and the content of the state, so a state that
    was changed is verified again. Worlds that are not copied with pickle are always verified.
    """
    world: Any = type(start)  # for mypy, a class is not hashable
    if world.copy is not World.copy:
        return tuple(start.verify(start, []))
    try:
        state = pickle.dumps(start, -1)
    except Exception:  # the state contains an object that cannot be pickled
        return tuple(start.verify(start, []))
    return _checks(world, world.verify, _StartState(state, start))


@contextmanager
def verifying(start: World) -> Iterator[None]:
    """Enable the cache of `once` for a start state while the block runs. The verifier must not change the state."""
    token = _verified.set((start, {}))
    try:
        yield
    finally:
        _verified.reset(token)


def once(start: World, name: str, derive: Callable[[], T]) -> T:
    """Return ``derive()``, which is computed only once while an episode with this start state is scored.

    The verifier runs on the start state and on the final state, and both runs use the value. Callers must not change
    the value.
    """
    scope = _verified.get()
    if scope is None or scope[0] is not start:
        return derive()
    kept = scope[1]
    if name not in kept:
        kept[name] = derive()
    return kept[name]  # type: ignore[no-any-return]


class _StartState:
    """Key of a start state in the cache. Keys are equal if the pickled states are equal."""

    __slots__ = ("content", "start")

    def __init__(self, content: bytes, start: World) -> None:
        self.content = content
        self.start: World | None = start

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _StartState) and self.content == other.content

    def __hash__(self) -> int:
        return hash(self.content)


@lru_cache(maxsize=KEPT)
def _checks(world: type[World], verify: Callable[..., Any], state: _StartState) -> tuple[Check, ...]:
    start, state.start = state.start, None
    assert start is not None
    return tuple(start.verify(start, []))
