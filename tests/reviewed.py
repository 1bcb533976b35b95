"""Playing of plans that outside reviewers wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.types import Call, Say

__all__ = ["Rewording", "passes", "played"]

Rewording = Callable[[Any, str], str]


def played(scenario: str, steps: Iterable[Call | Say] | None = None, reworded: Rewording | None = None) -> Episode:
    """Return the episode of a plan, by default the oracle's with reworded messages."""
    episode = registry.start_episode(scenario)
    for step in steps or episode.world.copy().oracle():
        if not episode.done:
            new = Say(reworded(episode.start, step.text)) if reworded and isinstance(step, Say) else step
            episode.step(new)
    episode.finish()
    return episode


def passes(episode: Episode) -> bool:
    """Return whether an episode succeeds and violates no conduct rule."""
    assert episode.score
    return episode.score.success and episode.score.conduct == 1.0
