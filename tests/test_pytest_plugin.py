"""Tests of the pytest plugin: the fixture `validate_environment` in the test suite of a user."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from _pytest.assertion.rewrite import AssertionRewriter

import trace_gym
from trace_gym.validation import PROPERTIES

pytest_plugins = ["pytester"]
ROOT = Path(__file__).resolve().parents[1]
SUITE = """
def test_env(validate_environment):
    report = validate_environment({target!r}, {options})
    assert report.passed and report.profile == "quick"
"""


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder for a test suite that can import the environments of these tests, as an installed package would be."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]))
    pytester.makeini("[pytest]\naddopts = --strict-markers --strict-config\nfilterwarnings = error")
    return pytester


def run(suite: pytest.Pytester, target: str, options: str, *arguments: str) -> pytest.RunResult:
    suite.makepyfile(test_mine=SUITE.format(target=target, options=options))
    return suite.runpytest_subprocess("-p", "no:cacheprovider", *arguments)


def test_environment_that_passes(suite: pytest.Pytester) -> None:
    run(suite, "tau2_multi_step", "profile='quick', only=['TG201', 'TG301']").assert_outcomes(passed=1)


def test_failure_shows_finding_fix_and_counterexample_without_a_traceback(suite: pytest.Pytester) -> None:
    result = run(suite, "mutants.faults:ForgottenGuard", "profile='quick', only=['TG201', 'TG304']")
    result.assert_outcomes(failed=1)
    shown = result.stdout.str()
    assert "1 of 3 properties of mutants.faults:ForgottenGuard did not pass" in shown
    assert "TG304 damage-revokes-success (failed): forgotten_guard/" in shown and PROPERTIES["TG304"].fix in shown
    assert "episode = begin('mutants.faults:ForgottenGuard'" in shown
    assert "validate_or_fail" not in shown and "Traceback" not in shown and "validate_environment(" not in shown


def test_environment_that_does_not_exist_fails_the_test(suite: pytest.Pytester) -> None:
    result = run(suite, "no_such_environment", "profile='quick'")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["no_such_environment cannot be validated: *"])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_command_line_option_overrides_the_profile(suite: pytest.Pytester) -> None:
    options = "profile='gate', only=['TG201'], seeds_per_level=1"
    assert run(suite, "tau2_multi_step", options, "--trace-gym-profile", "quick").ret == 0
    assert run(suite, "tau2_multi_step", options, "--trace-gym-profile", "fast").ret == pytest.ExitCode.USAGE_ERROR


def test_plugin_does_not_import_the_package() -> None:
    code = "import sys, trace_gym_pytest; print([m for m in sys.modules if m in ('trace_gym', 'gymnasium', 'numpy')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_suite_that_does_not_use_the_fixture_does_not_import_the_package(suite: pytest.Pytester) -> None:
    suite.makepyfile(test_mine="import sys\n\ndef test_it():\n    assert 'trace_gym' not in sys.modules\n")
    result = suite.runpytest_subprocess("--fixtures", "-q")
    result.stdout.fnmatch_lines(["validate_environment*"])
    suite.runpytest_subprocess().assert_outcomes(passed=1)


def test_import_before_pytest_starts_causes_no_warning() -> None:
    assert AssertionRewriter.is_rewrite_disabled(trace_gym.__doc__ or "")


def test_plugin_is_declared_as_an_entry_point() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    [(name, module)] = project["project"]["entry-points"]["pytest11"].items()
    assert name == module == "trace_gym_pytest"
    assert module in project["tool"]["setuptools"]["py-modules"] and (ROOT / f"{module}.py").is_file()
