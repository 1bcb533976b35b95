"""Mapping of the settings of the trainer ``trl_grpo`` to arguments of TRL."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from trace_gym.adapters.rollout import library
from trace_gym.errors import ConfigError
from trace_gym.models import ModelSettings
from trace_gym.models.loading import device_name
from trace_gym.trainers.loop import derive
from trace_gym.trainers.trl_config import TRLConfig

LOSS_TYPES = {"trajectory": "grpo", "token": "dapo", "constant": "dr_grpo"}
"""Mapping of `TRLConfig.average` to the setting ``loss_type`` of TRL."""
SCHEDULES = {"constant": "constant_with_warmup", "linear": "linear", "cosine": "cosine"}
"""Mapping of `TRLConfig.lr_schedule` to the setting ``lr_scheduler_type`` of TRL."""

SET_SOMETIMES = frozenset({
    "use_cpu", "dataloader_pin_memory", "gradient_checkpointing", "use_vllm", "vllm_mode", "vllm_max_model_length",
    "vllm_server_base_url",
})  # fmt: skip
"""Arguments of `trl.GRPOConfig` that trace_gym sets only for some models or settings."""


def steps_per_iteration(config: TRLConfig) -> int:
    """Return the number of optimizer steps of one iteration."""
    return config.epochs * config.minibatches


def grpo_arguments(config: TRLConfig, model: ModelSettings, folder: Path) -> dict[str, Any]:
    """Return the arguments of `trl.GRPOConfig`. One iteration is one generation batch of TRL.

    Args:
        config: Settings of the run.
        model: Settings of the model, with the token limits of the run.
        folder: Folder of TRL's checkpoints.
    """
    max_tokens, _ = model.limits
    minibatch = config.groups * config.samples // config.minibatches
    rows = rows_per_forward(minibatch, config.micro_batch_tokens // max_tokens)
    accumulated = minibatch // rows
    return {
        "output_dir": str(folder),
        # Length of the run, and split of an iteration into optimizer steps and forward passes
        "max_steps": config.iterations * steps_per_iteration(config),
        "per_device_train_batch_size": rows,
        "gradient_accumulation_steps": accumulated,
        "steps_per_generation": accumulated * config.minibatches,
        "num_iterations": config.epochs,
        "num_generations": config.samples,
        "shuffle_dataset": False,
        # Objective
        "loss_type": "cispo" if config.objective == "cispo" else LOSS_TYPES[config.average],
        "importance_sampling_level": "sequence" if config.objective == "gspo" else "token",
        "scale_rewards": config.ADVANTAGES[config.advantage],
        "epsilon": config.clip_low,
        # For CISPO, TRL expects the limit of the ratio itself.
        "epsilon_high": config.clip_high + (config.objective == "cispo"),
        "beta": config.kl_coef,
        "use_bias_correction_kl": False,  # the k3 estimator without a ratio, as in torch_grpo
        # Optimizer
        "learning_rate": config.lr,
        "weight_decay": config.weight_decay,
        "max_grad_norm": config.max_grad_norm,
        "optim": "adamw_torch",
        "lr_scheduler_type": SCHEDULES[config.lr_schedule],
        "warmup_steps": config.warmup_iterations * steps_per_iteration(config),
        "disable_dropout": True,
        # Sampling: the limits of a conversation and of a turn are those of the rollout function
        "temperature": config.temperature,
        "max_completion_length": max_tokens,
        "chat_template_kwargs": dict(model.template),
        # Machine: the weights keep their data type, as in torch_grpo
        "bf16": False,
        "seed": derive(config.seed, "trl") % 2**32,
        **_device(model),
        **_vllm(config, max_tokens),
        # The recorder writes the metrics, and decides when to save.
        "logging_steps": 1,
        "report_to": list(config.trackers) or "none",
        "disable_tqdm": True,
        "save_strategy": "no",
    }


def with_options(config: TRLConfig, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `trl.GRPOConfig` together with the options of the user.

    Raises:
        MissingExtra: TRL is not installed.
        ConfigError: An option is not a field of `trl.GRPOConfig`, or trace_gym sets the field.
    """
    known = {field.name for field in fields(library("trl", "trl").GRPOConfig) if field.init}
    if unknown := sorted(config.options.keys() - known):
        raise ConfigError(
            f"unknown options of the trainer trl_grpo: found {', '.join(unknown)}, expected fields of trl.GRPOConfig. "
            "Correct the name, or remove the option"
        )
    if taken := sorted(config.options.keys() & (arguments.keys() | SET_SOMETIMES)):
        raise ConfigError(
            f"options of the trainer trl_grpo contains {', '.join(taken)}, which trace_gym sets from its own settings. "
            "Remove the option, and change the setting in docs/guides/train.md that corresponds to it"
        )
    return {**arguments, **config.options}


def rows_per_forward(minibatch: int, most: int) -> int:
    """Return the largest divisor of the size of a minibatch that is at most `most`, and at least 1."""
    return max(rows for rows in range(1, minibatch + 1) if minibatch % rows == 0 and rows <= max(1, most))


def lora_arguments(config: TRLConfig) -> dict[str, Any]:
    """Return the arguments of `peft.LoraConfig`."""
    targets = config.lora_targets if isinstance(config.lora_targets, str) else list(config.lora_targets)
    return {
        "r": config.lora_rank,
        "lora_alpha": config.lora_alpha,
        "target_modules": targets,
        "task_type": "CAUSAL_LM",
    }


def _device(model: ModelSettings) -> dict[str, Any]:
    """Return the arguments that select the device. TRL uses the first accelerator."""
    on_cpu = device_name(model).partition(":")[0] == "cpu"
    return {"use_cpu": True, "dataloader_pin_memory": False} if on_cpu else {}


def _vllm(config: TRLConfig, max_tokens: int) -> dict[str, Any]:
    if config.vllm == "off":
        return {}
    server = {"vllm_server_base_url": config.vllm_url} if config.vllm == "server" else {}
    return {"use_vllm": True, "vllm_mode": config.vllm, "vllm_max_model_length": max_tokens, **server}
