"""The command `train`, which trains a LoRA adapter."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from trace_gym.cli.environments import Env
from trace_gym.cli.options import MODEL_HELP, LevelsOption, User, require_lab_extra
from trace_gym.errors import ConfigError
from trace_gym.terminal import say

ENDS = {
    "iterations": "finished",
    "target": "target_success reached",
    "solved": "stopped, because the model solves all scenarios",
}
"""Messages for the reasons why a training ends."""


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(train)


def train(
    env: Env,
    out: Annotated[Path, typer.Option(help="Folder of the training run. A run that was interrupted is continued.")],
    model: Annotated[str | None, typer.Option(help=f"{MODEL_HELP} lab by default; overrides the settings.")] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            help="YAML file with settings of the trainer and, in model, of the model; see docs/guides/train.md."
        ),
    ] = None,
    trainer: Annotated[
        str | None,
        typer.Option(
            help="Name of the trainer: torch_grpo (default), sft, distill, trl_grpo, skyrl_grpo, or another package's."
        ),
    ] = None,
    iterations: Annotated[int | None, typer.Option(min=1, help="Number of iterations; overrides the settings.")] = None,
    level: LevelsOption = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Random seed; overrides the settings, 0 by default.")] = None,
    user: User = None,
) -> None:
    """Train a LoRA adapter on an environment, with GRPO by default.

    Without --model, the command trains the built-in toy model, which only demonstrates how training works.

    Example: trace-gym train tau2_precondition --level 0 --out runs/precondition

    With a model: trace-gym train tau2_precondition --model Qwen/Qwen3-4B-Instruct-2507 --config my.yaml --out runs/qwen
    """
    from trace_gym import registry
    from trace_gym.models.settings import ModelSettings
    from trace_gym.trainers import registered
    from trace_gym.trainers.model_support import check_model

    settings = _read_settings(config)
    settings |= {"seed": seed} if seed is not None else {}
    settings |= {"iterations": iterations} if iterations else {}
    settings |= {"user": user} if user is not None else {}
    settings |= {"levels": dict.fromkeys(level, 1.0)} if level else {}
    agent = ModelSettings.parse(_model(settings.pop("model", None), model), f"{config}: model" if config else "--model")
    try:
        settings |= {"trainer": trainer} if trainer is not None else {}
        chosen = registered.parse(settings)
    except ConfigError as error:
        raise ConfigError(f"{config}: {error}" if config else str(error)) from None
    check_model(chosen, agent)
    name = registry.name_of(env)
    require_lab_extra()
    from trace_gym.policies.hints import require_hints

    warning = require_hints([name], getattr(chosen, "hints", 0.0))
    first = os.environ.get("RANK", "0") == "0"  # of the processes that torchrun starts
    if warning and first:
        say(f"warning: {warning}", err=True)
    if agent.is_lab and first:
        say("training the built-in toy model (0.36 million parameters); choose another model with --model", err=True)
    try:
        done = registered.trainer(chosen.trainer).train(chosen, env=name, model=agent, out_dir=out)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_how_to_continue(out)) from None
    if not first:
        return
    last = done.metrics[-1]
    say(f"{ENDS.get(done.ended, done.ended)}: {len(done.metrics)} iterations, {done.rollouts} rollouts")
    say(f"adapter: {done.path}")
    if all(metrics.get("steps") == 0 for metrics in done.metrics):
        effect = f"equals {chosen.init_adapter}" if chosen.init_adapter else "does not change the model"
        say(
            f"warning: the adapter {effect}, because no optimizer step was taken: the rewards did not vary within any "
            "group. Train on an easier level (--level), train with --trainer sft first, or increase samples",
            err=True,
        )
    say(json.dumps({k: last[k] for k in ("loss", "reward", "success", "informative") if k in last}))


def _how_to_continue(out: Path) -> str:
    """Return what the same command does after an interruption, which depends on whether there is a checkpoint."""
    if any((out / "checkpoint").rglob("state.json")):
        return f"run the same command again to continue from the last checkpoint in {out / 'checkpoint'}"
    return f"no checkpoint was written yet, so the same command starts again at the first iteration: {out}"


def _model(in_file: object, option: str | None) -> object:
    """Return the model settings. The option replaces those in the file; if it is a name, it replaces only the name."""
    if option is None:
        return "lab" if in_file is None else in_file
    if isinstance(in_file, dict) and not option.endswith((".yaml", ".yml")):
        return in_file | {"name": option}
    return option


def _read_settings(path: Path | None) -> dict[str, object]:
    from trace_gym.parsing import read_yaml

    if path is None:
        return {}
    settings = read_yaml(path, "See docs/guides/train.md")
    if not isinstance(settings, dict) or not settings:
        found = type(settings).__name__ if settings else "nothing"
        raise ConfigError(
            f"the configuration file {path} is not valid: found {found}, expected a mapping of setting names to "
            "values. To use the defaults, remove --config"
        )
    return settings
