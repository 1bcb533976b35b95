"""Alias of `trace_gym.adapters.sb3` for code that uses the earlier import path."""

from trace_gym.adapters.sb3 import Menu, MenuEnv

__all__ = ["Menu", "MenuEnv"]
