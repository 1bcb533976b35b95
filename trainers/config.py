"""The settings of a GRPO run. Importing this module imports neither torch nor peft."""

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
"""Level -> the weight with which it is drawn."""

ATTENTION_AND_MLP = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
"""Every linear layer of a Qwen3 (or Llama) block."""

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
"""Settings that a resumed run may change: they decide when to stop and where it runs, not what is learned."""


class GRPOConfig(Record):
    """Settings of one GRPO run. The defaults suit the embedded agent on a CPU."""

    # Rollouts
    groups: Count = 8
    """G: scenarios an iteration."""
    samples: Annotated[int, Field(ge=2)] = 8
    """K: rollouts of each scenario."""
    iterations: Count = 25
    temperature: Positive = 1.0
    levels: Levels | dict[str, Levels] | None = None
    """Level -> weight with which it is drawn, or this for each environment by name; None draws every level alike."""
    max_tokens: Count = 1024
    """Longest trajectory, prompt and tool results included."""
    max_turn_tokens: Count = 64
    """Longest assistant turn."""
    reward: RewardWeights = DEFAULT_WEIGHTS
    user: str = ""
    """Language model that rewords the scripted user, such as ``openai:MODEL@URL``; empty for the script's words."""
    hints: Share = 0.0
    """Share of the rollouts that are sampled with the hint of their environment; it is never trained on."""

    # Objective
    advantage: str = "grpo"
    """A key of `trace_gym.trainers.advantage.ADVANTAGES`."""
    average: Literal["trajectory", "token"] = "trajectory"
    clip_low: Annotated[float, Field(gt=0, lt=1)] = 0.2
    clip_high: Positive = 0.2
    kl_coef: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """Weight of the KL penalty towards the base model; 0 spares its forward pass."""

    # Optimizer
    lr: Positive = 3e-3
    """Suits the embedded agent; large models want 1e-5 to 1e-4 (the paper: 1e-5)."""
    weight_decay: Annotated[float, Field(ge=0)] = 0.0
    max_grad_norm: Positive = 1.0
    epochs: Count = 1
    """Passes over the rollouts of an iteration."""
    minibatches: Count = 2
    """Optimizer steps a pass. With one step a pass and one pass the ratio is 1 and the clip never acts."""

    # Adapter
    lora_rank: Count = 8
    lora_alpha: Count = 16
    """The adapter is scaled by alpha / rank."""
    lora_targets: tuple[str, ...] | Literal["all-linear"] = ATTENTION_AND_MLP

    # Machine
    device: str = "cpu"
    dtype: Literal["float32", "bfloat16"] = "float32"
    """Of the frozen base; the adapter is always trained in float32."""
    micro_batch_tokens: Count = 16_384
    """Most padded tokens a forward pass; a single longer trajectory still goes through."""
    gradient_checkpointing: bool = False

    # Run
    seed: Annotated[int, Field(ge=0)] = 0
    checkpoint_every: Count = 5
    max_idle_iterations: Count = 5
    """Stop with `NoSignal` after so many iterations in a row without an informative group."""
    target_success: Share | None = None
    """Stop early once the mean success of the last `target_window` iterations reaches this."""
    target_window: Count = 5

    @classmethod
    def parse(cls, settings: dict[str, Any]) -> Self:
        """Read settings as they come from a file.

        Raises:
            ConfigError: A setting is unknown or out of range; the message names each.
        """
        try:
            return cls.model_validate(settings)
        except ValidationError as error:
            faults = [f"{'.'.join(map(str, e['loc'])) or 'config'}: {e['msg']}" for e in error.errors()]
            raise ConfigError(f"{len(faults)} invalid GRPO settings; {'; '.join(faults)}") from None

    @field_validator("reward", mode="before")
    @classmethod
    def _known_weights(cls, value: Any) -> Any:
        # Pydantic drops unknown keys of a standard dataclass in silence; a typing error must not.
        known = set(RewardWeights.__dataclass_fields__)
        if isinstance(value, dict) and (unknown := set(value) - known):
            raise ValueError(f"unknown weights {sorted(unknown)}; there are {sorted(known)}")
        return value

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.advantage not in ADVANTAGES:
            raise ValueError(f"there is no advantage {self.advantage!r}; choose one of {', '.join(ADVANTAGES)}")
        if self.levels is not None and not (self.levels and all(self.levels.values())):
            raise ValueError("levels is empty; leave it out to draw every level alike")
        if not self.lora_targets:
            raise ValueError("lora_targets is empty; name the linear layers to adapt")
        if self.target_success is None and self.target_window != type(self).model_fields["target_window"].default:
            raise ValueError("target_window has no effect without target_success; set target_success, or leave it out")
        if self.best_reward <= 0:
            raise ValueError("the reward weights pay nothing for a perfect episode")
        return self

    def levels_of(self, env: str) -> dict[int, float] | None:
        """The levels of one environment of a mixture; None draws every level alike."""
        match (self.levels or {}).get(env):  # type: ignore[call-overload]
            case dict() as own:
                return own
            case _:
                shared = {k: w for k, w in (self.levels or {}).items() if isinstance(k, int) and isinstance(w, float)}
                return shared or None

    @property
    def best_reward(self) -> float:
        """What a perfect, well-formed episode earns."""
        return min(1.0, max(0.0, self.reward.success + self.reward.progress))

    def same_learning(self, other: GRPOConfig) -> dict[str, tuple[Any, Any]]:
        """The settings, outside `MAY_CHANGE`, in which two runs differ: name -> (self, other)."""
        mine, theirs = self.model_dump(mode="json"), other.model_dump(mode="json")
        return {k: (mine[k], theirs[k]) for k in mine if k not in MAY_CHANGE and mine[k] != theirs[k]}
