"""A custom target from its files to the report of a run, with the commands that a user types and without any stub."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

pytest.importorskip("peft", reason="the loop needs the lab extra")
pytest.importorskip("mcp", reason="pip install 'trace-gym[mcp]'")

from tiny_model import save_tiny

from trace_gym.evaluation import Evaluation
from trace_gym.registration import VARIABLE

pytestmark = pytest.mark.slow

DATA = Path(__file__).parent / "data" / "greenhouse"
ENV, CAPABILITY = "greenhouse_capacity_check", "capacity_check"
SETTINGS = {
    "model": "model",
    "folders": ["greenhouse"],
    "environments": [ENV],
    "capabilities": {CAPABILITY: "look whether a place stays free"},
    "target": {"env": ENV, "levels": [0]},
    "levels": {ENV: [0]},
    "skill": {"groups": 2, "informative": 0.0},
    "train": {"groups": 2, "samples": 4, "iterations": 1, "max_tokens": 3000, "max_turn_tokens": 6},
    "route": {"permutations": 1},
    "evaluate": {"tasks": 2, "validation_tasks": 1, "own_tasks": 1},
    "workers": 2,
}


def trace_gym(folder: Path, *command: str, searched: str = "") -> str:
    """Run a command as a user does, and return its output."""
    env = {name: value for name, value in os.environ.items() if name != VARIABLE} | {"OMP_NUM_THREADS": "1"}
    env |= {VARIABLE: searched} if searched else {}
    call = [sys.executable, "-c", "from trace_gym.cli import main; main()", *command]
    done = subprocess.run(call, cwd=folder, env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def test_custom_target_is_validated_admitted_trained_on_and_reported(tmp_path: Path) -> None:
    server = f"{sys.executable} {DATA / 'server.py'}"
    trace_gym(tmp_path, "target", "record", "--mcp", server, "--out", "log.jsonl", "--episodes", "3")
    files = ("--tools", str(DATA / "tools.json"), "--policy", str(DATA / "policy.md"), "--trajectories", "log.jsonl")
    trace_gym(tmp_path, "target", "init", "greenhouse", *files)
    home = tmp_path / "greenhouse"
    (home / "base").mkdir()
    (home / "base" / "greenhouse_base.py").write_text((DATA / "base.py").read_text())
    module = home / f"{ENV}.py"
    module.write_text((DATA / "environment.py").read_text())
    assert "admitted greenhouse_base" in trace_gym(tmp_path, "target", "check", "greenhouse", "--admit")
    (tmp_path / "run.yaml").write_text(yaml.safe_dump(SETTINGS))
    save_tiny(tmp_path / "model")

    told = trace_gym(tmp_path, "validate", str(module), "--admit", "--budget", "400", searched=str(home))
    assert f"admitted {ENV}" in told
    told = trace_gym(tmp_path, "run", "run.yaml", "--out", "run")

    run = tmp_path / "run"
    assert f"report: {Path('run') / 'report.html'}" in " ".join(told.split())
    stages = ["synthesize", "validate", "variance", "skill", "train", "route", "evaluate", "report"]
    assert list(json.loads((run / "stages.json").read_text())) == stages
    manifest = json.loads(module.with_suffix(".json").read_text())
    chosen = json.loads((run / "environments.json").read_text())["environments"]
    assert chosen == {ENV: {"capability": CAPABILITY, "author": "hand", "module": manifest["module_sha256"]}}
    validated = json.loads((run / "validation" / f"{ENV}.json").read_text())
    assert validated["passed"] and len(validated["findings"]) == len(manifest["report"]["findings"]) > 40
    (adapter,) = json.loads((run / "adapters.json").read_text())
    assert adapter["rollouts"] == 8 and (run / adapter["path"] / "adapter_model.safetensors").exists()
    rows = {row.name: row for row in Evaluation.read(run / "evaluation" / "level-0.json").rows}
    assert {"base", CAPABILITY, "routed"} <= rows.keys()
    page = (run / "report.html").read_text()
    assert ENV in page and CAPABILITY in page
