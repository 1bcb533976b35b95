"""Settings of the trainers. Importing this module does not import torch or peft."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from trace_gym.errors import ConfigError
from trace_gym.score import DEFAULT_WEIGHTS, RewardWeights
from trace_gym.trainers.advantage import ADVANTAGES
from trace_gym.types import Record

Count = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]

Levels = dict[Annotated[int, Field(ge=0)], Positive]
"""Mapping of level to sampling weight."""

ATTENTION_AND_MLP = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
"""Names of all linear layers of a Qwen3 or Llama block."""

MAY_CHANGE = frozenset(
    {
        "iterations",
        "checkpoint_every",
        "max_idle_iterations",
        "target_success",
        "target_window",
        "micro_batch_tokens",
        "prefix_sharing",
        "gradient_checkpointing",
        "trackers",
    }
)
"""Settings that may change when a run is resumed. They affect the end and the execution of a run, but not training.
The number of iterations affects training if the learning rate decays."""


class TrainerConfig(Record):
    """Settings that all trainers have. A trainer adds settings in a subclass.

    The defaults are for the built-in toy model on a CPU.
    """

    needs_variance: ClassVar[bool] = True
    """Whether the trainer learns only from groups of rollouts with different rewards."""
    samples_rollouts: ClassVar[bool] = True
    """Whether the trainer samples rollouts, in which case the engine of the model has an effect."""

    trainer: str = "torch_grpo"
    """Name of the trainer; see `trace_gym.trainers.registered.trainer`."""

    # Scenarios
    groups: Count = 8
    """G: number of scenarios per iteration."""
    iterations: Count = 25
    levels: Levels | dict[str, Levels] | None = None
    """Mapping of level to sampling weight, or a mapping of environment name to such mappings. None samples all levels
    uniformly."""
    max_tokens: Count | None = None
    """Maximum number of tokens in a trajectory, including prompt and tool results. None for the limit of the model."""
    max_turn_tokens: Count | None = None
    """Maximum number of tokens in an assistant turn. None for the limit of the model."""
    user: str = ""
    """Language model that rewords the scripted user, such as ``openai:MODEL@URL``. If empty, messages are unchanged."""

    # Optimizer
    lr: Positive = 3e-3
    """Learning rate. The default is for the toy model. Large models require 1e-5 to 1e-4; the TRACE paper uses 1e-5."""
    lr_schedule: Literal["constant", "linear", "cosine"] = "constant"
    """Learning rate after the warm-up: constant, or a linear or cosine decay to 0 at the end of the last iteration."""
    warmup_iterations: Annotated[int, Field(ge=0)] = 0
    """Number of initial iterations in which the learning rate increases linearly to `lr`."""
    weight_decay: Annotated[float, Field(ge=0)] = 0.0
    max_grad_norm: Positive = 1.0
    epochs: Count = 1
    """Number of passes over the trajectories of an iteration."""
    minibatches: Count = 2
    """Number of optimizer steps per pass."""
    average: Literal["trajectory", "token", "constant"] = "trajectory"
    """Weights in the loss: ``trajectory`` weights all trajectories equally, ``token`` weights all tokens equally, and
    ``constant`` divides the sum over the tokens by `max_tokens`."""

    # Adapter
    lora_rank: Count = 8
    lora_alpha: Count = 16
    """LoRA alpha. The adapter is scaled by alpha / rank."""
    lora_targets: tuple[str, ...] | Literal["all-linear"] = ATTENTION_AND_MLP
    init_adapter: Path | None = None
    """Folder of the adapter with which training starts, such as one that the trainer ``sft`` has trained. None starts
    with a new adapter, which does not change the output of the model."""

    # Machine
    micro_batch_tokens: Count = 16_384
    """Maximum number of tokens per forward pass, including padding. With `prefix_sharing`, a common prefix counts once.
    A single longer trajectory is still processed."""
    prefix_sharing: bool = True
    """Compute the common prefixes of trajectories only once (`trace_gym.trainers.tree`). The gradient is the same."""
    gradient_checkpointing: bool | None = None
    """Recompute activations in the backward pass to save memory. None does so for models with at least 10^9 weights."""

    # Run
    seed: Annotated[int, Field(ge=0)] = 0
    checkpoint_every: Count = 5
    """Maximum number of iterations between two checkpoints."""
    trackers: tuple[str, ...] = ()
    """Experiment trackers that receive the metrics, such as ``tensorboard``, ``wandb`` or any other tracker of
    `accelerate`."""

    @classmethod
    def parse(cls, settings: dict[str, Any]) -> Self:
        """Return the configuration for settings from a file.

        Raises:
            ConfigError: A setting is unknown or out of range.
        """
        try:
            return cls.model_validate(settings)
        except ValidationError as error:
            errors = [f"{'.'.join(map(str, e['loc'])) or 'config'}: {e['msg']}" for e in error.errors()]
            raise ConfigError(f"invalid settings of the trainer: {'; '.join(errors)}") from None

    @model_validator(mode="before")
    @classmethod
    def _no_settings_of_the_model(cls, data: Any) -> Any:
        if moved := [key for key in ("device", "dtype") if isinstance(data, dict) and key in data]:
            shown = ", ".join(f"{key}: {data[key]}" for key in moved)
            raise ValueError(
                f"{' and '.join(moved)} must be set for the model, not for the trainer. Use model: {{name: ..., "
                f"{shown}}} instead"
            )
        return data

    @model_validator(mode="after")
    def _has_levels_and_layers(self) -> Self:
        if self.levels is not None and not (self.levels and all(self.levels.values())):
            raise ValueError("the setting levels is empty. Remove it to sample all levels uniformly")
        if not self.lora_targets:
            raise ValueError("the setting lora_targets is empty. List the linear layers to adapt")
        if self.warmup_iterations >= self.iterations and self.warmup_iterations:
            raise ValueError(
                f"warmup_iterations is too large: found {self.warmup_iterations}, expected less than the "
                f"{self.iterations} iterations of the run"
            )
        return self

    def lr_in(self, iteration: int) -> float:
        """Return the learning rate of an iteration."""
        if iteration < self.warmup_iterations:
            return self.lr * (iteration + 1) / (self.warmup_iterations + 1)
        done = (iteration - self.warmup_iterations) / max(1, self.iterations - self.warmup_iterations)
        factor = {"constant": 1.0, "linear": 1 - done, "cosine": (1 + math.cos(math.pi * min(done, 1.0))) / 2}
        return self.lr * max(0.0, factor[self.lr_schedule])

    def levels_of(self, env: str) -> dict[int, float] | None:
        """Return the level weights of one environment of a mixture, or None to sample all levels uniformly."""
        match (self.levels or {}).get(env):  # type: ignore[call-overload]
            case dict() as own:
                return own
            case _:
                shared = {k: w for k, w in (self.levels or {}).items() if isinstance(k, int) and isinstance(w, float)}
                return shared or None

    def same_learning(self, other: TrainerConfig) -> dict[str, tuple[Any, Any]]:
        """Return the settings that differ and must not change when a run is resumed.

        Returns:
            Mapping of the name of the setting to its values in `self` and `other`.
        """
        mine, theirs = self.model_dump(mode="json"), other.model_dump(mode="json")
        free = MAY_CHANGE - ({"iterations"} if self.lr_schedule != "constant" else set())
        compared = mine.keys() - free - {"max_tokens", "max_turn_tokens"}  # limits are compared with the model's
        return {k: (mine[k], theirs[k]) for k in mine if k in compared and mine[k] != theirs[k]}


class GRPOConfig(TrainerConfig):
    """Settings of one GRPO run (`trace_gym.trainers.torch_grpo`)."""

    # Rollouts
    samples: Annotated[int, Field(ge=2)] = 8
    """K: number of rollouts per scenario."""
    temperature: Positive = 1.0
    reward: RewardWeights = DEFAULT_WEIGHTS
    hints: Share = 0.0
    """Fraction of the rollouts that are sampled with the hint of their environment in the prompt.

    The tokens of the hint are never used for training.
    """

    max_resamples: Annotated[int, Field(ge=0)] = 0
    """Maximum number of times per iteration that groups with equal rewards are replaced by groups of new scenarios
    (dynamic sampling, DAPO). The additional rollouts are counted."""
    overlong: Literal["score", "mask"] = "score"
    """Treatment of rollouts that reach the token limit: ``score`` trains on them with their reward, ``mask`` does not
    train on them (DAPO)."""

    # Objective
    advantage: str = "grpo"
    """Name of an advantage function in `trace_gym.trainers.advantage.ADVANTAGES`. The default of `average` is
    ``constant`` with the advantage ``dr_grpo``."""
    objective: Literal["grpo", "gspo", "cispo"] = "grpo"
    """Name of a surrogate objective in `trace_gym.trainers.loss.OBJECTIVES`."""
    clip_low: Annotated[float, Field(gt=0, lt=1)] = 0.2
    clip_high: Positive = 0.2
    kl_coef: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """Weight of the penalty for the KL divergence from the base model.

    With 0, the forward pass of the base model is skipped.
    """

    # Run
    max_idle_iterations: Count = 5
    """Number of consecutive iterations without an informative group after which `NoSignal` is raised."""
    target_success: Share | None = None
    """Mean success rate over the last `target_window` iterations at which training stops."""
    target_window: Count = 5

    @model_validator(mode="before")
    @classmethod
    def _average_of_dr_grpo(cls, data: Any) -> Any:
        # Dr. GRPO removes both normalizations: by the standard deviation and by the length of the trajectory.
        dr_grpo = isinstance(data, dict) and data.get("advantage") == "dr_grpo"
        return {"average": "constant", **data} if dr_grpo else data

    @field_validator("reward", mode="before")
    @classmethod
    def _known_weights(cls, value: Any) -> Any:
        # Pydantic silently ignores unknown keys of a standard dataclass.
        known = set(RewardWeights.__dataclass_fields__)
        if isinstance(value, dict) and (unknown := set(value) - known):
            raise ValueError(
                f"unknown reward weights: found {', '.join(map(str, sorted(unknown, key=str)))}, expected "
                f"{' or '.join(sorted(known))}"
            )
        return value

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.advantage not in ADVANTAGES:
            raise ValueError(
                f"advantage is not valid: found {self.advantage!r}, expected one of {', '.join(ADVANTAGES)}"
            )
        if self.target_success is None and self.target_window != type(self).model_fields["target_window"].default:
            raise ValueError(
                "target_window has no effect without target_success. Set target_success, or remove target_window"
            )
        if self.objective == "cispo" and self.clip_low != type(self).model_fields["clip_low"].default:
            raise ValueError("clip_low has no effect with objective cispo. Remove clip_low, or use another objective")
        if self.best_reward <= 0:
            raise ValueError(
                "the reward weights give no reward for a perfect episode. Set at least one reward weight above 0"
            )
        return self

    @property
    def best_reward(self) -> float:
        """Reward of a perfect, well-formed episode."""
        return min(1.0, max(0.0, self.reward.success + self.reward.progress))


class SFTConfig(TrainerConfig):
    """Settings of supervised fine-tuning (`trace_gym.trainers.sft`)."""

    needs_variance: ClassVar[bool] = False
    samples_rollouts: ClassVar[bool] = False

    trainer: str = "sft"
    average: Literal["trajectory", "token", "constant"] = "token"
    rollouts: tuple[Path, ...] = ()
    """JSONL files of ``trace-gym rollout``. Their successful episodes are trained on. If empty, the model is trained on
    demonstrations of the oracle in scenarios of the training split."""


class DistillConfig(TrainerConfig):
    """Settings of on-policy distillation (`trace_gym.trainers.distill`)."""

    needs_variance: ClassVar[bool] = False

    trainer: str = "distill"
    average: Literal["trajectory", "token", "constant"] = "token"
    samples: Count = 4
    """Number of rollouts per scenario."""
    temperature: Positive = 1.0
    """Temperature of the rollouts, and of both distributions in the loss."""
    teachers: Path | dict[str, Path] = Field(default_factory=dict)
    """Folder of the teacher's adapter, or a mapping of environment to the folder of its teacher. Required."""
