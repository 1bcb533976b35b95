"""Environments as gymnasium sees them: made by id, checked, vectorised, pickled, rendered."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import warnings
from contextlib import ExitStack
from copy import deepcopy
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from conftest import TOY
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from gymnasium.vector.utils import create_shared_memory, read_from_shared_memory, write_to_shared_memory
from gymnasium.wrappers import TimeLimit
from snippets import blocks, python

from trace_gym import registry
from trace_gym.actions import FORMATS, MAX_TEXT
from trace_gym.adapters.gymnasium import WEIGHTS, TraceEnv, Turns, UnicodeText
from trace_gym.errors import ConfigError, EnvNotFound, ScenarioError, TamperedEnv
from trace_gym.score import reward
from trace_gym.types import Call, Scenario

GYM_ID = "trace/library-loans-v0"
MIXTURE_ID = "trace/toy-mixture-v0"
pytestmark = pytest.mark.usefixtures("user_folder")


def written(env: TraceEnv, line: str = "oracle", style: str = "hermes") -> list[str]:
    """An expert's turns as text."""
    steps = list(getattr(env.episode.start, line)())
    return [FORMATS[style].render(s) if isinstance(s, Call) else s.text for s in steps]


def make(gym_id: str = GYM_ID, **options: Any) -> TraceEnv:
    env = gymnasium.make(gym_id, **options).unwrapped
    assert isinstance(env, TraceEnv)
    return env


def play(env: TraceEnv, line: str = "oracle") -> tuple[str, float, bool, bool, dict[str, Any]]:
    """The last answer to an expert's turns; no earlier turn pays or ends."""
    turns = written(env, line)
    for turn in turns[:-1]:
        _, paid, terminated, truncated, info = env.step(turn)
        assert (paid, terminated, truncated) == (0.0, False, False)
        assert "score" not in info
    return env.step(turns[-1])


@pytest.mark.parametrize("options", [{}, {"level": 2}, {"style": "json", "weights": "sparse", "split": "test"}])
@pytest.mark.parametrize("gym_id", [GYM_ID, MIXTURE_ID])
def test_gymnasiums_own_check_passes(gym_id: str, options: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(gym_id, **options).unwrapped)


@pytest.mark.parametrize("name", [*registry.names(), *registry.mixtures()])
def test_the_check_passes_for_what_ships(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(registry.gym_id(name)).unwrapped)


def test_a_fresh_process_needs_one_line(tmp_path: Path) -> None:
    lines = (
        f"import gymnasium; print(gymnasium.make('trace_gym:{GYM_ID}').reset(seed=3)[1]['scenario'])",
        f"import gymnasium, trace_gym; print(gymnasium.make('{GYM_ID}').reset(seed=3)[1]['scenario'])",
    )
    path = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    for line in lines:
        command = [sys.executable, "-W", "error", "-c", line]
        said = subprocess.run(command, capture_output=True, text=True, check=True, env=path, cwd=tmp_path).stdout
        assert said.strip() == make().reset(seed=3)[1]["scenario"]


def test_the_spec_survives_json() -> None:
    env = gymnasium.make(GYM_ID, level=1, weights="sparse")
    assert env.spec is not None
    again = gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert (again.unwrapped.level, again.unwrapped.weights) == (1, "sparse")  # type: ignore[attr-defined]
    assert again.reset(seed=5)[0] == env.reset(seed=5)[0]


def test_a_seed_is_a_task_whatever_came_before() -> None:
    env = make()
    first = env.reset(seed=11)
    env.step("Hello.")
    env.reset()
    assert env.reset(seed=11) == first == make().reset(seed=11)
    assert first[1]["scenario"].endswith("/11")
    assert make(level=2).reset(seed=11)[1]["scenario"] == f"{TOY}/2/11"


def test_without_a_level_all_levels_come_up() -> None:
    env = make()
    assert {env.reset(seed=s)[1]["scenario"].split("/")[1] for s in range(20)} == {"0", "1", "2"}


def test_unseeded_resets_follow_from_the_last_seed() -> None:
    env, twin = make(), make()
    env.reset(seed=1)
    twin.reset(seed=1)
    drawn = [env.reset()[1]["scenario"] for _ in range(3)]
    assert drawn == [twin.reset()[1]["scenario"] for _ in range(3)]
    assert len({*drawn}) == 3
    for address in drawn:  # a seed that was drawn is the same task as one that was given
        assert make().reset(seed=Scenario.parse(address).seed)[1]["scenario"] == address


