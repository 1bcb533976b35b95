"""The command that trains a LoRA adapter: train."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from trace_gym.cli.environments import Env
from trace_gym.cli.options import Levels, Model, User, require_lab_extra
from trace_gym.errors import ConfigError
from trace_gym.terminal import say


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(train)


def train(
    env: Env,
    out: Annotated[Path, typer.Option(help="Folder of the training run. A run that was interrupted is continued.")],
    model: Model = "lab",
    config: Annotated[Path | None, typer.Option(help="YAML file with GRPO settings; see docs/guides/train.md.")] = None,
    iterations: Annotated[int | None, typer.Option(min=1, help="Number of iterations; overrides the settings.")] = None,
    level: Levels = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Random seed; overrides the settings, 0 by default.")] = None,
    user: User = None,
) -> None:
    """Train a LoRA adapter on an environment with GRPO.

    Without --model, the command trains the built-in toy model, which only demonstrates how training works.

    Example: trace-gym train tau2_precondition --level 0 --out runs/precondition

    With a model: trace-gym train tau2_precondition --model Qwen/Qwen3-4B-Instruct-2507 --config my.yaml --out runs/qwen
    """
    from trace_gym import registry
    from trace_gym.lab import model_folder
    from trace_gym.trainers.config import GRPOConfig

    settings = _read_settings(config)
    settings |= {"seed": seed} if seed is not None else {}
    settings |= {"iterations": iterations} if iterations else {}
    settings |= {"user": user} if user is not None else {}
    settings |= {"levels": dict.fromkeys(level, 1.0)} if level else {}
    try:
        grpo = GRPOConfig.parse(settings)
    except ConfigError as error:
        raise ConfigError(f"{config}: {error}" if config else str(error)) from None
    name = registry.name_of(env)
    require_lab_extra()
    from trace_gym.policies.hints import require_hints
    from trace_gym.trainers.torch_grpo import train as run_grpo

    require_hints([name], grpo.hints)
    if model == "lab":
        say("training the built-in toy model (0.36 million parameters); choose another model with --model", err=True)
    done = run_grpo(grpo, env=name, model_dir=model_folder(model), out_dir=out)
    last = done.metrics[-1]
    say(f"{done.ended} after {len(done.metrics)} iterations and {done.rollouts} rollouts: {done.path}")
    say(json.dumps({k: last[k] for k in ("reward", "success", "informative") if k in last}))


def _read_settings(path: Path | None) -> dict[str, object]:
    from trace_gym.parsing import read_yaml

    if path is None:
        return {}
    settings = read_yaml(path, "See docs/guides/train.md")
    if not isinstance(settings, dict) or not settings:
        found = type(settings).__name__ if settings else "nothing"
        raise ConfigError(
            f"{path}: expected a mapping of setting names to values, found {found}. Remove --config to use the defaults"
        )
    return settings
