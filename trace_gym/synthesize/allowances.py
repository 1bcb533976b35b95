"""What the static gate allows, in words for an author. All of it is read from the gate's own tables."""

from __future__ import annotations

from collections.abc import Iterable

from trace_gym.sandbox import allowed
from trace_gym.synthesize.slots import ALWAYS


def allowances() -> dict[str, str]:
    """Return the names that a module may use, by what they are."""
    imported = [line.removeprefix("import ") for line in ALWAYS if line.startswith("import ")]
    return {
        "Builtins": _listed(allowed.BUILTINS - allowed.EXCEPTIONS),
        "Exceptions": _listed(allowed.EXCEPTIONS),
        "Attributes and methods of any value": _listed(allowed.METHODS),
        "Special methods that a class may define": _listed(allowed.DUNDERS),
        **{f"Names in `{module}`": _listed(allowed.MODULES[module]) for module in imported},
    }


def _listed(names: Iterable[str]) -> str:
    return " ".join(sorted(names))
