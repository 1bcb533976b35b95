"""Python method names for the tools of a target, whose names are not always valid identifiers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trace_gym.targets.user.world import TargetWorld
from trace_gym.tool_schema import python_name
from trace_gym.world import World

LONGEST_NAME = 64
"""Maximum length of a tool name in an agent's turn."""


def method_names(tools: Iterable[str]) -> dict[str, str]:
    """Return a mapping from tool name to the name of its method in a base world.

    If the name is already an attribute of worlds, an underscore is appended. If another tool already has the name, a
    number is appended. For example, ``get-sum`` becomes ``get_sum``, ``reply`` becomes ``reply_``, and a second
    ``get_sum`` becomes ``get_sum_2``.
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
    """Return the reason why agents cannot call a tool with this name, or `""` if they can."""
    if not tool.strip() or tool != "".join(tool.split()) or not tool.isprintable():
        return "holds white space or control characters, or nothing"
    if len(tool) > LONGEST_NAME:
        return f"has {len(tool)} characters, expected at most {LONGEST_NAME}"
    return ""


def colliding(parameters: Sequence[str]) -> tuple[str, str] | None:
    """Return two parameters with the same Python name, such as ``max-age`` and ``max_age``, or None."""
    known: dict[str, str] = {}
    for parameter in parameters:
        if (other := known.setdefault(python_name(parameter), parameter)) != parameter:
            return other, parameter
    return None


def _reserved() -> frozenset[str]:
    """Return the names of the attributes of worlds, which tools cannot use as method names."""
    return frozenset((*dir(TargetWorld), *TargetWorld.__dataclass_fields__, *World.__annotations__))
