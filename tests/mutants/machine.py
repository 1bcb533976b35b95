"""Defects that can be injected into any environment: each operator creates a broken variant of a world class.

``mutants.machine:tau2_precondition__unseeded`` is the variant of ``tau2_precondition`` by the operator `unseeded`. It
is created when it is first accessed, separately in every process. A new environment in the registry is therefore tested
with all operators without a change to this module.
"""

from __future__ import annotations

from mutants import operators_of_play, operators_of_rules  # noqa: F401  # importing them registers the operators
from mutants.operators import OPERATORS, Operator

from trace_gym import registry
from trace_gym.world import World

__all__ = ["OPERATORS", "Operator", "variants"]

NEEDS_CAPABILITY = {"unskilled_oracle", "skilled_shortcut"}
"""Operators that apply only to environments that train one capability."""


def variants(env: str) -> list[str]:
    """Return the names of all broken variants of an environment, for loading as ``mutants.machine:NAME``."""
    capable = bool(registry.load_world(env).capability)
    return [f"{env}__{name}" for name in OPERATORS if capable or name not in NEEDS_CAPABILITY]


_made: dict[str, type[World]] = {}


def __getattr__(name: str) -> type[World]:
    env, found, op = name.partition("__")
    if not found or op not in OPERATORS:
        raise AttributeError(name)
    if name not in _made:
        base = registry.load_world(env)
        members = {"id": name, "__module__": __name__, "__doc__": base.__doc__, **OPERATORS[op].make(base)}
        _made[name] = type(name, (base,), members)
    return _made[name]
