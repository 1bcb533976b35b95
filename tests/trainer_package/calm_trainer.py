"""A trainer of another package: it writes an adapter whose weights do not change."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from trace_gym.models import ModelSettings
from trace_gym.trainers import base
from trace_gym.trainers.checkpoint import save_adapter
from trace_gym.trainers.config import TrainerConfig
from trace_gym.trainers.loop import Trained


class Config(TrainerConfig):
    """Settings of the trainer."""

    trainer: str = "calm"
    patience: int = Field(3, ge=1)
    """Number of iterations in which nothing happens."""


def train(
    config: Config,
    *,
    env: str | Sequence[tuple[str, float]],
    model: ModelSettings,
    out_dir: str | Path,
    progress: bool = True,
) -> Trained:
    """Write an adapter that does not change the model."""
    out = Path(out_dir)
    out.mkdir(parents=True, exist_ok=True)
    learner, _ = base.load_with_lora(config, model)
    metrics: list[dict[str, Any]] = [{"iteration": n, "rollouts": 0} for n in range(config.patience)]
    (out / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in metrics))
    save_adapter(learner, out / "adapter")
    return Trained(out / "adapter", model.folder, config.lora_rank, 0, "iterations", tuple(metrics))
