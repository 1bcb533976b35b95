"""The command line: one verb per stage. Each verb is a thin call of the function of the same name."""

from trace_gym.cli.entry import main

__all__ = ["main"]
