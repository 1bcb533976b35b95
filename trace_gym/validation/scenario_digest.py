"""Digest of a scenario, and the command that prints digests: ``python -m trace_gym.validation.scenario_digest``.

The command reads ``{"world": <path or module:class>, "scenarios": [<scenario id>, ...]}`` from standard input.
"""

from __future__ import annotations

import json
import sys
from itertools import islice
from typing import Literal

from trace_gym.episode import Episode
from trace_gym.parent_death import die_with_parent
from trace_gym.types import Scenario, sha256
from trace_gym.validation.source import load
from trace_gym.world import World, plan_of


def digest(world: type[World], scenario: Scenario) -> str:
    """Return a hash of the observable content of a scenario: messages, states and the conversations of both experts."""
    return sha256("".join(_trace(world, scenario, expert) for expert in ("oracle", "ablated")))


def _trace(world: type[World], scenario: Scenario, expert: Literal["oracle", "ablated"]) -> str:
    episode = Episode(world, scenario)
    start_hash = episode.state_hash
    for step in islice(plan_of(episode.start, expert), world.max_turns):
        episode.step(step)
    return episode_trace(start_hash, episode)


def episode_trace(start_hash: str, episode: Episode) -> str:
    """Return the observable content of an episode as text. `start_hash` is the hash of its initial state."""
    return json.dumps([start_hash, episode.messages, episode.state_hash, episode.finish().model_dump_json()])


def main() -> None:
    """Print a JSON object of digests by scenario id."""
    die_with_parent()
    request = json.load(sys.stdin)
    world, _ = load(request["world"])
    print(json.dumps({text: digest(world, Scenario.parse(text)) for text in request["scenarios"]}))


if __name__ == "__main__":
    main()
