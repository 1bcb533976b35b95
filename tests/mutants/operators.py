"""Registry of operators that inject a defect into an environment, each with the property that must detect it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from trace_gym.world import World

Members = dict[str, Any]
"""Class members that replace those of the original."""


@dataclass(frozen=True)
class Operator:
    """Function that injects a defect into an environment."""

    name: str
    fault: str
    """Description of the defect class."""
    caught_by: str
    """Code of the property that must detect the defect."""
    make: Callable[[type[World]], Members]


OPERATORS: dict[str, Operator] = {}


def operator(
    fault: str, caught_by: str
) -> Callable[[Callable[[type[World]], Members]], Callable[[type[World]], Members]]:
    def register(make: Callable[[type[World]], Members]) -> Callable[[type[World]], Members]:
        OPERATORS[make.__name__] = Operator(make.__name__, fault, caught_by, make)
        return make

    return register
