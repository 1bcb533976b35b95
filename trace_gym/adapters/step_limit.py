"""Detection of the step limit of Gymnasium's `TimeLimit` wrapper, so that a truncated episode can be scored."""

from __future__ import annotations

import sys
from typing import Any

import gymnasium
from gymnasium.wrappers import TimeLimit


def step_limit(env: gymnasium.Env[Any, Any]) -> int | None:
    """Return the smallest limit of the `TimeLimit` wrappers around an environment; None without such a wrapper.

    Call this function in the environment's `reset`. An environment has no reference to its wrappers, and `TimeLimit`
    truncates only after the environment has returned the info of the last step. This function therefore looks for the
    wrappers among the callers of `reset` on the stack. It stops at the first caller that is neither a wrapper nor part
    of Gymnasium.
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
