"""The trainer skyrl_grpo with a stand-in for SkyRL: options, outputs, resumption and errors."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("skyrl_gym", reason="the trainer needs the extra skyrl-gym")
pytest.importorskip("peft", reason="trainers need the lab extra")

from tiny_model import save_tiny

from trace_gym.errors import ConfigError, ReadError, Unavailable
from trace_gym.models import ModelSettings
from trace_gym.settings import RunConfig
from trace_gym.trainers import registered, skyrl_grpo
from trace_gym.trainers.loop import Trained
from trace_gym.trainers.skyrl_config import SkyRLConfig
from trace_gym.trainers.skyrl_project import options

FAKE = Path(__file__).parent / "fake_skyrl"
pytestmark = pytest.mark.skipif(os.name != "posix", reason="SkyRL runs on Linux")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("models") / "model")


@pytest.fixture(autouse=True)
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{FAKE}:$PYTHONPATH" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    monkeypatch.setenv("SKYRL_PYTHON", str(python))
    monkeypatch.setattr(skyrl_grpo, "PERIOD", 0.05)


def run(model: Path, out: Path, monkeypatch: pytest.MonkeyPatch, *, resume: bool = True, **mode: Any) -> Trained:
    monkeypatch.setenv("FAKE_SKYRL", json.dumps(mode))
    config = registered.parse({
        "trainer": "skyrl_grpo", "groups": 2, "samples": 4, "iterations": 6, "checkpoint_every": 2, "minibatches": 1,
    })  # fmt: skip
    assert isinstance(config, SkyRLConfig)
    return skyrl_grpo.train(
        config, env="tau2_precondition", model=ModelSettings(name=str(model)), out_dir=out, resume=resume
    )


def test_a_run_ends_with_the_adapter_of_the_last_checkpoint(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    made = run(model, out, monkeypatch)
    assert (made.rollouts, made.rank, len(made.metrics)) == (48, 8, 6)
    assert (out / "adapter" / "adapter_model.safetensors").read_bytes() == b"weights of global_step_6"
    assert json.loads((out / "adapter" / "adapter_config.json").read_text())["base_model_name_or_path"] == "model"
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert [line["reward"] for line in lines] == [n / 10 for n in range(1, 7)]
    assert lines[-1] | {"loss": None, "kl": None, "lr": None} == {
        "iteration": 5, "reward": 0.6, "success": 0.5, "seconds": 2.0, "rollouts": 48, "loss": None, "kl": None,
        "lr": None,
    }  # fmt: skip
    assert f"log: {out / 'skyrl.log'}" in capsys.readouterr().err
    monkeypatch.delenv("SKYRL_PYTHON")
    assert run(model, out, monkeypatch).metrics == made.metrics, "a finished run does not start SkyRL"


def test_a_run_that_died_continues_after_its_last_checkpoint(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    with pytest.raises(Unavailable, match="(?s)exit status 7 after 3 of 6 iterations. To resume .*CUDA out of memory"):
        run(model, out, monkeypatch, dies_after=3)
    assert not (out / "adapter").exists()
    made = run(model, out, monkeypatch, dies_after=3)
    assert [line["reward"] for line in made.metrics] == [n / 10 for n in range(1, 7)]
    with pytest.raises(ConfigError, match=r"different settings: lr \(was 0.003, now 0.1\)"):
        config = SkyRLConfig(groups=2, samples=4, iterations=6, checkpoint_every=2, minibatches=1, lr=0.1)
        skyrl_grpo.train(config, env="tau2_precondition", model=str(model), out_dir=out)
    with pytest.raises(Unavailable):
        run(model, out, monkeypatch, dies_after=3, resume=False)


def test_a_run_without_an_adapter_is_an_error(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ReadError, match="contains no LoRA adapter.*skyrl.log"):
        run(model, tmp_path / "out", monkeypatch, adapter=False)


@pytest.mark.parametrize(
    ("python", "message"),
    [
        (None, "requires the environment variable SKYRL_PYTHON, which is not set. Install SkyRL"),
        ("/no/such/python", "SKYRL_PYTHON=/no/such/python cannot be executed"),
        (sys.executable, "cannot import skyrl and trace_gym: .*skyrl"),
    ],
)
def test_an_environment_without_skyrl_is_an_error(
    python: str | None, message: str, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SKYRL_PYTHON")
    if python is not None:
        monkeypatch.setenv("SKYRL_PYTHON", python)
    with pytest.raises(ConfigError, match=message):
        run(model, tmp_path / "out", monkeypatch)
    assert not (tmp_path / "out").exists(), "nothing was written"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hints": 0.5}, "the trainer skyrl_grpo does not support hints"),
        ({"advantage": "rloo"}, "does not support this advantage: found 'rloo', expected one of grpo, dr_grpo"),
        ({"groups": 3}, "3 groups cannot be divided into 2 minibatches"),
        ({"reward": {"success": 0.3}}, "does not support the reward weights"),
        ({"trackers": ["comet_ml"]}, "SkyRL supports at most one tracker: found comet_ml"),
    ],
)
def test_settings_that_skyrl_lacks_are_errors(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        RunConfig.parse({"train": {"trainer": "skyrl_grpo", **settings}}, "run.yaml")


def test_options_of_the_user_replace_those_of_the_trainer(model: Path) -> None:
    config = SkyRLConfig(options={"trainer.strategy": "megatron", "generator.max_turns": 3}, kl_coef=0.1)
    made = options(config, ModelSettings(name=str(model)), 12)
    assert (made["trainer.strategy"], made["generator.max_turns"]) == ("megatron", 3)
    assert made["trainer.algorithm.use_kl_loss"] and made["trainer.policy.model.path"] == str(model)
    assert yaml.safe_load(yaml.safe_dump(made)) == made


@pytest.mark.parametrize(
    ("dtype", "expected"), [("auto", "bfloat16"), ("bfloat16", "bfloat16"), ("float32", "float32")]
)
def test_the_data_type_of_the_model_is_that_of_skyrl(dtype: Any, expected: str, model: Path) -> None:
    made = options(SkyRLConfig(), ModelSettings(name=str(model), dtype=dtype), 12)
    assert made["trainer.bf16"] == (expected == "bfloat16")
    assert made["generator.inference_engine.model_dtype"] == expected, "of vLLM"
    for part in ("policy", "ref"):
        assert made[f"trainer.{part}.fsdp_config.mixed_precision.param_dtype"] == expected
