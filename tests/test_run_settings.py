"""Settings of a run: each one that is accepted has an effect on the stages that it describes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("peft", reason="the loop needs the lab extra")

import torch
from tiny_model import save_tiny

from trace_gym import pipeline, registry, rollout
from trace_gym.errors import ConfigError
from trace_gym.pipeline import common, measure
from trace_gym.pipeline.ledger import Run
from trace_gym.settings import RunConfig
from trace_gym.trainers.config import GRPOConfig
from trace_gym.trainers.torch_grpo import train

ELSEWHERE = {"device": "meta", "dtype": "bfloat16"}
"""A device without memory, and a data type that the tiny model is not stored in."""


def run_of(tmp_path: Path, **settings: object) -> Run:
    return Run(RunConfig.parse({"model": str(save_tiny(tmp_path / "model")), **settings}, "run.yaml"), tmp_path / "run")


def test_rollouts_of_a_run_use_device_and_dtype_of_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[Any] = []
    monkeypatch.setattr(rollout, "collect", lambda policy, *_, **__: used.append(policy))
    run = run_of(tmp_path, train=ELSEWHERE)
    common.sampled(run, registry.scenarios("tau2_precondition", "select", 1), tmp_path / "out.jsonl", 1.0, 2)()
    (weights,) = {(p.device.type, p.dtype) for p in used[0].model.parameters()}
    assert weights == ("meta", torch.bfloat16) and used[0].device == "meta"


def test_router_of_a_run_uses_device_and_dtype_of_training(tmp_path: Path) -> None:
    router = measure._router(run_of(tmp_path, train=ELSEWHERE), ["tau2_precondition", "tau2_multi_step"])
    assert {(p.device.type, p.dtype) for p in router.model.parameters()} == {("meta", torch.bfloat16)}


def test_another_dtype_makes_other_rollouts(tmp_path: Path) -> None:
    plain, other = (common.base(run_of(tmp_path, train=train)) for train in ({}, {"dtype": "bfloat16"}))
    assert plain != other


@pytest.mark.parametrize("device", ["banana", "cuda:99", ""])
def test_unusable_device_is_an_error_before_any_stage(device: str, tmp_path: Path) -> None:
    config = GRPOConfig(device=device)
    with pytest.raises(ConfigError, match="device is not usable: found .*expected a device"):
        train(config, env="tau2_precondition", model_dir=save_tiny(tmp_path / "model"), out_dir=tmp_path / "adapter")
    with pytest.raises(ConfigError, match="device is not usable"):
        pipeline.run(RunConfig.parse({"train": {"device": device}}, "run.yaml"), tmp_path / "run")
    assert not (tmp_path / "run").exists() and not (tmp_path / "adapter").exists()
