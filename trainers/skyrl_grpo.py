"""GRPO training of a LoRA adapter with SkyRL on a Ray cluster.

SkyRL requires exact versions of torch, transformers, Ray and vLLM, so it runs with the Python interpreter of another
environment. The trainer writes a project folder, starts SkyRL, follows its metrics, and copies the adapter of its last
checkpoint. The guide docs/guides/train.md lists the differences from `trace_gym.trainers.torch_grpo`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from trace_gym.errors import ConfigError, ReadError, Unavailable
from trace_gym.files import folder_replacement, write
from trace_gym.locks import working_in
from trace_gym.models import LAB, ModelSettings
from trace_gym.models.server import last_lines
from trace_gym.process_group import ProcessGroup
from trace_gym.sampling.adapter_folder import read_adapter_config
from trace_gym.terminal import progress_bar, say
from trace_gym.trainers import base, checkpoint, loop
from trace_gym.trainers.checkpoint import Metrics, RunState
from trace_gym.trainers.draws import all_scenarios, weighted
from trace_gym.trainers.loop import Trained
from trace_gym.trainers.model_support import check_model
from trace_gym.trainers.skyrl_config import SkyRLConfig
from trace_gym.trainers.skyrl_project import SCRIPT, write_project

Config = SkyRLConfig
PYTHON = "SKYRL_PYTHON"
"""Environment variable with the Python interpreter of the environment that contains SkyRL."""
GPU = torch.device("cuda")
"""Device of the Ray cluster, which need not exist on this machine."""
PERIOD = 1.0
"""Interval in seconds between checks of the metrics."""
STOP_SECONDS = 20.0
"""Time limit in seconds for a graceful shutdown of SkyRL, after which it is killed."""
LOG_LINES = 15
NAMES = {
    "reward": "reward/avg_raw_reward",
    "loss": "policy/policy_loss",
    "kl": "policy/policy_kl",
    "lr": "policy/policy_lr",
    "seconds": "timing/step",
}
"""Mapping from key in ``metrics.jsonl`` to the name of a metric of SkyRL."""


def train(
    config: SkyRLConfig,
    *,
    env: str | Sequence[tuple[str, float]],
    model: ModelSettings | str | Path = LAB,
    out_dir: str | Path,
    progress: bool = True,
    resume: bool = True,
) -> Trained:
    """Train a LoRA adapter with SkyRL, and write ``adapter/``, ``metrics.jsonl`` and ``skyrl/`` to `out_dir`.

    Args:
        config: Settings of the run.
        env: Name of an environment, or a sequence of pairs (name, sampling weight).
        model: Settings of the model, or its name.
        out_dir: Output folder. If it contains a run of this trainer, SkyRL resumes from its last checkpoint.
        progress: Show a progress line on stderr.
        resume: If False, start a new run and replace an existing run in `out_dir`.

    Raises:
        MissingExtra: skyrl-gym is not installed.
        ConfigError: The settings do not fit the model, the environment, or the existing run, or SkyRL is not installed
            in the environment of `PYTHON`.
        Unavailable: SkyRL ended with an error.
        ReadError: The model or the adapter cannot be read.
        InUse: Another process uses `out_dir`.
        WriteError: `out_dir` is a file, or cannot be created.
    """
    settings = ModelSettings.parse(model).limited(config.max_tokens, config.max_turn_tokens)
    check_model(config, settings)
    tokens, turn_tokens = settings.limits
    config = config.model_copy(update={"max_tokens": tokens, "max_turn_tokens": turn_tokens})
    out, envs = Path(out_dir), weighted(env)
    scenarios = all_scenarios(config, envs)
    with working_in(out):
        if not resume:
            checkpoint.clear(out)
            shutil.rmtree(out / "skyrl", ignore_errors=True)
        fresh = RunState(config, loop.affecting(settings, GPU), envs, base.fingerprint(settings.folder))
        checkpoint.require_trainer(out / "checkpoint", config.trainer)
        if (found := checkpoint.read_state(out / "checkpoint", SkyRLConfig)) is not None:
            loop.assert_same_run(fresh, found, out)
        fresh.history = read_metrics(out / "skyrl", config)
        if not (fresh.iteration >= config.iterations and (out / "adapter").is_dir()):
            python = interpreter()  # fail before anything is written
            checkpoint.write_state(out / "checkpoint", fresh)
            write_project(out / "skyrl", config, settings, scenarios)
            _run(fresh, out, python, progress)
            copy_adapter(out / "skyrl", out / "adapter", settings.folder)
        checkpoint.write_state(out / "checkpoint", fresh)
        checkpoint.write_metrics(out / "metrics.jsonl", fresh.history)
    return Trained(
        out / "adapter", settings.folder, config.lora_rank, fresh.rollouts, "iterations", tuple(fresh.history)
    )


def interpreter() -> str:
    """Return the Python interpreter of the environment that contains SkyRL and trace_gym.

    Raises:
        ConfigError: The environment variable `PYTHON` is not set, or a package is missing in the environment.
    """
    fix = (
        f"Install SkyRL and trace_gym[skyrl-gym] in a separate virtual environment with Python 3.12, and set {PYTHON} "
        "to its Python interpreter (docs/guides/skyrl.md)"
    )
    python = os.environ.get(PYTHON, "")
    if not python:
        raise ConfigError(f"the trainer skyrl_grpo requires the environment variable {PYTHON}, which is not set. {fix}")
    try:
        command = [python, "-c", "import skyrl, trace_gym, skyrl_gym"]
        done = subprocess.run(command, capture_output=True, text=True, cwd="/", stdin=subprocess.DEVNULL)
    except OSError as error:
        raise ConfigError(f"{PYTHON}={python} cannot be executed: {error.strerror}. {fix}") from None
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise ConfigError(f"{PYTHON}={python} cannot import skyrl and trace_gym: {reason[:300]}. {fix}")
    return python


def _run(state: RunState, out: Path, python: str, progress: bool) -> None:
    """Run SkyRL to its end, and add its metrics to the history of the run.

    Raises:
        Unavailable: SkyRL ended with an error.
    """
    config, log, folder = state.config, out / "skyrl.log", out / "skyrl"
    assert isinstance(config, SkyRLConfig)
    if progress:
        say(f"starting SkyRL with {config.gpus} GPUs (log: {log})", err=True)
    process = ProcessGroup([python, str((folder / SCRIPT).resolve())], env=dict(os.environ), output=log)
    try:
        with progress_bar("skyrl_grpo", config.iterations, progress, state.iteration, transient=False) as update_bar:
            while (status := process.status()) is None:
                time.sleep(PERIOD)
                update_bar(completed=len(read_metrics(folder, config)))
            state.history = read_metrics(folder, config)
            update_bar(completed=state.iteration)
    finally:
        process.stop(STOP_SECONDS)
    if status:
        shown = "".join(f"\n  {line}" for line in last_lines(log, LOG_LINES)) or " none"
        raise Unavailable(
            f"SkyRL ended with exit status {status} after {state.iteration} of {config.iterations} iterations. To "
            f"resume from its last checkpoint, run the same command again. The last lines of {log}:{shown}"
        )


def read_metrics(folder: Path, config: SkyRLConfig) -> list[Metrics]:
    """Return the metrics of the finished iterations from the file that the script of the project writes.

    If SkyRL resumed from a checkpoint, the iterations after it occur twice. The last values are used.
    """
    path = folder / "metrics.jsonl"
    steps: dict[int, dict[str, Any]] = defaultdict(dict)
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            values = json.loads(line)
            steps[int(values["step"])] |= values
        except (ValueError, KeyError, TypeError):
            continue  # the line is being written
    finished = [values for step, values in sorted(steps.items()) if step >= 1 and NAMES["reward"] in values]
    return [_metrics(n, values, config) for n, values in enumerate(finished)]


def _metrics(iteration: int, values: Mapping[str, Any], config: SkyRLConfig) -> Metrics:
    rates = [v for name, v in values.items() if name.startswith("environment/") and name.endswith("/success")]
    own: Metrics = {key: values.get(name) for key, name in NAMES.items()}
    return {
        "iteration": iteration,
        **own,
        "success": sum(rates) / len(rates) if rates else None,
        "rollouts": (iteration + 1) * config.groups * config.samples,
    }


def copy_adapter(project: Path, adapter: Path, model: str) -> None:
    """Copy the adapter of the last checkpoint of SkyRL, and replace the path of the base model by a portable name.

    Raises:
        ReadError: The project contains no complete adapter.
    """
    found = {
        int(folder.parents[1].name.rpartition("_")[2]): folder
        for folder in project.glob("checkpoints/global_step_*/policy/lora_adapter")
        if (folder / "adapter_model.safetensors").is_file()
    }
    if not found:
        raise ReadError(
            f"{project / 'checkpoints'} contains no LoRA adapter: expected global_step_N/policy/lora_adapter. See the "
            f"log {project.with_suffix('.log')}"
        )
    source = found[max(found)]
    settings = read_adapter_config(source)
    with folder_replacement(adapter) as folder:
        shutil.copyfile(source / "adapter_model.safetensors", folder / "adapter_model.safetensors")
        text = json.dumps(settings | {"base_model_name_or_path": checkpoint.portable_name(model)}, indent=1)
        write(folder / "adapter_config.json", text + "\n")
