"""Loading of a base model from a Hugging Face folder with a new LoRA adapter."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer

from trace_gym.errors import ConfigError, ReadError
from trace_gym.trainers.config import GRPOConfig


def load_with_lora(config: GRPOConfig, model_dir: str | Path) -> tuple[PeftModel, Any]:
    """Load the model and the tokenizer, and add a new LoRA adapter.

    The adapter is initialized from torch's global random generator. Before training, it does not change the output of
    the model.

    Raises:
        ReadError: The model cannot be read.
        ConfigError: The model has none of the layers in `GRPOConfig.lora_targets`.
    """
    try:
        tokenizer = AutoTokenizer.from_pretrained(str(model_dir))
        base: Any = AutoModelForCausalLM.from_pretrained(
            str(model_dir), dtype=getattr(torch, config.dtype), attn_implementation="sdpa"
        )
    except (OSError, ValueError) as error:
        raise ReadError(f"cannot load a model from {model_dir} ({error}): expected a Hugging Face folder") from error
    targets = config.lora_targets if isinstance(config.lora_targets, str) else list(config.lora_targets)
    lora = LoraConfig(r=config.lora_rank, lora_alpha=config.lora_alpha, target_modules=targets, task_type="CAUSAL_LM")
    try:
        model = get_peft_model(base.to(config.device), lora)
    except ValueError as error:
        raise ConfigError(f"lora_targets do not fit {model_dir}: {error}") from error
    if config.gradient_checkpointing:
        model.enable_input_require_grads()
        model.gradient_checkpointing_enable()
    # Eval mode disables dropout, so the ratio is 1 before the first step. Checkpointing requires train mode.
    model.train(config.gradient_checkpointing)
    return model, tokenizer


def usable_device(name: str) -> torch.device:
    """Return the torch device with this name.

    Raises:
        ConfigError: The device does not exist on this machine, or cannot be used.
    """
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError, NotImplementedError) as error:  # AssertionError: torch was built without CUDA
        reason = str(error).partition("\n")[0].rstrip(".")
        raise ConfigError(
            f"device is not usable: found {name} ({reason}), expected a device that torch finds here, such as cpu, "
            "cuda or cuda:1. Choose another device"
        ) from None
    return device


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
