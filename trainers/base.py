"""Loading of a base model with a new LoRA adapter."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from peft import LoraConfig, PeftModel, get_peft_model

from trace_gym.errors import ConfigError
from trace_gym.models import ModelSettings, load_weights
from trace_gym.trainers.config import TrainerConfig

LARGE = 10**9
"""Minimum number of weights for which gradient checkpointing is used by default."""


def load_with_lora(config: TrainerConfig, model: ModelSettings) -> tuple[PeftModel, Any]:
    """Load the model and the tokenizer, and add a new LoRA adapter.

    The adapter is initialized from torch's global random generator. Before training, it does not change the output of
    the model.

    Raises:
        ReadError: The model cannot be read.
        ConfigError: The model has none of the layers in `GRPOConfig.lora_targets`, or the device cannot be used.
    """
    base, tokenizer = load_weights(model)
    targets = config.lora_targets if isinstance(config.lora_targets, str) else list(config.lora_targets)
    lora = LoraConfig(r=config.lora_rank, lora_alpha=config.lora_alpha, target_modules=targets, task_type="CAUSAL_LM")
    try:
        learner = get_peft_model(base, lora)
    except ValueError as error:
        raise ConfigError(f"the setting lora_targets does not fit the model {model.folder}: {error}") from error
    if checkpointed := checkpoints_gradients(config, base):
        learner.enable_input_require_grads()
        learner.gradient_checkpointing_enable()
    # Eval mode disables dropout, so the ratio is 1 before the first step. Checkpointing requires train mode.
    learner.train(checkpointed)
    return learner, tokenizer


def checkpoints_gradients(config: TrainerConfig, model: Any) -> bool:
    """Return whether activations are recomputed in the backward pass of a model."""
    if config.gradient_checkpointing is not None:
        return config.gradient_checkpointing
    return bool(sum(p.numel() for p in model.parameters()) >= LARGE)


def fingerprint(model_dir: str | Path) -> str:
    """Return a fingerprint of the base model.

    The fingerprint is a hash of the name, size and first MiB of each weight file. If the folder contains no weight
    files, the fingerprint is the name of the model.
    """
    files = sorted(Path(model_dir).glob("*.safetensors"))
    if not files:
        return str(model_dir)
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as content:
            digest.update(f"{file.name} {file.stat().st_size} ".encode() + content.read(2**20))
    return digest.hexdigest()
