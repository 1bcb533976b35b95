"""Plans of the oracle's calls between messages of a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.types import Call, Say, Scenario

Words = Callable[[Any], str]
SEEDS = range(700, 706)


def episodes(name: str, level: int, proposal: Words, report: Words) -> Iterator[Episode]:
    """Yield the finished episodes of the oracle's calls between a proposal and a report; empty proposals are left out.

    The proposal comes in front of the writes.
    """
    for seed in SEEDS:
        episode = registry.start_episode(Scenario(env=name, level=level, seed=seed))
        world = episode.start.copy()
        calls = [s for s in world.oracle() if isinstance(s, Call)]
        kinds = world.interface().kinds
        at = next(n for n, call in enumerate(calls) if kinds[call.tool] == "write")
        if not proposal(world):
            continue
        steps: list[Call | Say] = [*calls[:at], Say(proposal(world)), *calls[at:], Say(report(world))]
        for step in steps:
            if not episode.done:
                episode.step(step)
        yield episode


def successes(name: str, level: int, proposal: Words, report: Words) -> set[bool]:
    return {bool(e.finish().success) for e in episodes(name, level, proposal, report)}
