"""Tests of reset options, time limits, infos, pickling and documented snippets of the gymnasium adapter."""

from __future__ import annotations

import json
import multiprocessing
import pickle
from copy import deepcopy
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from conftest import TOY
from gym_helpers import GYM_ID, MIXTURE_ID, make, written
from gymnasium.wrappers import TimeLimit
from snippets import blocks, python

from trace_gym import registry
from trace_gym.adapters.gymnasium import TraceEnv
from trace_gym.errors import ConfigError, ScenarioError
from trace_gym.score import reward

pytestmark = pytest.mark.usefixtures("user_folder")


@pytest.mark.parametrize("make_env", [make, lambda gym_id=GYM_ID, **options: gymnasium.make(gym_id, **options)])
def test_level_option_chooses_the_level_of_one_task(make_env: Any) -> None:
    env = make_env(level=0)
    for level in (2, np.int64(1)):
        assert env.reset(seed=3, options={"level": level})[1]["scenario"] == f"{TOY}/{level}/3"
    assert env.reset(seed=3)[1]["scenario"] == f"{TOY}/0/3"
    assert env.reset(seed=3, options={})[1]["scenario"] == f"{TOY}/0/3"
    envs = gymnasium.make_vec(GYM_ID, 2)
    assert list(envs.reset(seed=[3, 4], options={"level": 2})[1]["scenario"]) == [f"{TOY}/2/3", f"{TOY}/2/4"]  # type: ignore[arg-type]
    envs.close()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"levle": 2}, ConfigError, "found levle, expected a dictionary with the key level or scenario"),
        ({"level": 2, "split": "test"}, ConfigError, "level or scenario"),
        ({"level": 3}, ScenarioError, "has no level 3: expected an integer from 0 to 2"),
        ({"level": -1}, ScenarioError, "has no level -1"),
        ({"level": "2"}, ScenarioError, "has no level '2'"),
        ({"level": 1.5}, ScenarioError, "has no level 1.5"),
        ({"level": True}, ScenarioError, "has no level True"),
        ({"level": 1, "scenario": f"{TOY}/2/3"}, ConfigError, "received both the scenario"),
        ([2], ConfigError, "level or scenario"),
        ({1: 2}, ConfigError, "level or scenario"),
    ],
)
def test_wrong_reset_options_are_refused(options: Any, error: type[Exception], message: str) -> None:
    env = make()
    observation, _ = env.reset(seed=1)
    with pytest.raises(error, match=message):
        env.reset(seed=2, options=options)
    assert env.episode.messages[-1]["content"] in observation  # the task under way stays


