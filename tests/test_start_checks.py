"""The checks of a start state are shared by the episodes of a group, and by no others."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import pytest
from conftest import TOY

from trace_gym import registry, start_checks
from trace_gym.episode import Episode
from trace_gym.types import Call, Check, Say, Scenario, Score
from trace_gym.world import Random, World, tool


@dataclass
class Counter(World):
    """A world that counts its verifications. One number is to be raised to the goal."""

    id = "counter"
    levels = range(3)
    verified: ClassVar[list[int]] = []
    number: int = 0
    goal: int = 1
    note: Any = None

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        return cls(level, 1)

    def opening(self) -> str:
        return f"Raise {self.number} to {self.goal}."

    @tool(kind="write")
    def increase(self) -> str:
        """Raise the number."""
        self.number += 1
        return str(self.number)

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        self.verified.append(self.number)
        yield Check.goal("the number is the goal", self.number >= self.goal)


class Lenient(Counter):
    """A subclass with another verifier."""

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield Check.goal("the number is the goal", self.number >= 0)


class Copied(Counter):
    """A world whose state does not pickle."""

    def copy(self) -> Self:
        made = type(self)(self.number, self.goal, self.note)
        return made


class Stateful(Counter):
    """A world whose verifier remembers that it was called."""

    seen: ClassVar[int] = 0

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        type(self).seen += 1
        yield Check.goal("the number is the goal", self.seen % 2 == 0)


@pytest.fixture(autouse=True)
def empty() -> None:
    start_checks._checks.cache_clear()
    Counter.verified.clear()


def score(
    world: type[World] = Counter, level: int = 0, share: bool = True, change: Callable[[Any], None] | None = None
) -> Score:
    episode = Episode(world, Scenario(env="counter", level=level, seed=0), share_start=share)
    if change:
        change(episode.start)
    episode.step(Call("increase"))
    return episode.finish()


def test_group_verifies_its_start_state_once() -> None:
    scores = [score() for _ in range(8)]
    assert all(s.success and s == scores[0] for s in scores)
    assert Counter.verified.count(0) == 1


def test_episode_verifies_each_start_by_default() -> None:
    assert score(share=False) == score(share=False)
    assert Counter.verified.count(0) == 2


def test_other_scenario_has_its_own_checks() -> None:
    assert score(level=0).success
    assert not score(level=1).success  # the goal held at the start
    assert score(level=0).success


def test_changed_start_is_verified_anew() -> None:
    assert score().success
    assert not score(change=lambda start: setattr(start, "number", 5)).success
    assert score(change=lambda start: setattr(start, "note", lambda: None)).success
    assert score().success


def test_subclass_and_replaced_verifier_have_their_own_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert score().success
    assert not score(Lenient).success

    def verify(self: Counter, start: Counter, said: list[str]) -> Iterator[Check]:
        yield Check.goal("the number is the goal", True)

    monkeypatch.setattr(Counter, "verify", verify)
    assert not score().success


@pytest.mark.parametrize("world", [Copied, Stateful])
def test_sharing_changes_no_score_of_other_worlds(world: type[Counter]) -> None:
    if world is Copied:
        assert score(Copied, change=lambda s: setattr(s, "note", lambda: None)).success
        assert not score(Copied, level=1).success
    else:  # `Episode` alone does not share, as nothing is known of the verifier
        assert [score(Stateful, share=False).success for _ in range(4)] == [True] * 4


def test_verifier_sees_an_unchanged_start_state() -> None:
    class Greedy(Counter):
        def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
            self.number += 1
            yield Check.goal("the number is the goal", self.number >= 2)

    globals()["Greedy"] = Greedy
    Greedy.__qualname__ = "Greedy"
    assert score(Greedy) == score(Greedy)


@pytest.mark.parametrize("name", registry.list_environments())
def test_shared_scores_equal_those_of_separate_episodes(name: str) -> None:
    for level in range(registry.level_count(name)):
        for line in ("oracle", "ablated"):
            scores = []
            for share in (True, True, False):
                episode = registry.start_episode(f"{name}/{level}/11", share_start=share)
                steps: list[Call | Say] = list(getattr(episode.start, line)())
                for step in steps:
                    episode.step(step)
                scores.append(episode.finish())
            assert scores[0] == scores[1] == scores[2]


def test_registry_shares_and_a_pickled_episode_still_does(user_folder: Any) -> None:
    first, second = (registry.start_episode(f"{TOY}/1/7") for _ in range(2))
    hits = start_checks._checks.cache_info().hits
    assert first.finish() == pickle.loads(pickle.dumps(second)).finish()
    assert start_checks._checks.cache_info().hits == hits + 1
