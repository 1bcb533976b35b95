"""The whole loop on the embedded agent, as small as it goes: what it leaves, what it skips, what survives a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("peft", reason="the loop needs the lab extra")

from trace_gym import registry
from trace_gym.errors import ConfigError, ReadError
from trace_gym.evaluate import Evaluation
from trace_gym.pipeline.ledger import Run
from trace_gym.pipeline.reporting import open_run
from trace_gym.settings import RunConfig, presets

TINY = """
levels: {tau2_precondition: [0], tau2_multi_step: [0], tau2_structured_data: [0], tau2_tool_precision: [0]}
rollouts: {tasks: 128}
skill: {groups: 2, informative: 0.0}
train: {groups: 2, samples: 4, iterations: 2, checkpoint_every: 1}
route: {permutations: 1}
evaluate: {tasks: 12, validation_tasks: 8, own_tasks: 4}
"""


def start(config: Path, out: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", "from trace_gym.cli import main; main()", "run", str(config), "--out", str(out)]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)


def finish(process: subprocess.Popen[str]) -> str:
    _, errors = process.communicate(timeout=500)
    assert process.returncode == 0, errors
    return errors


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("config") / "tiny.yaml"
    path.write_text(TINY)
    return path


@pytest.fixture(scope="module")
def finished(config: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole") / "run"
    finish(start(config, out))
    return out


def test_every_stage_leaves_a_file_a_person_can_open(finished: Path) -> None:
    found = {c["name"] for c in json.loads((finished / "diagnosis.json").read_text())["capabilities"]}
    assert {"precondition_verification", "multi_step_completion", "tool_precision"} <= found
    chosen = json.loads((finished / "environments.json").read_text())["environments"]
    assert {"tau2_precondition", "tau2_multi_step", "tau2_tool_precision"} <= set(chosen)
    for name in chosen:
        assert json.loads((finished / "validation" / f"{name}.json").read_text())["passed"]
        assert (finished / "adapters" / f"{name}-s0" / "adapter" / "adapter_model.safetensors").exists()
    evaluation = Evaluation.read(finished / "evaluation" / "level-0.json")
    assert {"base", "routed", "oracle_routed", "tool_precision"} <= {row.name for row in evaluation.rows}
    page = (finished / "report.html").read_text()
    assert "precondition_verification" in page and "<svg" in page


def test_test_tasks_are_disjoint_from_what_earlier_stages_saw(finished: Path) -> None:
    seen = json.loads((finished / "seen.json").read_text())
    assert set(seen) >= {"rollouts", "skill", "evaluate"}
    assert not set(seen["evaluate"]) & {
        s for stage, scenarios in seen.items() if stage != "evaluate" for s in scenarios
    }


def test_an_unchanged_run_does_nothing_again(finished: Path, config: Path) -> None:
    before = {p: p.stat().st_mtime_ns for p in finished.rglob("*") if p.suffix in (".jsonl", ".safetensors", ".html")}
    says = finish(start(config, finished))
    assert says.count("unchanged") == len(json.loads((finished / "stages.json").read_text()))
    assert before == {p: p.stat().st_mtime_ns for p in before}


def test_a_killed_run_continues_and_ends_with_the_same_result(finished: Path, config: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    process = start(config, out)
    deadline = time.monotonic() + 300
    while not list(out.glob("adapters/*/metrics.jsonl")) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()  # returns once the workers, which share its pipes, have noticed that it is gone
    assert not (out / "report.html").exists(), "the kill came too late to test anything"
    finish(start(config, out))
    for name in ("diagnosis.json", "skill.json", "routing.json", "evaluation/level-0.json"):
        assert (out / name).read_text() == (finished / name).read_text(), name
    for adapter in finished.glob("adapters/*/adapter/adapter_model.safetensors"):
        assert (out / adapter.relative_to(finished)).read_bytes() == adapter.read_bytes(), adapter.parent.parent.name


def test_a_stage_runs_again_when_its_input_or_its_output_changed(tmp_path: Path) -> None:
    source, out, done = tmp_path / "in.txt", tmp_path / "run" / "out.txt", []

    def work() -> str:
        done.append(source.read_text())
        out.write_text(source.read_text())
        return "done"

    def stage() -> None:
        Run(RunConfig(), tmp_path / "run").stage("copy", {"source": source}, [out], work)

    source.write_text("a")
    stage()
    stage()
    assert done == ["a"]
    source.write_text("b")
    stage()
    assert done == ["a", "b"]
    out.write_text("spoilt")
    stage()
    assert done == ["a", "b", "b"]


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    from trace_gym.pipeline import run

    with pytest.raises(ConfigError, match="choose another folder"):
        run(RunConfig(), tmp_path)
    with pytest.raises(ReadError, match="trace-gym run"):
        open_run(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.txt"]


def test_presets_are_valid_and_name_existing_levels() -> None:
    for name in presets():
        config = RunConfig.preset(name)
        for env, levels in {**config.levels, config.target.env: config.target.levels}.items():
            assert max(levels) < registry.level_count(env)


def test_a_run_starts_from_a_results_file_and_goes_on_with_what_serves_it(tmp_path: Path) -> None:
    from trace_gym.pipeline import agents
    from trace_gym.policies import Mixture
    from trace_gym.rollout import collect

    results = tmp_path / "results.jsonl"
    target = registry.scenarios("tau2_airline_desk", "select", 120, levels=(0,))
    collect(Mixture(0.4), target, path=results, progress=False)
    made = Run(RunConfig(source=results), tmp_path / "run")
    for stage in (agents.rollouts, agents.diagnose, agents.synthesize):
        stage(made)
    chosen = json.loads((tmp_path / "run" / "environments.json").read_text())
    assert {"tau2_multi_step", "tau2_tool_precision"} <= set(chosen["environments"])
    assert json.loads((tmp_path / "run" / "diagnosis.json").read_text())["n"] == 120
