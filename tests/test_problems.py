"""Seeds select scenarios of several environments, and each environment is looked up once."""

from __future__ import annotations

import pytest
from conftest import TOY

from trace_gym import registry
from trace_gym.adapters.problems import Problems
from trace_gym.world import World

pytestmark = pytest.mark.usefixtures("user_folder")


def test_environments_are_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found, load_world = list[str](), registry.load_world
    problems = Problems([TOY, "toy_mixture"], level=1)
    scenarios = [problems.at(seed) for seed in range(6)]
    expected = [registry.start_episode(scenario).state_hash for scenario in scenarios]

    def load(name: str) -> type[World]:
        found.append(name)
        return load_world(name)

    monkeypatch.setattr(registry, "load_world", load)
    episodes = [problems.start(scenario, style="json") for scenario in scenarios]
    assert [episode.state_hash for episode in episodes] == expected
    assert {episode.style for episode in episodes} == {"json"}
    assert problems.parts() and found == [TOY, *registry.mixture("toy_mixture").mixture]
