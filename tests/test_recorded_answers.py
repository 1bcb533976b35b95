"""Tests of the synthesis from the recorded answers of a language model, without a model."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from trace_gym import registry
from trace_gym.cli.entry import app
from trace_gym.errors import ConfigError, EnvNotFound
from trace_gym.synthesis import ValidationConfig, synthesize
from trace_gym.synthesis.recorded import find_recorded, recorded_capabilities, recorded_environments, recorded_spec

pytestmark = pytest.mark.slow

NAME = "tau2_baggage_allowance"


def test_answers_are_recorded_for_environments_that_a_model_wrote() -> None:
    written = {n for n in registry.list_environments() if registry.manifest(n).author.startswith("llm:")}
    recorded = recorded_environments()
    assert NAME in recorded and recorded.keys() <= written
    assert {c.name for _, c in recorded.values()} == {c.name for c in recorded_capabilities("tau2_airline")}
    assert all(registry.manifest(name).capability == c.name for name, (_, c) in recorded.items())
    assert recorded_capabilities("toolsandbox") == []
    with pytest.raises(EnvNotFound, match=f"'telepathy': expected one of .*{NAME}"):
        find_recorded("telepathy")


def test_recorded_answers_are_planned_rendered_validated_and_admitted(tmp_path: Path) -> None:
    log: list[str] = []
    made = synthesize(NAME, folder=tmp_path, validation=ValidationConfig("quick"), log=log.append)
    assert made.report.passed and made.spec == recorded_spec(NAME)
    assert made.author.startswith("llm:") and made.origin is not None and made.origin.rounds == 1
    assert f"# Written by {made.author}" in (tmp_path / f"{NAME}.py").read_text()
    assert any("passed" in line for line in log)


def test_an_edited_environment_is_not_replaced(tmp_path: Path) -> None:
    for suffix in (".py", ".json"):
        shipped = registry.module_path(NAME).with_suffix(suffix)
        (tmp_path / shipped.name).write_bytes(shipped.read_bytes())
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    with pytest.raises(ConfigError, match=r"written or edited by hand.*--out"):
        synthesize(NAME, folder=tmp_path, validation=ValidationConfig("quick"), log=lambda line: None)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir() if p.is_file()} == before


def test_capabilities_without_recorded_answers_are_reported(tmp_path: Path) -> None:
    (tmp_path / "caps.yaml").write_text("- {name: telepathy, description: Read minds.}\n")
    done = CliRunner().invoke(app, ["synthesize", "--from", str(tmp_path / "caps.yaml"), "--out", str(tmp_path / "e")])
    assert done.exit_code and "there are no recorded model answers" in str(done.exception)
    assert "telepathy: no answers are recorded for tau2_airline; use --author llm" in done.output
    assert not (tmp_path / "e").exists()
