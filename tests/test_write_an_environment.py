"""The page about writing an environment by hand: its example is admitted, and its commands run as printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from snippets import blocks, python, shell

from trace_gym import registry
from trace_gym.sandbox.linter import lint
from trace_gym.validation import validate

pytestmark = pytest.mark.slow

PAGE = "docs/guides/write_an_environment.md"
MODULE, *FACTS, DIALOGUE, USE_PYTHON = blocks(PAGE, "python")
QUICK, ADMIT, USE_SHELL = blocks(PAGE, "bash")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A clean directory with the example of the page in `my_envs`."""
    (tmp_path / "my_envs").mkdir()
    (tmp_path / "my_envs" / "bike_rental.py").write_text(MODULE)
    return tmp_path


def test_example_is_admitted_and_its_commands_run_as_printed(folder: Path) -> None:
    assert "admitted bike_rental" in shell(ADMIT, folder)
    manifest = json.loads((folder / "my_envs" / "bike_rental.json").read_text())
    assert not [f["code"] for f in manifest["report"]["findings"] if f["verdict"] in ("failed", "unfinished")]
    assert "bike_rental/1/7" in shell(USE_SHELL, folder)
    assert (folder / "ablated.jsonl").read_text().count("\n") == 20
    assert " and the " in python(USE_PYTHON, folder), "level 1 asks for two rentals"
    assert python(DIALOGUE, folder) == "", "the assertions about dialogue acts hold"


def test_examples_of_told_facts_hold() -> None:
    assert len(FACTS) == 2
    exec("\n".join(FACTS), {})


def test_change_that_the_page_suggests_produces_the_named_finding(folder: Path) -> None:
    module = folder / "my_envs" / "bike_rental.py"
    assert "rng.random() < 0.5" in MODULE
    module.write_text(MODULE.replace("rng.random() < 0.5", "rng.random() < 0.05"))
    report = validate(module, only=["TG501"], engine="here", progress=False)
    assert [f.verdict for f in report.findings if f.code == "TG501"] == ["failed"]


def test_example_obeys_the_rules_for_untrusted_modules() -> None:
    assert list(lint(MODULE)) == []


def test_example_is_short_enough_to_teach() -> None:
    assert 80 <= len(MODULE.splitlines()) <= 126
    assert "bike_rental" not in registry.list_environments(), "an example of the docs is no shipped environment"
