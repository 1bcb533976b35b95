"""Folders that are written whole or not at all, and the state from which a run goes on bit for bit.

A checkpoint is a peft folder (usable as an adapter at once) with two more files: ``optimizer.safetensors``
and ``state.json``. Nothing in it is pickled. Random state is not stored: every iteration derives its own
from (seed, iteration).
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel, set_peft_model_state_dict
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from trace_gym.errors import ReadError
from trace_gym.files import write
from trace_gym.lab import BASE
from trace_gym.parsing import read_json
from trace_gym.trainers.config import GRPOConfig

Metrics = dict[str, float | int | None]
"""One line of ``metrics.jsonl``."""


@dataclass
class RunState:
    """Where a run stands, apart from its tensors."""

    config: GRPOConfig
    env: list[tuple[str, float]]
    base: str
    """Fingerprint of the base model."""
    history: list[Metrics] = field(default_factory=list)
    """The metrics of every finished iteration, first to last."""

    @property
    def iteration(self) -> int:
        """Iterations finished."""
        return len(self.history)

    @property
    def rollouts(self) -> int:
        """Rollouts spent."""
        return self.iteration * self.config.groups * self.config.samples


def save_adapter(model: PeftModel, folder: Path) -> None:
    """Write the adapter alone, as peft writes it, whole or not at all."""
    with replacing(folder) as new:
        _save_peft(model, new)


def save(folder: Path, model: PeftModel, optimizer: torch.optim.Optimizer, state: RunState) -> None:
    """Write a checkpoint, whole or not at all."""
    tensors = {
        f"{number}.{key}": value.detach().cpu().contiguous()
        for number, values in optimizer.state_dict()["state"].items()
        for key, value in values.items()
    }
    facts = {
        "config": state.config.model_dump(mode="json"),
        "env": state.env,
        "base": state.base,
        "history": state.history,
    }
    with replacing(folder) as new:
        _save_peft(model, new)
        save_file(tensors, new / "optimizer.safetensors")
        (new / "state.json").write_text(json.dumps(facts))


def read_state(folder: Path) -> RunState | None:
    """The state of the checkpoint in `folder`; None when there is no checkpoint.

    Raises:
        ReadError: The checkpoint cannot be read.
    """
    # A crash between the two renames of `replacing` leaves the previous checkpoint under this name.
    if not folder.exists() and (old := _old(folder)).exists():
        os.replace(old, folder)
    if not folder.exists():
        return None
    try:
        facts: dict[str, Any] = read_json(folder / "state.json")
        env = [(str(name), float(weight)) for name, weight in facts["env"]]
        return RunState(GRPOConfig.parse(facts["config"]), env, facts["base"], facts["history"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _unreadable(folder, error) from error


def read_tensors(folder: Path, model: PeftModel, optimizer: torch.optim.Optimizer) -> None:
    """Put the checkpoint's adapter and optimizer state into `model` and `optimizer`.

    Raises:
        ReadError: The checkpoint cannot be read, or belongs to another adapter.
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
    """Replace the metrics file, which also drops lines (even half lines) younger than the checkpoint."""
    write(path, "".join(json.dumps(line) + "\n" for line in history))


def append_metrics(path: Path, entry: Metrics) -> None:
    """Add one line to the metrics file."""
    with path.open("a") as file:
        file.write(json.dumps(entry) + "\n")


def clear(out: Path) -> None:
    """Remove what an earlier run left in `out`."""
    for folder in (out / "checkpoint", _old(out / "checkpoint"), out / "adapter"):
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def replacing(folder: Path) -> Iterator[Path]:
    """Yield an empty folder that takes the place of `folder` when the block ends without an error."""
    new, old = folder.with_name(folder.name + ".new"), _old(folder)
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    try:
        yield new
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    if folder.exists():
        shutil.rmtree(old, ignore_errors=True)
        os.replace(folder, old)
    os.replace(new, folder)
    shutil.rmtree(old, ignore_errors=True)


def _old(folder: Path) -> Path:
    return folder.with_name(folder.name + ".old")


def portable_name(model: str | Path) -> str:
    """Return what an adapter names as its base model: a value that shows no absolute path of this machine.

    Returns:
        ``lab`` for the base model that ships with the package, and the hub name for a name on the hub or a snapshot in
        the hub's cache. For any other folder its path relative to the working directory, or its last component if it
        is not below the working directory.
    """
    if not (folder := Path(model)).is_dir():
        return str(model)
    folder = folder.resolve()
    if folder == BASE.resolve():
        return "lab"
    if folder.parent.name == "snapshots" and (cached := folder.parents[1].name).startswith("models--"):
        return cached.removeprefix("models--").replace("--", "/", 1)
    here = Path.cwd()
    return str(folder.relative_to(here)) if here in folder.parents else folder.name


def _save_peft(model: PeftModel, folder: Path) -> None:
    config = model.peft_config[model.active_adapter]
    loaded = config.base_model_name_or_path
    config.base_model_name_or_path = portable_name(loaded) if loaded else loaded
    try:
        # Without the argument peft may ask a model hub whether the embeddings grew; they did not.
        model.save_pretrained(str(folder), save_embedding_layers=False)
    finally:
        config.base_model_name_or_path = loaded
    (folder / "README.md").unlink(missing_ok=True)  # an empty model card


def _unreadable(folder: Path, error: Exception) -> ReadError:
    return ReadError(f"the checkpoint {folder} cannot be read ({error}); delete it or train with resume=False")
