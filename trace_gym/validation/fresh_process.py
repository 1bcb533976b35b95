"""Jobs in a fresh process, which runs ``python -m trace_gym.validation.fresh_process``.

The process reads a JSON object from standard input. The value of ``world`` is the module path or ``module:class`` of
the world. The object also has one of two keys: ``unfinished`` (pickled episodes with their remaining steps, to be
continued) or ``attempts`` (rollouts with level, seed and turns, to be run in an `AsyncVectorEnv`).
"""

from __future__ import annotations

import base64
import json
import os
import pickle
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

from gymnasium.vector import AsyncVectorEnv

from trace_gym.episode import Episode
from trace_gym.interpreter import answers
from trace_gym.parent_death import die_with_parent
from trace_gym.validation.gymnasium_env import WorldEnv, vector_results
from trace_gym.validation.properties import CheckFailed
from trace_gym.validation.scenario_digest import episode_trace
from trace_gym.validation.source import load
from trace_gym.world import Step

TIME_LIMIT = 600
"""Time limit of the process in seconds. It is generous, because the machine may be busy. Endless loops are unlikely,
because the same steps have already run in the parent process."""


def run_job(job: dict[str, Any]) -> Any:
    """Run a job in a fresh process and return the result.

    Raises:
        CheckFailed: The process failed or exceeded the time limit.
    """
    module, setting = "trace_gym.validation.fresh_process", {"PYTHONHASHSEED": "4242"}
    [answer] = answers(module, job, [setting], seconds=TIME_LIMIT, work="continue the episodes", error=CheckFailed)
    return answer


def pack_episode(episode: Episode, steps: Sequence[Step]) -> str:
    """Return an unfinished episode and its remaining steps as base64 text."""
    return base64.b64encode(pickle.dumps((episode, list(steps)), -1)).decode()


def resume_episode(text: str) -> str:
    """Take the remaining steps of a packed episode and return its trace."""
    episode, steps = pickle.loads(base64.b64decode(text))
    for step in steps:
        if not episode.done:
            episode.step(step)
    return episode_trace("", episode)


def run_in_processes(reference: str, attempts: Sequence[dict[str, Any]]) -> Any:
    """Return the results of an `AsyncVectorEnv`, with one process per rollout."""
    build = [partial(_alone, reference, attempt["level"], os.getpid()) for attempt in attempts]
    envs = AsyncVectorEnv(build, shared_memory=False)
    try:
        return vector_results(envs, [a["seed"] for a in attempts], [a["turns"] for a in attempts])
    finally:
        envs.close(terminate=True)


def _alone(reference: str, level: int, parent: int) -> WorldEnv:
    """Create one environment of the vector, and make its process end when the parent process ends."""
    if os.getpid() != parent:  # Gymnasium also creates an environment in the parent process to read its spaces
        die_with_parent(parent)
    return WorldEnv(reference, level)


def main() -> None:
    """Run one job and print its result to standard output."""
    die_with_parent()
    request = json.load(sys.stdin)
    load(request["world"])
    if "unfinished" in request:
        print(json.dumps([resume_episode(text) for text in request["unfinished"]]))
    else:
        print(json.dumps(run_in_processes(request["world"], request["attempts"])))


if __name__ == "__main__":
    main()
