"""Constants of the targets: tables that nobody can change, as all worlds of a process share them."""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Mapping
from functools import lru_cache
from string import Formatter
from types import MappingProxyType
from typing import Any, TypeVar

K = TypeVar("K")
V = TypeVar("V")


def frozen(table: Mapping[K, V]) -> Mapping[K, V]:
    """Return a table that cannot be changed, with the tables inside of it; its other values should be immutable."""
    inner: Any = {key: frozen(value) if isinstance(value, dict) else value for key, value in table.items()}
    return MappingProxyType(inner)


def filled(template: str, **texts: object) -> str:
    """Return a template with its fields replaced by texts.

    A template is data that a generated module may have assembled. So a field names one of the texts and nothing
    else: unlike `str.format`, no attribute or item of a value is looked up.

    Raises:
        ValueError: A field is not the plain name of one of the texts.
    """
    made = []
    for literal, field, spec, conversion in _fields(template):
        made.append(literal)
        if field is not None:
            if field not in texts or spec or conversion:
                named = ", ".join(f"{{{name}}}" for name in texts)
                raise ValueError(f"cannot fill in {{{field}}} of the template {template[:60]!r}; expected {named}")
            made.append(str(texts[field]))
    return "".join(made)


@lru_cache(maxsize=256)
def _fields(template: str) -> tuple[tuple[str, str | None, str | None, str | None], ...]:
    return tuple(Formatter().parse(template))


def _as_dict(table: MappingProxyType[Any, Any]) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    return dict, (dict(table),)


copyreg.pickle(MappingProxyType, _as_dict)  # a world that keeps a table in its state gets a copy of its own
