"""Scenarios and rollouts leave as rows and come back as they were."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import TOY
from snippets import blocks, python, runs, shell

from trace_gym import registry
from trace_gym.adapters import datasets as rows
from trace_gym.errors import MissingExtra, ReadError
from trace_gym.policies import Ablated, Idle, Oracle
from trace_gym.rollouts import rollout
from trace_gym.trajectories import trajectory
from trace_gym.types import Call, Scenario, Trajectory

ENV = "tau2_precondition"


@pytest.fixture
def library() -> Any:
    return pytest.importorskip("datasets", reason="pip install 'trace-gym[datasets]'")


@pytest.fixture
def played(user_folder: Path) -> list[Trajectory]:
    """Of two environments and a mixture, good and bad, one not scored, and one of a foreign benchmark."""
    scenarios = [s for env in (TOY, ENV, "toy_mixture") for s in registry.scenarios(env, "validate", 2)]
    made = [r for policy in (Oracle(), Ablated(), Idle()) for r in rollout(policy, scenarios, progress=False)]
    failed = trajectory(registry.start_episode(f"{TOY}/0/3"), model="endpoint", ended="error")
    other = Trajectory(
        id="airline-7",
        task="7",
        messages=({"role": "user", "content": "Hi."}, {"role": "assistant", "content": None, "tool_calls": [CALL]}),
        success=False,
        reward=0.0,
        gold=(Call("cancel", {"id": 3, "why": [None, {"a": 1.5}]}),),
        outputs=("327", "yes"),
        source="tau2",
        model="gpt",
    )
    return [*made, failed, other]


CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"id": 3}'}}


def test_a_rollout_is_the_same_after_json_lines(played: list[Trajectory], tmp_path: Path) -> None:
    assert rows.write_jsonl(tmp_path / "rollouts.jsonl", rows.rollout_rows(played)) == len(played)
    read = [json.loads(line) for line in (tmp_path / "rollouts.jsonl").read_text().splitlines()]
    assert list(rows.trajectories(read)) == played
    assert all(set(row) == set(rows.ROLLOUT) for row in read)


def test_a_rollout_is_the_same_after_parquet(library: Any, played: list[Trajectory], tmp_path: Path) -> None:
    scenarios = {"train": registry.scenarios(ENV, n=3), "test": registry.scenarios("toy_mixture", "test", 2)}
    counts = rows.write_folder(tmp_path / "out", scenarios, played)
    assert counts == {"scenarios": {"train": 3, "test": 2}, "rollouts": {"validate": 18, "train": 1, rows.LOGS: 1}}
    files = sorted(str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*.*"))
    assert files == sorted(f"{k}/{s}.{end}" for k, n in counts.items() for s in n for end in ("jsonl", "parquet"))
    back = [
        record
        for split in counts["rollouts"]
        for record in rows.trajectories(library.Dataset.from_parquet(
            str(tmp_path / "out" / "rollouts" / f"{split}.parquet"), cache_dir=str(tmp_path / "cache")
        ))
    ]  # fmt: skip
    assert sorted(back, key=str) == sorted(played, key=str)
    lines = (tmp_path / "out" / "scenarios" / "train.jsonl").read_text().splitlines()
    kept = library.Dataset.from_parquet(
        str(tmp_path / "out" / "scenarios" / "train.parquet"), cache_dir=str(tmp_path / "cache")
    )
    assert list(kept) == [json.loads(line) for line in lines]
    assert list(kept.features) == list(rows.SCENARIO)


def test_a_scenario_begins_as_its_row_says(user_folder: Path) -> None:
    asked = [*registry.scenarios(ENV, "select", 4), *registry.scenarios("toy_mixture", "test", 4)]
    for scenario, row in zip(asked, rows.scenario_rows(asked), strict=True):
        episode = registry.start_episode(row["scenario"])
        assert [{k: v for k, v in m.items() if v is not None} for m in row["prompt"]] == episode.messages
        assert json.loads(row["tools"]) == list(episode.tools)
        assert Scenario(env=row["env"], level=row["level"], seed=row["seed"]) == registry.part_of(scenario)
        assert row["split"] == registry.split_of(scenario)
        assert row["capability"] == registry.load_world(row["env"]).capability


def test_the_tools_of_a_foreign_task_are_unknown(played: list[Trajectory]) -> None:
    found = {row["task"]: (row["split"], json.loads(row["tools"])) for row in rows.rollout_rows(played)}
    assert found["7"] == (rows.LOGS, [])
    assert found[f"{TOY}/0/3"] == ("train", list(registry.load_world(TOY).interface().tools))


def test_what_the_columns_cannot_hold_is_refused(played: list[Trajectory]) -> None:
    odd = played[0].model_copy(update={"messages": ({"role": "user", "content": "Hi.", "mood": "sad"},)})
    with pytest.raises(ReadError, match="a message contains unknown keys: found mood"):
        list(rows.rollout_rows([odd]))
    with pytest.raises(ReadError, match="a row cannot be read as a rollout"):
        list(rows.trajectories([{"id": "1"}]))


def test_without_the_library_nothing_is_written(
    user_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtra, match=r"pip install 'trace-gym\[datasets\]'"):
        rows.write_folder(tmp_path / "out", {"train": registry.scenarios(TOY, n=2)})
    assert not (tmp_path / "out").exists()


def test_the_snippets_of_the_docs_run(library: Any, tmp_path: Path) -> None:
    [code], [commands] = blocks("docs/guides/datasets.md", "python"), runs("docs/guides/datasets.md")
    cache = {"HF_HOME": str(tmp_path / "cache"), "TMPDIR": str(tmp_path)}
    assert re.search(r"\b[23]\d of 40 solved", python(code, tmp_path, **cache))  # the ablated solve some, too
    shell(commands, tmp_path, **cache)
    assert (tmp_path / "desk" / "rollouts" / "validate.parquet").is_file()
