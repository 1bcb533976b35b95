"""Imperfect demonstrations for pretraining. In each episode, the scripted expert has only some of the capabilities."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.targets.tau2.airline import SKILLS, AirlineDesk
from trace_gym.types import Scenario

TARGET = "tau2_airline_desk"
COMPETENCE = 0.33
"""Probability that a demonstration shows a capability. It is low enough that a greedy policy does not show the
capability, and high enough that sampling during GRPO finds rollouts that do."""
LEVELS = {
    "tau2_precondition": (0, 1),
    "tau2_multi_step": (0, 1),
    "tau2_structured_data": (0, 1),
    "tau2_tool_precision": (0,),
    TARGET: (0, 1),
}
"""Mapping from environment to the levels whose records are small enough for the toy model."""


def demonstration(scenario: Scenario, skills: frozenset[str]) -> Episode:
    """Run one scenario with an expert that has only the capabilities in `skills`."""
    episode = registry.start_episode(scenario)
    assert isinstance(episode.start, AirlineDesk)
    for step in list(episode.start.serve(skills)):
        if episode.done:
            break
        episode.step(step)
    return episode


def draw_skills(rng: Random, competence: float = COMPETENCE) -> frozenset[str]:
    """Return a random subset of the capabilities; each is included independently with probability `competence`."""
    return frozenset(s for s in sorted(SKILLS) if rng.random() < competence)


def demonstrations(start: int, count: int, competence: float = COMPETENCE) -> Iterator[Episode]:
    """Yield finished episodes with seeds from the pretrain split. About one third use the environment `TARGET`."""
    seeds = registry.SPLITS["pretrain"]
    for n in range(start, start + count):
        rng = Random(f"lab/demo/{n}")
        env = rng.choices(list(LEVELS), (2, 2, 2, 2, 4))[0]
        scenario = Scenario(env=env, level=rng.choice(LEVELS[env]), seed=seeds[n])
        yield demonstration(scenario, draw_skills(rng, competence))
