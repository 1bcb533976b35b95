"""Read-only mappings for constants that all worlds in a process share, and safe formatting of templates."""

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
    """Return a read-only view of a mapping and of the dictionaries nested in it. Other values should be immutable."""
    inner: Any = {key: frozen(value) if isinstance(value, dict) else value for key, value in table.items()}
    return MappingProxyType(inner)


def filled(template: str, **texts: object) -> str:
    """Return a template with its fields replaced by the given texts.

    Unlike `str.format`, this function does not allow a field to access attributes or items of a text, because generated
    modules may assemble templates from untrusted data.

    Raises:
        ValueError: A field is not the name of one of the texts.
    """
    made = []
    for literal, field, spec, conversion in _fields(template):
        made.append(literal)
        if field is not None:
            if field not in texts or spec or conversion:
                named = ", ".join(f"{{{name}}}" for name in texts)
                raise ValueError(
                    f"the template {template[:60]!r} contains {{{field}}}, which cannot be filled in: expected one of "
                    f"{named}"
                )
            made.append(str(texts[field]))
    return "".join(made)


@lru_cache(maxsize=256)
def _fields(template: str) -> tuple[tuple[str, str | None, str | None, str | None], ...]:
    return tuple(Formatter().parse(template))


def _as_dict(table: MappingProxyType[Any, Any]) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    return dict, (dict(table),)


copyreg.pickle(MappingProxyType, _as_dict)  # pickling the state of a world replaces read-only mappings by dictionaries
