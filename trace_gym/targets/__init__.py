"""Targets: the benchmarks and systems that environments simulate. The module `catalogue` finds them by name."""

DEFAULT_TARGET = "tau2_airline"
"""Name of the target that commands use if no other target is given."""
