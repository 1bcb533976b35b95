"""All stages of a run with a model in this process whose prompts have the length of those of a real model."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("peft", reason="the loop needs the lab extra")

from tiny_model import Puppet, save_stand_in

from trace_gym import pipeline, registry
from trace_gym.diagnosis import Diagnosis
from trace_gym.episode import Action, Episode
from trace_gym.evaluation import Evaluation
from trace_gym.models import ModelSettings, load_weights
from trace_gym.pipeline import common, jobs
from trace_gym.pipeline.jobs import Job
from trace_gym.policies import Ablated, Oracle
from trace_gym.policies.chat import Chat
from trace_gym.records import read_records
from trace_gym.settings import RunConfig
from trace_gym.types import Report, Scenario

pytestmark = pytest.mark.slow

TARGET, TRAINED = "tau2_airline_desk", ("tau2_multi_step", "tau2_structured_data", "tau2_tool_precision")
SMALL: dict[str, Any] = {
    "target": {"env": TARGET, "levels": [0]},
    "levels": {name: [0] for name in TRAINED},
    "rollouts": {"tasks": 32},
    "diagnose": {"rho": 0.15},
    "skill": {"groups": 1, "informative": 0.0},
    "train": {"groups": 1, "samples": 2, "iterations": 1, "lora_targets": "all-linear"},
    "route": {"permutations": 4},
    "evaluate": {"tasks": 2, "validation_tasks": 1, "own_tasks": 1},
    "workers": 1,
}


class Script:
    """An oracle in three quarters of the scenarios; otherwise it lacks a capability."""

    name = "script"

    def act(self, episode: Episode) -> Action:
        return (Oracle() if episode.scenario.seed % 4 else Ablated()).act(episode)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_stand_in(tmp_path_factory.mktemp("models") / "qwen")


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Jobs in this process, and scripted tokens in the first stage; a random model solves nothing to diagnose.

    The list receives the stage of each job that loads a policy.
    """
    stages: list[str] = []
    load = jobs.load_policy

    def policy(settings: ModelSettings, adapter: Path | None = None, **kw: Any) -> Any:
        stages.append(kw["stage"])
        made: Any = load(settings, adapter, **kw)
        if kw["stage"] != "rollouts":
            return made
        limits = {"max_tokens": made.max_tokens, "max_turn_tokens": 400, "max_rows": made.max_rows}
        return Puppet(Script(), made.model, made.chat.tokenizer, name=made.name, **limits)

    def in_process(jobs: Sequence[Job], workers: int, tick: Callable[[], None]) -> list[dict[str, Any]]:
        return [job() for job in jobs]

    monkeypatch.setattr(jobs, "load_policy", policy)
    monkeypatch.setattr(common, "run_jobs", in_process)
    return stages


def test_prompt_of_the_stand_in_contains_policy_and_tools(folder: Path) -> None:
    _, tokenizer = load_weights(ModelSettings(name=str(folder)))
    for env in (TARGET, *TRAINED):
        episode = registry.start_episode(Scenario(env=env, level=0, seed=2))
        ids = Chat(tokenizer).opening(episode.messages, episode.tools)
        text = tokenizer.decode(ids)
        assert len(ids) > 4400, "as many tokens as with the tokenizer of a real model"
        assert all(str(message["content"]) in text for message in episode.messages)
        assert all(f'"{tool["function"]["name"]}"' in text for tool in episode.tools)


def test_run_executes_all_ten_stages(folder: Path, scripted: list[str], tmp_path: Path) -> None:
    model = {"name": str(folder), "max_turn_tokens": 24}
    made = pipeline.run(RunConfig.parse(SMALL | {"model": model}, "run.yaml"), tmp_path / "run")
    assert list(made.ledger) == [
        "rollouts", "diagnose", "synthesize", "validate", "variance", "skill", "train", "route", "evaluate", "report",
    ]  # fmt: skip
    records = read_records(made.path("rollouts", "select.jsonl"))
    assert len(records) == 32 and {bool(record.success) for record in records} == {True, False}
    found = Diagnosis.model_validate_json(made.path("diagnosis.json").read_text())
    selected = {capability.name for capability in found.selected}
    chosen = json.loads(made.path("environments.json").read_text())["environments"]
    assert selected and selected == {registry.manifest(name).capability for name in chosen} and {*chosen} <= {*TRAINED}
    for name in chosen:
        report = Report.model_validate_json(made.path("validation", f"{name}.json").read_text())
        assert report.passed and len(report.findings) > 30, "the profile was not restricted"
        assert made.path("adapters", f"{name}-s0", "adapter", "adapter_model.safetensors").exists()
    assert {"rollouts", "skill", "evaluate"} == {*scripted} and scripted.count("rollouts") == 1
    rows = {row.name: row.rate for row in Evaluation.read(made.path("evaluation", "level-0.json")).rows}
    assert {"base", "routed", "random_routed", *selected} <= rows.keys()
    evaluated = read_records(made.path("rollouts", "base", "test-0.jsonl"))
    assert len(evaluated) == 2 and all(record.messages[-1] for record in evaluated)
    assert made.path("report.html").exists()
