"""Origins of checks: the methods that yield them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import GeneratorType

from trace_gym.types import Check


def with_origins(checks: Iterable[Check]) -> Iterator[tuple[Check, str]]:
    """Yield each check with the name of the method that yields it, such as ``Desk.conduct``.

    The name is empty if a method returns a list of checks, because a list does not record who created its elements.
    """
    iterator = iter(checks)
    for check in iterator:
        yield check, _innermost(iterator)


def described(description: str, checks: Iterable[tuple[Check, str]]) -> str:
    """Return a quoted description of a check with all of its origins."""
    names = sorted({name for check, name in checks if check.description == description and name})
    return f"{description!r}" + (f" (from {' and '.join(names)})" if names else "")


def _innermost(iterator: object) -> str:
    """Return the qualified name of the generator to which ``yield from`` delegates, or an empty string."""
    name = ""
    while isinstance(iterator, GeneratorType):
        name, iterator = iterator.__qualname__, iterator.gi_yieldfrom
    return name
