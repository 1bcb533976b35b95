"""Tests of `property_tests`: pytest runs a test file that checks every property as a separate test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from trace_gym.validation import PROPERTIES
from trace_gym.validation.testing import property_tests

test_a_shipped_environment = property_tests("tau2_multi_step", profile="quick", only=("TG1", "TG2", "TG3"))

ONE_LINE = (
    "from trace_gym.validation.testing import property_tests\ntest_it = property_tests({target!r}, profile='quick')\n"
)


def run(folder: Path, target: str) -> str:
    (folder / "test_mine.py").write_text(ONE_LINE.format(target=target))
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "test_mine.py"]
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": path, "COLUMNS": "200"}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=120).stdout


def test_defect_fails_its_test_with_snippet(tmp_path: Path) -> None:
    shown = run(tmp_path, "mutants.faults:ForgottenGuard")
    assert "TG304-damage-revokes-success] FAILED" in shown and "TG201-oracle-succeeds] PASSED" in shown
    assert "from trace_gym.validation import begin" in shown and PROPERTIES["TG304"].fix in shown


@pytest.mark.parametrize("target", ["mutants.faults:NoSecondLevel"])
def test_load_error_fails_one_test(tmp_path: Path, target: str) -> None:
    shown = run(tmp_path, target)
    assert "TG001-loads-and-generates] FAILED" in shown and "1 failed" in shown
