"""Atomic writes of adapters and checkpoints, and the state for bit-identical resumption of a run.

A checkpoint is an adapter folder in the format of peft with two additional files, ``optimizer.safetensors`` and
``state.json``. No file is pickled. The state of random generators is not stored, because every iteration derives its
seeds from the seed of the run and the number of the iteration.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel, set_peft_model_state_dict
from pydantic import JsonValue
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from trace_gym.errors import ConfigError, ReadError
from trace_gym.files import folder_replacement, remove_folder, restore_folder, write
from trace_gym.lab import BASE
from trace_gym.models.catalog import CATALOG
from trace_gym.parsing import read_json
from trace_gym.trainers.config import TrainerConfig

Metrics = dict[str, float | int | None]
"""One line of ``metrics.jsonl``."""

MAX_AGE = 60.0
"""Age of the last checkpoint in seconds after which the next iteration is followed by a checkpoint in any case."""


@dataclass
class RunState:
    """State of a run without its tensors."""

    config: TrainerConfig
    model: dict[str, JsonValue]
    """Settings of the model that affect training."""
    env: list[tuple[str, float]]
    base: str
    """Fingerprint of the base model."""
    history: list[Metrics] = field(default_factory=list)
    """Metrics of the finished iterations in order."""

    @property
    def iteration(self) -> int:
        """Number of finished iterations."""
        return len(self.history)

    @property
    def rollouts(self) -> int:
        """Number of collected rollouts."""
        return int(self.history[-1]["rollouts"] or 0) if self.history else 0


def save_adapter(model: PeftModel, folder: Path) -> None:
    """Write the adapter in the format of peft atomically."""
    with folder_replacement(folder) as new:
        _save_peft(model, new)


def save(folder: Path, model: PeftModel, optimizer: torch.optim.Optimizer, state: RunState) -> None:
    """Write a checkpoint atomically."""
    tensors = {
        f"{number}.{key}": value.detach().cpu().contiguous()
        for number, values in optimizer.state_dict()["state"].items()
        for key, value in values.items()
    }
    with folder_replacement(folder) as new:
        _save_peft(model, new)
        save_file(tensors, new / "optimizer.safetensors")
        write_state(new, state)


def write_state(folder: Path, state: RunState) -> None:
    """Write the state of a run without its tensors to ``state.json`` in the folder of a checkpoint."""
    facts = {
        "config": state.config.model_dump(mode="json"),
        "model": state.model,
        "env": state.env,
        "base": state.base,
        "history": state.history,
    }
    write(folder / "state.json", json.dumps(facts))


def read_state(folder: Path, kind: type[TrainerConfig]) -> RunState | None:
    """Return the state of the checkpoint in `folder`, or None if there is no checkpoint.

    Args:
        folder: Folder of the checkpoint.
        kind: Type of the settings of the trainer.

    Raises:
        ReadError: The checkpoint cannot be read.
    """
    restore_folder(folder)
    if not folder.exists():
        return None
    try:
        facts: dict[str, Any] = read_json(folder / "state.json")
        env = [(str(name), float(weight)) for name, weight in facts["env"]]
        config, model = facts["config"], facts.get("model")
        if model is None:  # written before the settings of the model were separate
            config.pop("device")
            model = {"dtype": config.pop("dtype"), "template": {}}
            model |= {key: config[key] for key in ("max_tokens", "max_turn_tokens")}
        return RunState(kind.parse(config), model, env, facts["base"], facts["history"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _unreadable(folder, error) from error


def require_trainer(folder: Path, name: str) -> None:
    """Check that a checkpoint, if there is one, belongs to a trainer. Unreadable checkpoints are not checked.

    Raises:
        ConfigError: Another trainer wrote the checkpoint.
    """
    try:
        stored = read_json(folder / "state.json")["config"].get("trainer", name)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return
    if stored != name:
        raise ConfigError(
            f"{folder.parent} contains a run of the trainer {stored}, expected a run of {name}. Choose another "
            f"out_dir, set trainer: {stored}, or delete the folder"
        )


def read_tensors(folder: Path, model: PeftModel, optimizer: torch.optim.Optimizer) -> None:
    """Load the adapter and the optimizer state of a checkpoint into `model` and `optimizer`.

    Raises:
        ReadError: The checkpoint cannot be read, or belongs to a different adapter.
    """
    try:
        set_peft_model_state_dict(model, load_file(folder / "adapter_model.safetensors"))
        state: dict[int, dict[str, torch.Tensor]] = {}
        for name, tensor in load_file(folder / "optimizer.safetensors").items():
            number, _, key = name.partition(".")
            state.setdefault(int(number), {})[key] = tensor
        optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise _unreadable(folder, error) from error


def write_metrics(path: Path, history: list[Metrics]) -> None:
    """Replace the metrics file. This removes the lines of iterations after the last checkpoint."""
    write(path, "".join(json.dumps(line) + "\n" for line in history))


def append_metrics(path: Path, entry: Metrics) -> None:
    """Append one line to the metrics file."""
    with path.open("a") as file:
        file.write(json.dumps(entry) + "\n")


def clear(out: Path) -> None:
    """Remove the outputs of an earlier run from `out`."""
    remove_folder(out / "checkpoint")
    remove_folder(out / "adapter")


def portable_name(model: str | Path) -> str:
    """Return a name of the base model for an adapter configuration, without absolute paths of this machine.

    Returns:
        ``lab`` for the base model that ships with the package, and ``smollm2`` for the model in the user's cache that
        ``trace-gym model fetch smollm2`` wrote. For a name on the Hugging Face Hub, or a snapshot in its
        cache, the name on the Hub. For any other folder, its path relative to the working directory, or its last
        component if it is not below the working directory.
    """
    if not (folder := Path(model)).is_dir():
        return str(model)
    folder = folder.resolve()
    if folder == BASE.resolve():
        return "lab"
    if fetched := [name for name, packaged in CATALOG.items() if folder == packaged.folder.resolve()]:
        return fetched[0]
    if folder.parent.name == "snapshots" and (cached := folder.parents[1].name).startswith("models--"):
        return cached.removeprefix("models--").replace("--", "/", 1)
    here = Path.cwd()
    return str(folder.relative_to(here)) if here in folder.parents else folder.name


def _save_peft(model: PeftModel, folder: Path) -> None:
    config = model.peft_config[model.active_adapter]
    loaded = config.base_model_name_or_path
    config.base_model_name_or_path = portable_name(loaded) if loaded else loaded
    try:
        # Without this argument, peft may access the Hugging Face Hub to check whether the embeddings were resized.
        model.save_pretrained(str(folder), save_embedding_layers=False, selected_adapters=[model.active_adapter])
    finally:
        config.base_model_name_or_path = loaded
    (folder / "README.md").unlink(missing_ok=True)  # peft writes an empty model card


def _unreadable(folder: Path, error: Exception) -> ReadError:
    return ReadError(f"the checkpoint {folder} cannot be read ({error}). Delete it, or train with resume=False")
