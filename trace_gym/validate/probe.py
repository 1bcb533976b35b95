"""The digest of a scenario, and a program that prints it: ``python -m trace_gym.validate.probe``.

The program reads ``{"world": <path or module:class>, "scenarios": [<address>, ...]}`` from standard input.
"""

from __future__ import annotations

import json
import sys
from itertools import islice
from typing import Literal

from trace_gym.episode import Episode
from trace_gym.types import Scenario, sha256
from trace_gym.validate.lifeline import die_with_parent
from trace_gym.validate.source import load
from trace_gym.world import World, plan_of


def digest(world: type[World], scenario: Scenario) -> str:
    """Hash of all that can be seen of a scenario: opening, states, and both experts' conversations."""
    return sha256("".join(_trace(world, scenario, expert) for expert in ("oracle", "ablated")))


def _trace(world: type[World], scenario: Scenario, expert: Literal["oracle", "ablated"]) -> str:
    episode = Episode(world, scenario)
    began = episode.state_hash
    for step in islice(plan_of(episode.start, expert), world.max_turns):
        episode.step(step)
    return trace(began, episode)


def trace(began: str, episode: Episode) -> str:
    """All that can be seen of an episode, as text; `began` is its state hash at the start."""
    return json.dumps([began, episode.messages, episode.state_hash, episode.finish().model_dump_json()])


def main() -> None:
    """Print a JSON object of digests by scenario."""
    die_with_parent()
    asked = json.load(sys.stdin)
    world, _ = load(asked["world"])
    print(json.dumps({text: digest(world, Scenario.parse(text)) for text in asked["scenarios"]}))


if __name__ == "__main__":
    main()
