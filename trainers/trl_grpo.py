"""GRPO training of a LoRA adapter with the `GRPOTrainer` of TRL.

The trainer has the settings, outputs and metrics of `trace_gym.trainers.torch_grpo`, and draws the same scenarios. TRL
samples the rollouts, with the model's `generate` or with vLLM, and computes the loss. One iteration is one generation
batch of TRL. The guide docs/guides/train.md lists the differences between the two trainers.
"""

from __future__ import annotations

import pickle
import random
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from trace_gym.adapters.trl import RolloutFunction, dataset_of
from trace_gym.errors import ConfigError, NoSignal, ReadError
from trace_gym.locks import working_in
from trace_gym.models import LAB, ModelSettings, load_weights
from trace_gym.models.loading import device_name, usable_device
from trace_gym.terminal import progress_bar
from trace_gym.trainers import base, checkpoint, loop
from trace_gym.trainers.checkpoint import RunState
from trace_gym.trainers.draws import all_scenarios, weighted
from trace_gym.trainers.loop import Trained
from trace_gym.trainers.model_support import check_model
from trace_gym.trainers.trl_build import build, require_libraries, server_errors
from trace_gym.trainers.trl_config import TRLConfig
from trace_gym.trainers.trl_recorder import TRLRecorder, TRLRollouts, ended
from trace_gym.trainers.trl_settings import grpo_arguments, with_options
from trace_gym.types import Scenario

Config = TRLConfig


def train(
    config: TRLConfig,
    *,
    env: str | Sequence[tuple[str, float]],
    model: ModelSettings | str | Path = LAB,
    out_dir: str | Path,
    progress: bool = True,
    resume: bool = True,
) -> Trained:
    """Train a LoRA adapter with TRL, and write ``adapter/``, ``checkpoint/`` and ``metrics.jsonl`` to `out_dir`.

    Args:
        config: Settings of the run.
        env: Name of an environment, or a sequence of pairs (name, sampling weight).
        model: Settings of the model, or its name.
        out_dir: Output folder. If it contains a run of this trainer, the run is resumed from its last checkpoint.
        progress: Show a progress line on stderr.
        resume: If False, start a new run and replace an existing run in `out_dir`.

    Raises:
        MissingExtra: TRL is not installed, or vLLM is selected but not installed.
        NoSignal: The rewards did not vary within any group for too many consecutive iterations.
        ConfigError: The settings do not fit the model, the environment, TRL, or the existing run.
        Unavailable: The vLLM server cannot be reached.
        ReadError: The model or the checkpoint cannot be read.
        EnvBug: An environment failed, or the rollouts of a group started from different states.
        InUse: Another process uses `out_dir`.
        WriteError: `out_dir` is a file, or cannot be created.
    """
    require_libraries(config)
    settings = ModelSettings.parse(model).limited(config.max_tokens, config.max_turn_tokens)
    check_model(config, settings)
    tokens, turn_tokens = settings.limits
    config = config.model_copy(update={"max_tokens": tokens, "max_turn_tokens": turn_tokens})
    with working_in(Path(out_dir)):
        out, envs = Path(out_dir), weighted(env)
        scenarios = all_scenarios(config, envs)
        device = usable_device(device_name(settings))
        arguments = with_options(config, grpo_arguments(config, settings, out / "checkpoint"))
        fresh = RunState(config, loop.affecting(settings, device), envs, base.fingerprint(settings.folder))
        last, state = _begin(fresh, out, resume)
        if reason := ended(config, state.history):
            assert last is not None
            checkpoint.save_adapter(load_weights(settings, last)[0], out / "adapter")
        else:
            with _restoring_generators(device):
                reason = _train(state, settings, scenarios, arguments, last, out, progress)
    return Trained(out / "adapter", settings.folder, config.lora_rank, state.rollouts, reason, tuple(state.history))


def _train(
    state: RunState,
    settings: ModelSettings,
    scenarios: Sequence[Scenario],
    arguments: dict[str, Any],
    last: Path | None,
    out: Path,
    progress: bool,
) -> str:
    """Run TRL's trainer to the end of the run, write the adapter, and return the reason for the end."""
    config = state.config
    assert isinstance(config, TRLConfig)
    max_tokens, turn_tokens = settings.limits
    rollouts = TRLRollouts(RolloutFunction(turn_tokens, max_tokens, settings.tool_calls))
    with progress_bar("trl_grpo", config.iterations, progress, state.iteration, transient=False) as update_bar:
        recorder = TRLRecorder(state, rollouts, out, update_bar)
        trainer = build(config, settings, dataset_of(scenarios), arguments, rollouts)
        trainer.add_callback(recorder)
        with server_errors(config):
            trainer.train(resume_from_checkpoint=str(last) if last else None)
    if recorder.idle:
        raise NoSignal(f"{recorder.idle} The run is stored in {out / 'checkpoint'}.")
    checkpoint.save_adapter(trainer.model, out / "adapter")
    return recorder.ended or "stopped"


def _begin(fresh: RunState, out: Path, resume: bool) -> tuple[Path | None, RunState]:
    """Return the last checkpoint of the run in `out` and its state, or None and the new state."""
    last, folder = None, out / "checkpoint"
    if not resume:
        checkpoint.clear(out)
    elif (folder / "state.json").exists():
        raise ConfigError(
            f"{out} contains a run of another trainer. Choose another out_dir, or train with resume=False"
        )
    steps = {int(f.parent.name.rpartition("-")[2]): f.parent for f in folder.glob("checkpoint-*/state.json")}
    for unfinished in set(folder.glob("checkpoint-*")) - set(steps.values()):
        shutil.rmtree(unfinished)  # the process was killed while it wrote this checkpoint
    if steps:
        last = steps[max(steps)]
        _assert_readable(last)
        found = checkpoint.read_state(last, TRLConfig)
        assert found is not None
        loop.assert_same_run(fresh, found, out)
        fresh.history = found.history
    checkpoint.write_metrics(out / "metrics.jsonl", fresh.history)
    return last, fresh


def _assert_readable(folder: Path) -> None:
    """Check that the tensors of a checkpoint can be read, because TRL raises many kinds of errors if they cannot."""
    try:
        load_file(folder / "adapter_model.safetensors")
        torch.load(folder / "optimizer.pt", map_location="cpu", weights_only=True)
    except (OSError, EOFError, RuntimeError, ValueError, SafetensorError, pickle.UnpicklingError) as error:
        reason = str(error).partition("\n")[0]
        raise ReadError(
            f"the checkpoint {folder} cannot be read ({reason}). Delete it, or train with resume=False"
        ) from error


@contextmanager
def _restoring_generators(device: torch.device) -> Iterator[None]:
    """Restore the global random generators, which TRL seeds, at the end of the block."""
    python, numpy = random.getstate(), np.random.get_state()
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)
