"""A fresh process that goes on where this one stopped: ``python -m trace_gym.validate.worker``.

It reads a JSON object from standard input: ``world`` (how to find it) and either ``unfinished``, pickled episodes
with the steps that are left, or ``attempts`` (level, seed, turns) to play side by side in processes of their own.
"""

from __future__ import annotations

import base64
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

from gymnasium.vector import AsyncVectorEnv

from trace_gym.episode import Episode
from trace_gym.validate.lifeline import die_with_parent
from trace_gym.validate.probe import trace
from trace_gym.validate.properties import Broken
from trace_gym.validate.source import load
from trace_gym.validate.wrapped import WorldEnv, side_by_side
from trace_gym.world import Step

TIME_LIMIT = 600
"""Seconds after which the process is given up; what loops would have looped here already, and machines may be busy."""


def ask(job: dict[str, Any]) -> Any:
    """What a fresh process answers to a job.

    Raises:
        Broken: It fails, or does not answer in time.
    """
    path = os.pathsep.join(p or os.getcwd() for p in sys.path)
    command = [sys.executable, "-W", "ignore", "-m", "trace_gym.validate.worker"]
    try:
        done = subprocess.run(
            command,
            env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "4242"},
            input=json.dumps(job),
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
        )
    except subprocess.TimeoutExpired:
        raise Broken(f"a fresh process had not played on after {TIME_LIMIT} seconds") from None
    if done.returncode:
        cause = (done.stderr.strip().splitlines() or ["nothing on its error output"])[-1]
        raise Broken(f"a fresh process cannot play on, and ends with: {cause[:300]}")
    return json.loads(done.stdout.splitlines()[-1])


def packed(episode: Episode, steps: Sequence[Step]) -> str:
    """An unfinished episode and what is left to do, to be sent."""
    return base64.b64encode(pickle.dumps((episode, list(steps)), -1)).decode()


def played_on(text: str) -> str:
    """All that can be seen of a sent episode once the steps are taken."""
    episode, steps = pickle.loads(base64.b64decode(text))
    for step in steps:
        if not episode.done:
            episode.step(step)
    return trace("", episode)


def played_apart(reference: str, attempts: Sequence[dict[str, Any]]) -> Any:
    """What gymnasium's vector of processes returns for attempts, one process each."""
    build = [partial(_alone, reference, attempt["level"], os.getpid()) for attempt in attempts]
    envs = AsyncVectorEnv(build, shared_memory=False)
    try:
        return side_by_side(envs, [a["seed"] for a in attempts], [a["turns"] for a in attempts])
    finally:
        envs.close(terminate=True)


def _alone(reference: str, level: int, parent: int) -> WorldEnv:
    """One environment of the vector; gymnasium makes another one in the parent, to ask for its spaces."""
    if os.getpid() != parent:
        die_with_parent(parent)
    return WorldEnv(reference, level)


def main() -> None:
    """Answer one job on standard output."""
    die_with_parent()
    asked = json.load(sys.stdin)
    load(asked["world"])
    if "unfinished" in asked:
        print(json.dumps([played_on(text) for text in asked["unfinished"]]))
    else:
        print(json.dumps(played_apart(asked["world"], asked["attempts"])))


if __name__ == "__main__":
    main()
