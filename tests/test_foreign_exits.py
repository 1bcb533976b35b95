"""Environments of other libraries that end the process which runs them: each command says so, and fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from trace_gym.types import Finding, Replay, Report

MODULE = """
import ctypes, os, sys, time
import gymnasium
from gymnasium.spaces import Text

ENDS = {
    "_exit": lambda: os._exit(0), "sys.exit": lambda: sys.exit(0), "C": lambda: ctypes.CDLL(None)._exit(0),
    "hang": lambda: time.sleep(600), "": lambda: None,
}


class Quitter(gymnasium.Env):
    observation_space = action_space = Text(10)

    def __init__(self, made="", begun=""):
        self.begun = begun
        ENDS[made]()

    def reset(self, *, seed=None, options=None):
        ENDS[self.begun]()
        return "Hello.", {}

    def step(self, action):
        return "Goodbye.", 0.0, True, False, {}


gymnasium.register("Quitter-v0", entry_point=Quitter)
"""


def trace_gym(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    (folder / "quitter.py").write_text(MODULE)
    call = [sys.executable, "-c", "from trace_gym.cli import main; main()", *command]
    return subprocess.run(call, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("options", "engine", "found"),
    [
        ("made=_exit", "processes", "calls os._exit(0)"),
        ("made=C", "processes", "ends the process that loads it, with exit code 0"),
        ("made=sys.exit", "here", "SystemExit"),
        ("made=_exit", "here", "calls os._exit(0)"),
        ("begun=_exit", "here", "calls os._exit(0)"),
        ("begun=C", "processes", "died, with exit code 0"),
    ],
)
def test_environment_that_ends_the_process_fails_validation(
    options: str, engine: str, found: str, tmp_path: Path
) -> None:
    address = f"gym:quitter:Quitter-v0?{options}"
    done = trace_gym(tmp_path, "validate", address, "--engine", engine, "--only", "TG001", "--seeds", "1")
    assert done.returncode == 1, done.stderr
    assert "TG001" in done.stdout and found in " ".join(done.stdout.split())


def test_constructor_that_hangs_is_stopped_by_the_budget(tmp_path: Path) -> None:
    done = trace_gym(tmp_path, "validate", "gym:quitter:Quitter-v0?made=hang", "--budget", "5")
    assert done.returncode == 2 and "did not load within 5 seconds" in " ".join(done.stdout.split()), done.stderr


def test_replay_of_environment_that_ends_the_process_is_an_error(tmp_path: Path) -> None:
    address = "gym:quitter:Quitter-v0?begun=_exit"
    replay = Replay(scenario=f"{address}/0/0", actions=("hello",))
    finding = Finding(code="TG001", property="loads", message="it exits", verdict="failed", replay=replay)
    report = Report(env=address, passed=False, findings=(finding,), scenarios=1)
    (tmp_path / "report.json").write_text(report.model_dump_json())
    done = trace_gym(tmp_path, "replay", "report.json")
    assert done.returncode == 1 and "calls os._exit(0)" in done.stderr and "Traceback" not in done.stderr
