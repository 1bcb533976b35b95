"""Names that the linter allows in a module, formatted for prompts to a language model.

The lists are read from the allowlists of the linter itself.
"""

from __future__ import annotations

from collections.abc import Iterable

from trace_gym.sandbox import allowlist
from trace_gym.synthesis.slots import COMMON_IMPORTS


def allowed_names() -> dict[str, str]:
    """Return the names that a module may use, by category."""
    imported = [line.removeprefix("import ") for line in COMMON_IMPORTS if line.startswith("import ")]
    return {
        "Builtins": _joined(allowlist.BUILTINS - allowlist.EXCEPTIONS),
        "Exceptions": _joined(allowlist.EXCEPTIONS),
        "Attributes and methods of any value": _joined(allowlist.METHODS),
        "Special methods that a class may define": _joined(allowlist.DUNDERS),
        **{f"Names in `{module}`": _joined(allowlist.MODULES[module]) for module in imported},
    }


def _joined(names: Iterable[str]) -> str:
    return " ".join(sorted(names))
