"""Tests of runs that diagnose trajectories from a file, for a target other than the default one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from diagnosis_cases import cancel, episode

from trace_gym import registry
from trace_gym.errors import ConfigError, ReadError
from trace_gym.pipeline import diagnose, rollouts, skill, synthesize, train
from trace_gym.pipeline.ledger import Run
from trace_gym.policies import ExpertMixture
from trace_gym.rollouts import rollout
from trace_gym.settings import RunConfig
from trace_gym.types import to_jsonl

pytestmark = pytest.mark.slow

PLANTED = "toolsandbox_permission_recovery"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """File with trajectories of an agent that often lacks the capability of one ToolSandbox environment."""
    path = tmp_path_factory.mktemp("source") / "agent.jsonl"
    rollout(ExpertMixture(0.4), registry.scenarios(PLANTED, "select", 80), path=path, progress=False)
    return path


def run_stages(config: RunConfig, folder: Path) -> Run:
    made = Run(config, folder)
    for stage in (rollouts.rollouts, diagnose.diagnose, synthesize.synthesize):
        stage(made)
    return made


def test_a_deficit_in_toolsandbox_ends_with_the_adapter_of_its_environment(source: Path, tmp_path: Path) -> None:
    pytest.importorskip("peft", reason="training needs the lab extra")
    small = {
        "skill": {"groups": 1, "informative": 0.0},
        "train": {"groups": 2, "samples": 2, "iterations": 1, "checkpoint_every": 1},
    }
    config = RunConfig.parse({"source": str(source), "target": {"env": PLANTED}, **small}, "test")
    made = run_stages(config, tmp_path / "run")
    assert list(json.loads(made.path("environments.json").read_text())["environments"]) == [PLANTED]
    for stage in (skill.skill, train.train):
        stage(made)
    assert [folder.name for folder in made.path("adapters").iterdir()] == [f"{PLANTED}-s0"]
    assert (made.path("adapters") / f"{PLANTED}-s0" / "adapter" / "adapter_config.json").is_file()


def test_trajectories_of_another_benchmark_are_refused(source: Path, tmp_path: Path) -> None:
    expected = (
        "trajectories of toolsandbox, expected .* of tau2_airline.*Set target.env to an environment of toolsandbox"
    )
    with pytest.raises(ConfigError, match=expected):
        run_stages(RunConfig(source=source), tmp_path / "run")
    assert not (tmp_path / "run" / "diagnosis.json").exists()


def test_invalid_records_of_the_source_are_skipped_if_wanted(source: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text(source.read_text() + '{"messages": 3}\n')
    with pytest.raises(ReadError, match="line 81"):
        rollouts.rollouts(Run(RunConfig(source=broken), tmp_path / "a"))
    made = Run(RunConfig(source=broken, skip_invalid=True), tmp_path / "b")
    rollouts.rollouts(made)
    assert len(made.path("rollouts", "select.jsonl").read_text().splitlines()) == 80
    repeated = tmp_path / "repeated.jsonl"
    line = json.dumps({"messages": [{"role": "user", "content": "Hello."}], "success": True})
    repeated.write_text(f"{line}\n{line}\n")
    made = Run(RunConfig(source=repeated), tmp_path / "c")
    rollouts.rollouts(made)
    assert "equal to earlier records: 1, the first:" in str(made.ledger["rollouts"])
    with pytest.raises(ConfigError, match="skip_invalid has no effect: source is not given"):
        RunConfig.parse({"skip_invalid": True}, "test")


def test_a_run_recommends_a_language_model_for_failures_that_the_rules_cannot_explain(tmp_path: Path) -> None:
    plain = [
        episode([cancel("A")], "Hello.", cancel("A"), success=bool(n % 2), name=f"t{n}", task=f"t{n}")
        for n in range(20)
    ]
    path = tmp_path / "unexplained.jsonl"
    path.write_text(to_jsonl(plain))
    made = Run(RunConfig(source=path), tmp_path / "run")
    rollouts.rollouts(made)
    diagnose.diagnose(made)
    assert "10 of 10 failures are unexplained: set diagnose.analyst to" in str(made.ledger["diagnose"])
    with pytest.raises(ConfigError, match="set diagnose.analyst to a language model such as openai:MODEL"):
        synthesize.synthesize(made)
