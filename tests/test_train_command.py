"""The train command of docs/guides/train.md: the configuration file is valid, and the output names the toy model."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from snippets import ROOT, blocks, shell
from typer.testing import CliRunner

from trace_gym.cli.entry import app
from trace_gym.models import ModelSettings
from trace_gym.policies import hints
from trace_gym.settings import RunConfig
from trace_gym.trainers import registered, torch_grpo
from trace_gym.trainers.config import DistillConfig, GRPOConfig, SFTConfig
from trace_gym.trainers.skyrl_config import SkyRLConfig
from trace_gym.trainers.trl_config import TRLConfig


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[tuple[GRPOConfig, dict[str, Any]]]:
    """What the trainer is called with; nothing is trained."""
    calls: list[tuple[GRPOConfig, dict[str, Any]]] = []

    def train(config: GRPOConfig, **rest: Any) -> Any:
        calls.append((config, rest))
        return SimpleNamespace(metrics=[{"reward": 0.5}], ended="iterations", rollouts=64, path="adapter")

    monkeypatch.setattr(torch_grpo, "train", train)
    return calls


def test_configuration_file_of_the_page_is_used(trained: Any, tmp_path: Path) -> None:
    printed, _, _, warm, distill, skyrl = blocks("docs/guides/train.md", "yaml")
    assert type(registered.parse(yaml.safe_load(distill))) is DistillConfig
    assert str(registered.parse(yaml.safe_load(warm)).init_adapter) == "runs/sft/adapter"
    settings = yaml.safe_load(skyrl)
    assert ModelSettings.parse(settings.pop("model")).limits[0] == 16384
    assert type(registered.parse(settings)) is SkyRLConfig
    (tmp_path / "qwen.yaml").write_text(printed)
    asked = ["train", "tau2_precondition", "--model", "Qwen/Qwen3-4B-Instruct-2507"]
    result = CliRunner().invoke(app, [*asked, "--config", str(tmp_path / "qwen.yaml"), "--out", str(tmp_path / "run")])
    assert result.exit_code == 0, result.output
    [(config, rest)] = trained
    settings = yaml.safe_load(printed)
    model = settings.pop("model")
    assert config == GRPOConfig.parse(settings)
    assert rest["model"] == ModelSettings.parse(model | {"name": "Qwen/Qwen3-4B-Instruct-2507"})
    assert "toy model" not in result.output


def test_files_for_a_small_model_are_used(trained: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, model, settings, *_ = blocks("docs/guides/train.md", "yaml")
    monkeypatch.chdir(tmp_path)
    Path("model.yaml").write_text(model)
    Path("train.yaml").write_text(settings)
    result = CliRunner().invoke(app, ["train", "tau2_precondition", "--config", "train.yaml", "--out", "runs/mine"])
    assert result.exit_code == 0, result.output
    [(config, rest)] = trained
    assert (config.groups, config.samples, config.iterations, config.levels) == (2, 4, 2, {0: 1.0})
    assert rest["model"] == ModelSettings(name="./my_model", device="cpu", max_tokens=6000, max_turn_tokens=64)


def test_page_lists_the_settings_that_sft_does_not_have() -> None:
    page = (ROOT / "docs/guides/train.md").read_text()
    [listed] = re.findall(r"settings of the table are errors,[^:]*:(.*?)\.\n", page, flags=re.S)
    assert set(re.findall(r"`(\w+)`", listed)) == GRPOConfig.model_fields.keys() - SFTConfig.model_fields.keys()
    assert DistillConfig.model_fields.keys() - SFTConfig.model_fields.keys() == {"samples", "temperature", "teachers"}


def test_seed_of_the_file_is_used_unless_the_option_replaces_it(trained: Any, tmp_path: Path) -> None:
    (tmp_path / "my.yaml").write_text("{seed: 3, iterations: 2}")
    asked = ["train", "tau2_precondition", "--config", str(tmp_path / "my.yaml"), "--out", str(tmp_path / "run")]
    for more in ([], ["--seed", "5", "--iterations", "1"]):
        assert CliRunner().invoke(app, [*asked, *more]).exit_code == 0
    assert [(c.seed, c.iterations) for c, _ in trained] == [(3, 2), (5, 1)]


def test_training_the_toy_model_is_announced(trained: Any, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["train", "tau2_precondition", "--out", str(tmp_path / "run")])
    assert result.exit_code == 0 and "toy model" in result.output


def test_environments_of_a_mixture_without_a_hint_are_named(
    trained: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hints, "hint_of", lambda episode: episode.scenario.env == "tau2_precondition" and "Look first.")
    (tmp_path / "my.yaml").write_text("hints: 0.5")
    asked = ["--config", str(tmp_path / "my.yaml"), "--out", str(tmp_path / "run")]
    result = CliRunner().invoke(app, ["train", "tau2_mixture", *asked])
    assert result.exit_code == 0
    assert "warning: hints has no effect in tau2_multi_step, tau2_structured_data" in result.stderr
    assert "hints" not in CliRunner().invoke(app, ["train", "tau2_precondition", *asked]).output


def test_an_interruption_reports_whether_there_is_a_checkpoint(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def train(config: GRPOConfig, **rest: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(torch_grpo, "train", train)
    asked = ["train", "tau2_precondition", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 130 and "interrupted; no checkpoint was written yet" in result.output
    (tmp_path / "checkpoint").mkdir()
    (tmp_path / "checkpoint" / "state.json").write_text("{}")
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 130 and "again to continue from the last checkpoint" in result.output


def test_a_training_without_a_step_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def train(config: GRPOConfig, **rest: Any) -> Any:
        return SimpleNamespace(metrics=[{"steps": 0, "reward": 0.0}] * 3, ended="iterations", rollouts=64, path="a")

    monkeypatch.setattr(torch_grpo, "train", train)
    result = CliRunner().invoke(app, ["train", "tau2_precondition", "--out", str(tmp_path / "run")])
    shown = " ".join(result.output.split())
    assert "finished: 3 iterations, 64 rollouts" in shown and "adapter: a" in shown
    assert "warning: the adapter does not change the model, because no optimizer step was taken" in shown
    (tmp_path / "my.yaml").write_text("init_adapter: runs/sft/adapter")
    more = ["--config", str(tmp_path / "my.yaml"), "--out", str(tmp_path / "more")]
    result = CliRunner().invoke(app, ["train", "tau2_precondition", *more])
    assert "warning: the adapter equals runs/sft/adapter, because no optimizer step" in " ".join(result.output.split())


def test_configurations_of_the_comparison_differ_in_one_setting(tmp_path: Path) -> None:
    [commands] = [block for block in blocks("docs/guides/train.md", "bash") if block.startswith("DEMO=")]
    shell("".join(line for line in commands.splitlines(True) if not line.startswith("trace-gym")), tmp_path)
    default, trl, vllm = (RunConfig.read(tmp_path / f"{name}.yaml") for name in ("default", "trl", "vllm"))
    assert default.seeds == (0, 1, 2)
    assert isinstance(trl.train, TRLConfig)
    assert vllm.model.engine == "vllm"
    assert trl.model_copy(update={"train": default.train}) == default
    assert vllm.model_copy(update={"model": default.model}) == default
