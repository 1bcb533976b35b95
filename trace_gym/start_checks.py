"""A verifier's checks of a start state, evaluated once for all episodes that share the state."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from trace_gym.types import Check
from trace_gym.world import World

KEPT = 512
"""Start states whose checks are kept: more than the scenarios of a GRPO batch, and a few megabytes."""


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
    return _checks(world, world.verify, state)


@lru_cache(maxsize=KEPT)
def _checks(world: type[World], verify: Callable[..., Any], state: bytes) -> tuple[Check, ...]:
    start: World = pickle.loads(state)
    return tuple(start.verify(start, []))
