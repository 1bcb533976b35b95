"""Adapter for Stable-Baselines3 and other libraries that train small networks: environments with discrete actions.

A menu offers tool calls and sentences that fit the conversation as discrete actions.
"""

from trace_gym.adapters.sb3.menu import Menu, MenuEnv

__all__ = ["Menu", "MenuEnv"]
