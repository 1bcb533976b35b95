"""Builtins and methods whose result can be an alias of an argument or of a part of an argument."""

from __future__ import annotations

CONTAINERS = frozenset(
    {
        *("dict", "enumerate", "filter", "frozenset", "iter", "list", "map", "range", "reversed", "set", "slice"),
        *("sorted", "tuple", "zip"),
    }
)
"""Builtins that return a new container or iterator with the elements of their arguments."""
CHOOSERS = frozenset({"cast", "max", "min", "next", "vars"})
"""Functions that return an argument or a part of an argument."""
SETTINGS = frozenset({"key", "reverse", "start", "strict"})
"""Keyword arguments of the builtins in `CONTAINERS` and `CHOOSERS` that do not become part of the result."""
DRAWERS = frozenset({"choice", "choices", "sample"})
"""Methods of the random number generator that return parts of their argument."""
BY_KEY = frozenset({"get", "pop", "setdefault", "values"})
"""Methods that return values of a dict and take a key as the first argument."""
PARTS = frozenset(
    {
        *("copy", "difference", "elements", "fromkeys", "get", "items", "keys", "most_common", "pop", "popitem"),
        *("popleft", "setdefault", "union", "values"),
    }
)
"""Methods of containers that return the container's elements, or a new container with these elements."""
