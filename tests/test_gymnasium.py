"""Tests of the gymnasium adapter: checker, seeds, arguments, rewards, spaces and rendering."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from conftest import TOY
from gym_helpers import GYM_ID, MIXTURE_ID, make, written
from gymnasium.utils.env_checker import check_env

from trace_gym import registry
from trace_gym.adapters.gymnasium import WEIGHTS, TraceEnv, Turns, UnicodeText
from trace_gym.chat_formats import FORMATS
from trace_gym.errors import ConfigError, EnvNotFound, ScenarioError, TamperedEnv
from trace_gym.model_text import MAX_TEXT
from trace_gym.types import Call, Scenario

pytestmark = pytest.mark.usefixtures("user_folder")


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


@pytest.mark.parametrize("name", [*registry.list_environments(), *registry.list_mixtures()])
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
    ("options", "error", "message"),
    [
        ({"level": 3}, ScenarioError, "expected an integer from 0 to 2"),
        ({"split": "tests"}, ConfigError, "train, validate"),
        ({"weights": "heavy"}, ConfigError, "default, sparse"),
        ({"style": "morse"}, ConfigError, "hermes, json"),
        ({"render_mode": "rgb_array"}, ConfigError, "'rgb_array'"),
    ],
)
def test_wrong_arguments_are_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
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
        "description": "the reader has one copy of the title",
        "passed": True,
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
    assert registry.load_world(TOY).interface().tools[0]["function"]["parameters"]["required"] == ["copy", "card"]


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
