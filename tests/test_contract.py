"""One contract for every library: through each, an environment is what it is through `Episode`."""

from __future__ import annotations

from inspect import signature
from pathlib import Path

import pytest
from conftest import TOY
from players import Player, Session, missing, players

from trace_gym import registry
from trace_gym.episode import Action, Episode
from trace_gym.policies import Ablated, Idle, Oracle, Policy
from trace_gym.policies.exploits import EXPLOITS
from trace_gym.score import reward
from trace_gym.types import Call, Say, Scenario

PLAYERS = list(players())
BANK = [EXPLOITS[name] for name in ("everything", "stuff", "random-calls")]
POLICIES: list[Policy] = [Oracle(), Ablated(), Idle(), *BANK]
UGLY = ["", "<tool_call>{", '<tool_call>{"name": "rm", "arguments": {}}</tool_call>', "\x00\ud800", "x" * 100_000]

each = pytest.mark.parametrize("player", PLAYERS, ids=lambda p: p.name)
everywhere = pytest.mark.parametrize("env", registry.list_environments())


def scenario_of(env: str, level: int = 0) -> Scenario:
    return Scenario(env=env, level=level, seed=registry.SPLITS["validate"][11])


def follow(policy: Policy, shadow: Episode, session: Session, talks: bool) -> None:
    """Play both by the policy, which sees the shadow only; every answer must be the same."""
    while not shadow.done:
        action = policy.act(shadow)
        if isinstance(action, Say) and not talks:
            session.act(action)
            shadow.finish()
            return
        assert answers_to(action, shadow) == session.act(action)


def answers_to(action: Action, episode: Episode) -> list[str]:
    return [m["content"] for m in episode.step(action)]


def paid(episode: Episode) -> float:
    assert episode.score is not None
    return reward(episode.score)


def test_a_library_that_is_missing_says_why() -> None:
    for library, reason in missing().items():
        print(f"{library}: {reason}")
        assert "pip install" in reason


@each
@everywhere
def test_the_policy_sees_the_schemas_of_the_target(player: Player, env: str) -> None:
    with player.open(scenario_of(env)) as session:
        assert list(session.tools) == list(registry.load_world(env).interface().tools)


@each
@everywhere
@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: p.name)
def test_a_policy_is_paid_what_the_episode_pays(player: Player, env: str, policy: Policy) -> None:
    levels = range(registry.level_count(env))
    for level in levels[-1:] if policy in BANK else levels:  # an exploit plays long, and the same way at every level
        shadow = registry.start_episode(scenario_of(env, level))
        with player.open(shadow.scenario) as session:
            follow(policy, shadow, session, player.talks)
            assert session.done or not player.talks
            assert session.reward() == pytest.approx(paid(shadow))


@each
@everywhere
def test_what_a_model_writes_badly_is_answered(player: Player, env: str) -> None:
    shadow = registry.start_episode(scenario_of(env))
    with player.open(shadow.scenario) as session:
        for text in getattr(player, "ugly", UGLY if player.talks else UGLY[1:3]):
            if not shadow.done:
                assert answers_to(text, shadow) == session.act(text)
        follow(Oracle(), shadow, session, player.talks)
        assert session.reward() == pytest.approx(paid(shadow))


@each
@everywhere
def test_after_the_end_a_turn_is_answered_and_pays_nothing(player: Player, env: str) -> None:
    shadow = registry.start_episode(scenario_of(env))
    with player.open(shadow.scenario) as session:
        follow(Oracle(), shadow, session, player.talks)
        before = session.reward()
        assert session.act(Say("One thing more.")) or not player.talks
        assert session.act(Call(next(iter(shadow.interface.kinds)), {})) or not player.talks
        assert session.reward() == before


@each
@everywhere
def test_two_sessions_of_one_scenario_start_alike_and_do_not_touch_each_other(player: Player, env: str) -> None:
    one, two = (registry.start_episode(scenario_of(env)) for _ in range(2))
    with player.open(one.scenario) as first, player.open(two.scenario) as second:
        follow(Oracle(), one, first, player.talks)
        follow(Idle(), two, second, player.talks)
        assert first.reward() == pytest.approx(paid(one))
        assert second.reward() == pytest.approx(paid(two))


@each
def test_the_environments_of_a_users_own_folder_are_held_to_all_of_it(player: Player, user_folder: Path) -> None:
    """The folder is named in TRACE_GYM_ENVS, and nothing of ours is touched."""
    held = [t for name, t in sorted(globals().items()) if name.startswith("test_") and "env" in signature(t).parameters]
    assert len(held) >= 5
    for env in (TOY, "twin_loans"):
        assert Path(registry.module_path(env)).parent == user_folder
        for test in held:
            for policy in POLICIES if "policy" in signature(test).parameters else [None]:
                test(player, env, *[policy] if policy else [])
