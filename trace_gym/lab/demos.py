"""Imperfect demonstrations: experts who have each capability in a share of the episodes only."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.targets.tau2.airline import SKILLS, AirlineDesk
from trace_gym.types import Scenario

TARGET = "tau2_airline_desk"
COMPETENCE = 0.33
"""Share of decisions in which a demonstration shows a capability. Rare enough that the shortcut is
the mode, so greedy decoding shows the deficit; frequent enough that GRPO finds the other way."""
LEVELS = {
    "tau2_precondition": (0, 1),
    "tau2_multi_step": (0, 1),
    "tau2_structured_data": (0, 1),
    "tau2_tool_precision": (0,),
    TARGET: (0, 1),
}
"""Levels with small records, which the embedded agent plays."""


def demonstration(scenario: Scenario, skills: frozenset[str]) -> Episode:
    """Play one scenario as an expert who has `skills` only."""
    episode = registry.episode(scenario)
    assert isinstance(episode.start, AirlineDesk)
    for step in list(episode.start.serve(skills)):
        if episode.done:
            break
        episode.step(step)
    return episode


def draw_skills(rng: Random, competence: float = COMPETENCE) -> frozenset[str]:
    """Each capability of the desk, independently, with probability `competence`."""
    return frozenset(s for s in sorted(SKILLS) if rng.random() < competence)


def demonstrations(start: int, count: int, competence: float = COMPETENCE) -> Iterator[Episode]:
    """Finished episodes from the pre-training seeds, a third of them on the target."""
    seeds = registry.SPLITS["pretrain"]
    for n in range(start, start + count):
        rng = Random(f"lab/demo/{n}")
        env = rng.choices(list(LEVELS), (2, 2, 2, 2, 4))[0]
        scenario = Scenario(env=env, level=rng.choice(LEVELS[env]), seed=seeds[n])
        yield demonstration(scenario, draw_skills(rng, competence))
