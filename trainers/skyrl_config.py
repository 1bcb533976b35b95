"""Settings of the trainer ``skyrl_grpo``. Importing this module does not import torch or SkyRL."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from pydantic import model_validator

from trace_gym.score import DEFAULT_WEIGHTS, SPARSE_WEIGHTS, RewardWeights
from trace_gym.trainers.config import Count, TrainerConfig
from trace_gym.trainers.external_config import ExternalGRPOConfig

REWARDS: dict[str, RewardWeights] = {"default": DEFAULT_WEIGHTS, "sparse": SPARSE_WEIGHTS}
"""Reward weights that the rows of a SkyRL dataset can name."""


class SkyRLConfig(ExternalGRPOConfig):
    """Settings of GRPO with SkyRL on a Ray cluster (`trace_gym.trainers.skyrl_grpo`)."""

    SUPPORTED: ClassVar[frozenset[str]] = frozenset({
        "trainer", "groups", "iterations", "levels", "max_tokens", "max_turn_tokens", "lr", "weight_decay",
        "max_grad_norm", "epochs", "minibatches", "average", "lora_rank", "lora_alpha", "lora_targets",
        "micro_batch_tokens", "gradient_checkpointing", "seed", "checkpoint_every", "samples", "temperature", "reward",
        "overlong", "advantage", "objective", "clip_low", "clip_high", "kl_coef", "lr_schedule", "warmup_iterations",
        "trackers", "gpus", "options",
    })  # fmt: skip
    ADVANTAGES: ClassVar[dict[str, bool]] = {"grpo": True, "dr_grpo": False}
    """Mapping of `advantage` to the option ``trainer.algorithm.grpo_norm_by_std`` of SkyRL."""
    TRACKERS: ClassVar[tuple[str, ...]] = ("wandb", "mlflow", "swanlab", "tensorboard")

    trainer: str = "skyrl_grpo"
    gpus: Count = 1
    """Number of GPUs, which training and vLLM share."""
    options: dict[str, Any] = {}
    """Additional SkyRL options, such as ``{generator.inference_engine.gpu_memory_utilization: 0.6}``. They take
    precedence over the options that trace_gym sets."""

    @model_validator(mode="after")
    def _fits_skyrl(self) -> Self:
        if self.groups % self.minibatches:
            raise ValueError(
                f"SkyRL requires minibatches of whole groups, but {self.groups} groups cannot be divided into "
                f"{self.minibatches} minibatches. Set minibatches to a divisor of {self.groups}"
            )
        if self.reward not in REWARDS.values():
            raise ValueError(
                f"the trainer skyrl_grpo does not support the reward weights {self.reward}: expected "
                f"{' or '.join(map(str, REWARDS.values()))}. Change the setting reward, or use the trainer torch_grpo"
            )
        if len(self.trackers) > 1 or not set(self.trackers) <= {*self.TRACKERS}:
            raise ValueError(
                f"SkyRL supports at most one tracker: found {', '.join(self.trackers)}, expected one of "
                f"{', '.join(self.TRACKERS)}"
            )
        return self

    def same_learning(self, other: TrainerConfig) -> dict[str, tuple[Any, Any]]:
        """Return the settings that differ from those of the interrupted run but must not. The number of GPUs may."""
        return {k: values for k, values in super().same_learning(other).items() if k != "gpus"}
