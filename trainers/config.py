"""Settings of a GRPO run. Importing this module does not import torch or peft."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

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
        "device",
        "micro_batch_tokens",
        "gradient_checkpointing",
    }
)
"""Settings that may change when a run is resumed. They affect the end and the execution of a run, but not training."""


class GRPOConfig(Record):
    """Settings of one GRPO run. The defaults are for the built-in toy model on a CPU."""

    # Rollouts
    groups: Count = 8
    """G: number of scenarios per iteration."""
    samples: Annotated[int, Field(ge=2)] = 8
    """K: number of rollouts per scenario."""
    iterations: Count = 25
    temperature: Positive = 1.0
    levels: Levels | dict[str, Levels] | None = None
    """Mapping of level to sampling weight, or a mapping of environment name to such mappings. None samples all levels
    uniformly."""
    max_tokens: Count = 1024
    """Maximum number of tokens in a trajectory, including prompt and tool results."""
    max_turn_tokens: Count = 64
    """Maximum number of tokens in an assistant turn."""
    reward: RewardWeights = DEFAULT_WEIGHTS
    user: str = ""
    """Language model that rewords the scripted user, such as ``openai:MODEL@URL``. If empty, messages are unchanged."""
    hints: Share = 0.0
    """Fraction of the rollouts that are sampled with the hint of their environment in the prompt.

    The tokens of the hint are never used for training.
    """

    # Objective
    advantage: str = "grpo"
    """Name of an advantage function in `trace_gym.trainers.advantage.ADVANTAGES`."""
    average: Literal["trajectory", "token"] = "trajectory"
    clip_low: Annotated[float, Field(gt=0, lt=1)] = 0.2
    clip_high: Positive = 0.2
    kl_coef: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """Weight of the penalty for the KL divergence from the base model.

    With 0, the forward pass of the base model is skipped.
    """

    # Optimizer
    lr: Positive = 3e-3
    """Learning rate. The default is for the toy model. Large models require 1e-5 to 1e-4; the TRACE paper uses 1e-5."""
    weight_decay: Annotated[float, Field(ge=0)] = 0.0
    max_grad_norm: Positive = 1.0
    epochs: Count = 1
    """Number of passes over the rollouts of an iteration."""
    minibatches: Count = 2
    """Number of optimizer steps per pass. With one pass of one step, the policy ratio is 1, so no token is clipped."""

    # Adapter
    lora_rank: Count = 8
    lora_alpha: Count = 16
    """The adapter is scaled by alpha / rank."""
    lora_targets: tuple[str, ...] | Literal["all-linear"] = ATTENTION_AND_MLP

    # Machine
    device: str = "cpu"
    dtype: Literal["float32", "bfloat16"] = "float32"
    """Data type of the frozen base model. The adapter is always trained in float32."""
    micro_batch_tokens: Count = 16_384
    """Maximum number of padded tokens per forward pass. A single longer trajectory is still processed."""
    gradient_checkpointing: bool = False

    # Run
    seed: Annotated[int, Field(ge=0)] = 0
    checkpoint_every: Count = 5
    max_idle_iterations: Count = 5
    """Raise `NoSignal` after this number of consecutive iterations without an informative group."""
    target_success: Share | None = None
    """Stop if the mean success rate of the last `target_window` iterations reaches this value."""
    target_window: Count = 5

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
            raise ConfigError(f"{len(errors)} invalid GRPO settings: {'; '.join(errors)}") from None

    @field_validator("reward", mode="before")
    @classmethod
    def _known_weights(cls, value: Any) -> Any:
        # Pydantic silently ignores unknown keys of a standard dataclass.
        known = set(RewardWeights.__dataclass_fields__)
        if isinstance(value, dict) and (unknown := set(value) - known):
            raise ValueError(f"unknown reward weights: found {sorted(unknown)}, expected {sorted(known)}")
        return value

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.advantage not in ADVANTAGES:
            raise ValueError(
                f"advantage is not valid: found {self.advantage!r}, expected one of {', '.join(ADVANTAGES)}"
            )
        if self.levels is not None and not (self.levels and all(self.levels.values())):
            raise ValueError("levels is empty. Remove it to sample all levels uniformly")
        if not self.lora_targets:
            raise ValueError("lora_targets is empty. List the linear layers to adapt")
        if self.target_success is None and self.target_window != type(self).model_fields["target_window"].default:
            raise ValueError(
                "target_window has no effect without target_success. Set target_success, or remove target_window"
            )
        if self.best_reward <= 0:
            raise ValueError("the reward weights give no reward for a perfect episode. Set at least one weight above 0")
        return self

    def levels_of(self, env: str) -> dict[int, float] | None:
        """Return the level weights of one environment of a mixture, or None to sample all levels uniformly."""
        match (self.levels or {}).get(env):  # type: ignore[call-overload]
            case dict() as own:
                return own
            case _:
                shared = {k: w for k, w in (self.levels or {}).items() if isinstance(k, int) and isinstance(w, float)}
                return shared or None

    @property
    def best_reward(self) -> float:
        """Reward of a perfect, well-formed episode."""
        return min(1.0, max(0.0, self.reward.success + self.reward.progress))

    def same_learning(self, other: GRPOConfig) -> dict[str, tuple[Any, Any]]:
        """Return the settings that differ and must not change when a run is resumed.

        Returns:
            Mapping of the name of the setting to its values in `self` and `other`.
        """
        mine, theirs = self.model_dump(mode="json"), other.model_dump(mode="json")
        return {k: (mine[k], theirs[k]) for k in mine if k not in MAY_CHANGE and mine[k] != theirs[k]}
