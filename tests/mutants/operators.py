"""The registry of operators: ways to break an environment, each with the property that is there to find it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from trace_gym.world import World

Members = dict[str, Any]
"""What a variant has instead of the original's."""


@dataclass(frozen=True)
class Operator:
    """A way to break an environment."""

    name: str
    fault: str
    """The fault class, in words."""
    caught_by: str
    """Code of the property that is there to find it."""
    make: Callable[[type[World]], Members]


OPERATORS: dict[str, Operator] = {}


def operator(
    fault: str, caught_by: str
) -> Callable[[Callable[[type[World]], Members]], Callable[[type[World]], Members]]:
    def register(make: Callable[[type[World]], Members]) -> Callable[[type[World]], Members]:
        OPERATORS[make.__name__] = Operator(make.__name__, fault, caught_by, make)
        return make

    return register
