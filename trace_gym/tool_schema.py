"""Function schemas of a world's tools, derived from type hints and docstrings."""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, get_type_hints

from trace_gym.types import Message

_JSON_TYPES: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    list[str]: {"type": "array", "items": {"type": "string"}},
    list[int]: {"type": "array", "items": {"type": "integer"}},
}


def schema_of(name: str, method: Callable[..., Any]) -> Message:
    """Return the OpenAI function schema of a tool, derived from its type hints and Google docstring.

    Raises:
        TypeError: The tool has a parameter that cannot be passed by name, such as ``*args``.
    """
    summary, _, args = inspect.cleandoc(method.__doc__ or name).partition("Args:")
    described = dict(re.findall(r"^\s+(\w+)(?: \([^)]*\))?: (.+)$", args, flags=re.M))
    hints = get_type_hints(method)
    properties, required = {}, []
    for key, parameter in list(inspect.signature(method).parameters.items())[1:]:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            shown = str(parameter).partition(":")[0]
            raise TypeError(
                f"the tool {name!r} has the {parameter.kind.description} parameter {shown!r}, but a tool can only have "
                "parameters that are passed by name. Replace it with named parameters"
            )
        properties[key] = {**_JSON_TYPES.get(hints.get(key), {}), "description": described.get(key, key)}
        if parameter.default is parameter.empty:
            required.append(key)
    parameters = {"type": "object", "properties": properties, "required": required}
    return {"type": "function", "function": {"name": name, "description": summary.strip(), "parameters": parameters}}


@lru_cache(maxsize=4096)
def python_name(name: str) -> str:
    """Return the Python identifier for the name of a tool or parameter. Valid identifiers are returned unchanged.

    For example, ``get-sum`` is ``get_sum``, ``from`` is ``from_``, ``_id`` is ``id_`` and ``2fa`` is ``n2fa``.
    """
    made = re.sub(r"\W", "_", name, flags=re.ASCII)
    if made[:1].isdigit():
        made = f"n{made}"
    if keyword.iskeyword(made) or made == "self" or made.startswith("_"):
        made = f"{made.lstrip('_') or 'name'}_"
    return made
