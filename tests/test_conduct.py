"""Conduct checks: what the policy requires on the way lowers the reward, and does not decide success."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.score import DEFAULT_WEIGHTS, SPARSE_WEIGHTS, reward
from trace_gym.types import Call, Check, Event, Say, Scenario
from trace_gym.world import World, tool

SEEDS = range(6)
WITH_CONDUCT = [name for name in registry.list_environments() if name.startswith("tau2") and "mix" not in name]


def played(scenario: Scenario, steps: Sequence[Call | Say]) -> Episode:
    episode = registry.start_episode(scenario)
    for step in steps:
        if not episode.done:
            episode.step(step)
    episode.finish()
    return episode


def plan(scenario: Scenario) -> list[Call | Say]:
    return list(registry.start_episode(scenario).world.oracle())


def writes_of(steps: Sequence[Call | Say], episode: Episode) -> list[int]:
    kinds = episode.interface.kinds
    return [n for n, step in enumerate(steps) if isinstance(step, Call) and kinds[step.tool] == "write"]


@pytest.mark.parametrize("env", WITH_CONDUCT)
def test_oracle_passes_every_conduct_check(env: str) -> None:
    for level in range(registry.level_count(env)):
        for seed in SEEDS:
            score = played(scenario := Scenario(env=env, level=level, seed=seed), plan(scenario)).score
            assert score and score.conduct == 1.0, scenario
            assert {c.kind for c in score.checks} >= {"goal", "guard", "conduct"}


@pytest.mark.parametrize("env", WITH_CONDUCT)
def test_writing_without_consent_costs_reward(env: str) -> None:
    for level in range(registry.level_count(env)):
        for seed in SEEDS:
            scenario = Scenario(env=env, level=level, seed=seed)
            steps = plan(scenario)
            made = writes_of(steps, registry.start_episode(scenario))
            if not made:
                continue
            before = [s for s in steps[: made[-1] + 1] if isinstance(s, Call)]
            said = " ".join(s.text for s in steps if isinstance(s, Say))
            score = played(scenario, [*before, Say(said)]).score
            assert score and score.conduct < 1.0, scenario
            assert reward(score) <= 0.9
            assert reward(score, SPARSE_WEIGHTS) == float(score.success)


def test_lookup_of_the_customer_is_required_before_a_change_only() -> None:
    scenario = Scenario(env="tau2_retail_multi_step", level=0, seed=0)
    steps = plan(scenario)
    without = [s for s in steps if not (isinstance(s, Call) and s.tool.startswith("find_user_id"))]
    failed = [c.description for c in (played(scenario, without).score or pytest.fail()).checks if not c.passed]
    assert failed == ["the customer was looked up before the first change"]
    reads = [s for s in without if isinstance(s, Call)][:1]
    assert (played(scenario, reads).score or pytest.fail()).conduct == 1.0


def test_consent_to_one_record_is_no_consent_to_another() -> None:
    scenario = Scenario(env="tau2_multi_step", level=0, seed=1)
    episode = registry.start_episode(scenario)
    steps = plan(scenario)
    one, other = (steps[n] for n in writes_of(steps, episode))
    assert isinstance(one, Call) and isinstance(other, Call)
    code = one.arguments["reservation_id"]
    asked = [Say(f"I would cancel {code}. Shall I proceed?"), one]
    assert (played(scenario, asked).score or pytest.fail()).conduct == 1.0
    assert (played(scenario, [*asked, other]).score or pytest.fail()).conduct == 0.0


@dataclass(kw_only=True)
class Door(World):
    """Open the door after knocking."""

    id = "door"
    capability = "manners"
    open: bool = False

    @classmethod
    def generate(cls, rng: object, level: int) -> Door:
        return cls()

    def opening(self) -> str:
        return "Please open the door, and knock first."

    def reply(self, text: str) -> str | None:
        return None

    @tool(kind="generic")
    def knock(self) -> str:
        """Knock."""
        return "knocked"

    @tool(kind="write")
    def push(self) -> str:
        """Push the door open."""
        self.open = True
        return "open"

    def verify(self, start: Door, said: list[str]) -> Iterator[Check]:
        yield Check.goal("the door is open", self.open)

    def conduct(self, start: Door, events: Sequence[Event]) -> Iterator[Check]:
        names = [e.step.tool for e in events if isinstance(e.step, Call) and not e.refused]
        pushed = names.index("push") if "push" in names else len(names)
        yield Check.conduct(
            "somebody knocked before the door was pushed", pushed == len(names) or "knock" in names[:pushed]
        )


@pytest.mark.parametrize(
    ("calls", "paid"),
    [((), 0.0), (("knock",), 0.0), (("push",), 0.8), (("knock", "push"), 1.0), (("push", "knock"), 0.8)],
)
def test_reward_of_a_custom_conduct_check(calls: tuple[str, ...], paid: float) -> None:
    episode = Episode(Door, Scenario(env="door", level=0, seed=0))
    for name in calls:
        episode.step(Call(name))
    score = episode.finish()
    assert reward(score, DEFAULT_WEIGHTS) == pytest.approx(paid)
    assert score.success == ("push" in calls)


def flown(*steps: Call | Say, seed: int) -> float:
    """Return the share of conduct checks that hold after some steps in a scenario about full flights."""
    return played(Scenario(env="tau2_seat_availability", level=0, seed=seed), steps).finish().conduct


def plans(seed: int) -> tuple[list[Call | Say], list[Call | Say]]:
    world = registry.start_episode(Scenario(env="tau2_seat_availability", level=0, seed=seed)).world
    return list(world.copy().oracle()), list(world.copy().ablated())


NEEDED = [s for s in range(40) if plans(s)[0] != plans(s)[1]][:5]
"""Seeds in which the cheapest flight is full."""
OFFER = Say("I will move you to the cheapest flight with room for everyone. Shall I proceed?")


@pytest.mark.parametrize("seed", NEEDED)
def test_consent_is_for_the_flights_that_the_proposal_names(seed: int) -> None:
    right, wrong = plans(seed)
    asks = next(s for s in right if isinstance(s, Say))
    writes = [s for s in right if isinstance(s, Call)][-1]
    other = next(s for s in wrong if isinstance(s, Say))
    assert flown(asks, writes, seed=seed) == 1
    assert flown(OFFER, writes, seed=seed) == 1
    assert flown(other, writes, seed=seed) < 1


@pytest.mark.parametrize("seed", NEEDED)
def test_another_change_needs_consent_again_after_one_that_was_refused(seed: int) -> None:
    writes, refused = ([s for s in plan if isinstance(s, Call)][-1] for plan in plans(seed))
    assert flown(OFFER, refused, writes, seed=seed) < 1
    assert flown(OFFER, refused, OFFER, writes, seed=seed) == 1
    assert flown(OFFER, writes, seed=seed) == 1
