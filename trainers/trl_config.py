"""Settings of the trainer ``trl_grpo``. Importing this module does not import torch or TRL."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

from pydantic import model_validator

from trace_gym.trainers.config import TrainerConfig
from trace_gym.trainers.external_config import ExternalGRPOConfig


class TRLConfig(ExternalGRPOConfig):
    """Settings of GRPO with the `GRPOTrainer` of TRL (`trace_gym.trainers.trl_grpo`)."""

    SUPPORTED: ClassVar[frozenset[str]] = frozenset({
        "trainer", "groups", "iterations", "levels", "max_tokens", "max_turn_tokens", "lr", "weight_decay",
        "max_grad_norm", "epochs", "minibatches", "average", "lora_rank", "lora_alpha", "lora_targets",
        "micro_batch_tokens", "gradient_checkpointing", "seed", "checkpoint_every", "samples", "temperature", "reward",
        "advantage", "objective", "clip_low", "clip_high", "kl_coef", "max_idle_iterations", "target_success",
        "target_window", "lr_schedule", "warmup_iterations", "trackers", "vllm", "vllm_url",
        "options",
    })  # fmt: skip
    ADVANTAGES: ClassVar[dict[str, str]] = {"grpo": "group", "dr_grpo": "none", "batch_std": "batch"}
    """Mapping of `advantage` to the setting ``scale_rewards`` of TRL."""

    trainer: str = "trl_grpo"
    vllm: Literal["off", "colocate", "server"] = "off"
    """Generation of rollouts with vLLM: not used, in the process of the trainer, or on a server at `vllm_url`."""
    vllm_url: str = ""
    """URL of the vLLM server, such as ``http://localhost:8000``. Required if `vllm` is ``server``."""

    options: dict[str, Any] = {}
    """Additional fields of `trl.GRPOConfig`, such as ``{vllm_gpu_memory_utilization: 0.5}``. Fields that trace_gym sets
    are errors, and fields that begin with ``vllm_`` require `vllm`."""

    @model_validator(mode="after")
    def _fits_trl(self) -> Self:
        if self.objective == "cispo" and self.average != "token":
            raise ValueError(
                f"TRL does not support average: {self.average} with objective: cispo. Set average: token, or use the "
                "trainer torch_grpo"
            )
        if self.groups * self.samples % self.minibatches:
            raise ValueError(
                f"TRL requires minibatches of equal size, but {self.groups} x {self.samples} rollouts (groups x "
                f"samples) cannot be divided into {self.minibatches} minibatches. Set minibatches to a divisor of "
                f"{self.groups * self.samples}"
            )
        if (self.vllm == "server") != bool(self.vllm_url):
            raise ValueError(
                f"vllm_url must be set if and only if vllm is 'server': found vllm={self.vllm!r} and "
                f"vllm_url={self.vllm_url!r}"
            )
        if self.vllm == "off" and (unused := sorted(name for name in self.options if name.startswith("vllm_"))):
            raise ValueError(
                f"options: {', '.join(unused)} has no effect with vllm: off. Remove it, or set vllm to colocate or "
                "server"
            )
        return self

    def same_learning(self, other: TrainerConfig) -> dict[str, tuple[Any, Any]]:
        """Return the settings that differ although they must not change at a resumption. The URL of vLLM may differ."""
        return {k: values for k, values in super().same_learning(other).items() if k != "vllm_url"}