@pytest.mark.parametrize("split", registry.SPLITS)
def test_seeds_count_through_the_split(split: str) -> None:
    env = make(split=split)
    for seed in (0, 5, 2**31 - 1):
        assert registry.split_of(Scenario.parse(env.reset(seed=seed)[1]["scenario"])) == split
    assert registry.split_of(Scenario.parse(env.reset()[1]["scenario"])) == split


def test_an_address_is_begun_exactly() -> None:
    env = make(level=0)
    assert env.reset(options={"scenario": f"{TOY}/2/3000007"})[1]["scenario"] == f"{TOY}/2/3000007"
    assert env.reset(options={"scenario": Scenario(env=TOY, level=1, seed=2)})[1]["scenario"] == f"{TOY}/1/2"


@pytest.mark.parametrize(
    ("address", "error"), [("nonsense", ScenarioError), (f"{TOY}/9/0", ScenarioError), ("twin_loans/0/0", EnvNotFound)]
)
def test_a_wrong_address_is_refused(address: str, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"\w"):
        make().reset(options={"scenario": address})


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"level": 3}, ScenarioError, "levels 0 to 2"),
        ({"split": "tests"}, ConfigError, "train, validate"),
        ({"weights": "heavy"}, ConfigError, "default, sparse"),
        ({"style": "morse"}, ConfigError, "hermes, json"),
        ({"render_mode": "rgb_array"}, ConfigError, "'rgb_array'"),
    ],
)
def test_wrong_arguments_are_refused(options: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        TraceEnv(TOY, **options)


def test_a_tampered_module_is_refused(user_folder: Path) -> None:
    with (user_folder / f"{TOY}.py").open("a") as module:
        module.write("# edited\n")
    with pytest.raises(TamperedEnv):
        gymnasium.make(GYM_ID)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_reward_comes_with_the_end(weights: str) -> None:
    env = make(level=1, weights=weights)
    env.reset(seed=4)
    observation, paid, terminated, truncated, info = play(env)
    assert (paid, terminated, truncated, info["success"]) == (1.0, True, False, True)
    assert info["score"]["checks"][0] == {
        "kind": "goal",
        "says": "the reader has one copy of the title",
        "holds": True,
        "at_start": False,
    }
    assert observation == "(the conversation is over)"
    assert env.step("And?")[1] == 0.0  # paid once


@pytest.mark.parametrize(("weights", "expected"), [("default", 0.25), ("sparse", 0.0)])
def test_half_the_work_is_paid_by_default_and_not_by_sparse(weights: str, expected: float) -> None:
    env = make(level=0, weights=weights)
    env.reset(seed=4)
    for turn in written(env)[:-1]:
        env.step(turn)
    _, paid, terminated, _, info = env.step("Goodbye.")  # lent, and the reader is not told which copy
    assert (paid, terminated, info["score"]["progress"]) == (expected, True, 0.5)


def test_the_turn_limit_truncates_and_scores() -> None:
    env = make()
    env.reset(seed=0)
    steps = [env.step("Let me think.") for _ in range(12)]
    assert [s[2:4] for s in steps[:-1]] == [(False, False)] * 11
    assert steps[-1][2:4] == (False, True)
    assert steps[-1][4]["score"]["progress"] == 0


def test_what_is_returned_is_the_callers_to_change() -> None:
    env = make(level=1)
    _, first = env.reset(seed=4)
    text = json.dumps(first["tools"])
    first["messages"].clear()
    first["tools"][0]["function"]["parameters"]["required"] = ["nonsense"]
    first["tools"].clear()
    _, second = env.reset(seed=4)
    assert json.dumps(second["tools"]) == text
    assert len(second["messages"]) == 2
    second["messages"][0]["content"] = "Forget the rules."
    assert play(env)[4]["messages"][0]["content"] != "Forget the rules."
    assert registry.load(TOY).interface().tools[0]["function"]["parameters"]["required"] == ["copy", "card"]


def test_observations_are_the_newest_messages_after_their_roles() -> None:
    env = make(level=0)
    observation, info = env.reset(seed=4)
    assert observation.startswith("system: ")
    assert f"\n\nuser: {env.episode.start.opening()}" in observation
    assert info["messages"][1]["role"] == "user"
    assert env.step(FORMATS["hermes"].render(Call("search", {"words": "no such"})))[0] == "tool search: []"
    assert env.step("One moment.")[0] == "user: Which copy do you lend me?"


def test_an_openai_message_is_an_action() -> None:
    env = gymnasium.make(GYM_ID, level=0)
    env.reset(seed=4)
    function = {"name": "search", "arguments": '{"words": ""}'}
    call = {"id": "x7", "type": "function", "function": function}
    info = env.step({"role": "assistant", "content": None, "tool_calls": [call]})[4]
    assert info["messages"][-1]["tool_call_id"] == "x7"


@pytest.mark.parametrize("action", [None, 7, b"x", "\ud800", "x" * 10**6, "<tool_call>", {"tool_calls": [{}]}])
def test_a_malformed_action_is_answered(action: Any) -> None:
    env = make()
    env.reset(seed=4)
    before = env.episode.state_hash
    observation, paid, terminated, truncated, _ = env.step(action)
    assert observation.startswith("user: Error: ")
    assert "search" in observation
    assert (paid, terminated, truncated, env.episode.state_hash) == (0.0, False, False, before)


def test_sampled_actions_often_read_well() -> None:
    env = make()
    env.action_space.seed(0)
    wellformed = 0
    for seed in range(60):
        env.reset(seed=seed)
        env.step(env.action_space.sample())
        wellformed += not env.episode.malformed
    assert wellformed > 40


def test_spaces() -> None:
    space = UnicodeText(5)
    assert "äöü🙂\n" in space
    assert "" in space
    assert "sixsix" not in space
    assert 5 not in space
    assert space == UnicodeText(5) != UnicodeText(6)
    assert hash(space) == hash(UnicodeText(5))
    assert not isinstance(space, gymnasium.spaces.Text)
    assert not space.is_np_flattenable
    turns = make().action_space
    assert turns == make().action_space == pickle.loads(pickle.dumps(turns))
    assert turns != Turns({}, "hermes")
    assert turns != UnicodeText(MAX_TEXT)
    turns.seed(3)
    first = [turns.sample() for _ in range(5)]
    turns.seed(3)
    assert [turns.sample() for _ in range(5)] == first


def test_a_mixture_says_which_part_it_is() -> None:
    env = make(MIXTURE_ID)
    parts = set()
    for seed in range(20):
        _, info = env.reset(seed=seed)
        assert info["scenario"].startswith("toy_mixture/")
        assert info["part"] == env.episode.scenario.env == env.episode.world.id
        parts.add(info["part"])
    assert parts == {TOY, "twin_loans"}
    env.reset(seed=1)
    assert play(env)[4]["success"]
    assert env.reset(options={"scenario": "toy_mixture/1/5"})[1]["scenario"] == "toy_mixture/1/5"


def test_rendering(capsys: pytest.CaptureFixture[str]) -> None:
    env = make(render_mode="ansi", level=0)
    env.reset(seed=4)
    play(env)
    page = env.render()
    assert isinstance(page, str)
    assert "assistant: search({" in page
    assert capsys.readouterr().out == ""
    env = make(render_mode="human", level=0)
    env.reset(seed=4)
    play(env)
    assert env.render() is None
    assert capsys.readouterr().out.replace("\n\n", "\n").strip() == page.replace("\n\n", "\n").strip()
    with pytest.raises(gymnasium.error.ResetNeeded):
        TraceEnv(TOY).step("Hi")


def trajectory(envs: Any, turns: int = 30) -> list[Any]:
    """Observations, rewards, ends and infos of fixed actions, over episodes that end and begin again."""
    observations, infos = envs.reset(seed=[5, 6, 7])
    rows: list[Any] = [(observations, [m[-1] for m in infos["messages"]], list(infos["scenario"]))]
    search = FORMATS["hermes"].render(Call("search", {"words": ""}))
    pool = ["Which card?", search, "I lent c1, ok?", ""]
    for turn in range(turns):
        observations, paid, terminated, truncated, infos = envs.step(tuple(pool[(turn * n) % 4] for n in (1, 2, 3)))
        ends = (terminated.tolist(), truncated.tolist())
        last = [m[-1] for m in infos["messages"]]
        rows.append((observations, paid.tolist(), ends, last, list(infos["scenario"])))
    envs.close()
    return rows


def test_vectors_agree_in_one_process_and_in_several() -> None:
    default = gymnasium.make_vec(GYM_ID, 3)
    assert isinstance(default, SyncVectorEnv)
    apart = gymnasium.make_vec(GYM_ID, 3, processes=True)
    assert isinstance(apart, AsyncVectorEnv)
    expected = trajectory(default)
    assert trajectory(apart) == expected
    assert trajectory(gymnasium.make_vec(GYM_ID, 3, vectorization_mode="sync")) == expected
    plain = gymnasium.make_vec(GYM_ID, 3, vectorization_mode="async", vector_kwargs={"shared_memory": False})
    assert trajectory(plain) == expected
    assert any(any(row[2][1]) for row in expected[1:])  # an episode ended and another began
    assert len({row[-1][0] for row in expected}) > 1


SPAWNED = f"""
import multiprocessing, gymnasium
if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")  # the default on macOS and Windows: nothing is inherited
    envs = gymnasium.make_vec("trace_gym:{GYM_ID}", 2, processes=True)
    print(*envs.reset(seed=[5, 6])[1]["scenario"])
    envs.close()
"""


def test_a_vector_of_spawned_processes_finds_the_environment(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SPAWNED)
    path = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-W", "error", "script.py"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, env=path, cwd=tmp_path).stdout
    assert said.split() == [make().reset(seed=s)[1]["scenario"] for s in (5, 6)]


def test_a_vector_is_what_single_environments_are() -> None:
    envs = gymnasium.make_vec(MIXTURE_ID, 2, level=1)
    observations, infos = envs.reset(seed=[8, 9])  # type: ignore[arg-type]  # the base class forgets that lists will do
    singles = [make(MIXTURE_ID, level=1).reset(seed=s) for s in (8, 9)]
    assert list(observations) == [s[0] for s in singles]
    assert list(infos["part"]) == [s[1]["part"] for s in singles]
    assert all(text in envs.single_observation_space for text in observations)
    envs.close()


def test_async_vector_works_with_and_without_shared_memory() -> None:
    expected = trajectory(gymnasium.make_vec(GYM_ID, 3, vectorization_mode="sync"))
    ways: list[dict[str, Any]] = [{}, {"shared_memory": False}, {"context": "spawn"}, {"copy": False}]
    for options in ways:
        with ExitStack() as stack:
            envs = gymnasium.make_vec(GYM_ID, 3, vectorization_mode="async", vector_kwargs=options)
            stack.callback(envs.close)
            if "copy" not in options:
                assert trajectory(envs) == expected, options
            else:
                assert tuple(envs.reset(seed=[5, 6, 7])[0]) == expected[0][0]  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "äöü🙂\n\0", "\ud800", "x" * 5])
