"""Method names for the tools of a target, whose names need not be Python identifiers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trace_gym.targets.user.world import TargetWorld
from trace_gym.world import World, python_name

LONGEST_NAME = 64
"""Characters of the longest tool name that an agent's turn may hold."""


def method_names(tools: Iterable[str]) -> dict[str, str]:
    """Return the method name that a base world gives each tool, by the tool's name.

    A name that worlds use themselves gets an underscore, and one that another tool has got a number: ``get-sum`` is
    ``get_sum``, ``reply`` is ``reply_``, and a second ``get_sum`` is ``get_sum_2``.
    """
    used = set(_reserved())
    made: dict[str, str] = {}
    for tool in dict.fromkeys(tools):
        plain = python_name(tool)
        plain = f"{plain}_" if plain in _reserved() else plain
        name, number = plain, 1
        while name in used:
            number += 1
            name = f"{plain}_{number}"
        used.add(name)
        made[tool] = name
    return made


def fault_of_name(tool: str) -> str:
    """Return why no agent can call a tool of this name; empty when agents can."""
    if not tool.strip() or tool != "".join(tool.split()) or not tool.isprintable():
        return "holds white space or control characters, or nothing"
    if len(tool) > LONGEST_NAME:
        return f"has {len(tool)} characters, expected at most {LONGEST_NAME}"
    return ""


def colliding(parameters: Sequence[str]) -> tuple[str, str] | None:
    """Return two parameters that become the same Python name, such as ``max-age`` and ``max_age``; None if none do."""
    known: dict[str, str] = {}
    for parameter in parameters:
        if (other := known.setdefault(python_name(parameter), parameter)) != parameter:
            return other, parameter
    return None


def _reserved() -> frozenset[str]:
    """Names that worlds use for other things than tools."""
    return frozenset((*dir(TargetWorld), *TargetWorld.__dataclass_fields__, *World.__annotations__))
