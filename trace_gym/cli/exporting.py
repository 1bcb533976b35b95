"""The verb that hands environments to other libraries: export."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trace_gym.cli.environments import matching_names
from trace_gym.cli.options import refuse
from trace_gym.terminal import say

LIBRARIES = "datasets, openenv, skyrl, trl or verifiers"


def register(app: typer.Typer) -> None:
    """Add this module's verb to the command line."""
    app.command()(export)


def export(
    context: typer.Context,
    envs: Annotated[
        list[str],
        typer.Argument(
            help="Names or gymnasium ids, mixtures included.", show_default=False, autocompletion=matching_names
        ),
    ],
    to: Annotated[str, typer.Option(help=f"The library: {LIBRARIES}.", show_default=False)],
    out: Annotated[Path, typer.Option(help="The folder to write.", show_default=False)],
    n: Annotated[int, typer.Option("-n", min=1, help="Scenarios to train on; a quarter as many to validate.")] = 256,
    level: Annotated[
        list[int] | None, typer.Option("--level", help="Level; repeat for several; all by default.")
    ] = None,
    rollouts: Annotated[
        list[Path] | None, typer.Option(help="JSONL of trace-gym rollout, for datasets; repeat for several.")
    ] = None,
    trajectories: Annotated[
        bool,
        typer.Option(
            "--trajectories/--no-trajectories", help="Copy the recorded episodes of your target, if it has any."
        ),
    ] = True,
    force: Annotated[bool, typer.Option("--force", help="Replace the folder of an earlier export.")] = False,
) -> None:
    """Write a folder in which environments are ready for another library, with a README that runs.

    Example: trace-gym export --to trl tau2_precondition tau2_multi_step --out my_run
    """
    from trace_gym.adapters.export import ENVS
    from trace_gym.adapters.export import export as write_folder
    from trace_gym.targets.results import read_results
    from trace_gym.targets.user.folder import TRAJECTORIES

    if to in ("openenv", "verifiers"):
        refuse(context, {"n"}, f"on {to}, which has all scenarios")
    episodes = [record for path in rollouts or () for record in read_results(path)]
    made = write_folder(to, envs, out, n=n, levels=level, rollouts=episodes, trajectories=trajectories, force=force)
    if (recorded := f"{ENVS}/{TRAJECTORIES}") in made:
        say(
            f"note: {out / recorded} holds the recorded episodes of your target, which may be private; "
            "--no-trajectories leaves them out",
            err=True,
        )
    say(f"{len(made)} files: {out}; next: {out / 'README.md'}")
