"""Tests of vectorized environments."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from copy import deepcopy
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from gym_helpers import GYM_ID, MIXTURE_ID, make
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from gymnasium.vector.utils import create_shared_memory, read_from_shared_memory, write_to_shared_memory

from trace_gym.adapters.gymnasium import UnicodeText
from trace_gym.chat_formats import FORMATS
from trace_gym.types import Call

pytestmark = pytest.mark.usefixtures("user_folder")


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
