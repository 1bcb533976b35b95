"""An adapter that changes nothing, as which vLLM on a CPU serves the base model.

On a CPU, vLLM 0.32 computes requests to the base model with the adapter in the last of its slots if other requests of
the batch use adapters: the index -1, which means "no adapter", selects the last slot in `bgmv_expand` of
`vllm/lora/ops/torch_ops/lora_ops.py`. Adapters stay in their slots after they have been unloaded, so every slot is used
sooner or later. If all requests use an adapter, the index does not occur.

To write such an adapter for a server of your own, run ``python -m trace_gym.models.zero_adapter MODEL FOLDER``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from trace_gym.errors import ConfigError, MissingExtra, TraceGymError
from trace_gym.files import make_folder
from trace_gym.models.loading import load_config
from trace_gym.models.settings import ModelSettings

USAGE = "usage: python -m trace_gym.models.zero_adapter MODEL FOLDER"


def write_zero_adapter(settings: ModelSettings, folder: Path) -> None:
    """Write a LoRA adapter of rank 1 for one layer of a model, with weights 0.

    Raises:
        ConfigError: The model has no linear layer.
        MissingExtra: torch or transformers is not installed.
        ReadError: The configuration of the model cannot be read.
    """
    config = load_config(settings)
    try:
        import torch
        from safetensors.torch import save_file
        from transformers import AutoModelForCausalLM
    except ImportError as error:
        raise MissingExtra(f"{error.name} is not installed. Run: pip install 'trace-gym[lab]'") from None
    with torch.device("meta"):  # allocates no memory
        model = AutoModelForCausalLM.from_config(config)
    head = model.get_output_embeddings()
    linear = (part for part in model.named_modules() if isinstance(part[1], torch.nn.Linear) and part[1] is not head)
    name, layer = next(linear, ("", None))
    if layer is None:
        raise ConfigError(f"{settings.name} has no linear layer: expected one for which vLLM supports adapters")
    make_folder(folder)
    prefix = f"base_model.model.{name}"
    weights = {
        f"{prefix}.lora_A.weight": torch.zeros(1, layer.in_features),
        f"{prefix}.lora_B.weight": torch.zeros(layer.out_features, 1),
    }
    save_file(weights, folder / "adapter_model.safetensors")
    written = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": settings.folder,
        "r": 1,
        "lora_alpha": 1,
        "bias": "none",
        "target_modules": [name.rpartition(".")[2]],
    }
    (folder / "adapter_config.json").write_text(json.dumps(written, indent=1))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(USAGE)
    try:
        write_zero_adapter(ModelSettings(name=sys.argv[1]), Path(sys.argv[2]))
    except (TraceGymError, OSError) as error:
        sys.exit(f"error: {error}")