class Passing(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A user's wrapper with a reset of its own."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        return self.env.reset(seed=seed, options=options)


@pytest.mark.parametrize(
    "build",
    [
        lambda: gymnasium.make(GYM_ID, level=0, max_episode_steps=2),
        lambda: TimeLimit(make(level=0), 2),
        lambda: Passing(TimeLimit(Passing(gymnasium.make(GYM_ID, level=0, max_episode_steps=5)), 2)),
    ],
)
def test_time_limit_truncation_is_scored(build: Any) -> None:
    env = build()
    for _ in range(2):
        env.reset(seed=4)
        turns = written(env.unwrapped)
        assert "score" not in env.step(turns[0])[4]
        _, paid, terminated, truncated, info = env.step(turns[1])
        assert (terminated, truncated, info["success"]) == (False, True, False)
        assert paid == reward(env.unwrapped.episode.score)
        assert info["score"] == env.unwrapped.episode.score.model_dump()


def test_time_limit_of_an_outer_environment_does_not_count() -> None:
    class Outer(gymnasium.Env[Any, Any]):
        """An environment that plays another one inside."""

        inner = make(level=0)

        def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
            return self.inner.reset(seed=seed)

        def step(self, action: Any) -> Any:
            return self.inner.step(action)

    env = TimeLimit(Outer(), 1)
    env.reset(seed=4)
    assert "score" not in env.step("Hello.")[4]


def test_vector_of_time_limited_environments_scores_truncation() -> None:
    for options in ({}, {"vectorization_mode": "sync"}, {"vectorization_mode": "async"}):
        envs = gymnasium.make_vec(GYM_ID, 2, max_episode_steps=1, **options)  # type: ignore[arg-type]
        envs.reset(seed=[1, 2])  # type: ignore[arg-type]  # the base class forgets that lists will do
        _, _, _, truncated, infos = envs.step(("Hello.", "Hello."))
        assert truncated.all()
        assert infos["score"]["success"].tolist() == [False, False]
        envs.close()


def test_changed_messages_show_neither_in_the_episode_nor_in_later_infos() -> None:
    env = make(level=1)
    _, info = env.reset(seed=4)
    turns = written(env)
    for turn in turns:
        truth = deepcopy(env.episode.messages)
        for message in info["messages"]:
            message["content"] = "changed"
            message.setdefault("extra", []).append(1)
            for call in message.get("tool_calls", []):
                call["function"]["arguments"] = {"parsed": True}
                call.pop("type")
            message.get("tool_calls", []).reverse()
        info["messages"].clear()
        assert env.episode.messages == truth
        info = env.step(turn)[4]
        assert info["messages"][: len(truth)] == truth
        assert json.loads(json.dumps(info["messages"])) == info["messages"] == env.episode.messages
    assert info["success"]


def test_info_messages_become_plain_when_copied() -> None:
    env = make(level=1)
    env.reset(seed=4)
    for turn in written(env)[:2]:
        info = env.step(turn)[4]
    for copied in (deepcopy(info["messages"]), pickle.loads(pickle.dumps(info["messages"]))):
        assert copied == info["messages"]
        calls = [c for m in copied for c in m.get("tool_calls", [])]
        assert {type(m) for m in copied} == {type(c["function"]) for c in calls} == {dict}


def test_step_does_not_copy_the_whole_conversation() -> None:
    """The dicts that a step makes do not grow with the conversation."""
    env = make(level=0)
    _, info = env.reset(seed=4)
    for _ in range(6):
        before = list(map(id, info["messages"]))
        info = env.step("Let me think.")[4]
        assert list(map(id, info["messages"]))[: len(before)] == before


def test_final_scores_reach_the_vector() -> None:
    envs = gymnasium.make_vec(GYM_ID, 2, level=0)
    envs.reset(seed=[4, 5])  # type: ignore[arg-type]  # the base class forgets that lists will do
    singles = [make(level=0), make(level=0)]
    for env, seed in zip(singles, (4, 5), strict=True):
        env.reset(seed=seed)
    for turns in zip(*(written(env) for env in singles), strict=True):
        _, paid, terminated, _, infos = envs.step(turns)
    assert paid.tolist() == [1.0, 1.0]
    assert terminated.all()
    assert infos["success"].tolist() == [True, True]
    assert np.allclose(infos["score"]["progress"], 1)
    envs.close()


def _go_on(env: TraceEnv) -> tuple[float, str]:
    paid = env.step(written(env)[-1])[1]
    return paid, env.reset(seed=3)[1]["scenario"]


def test_an_environment_pickles_in_the_middle_and_goes_on_in_a_spawned_worker() -> None:
    env = make(level=1)
    env.reset(seed=4)
    for turn in written(env)[:-1]:
        env.step(turn)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        paid, fresh = pool.apply(_go_on, (env,))
    assert paid == 1.0
    assert fresh == f"{TOY}/1/3"
    twin = pickle.loads(pickle.dumps(env))
    assert twin.step(written(twin)[-1]) == env.step(written(env)[-1])


def test_snippets_of_the_page_run(tmp_path: Path) -> None:
    first, limited, vector = blocks("docs/guides/gymnasium.md", "python")
    assert python(first, tmp_path).split() == ["tau2_precondition/1/7", "user"]
    assert python(limited, tmp_path).split() == ["True", "0.0"]
    python(vector, tmp_path)


@pytest.mark.parametrize("name", [TOY, "toy_mixture"])
def test_the_registry_is_entered_once(name: str, user_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From `gymnasium.make` to the score, the environment is looked up only when it is made."""
    env = make(f"trace/{name.replace('_', '-')}-v0")

    def no_lookup(name: str) -> None:
        raise AssertionError(f"{name} is looked up again")

    monkeypatch.setattr(registry, "entry_of", no_lookup)
    for seed in range(3):
        env.reset(seed=seed)
        for turn in written(env):
            info = env.step(turn)[-1]
        assert info["success"]


@pytest.mark.parametrize("gym_id", [GYM_ID, MIXTURE_ID])
def test_the_registry_is_entered_once_from_make_to_the_score(gym_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    entered: list[str] = []

    def spied(name: str) -> Any:
        function = getattr(registry, name)

        def spy(*args: Any, **options: Any) -> Any:
            entered.append(name)
            return function(*args, **options)

        return spy

    for name in ("environment", "load_world", "start_episode", "manifest", "mixture", "part_of", "level_count"):
        monkeypatch.setattr(registry, name, spied(name))
    env = make(gym_id)
    assert entered.count("environment") == 1
    loaded = list(entered)
    env.reset(seed=3)
    for turn in written(env):
        env.step(turn)
    assert env.episode.score is not None and env.episode.score.success
    assert entered == loaded
