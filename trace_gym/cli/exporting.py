"""The command `export`, which exports environments to other libraries."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trace_gym.cli.environments import matching_names
from trace_gym.cli.options import reject_options
from trace_gym.terminal import say

LIBRARIES = "datasets, openenv, skyrl, trl or verifiers"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(export)


def export(
    context: typer.Context,
    envs: Annotated[
        list[str],
        typer.Argument(
            help="Names or gymnasium ids of environments or mixtures.",
            show_default=False,
            autocompletion=matching_names,
        ),
    ],
    to: Annotated[str, typer.Option(help=f"Library to export to: {LIBRARIES}.", show_default=False)],
    out: Annotated[Path, typer.Option(help="Folder to write.", show_default=False)],
    n: Annotated[
        int,
        typer.Option("-n", min=1, help="Number of training scenarios; 25 % of that number are added for validation."),
    ] = 256,
    level: Annotated[
        list[int] | None, typer.Option("--level", help="Level; repeatable. By default all levels.")
    ] = None,
    rollouts: Annotated[
        list[Path] | None, typer.Option(help="JSONL of trace-gym rollout, for --to datasets; repeatable.")
    ] = None,
    trajectories: Annotated[
        bool,
        typer.Option("--trajectories/--no-trajectories", help="Copy the recorded episodes of a custom target."),
    ] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace the folder of an earlier export.")] = False,
) -> None:
    """Write a folder with environments for another training library, and a README with commands to run.

    Example: trace-gym export --to trl tau2_precondition tau2_multi_step --out my_run
    """
    from trace_gym.adapters.export import ENVS
    from trace_gym.adapters.export import export as write_folder
    from trace_gym.targets.results import read_results
    from trace_gym.targets.user.folder import TRAJECTORIES

    if to in ("openenv", "verifiers"):
        reject_options(context, {"n"}, f"on {to}, which exports all scenarios")
    episodes = [record for path in rollouts or () for record in read_results(path)]
    made = write_folder(to, envs, out, n=n, levels=level, rollouts=episodes, trajectories=trajectories, force=force)
    if (recorded := f"{ENVS}/{TRAJECTORIES}") in made:
        say(
            f"note: {out / recorded} contains the recorded episodes of your target, which may be private; "
            "exclude them with --no-trajectories",
            err=True,
        )
    say(f"{len(made)} files: {out}; next: {out / 'README.md'}")
