"""The step limit that Gymnasium's `TimeLimit` wrapper sets, so that an episode which it cuts off is scored."""

from __future__ import annotations

import sys
from typing import Any

import gymnasium
from gymnasium.wrappers import TimeLimit


def step_limit(env: gymnasium.Env[Any, Any]) -> int | None:
    """Return the smallest limit of the `TimeLimit` wrappers around an environment; None without such a wrapper.

    To be called in the environment's `reset`. Gymnasium tells an environment nothing about its wrappers, and
    `TimeLimit` truncates only after the environment has returned the info of the last step. So the wrappers are found
    where they are: among the callers of `reset`, up to the first one that is neither a wrapper nor part of Gymnasium.
    """
    limits, frame = list[int](), sys._getframe(1)
    while frame.f_back is not None:
        caller = frame.f_locals.get("self")
        if isinstance(caller, TimeLimit):
            limits.append(caller._max_episode_steps)
        part_of_gymnasium = str(frame.f_globals.get("__name__")).startswith("gymnasium.")
        if caller is not env and not part_of_gymnasium and not isinstance(caller, gymnasium.Wrapper):
            break
        frame = frame.f_back
    return min(limits, default=None)
