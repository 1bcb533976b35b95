"""Adapter for Stable-Baselines3 and other libraries that train small networks: environments with discrete actions.

The discrete actions form a menu of tool calls and sentences. The menu offers only those that fit the current
conversation.
"""

from trace_gym.adapters.sb3.menu import Menu, MenuEnv

__all__ = ["Menu", "MenuEnv"]