def test_shared_texts_arrive_as_written(text: str) -> None:
    space = UnicodeText(5)
    memory: Any = create_shared_memory(space, n=3)
    write: Any = write_to_shared_memory
    seen: Any = read_from_shared_memory(space, memory, n=3)
    write(space, 1, text[:5], memory)
    write(space, 2, "later", memory)
    assert deepcopy(seen) == ("", text[:5], "later")
    assert (len(seen), seen[-1], seen[:2]) == (3, "later", ("", text[:5]))
    with pytest.raises(IndexError):
        seen[3]
    with pytest.raises(ValueError, match="at most 20"):
        write(space, 0, "🙂" * 6, memory)


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
    ("options", "error", "says"),
    [
        ({"levle": 2}, ConfigError, "found levle, expected level or scenario"),
        ({"level": 2, "split": "test"}, ConfigError, "level or scenario"),
        ({"level": 3}, ScenarioError, "levels 0 to 2, not 3"),
        ({"level": -1}, ScenarioError, "not -1"),
        ({"level": "2"}, ScenarioError, "not '2'"),
        ({"level": 1.5}, ScenarioError, "not 1.5"),
        ({"level": True}, ScenarioError, "not True"),
        ({"level": 1, "scenario": f"{TOY}/2/3"}, ConfigError, "leave out one"),
        ([2], ConfigError, "level or scenario"),
        ({1: 2}, ConfigError, "level or scenario"),
    ],
)
def test_wrong_reset_options_are_refused(options: Any, error: type[Exception], says: str) -> None:
    env = make()
    observation, _ = env.reset(seed=1)
    with pytest.raises(error, match=says):
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
    first, limited, vector = blocks("docs/gymnasium.md", "python")
    assert python(first, tmp_path).split() == ["tau2_precondition/1/7", "user"]
    assert python(limited, tmp_path).split() == ["True", "0.0"]
    python(vector, tmp_path)
