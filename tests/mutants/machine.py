"""Faults that can be put into any environment: each operator makes a broken variant of a world class.

``mutants.machine:tau2_precondition__unseeded`` names the variant of ``tau2_precondition`` made by the operator
`unseeded`; it is built when it is asked for, in every process anew. So an environment that is added to the
registry is checked against all of them without a line about it here.
"""

from __future__ import annotations

from mutants import operators_of_play, operators_of_rules  # noqa: F401  # importing them registers the operators
from mutants.operators import OPERATORS, Operator

from trace_gym import registry
from trace_gym.world import World

__all__ = ["OPERATORS", "Operator", "variants"]

NEEDS_CAPABILITY = {"unskilled_oracle", "skilled_shortcut"}
"""Operators that mean something only where an environment trains one capability."""


def variants(env: str) -> list[str]:
    """The names of all broken variants of an environment, to be loaded as ``mutants.machine:NAME``."""
    capable = bool(registry.load(env).capability)
    return [f"{env}__{name}" for name in OPERATORS if capable or name not in NEEDS_CAPABILITY]


_made: dict[str, type[World]] = {}


def __getattr__(name: str) -> type[World]:
    env, found, op = name.partition("__")
    if not found or op not in OPERATORS:
        raise AttributeError(name)
    if name not in _made:
        base = registry.load(env)
        members = {"id": name, "__module__": __name__, "__doc__": base.__doc__, **OPERATORS[op].make(base)}
        _made[name] = type(name, (base,), members)
    return _made[name]
