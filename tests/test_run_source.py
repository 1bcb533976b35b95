"""Tests of runs that diagnose trajectories from a file, for a target other than the default one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trace_gym import registry
from trace_gym.errors import ConfigError
from trace_gym.pipeline import diagnose, rollouts, synthesize
from trace_gym.pipeline.ledger import Run
from trace_gym.policies import Mixture
from trace_gym.rollouts import rollout
from trace_gym.settings import RunConfig

PLANTED = "toolsandbox_permission_recovery"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """File with trajectories of an agent that often lacks the capability of one ToolSandbox environment."""
    path = tmp_path_factory.mktemp("source") / "agent.jsonl"
    rollout(Mixture(0.4), registry.scenarios(PLANTED, "select", 80), path=path, progress=False)
    return path


def run_stages(config: RunConfig, folder: Path) -> Run:
    made = Run(config, folder)
    for stage in (rollouts.rollouts, diagnose.diagnose, synthesize.synthesize):
        stage(made)
    return made


def test_a_deficit_in_toolsandbox_selects_its_environment(source: Path, tmp_path: Path) -> None:
    config = RunConfig.parse({"source": str(source), "target": {"env": PLANTED}}, "test")
    made = run_stages(config, tmp_path / "run")
    assert list(json.loads(made.path("environments.json").read_text())["environments"]) == [PLANTED]


def test_trajectories_of_another_benchmark_are_refused(source: Path, tmp_path: Path) -> None:
    expected = (
        "trajectories of toolsandbox, expected .* of tau2_airline.*Set target.env to an environment of toolsandbox"
    )
    with pytest.raises(ConfigError, match=expected):
        run_stages(RunConfig(source=source), tmp_path / "run")
    assert not (tmp_path / "run" / "diagnosis.json").exists()
