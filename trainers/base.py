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
    the model. If the settings name an adapter (`TrainerConfig.init_adapter`), a copy of it is trained instead.

    Raises:
        ReadError: The model or the adapter cannot be read.
        ConfigError: The model has none of the layers in `GRPOConfig.lora_targets`, the adapter has another rank or
            other layers than the settings, or the device cannot be used.
    """
    if config.init_adapter is not None:
        return _load_with_adapter(config, model, config.init_adapter)
    base, tokenizer = load_weights(model)
    targets = config.lora_targets if isinstance(config.lora_targets, str) else list(config.lora_targets)
    lora = LoraConfig(r=config.lora_rank, lora_alpha=config.lora_alpha, target_modules=targets, task_type="CAUSAL_LM")
    try:
        learner = get_peft_model(base, lora)
    except ValueError as error:
        raise ConfigError(f"the setting lora_targets does not fit the model {model.folder}: {error}") from error
    _prepare(config, learner, base)
    return learner, tokenizer


def _prepare(config: TrainerConfig, learner: PeftModel, base: Any) -> None:
    """Enable gradient checkpointing if the settings or the model size require it, and set the training mode."""
    if checkpointed := checkpoints_gradients(config, base):
        learner.enable_input_require_grads()
        learner.gradient_checkpointing_enable()
    # Eval mode disables dropout, so the ratio is 1 before the first step. Checkpointing requires train mode.
    learner.train(checkpointed)


def _load_with_adapter(config: TrainerConfig, model: ModelSettings, adapter: Path) -> tuple[PeftModel, Any]:
    learner, tokenizer = load_weights(model, adapter)
    own = learner.peft_config["default"]
    targets = own.target_modules if isinstance(own.target_modules, str) else tuple(sorted(own.target_modules))
    wanted = config.lora_targets if isinstance(config.lora_targets, str) else tuple(sorted(config.lora_targets))
    found = {"lora_rank": own.r, "lora_alpha": own.lora_alpha, "lora_targets": targets}
    expected = {"lora_rank": config.lora_rank, "lora_alpha": config.lora_alpha, "lora_targets": wanted}
    if wanted == "all-linear":  # peft replaces this name by those of the layers
        del found["lora_targets"], expected["lora_targets"]
    if differing := [f"{key}: {found[key]}" for key in found if found[key] != expected[key]]:
        raise ConfigError(
            f"the adapter {adapter} (init_adapter) does not match the settings: it has {', '.join(differing)}. Use "
            "these values in the settings, or choose another adapter"
        )
    own.inference_mode = False
    for name, weights in learner.named_parameters():
        weights.requires_grad_("lora_" in name)
    _prepare(config, learner, learner.get_base_model())
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
