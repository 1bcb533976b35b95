"""Widening of the attention heads of a Qwen3 model without changing its outputs.

vLLM has no attention kernel for the head size of the small toy model, so the last step of pretraining widens the heads
to `HEAD_DIM`. To widen a model folder in place: ``python -m trace_gym.lab.heads DIR``.

Each dimension of a head moves to a new index, and the new dimensions in between are zero. Three facts make this exact:

- The rotary embedding rotates the dimensions ``i`` and ``i + d/2`` of a head of size ``d`` by the angle
  ``position * theta ** (-2i/d)``. For the new size ``d' = s * d``, the index ``s * i`` has the same angle, and its
  partner is ``s * i + d'/2``.
- RMSNorm divides by ``sqrt(mean + eps)``, and the zeros divide the mean by ``s``. Query and key projections are
  multiplied by ``sqrt(s)``, which restores the mean, so ``eps`` has the same effect as before. The output of the norm
  is then ``sqrt(s)`` times the original.
- Attention scores are divided by ``sqrt(d')`` instead of ``sqrt(d)``, so they are too small by the factor ``sqrt(s)``.
  To compensate, the queries keep the factor ``sqrt(s)``, whereas the weight of the key norm is divided by it.
"""

from __future__ import annotations

import argparse
import copy
import tempfile
from math import sqrt
from pathlib import Path
from typing import Any

from trace_gym.errors import ConfigError
from trace_gym.files import move

HEAD_DIM = 32
"""The smallest head size that vLLM serves on a CPU."""


def widen(model: Any, head_dim: int = HEAD_DIM) -> Any:
    """Return a model with the same logits and with attention heads of at least `head_dim` dimensions.

    Args:
        model: A `Qwen3ForCausalLM`. It is returned unchanged if its heads are wide enough.
        head_dim: A multiple of the model's own head size.

    Raises:
        ConfigError: The model is not a Qwen3 model with default rotary embeddings, or its head size does not divide
            `head_dim`.
    """
    import torch

    config, old = model.config, getattr(model.config, "head_dim", 0)
    rope = getattr(config, "rope_parameters", None) or {}
    if config.model_type != "qwen3" or rope.get("rope_type") != "default" or old < 2 or old % 2:
        raise ConfigError(
            f"the attention heads of this model cannot be widened: found the model type {config.model_type!r}, the "
            f"rotary embedding {rope.get('rope_type')!r} and the head size {old}, expected 'qwen3', 'default' and an "
            "even head size"
        )
    if old >= head_dim:
        return model
    if head_dim % old:
        raise ConfigError(
            f"attention heads cannot be widened from {old} to {head_dim} dimensions, because {head_dim} is not a "
            f"multiple of {old}. Choose a hidden size and a number of heads such that their quotient divides {head_dim}"
        )
    wider = copy.deepcopy(config)
    wider.head_dim = head_dim
    with torch.random.fork_rng(devices=[]):  # the initial weights are replaced
        made = type(model)(wider).to(model.dtype)
    stretch = head_dim // old
    with torch.no_grad():
        made.load_state_dict({name: _widened(name, w, old, stretch) for name, w in model.state_dict().items()})
    made.generation_config = copy.deepcopy(model.generation_config)
    return made.train(model.training)


def _widened(name: str, weight: Any, old: int, stretch: int) -> Any:
    """Return the weight or bias of the wider model that corresponds to one of the original model."""
    (layer, kind), factor = name.split(".")[-2:], sqrt(stretch)
    if layer == "q_norm":
        return _spread(weight, old, stretch)
    if layer == "k_norm":
        return _spread(weight / factor, old, stretch)
    if layer in ("q_proj", "k_proj"):
        return _spread(weight * factor, old, stretch)
    if layer == "v_proj":
        return _spread(weight, old, stretch)
    if layer == "o_proj" and kind == "weight":
        return _spread(weight.T, old, stretch).T.contiguous()
    return weight


def _spread(rows: Any, old: int, stretch: int) -> Any:
    """Return the rows with zero rows in between: row ``i`` of a head moves to the index ``stretch * i``."""
    made = rows.new_zeros(rows.shape[0] // old, old, stretch, *rows.shape[1:])
    made[:, :, 0] = rows.reshape(rows.shape[0] // old, old, *rows.shape[1:])
    return made.reshape(rows.shape[0] * stretch, *rows.shape[1:])


def main() -> None:
    """Widen the heads of a model folder in place."""
    from transformers import AutoModelForCausalLM

    from trace_gym.errors import ReadError

    parser = argparse.ArgumentParser(description="Widen the attention heads of a Qwen3 folder; its logits stay.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--head-dim", type=int, default=HEAD_DIM)
    arguments = parser.parse_args()
    try:
        model = AutoModelForCausalLM.from_pretrained(arguments.folder, dtype="auto", local_files_only=True)
    except (OSError, ValueError) as error:
        raise ReadError(f"cannot read a model from {arguments.folder}: {error}") from error
    before = model.config.head_dim
    wider = widen(model, arguments.head_dim)
    if wider is not model:
        with tempfile.TemporaryDirectory(dir=arguments.folder) as beside:
            wider.save_pretrained(beside)
            for file in sorted(Path(beside).iterdir(), reverse=True):  # the weights before the configuration
                move(file, arguments.folder / file.name)
    print(f"{arguments.folder}: head size {before} -> {wider.config.head_dim}")


if __name__ == "__main__":
    main()
