"""Builtins and methods that return what they are given, or a part of it."""

from __future__ import annotations

CONTAINERS = frozenset(
    {
        *("dict", "enumerate", "filter", "frozenset", "iter", "list", "map", "range", "reversed", "set", "slice"),
        *("sorted", "tuple", "zip"),
    }
)
"""Builtins that make a container of what they are given."""
CHOOSERS = frozenset({"cast", "max", "min", "next", "vars"})
"""Functions that hand out what they are given, or a part of it."""
SETTINGS = frozenset({"key", "reverse", "start", "strict"})
"""Their arguments that are not handed out."""
DRAWERS = frozenset({"choice", "choices", "sample"})
"""Methods of the generator that hand out parts of their argument."""
BY_KEY = frozenset({"get", "pop", "setdefault", "values"})
"""Methods that hand out values of a dict, and whose first argument is a key."""
PARTS = frozenset(
    {
        *("copy", "difference", "elements", "fromkeys", "get", "items", "keys", "most_common", "pop", "popitem"),
        *("popleft", "setdefault", "union", "values"),
    }
)
"""Methods of plain containers that hand out their parts."""
