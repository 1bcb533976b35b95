"""The command that diagnoses missing capabilities: diagnose."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trace_gym import terminal
from trace_gym.cli.options import reject_overwriting
from trace_gym.terminal import say


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(diagnose)


def diagnose(
    source: Annotated[Path, typer.Argument(help="Results file of tau-bench or tau2, or JSONL of trace-gym rollout.")],
    delta: Annotated[
        float,
        typer.Option(help="Minimum contrastive gap: error rate of the capability in failed minus passed trajectories."),
    ] = 0.20,
    rho: Annotated[float, typer.Option(help="Minimum share of failed trajectories that lack the capability.")] = 0.10,
    out: Annotated[Path | None, typer.Option(help="Write the diagnosis as JSON.")] = None,
) -> None:
    """Find the missing capabilities that explain an agent's failures.

    Exit code 1: no trajectory has a score.

    Example: trace-gym diagnose results.json --out diagnosis.json
    """
    from trace_gym import diagnosis as stage
    from trace_gym.files import write
    from trace_gym.targets.results import read_results

    reject_overwriting(out, source)
    found = stage.diagnose(read_results(source), delta=delta, rho=rho)
    terminal.console().print(stage.render(found))
    if out is not None:
        write(out, found.model_dump_json(indent=1) + "\n")
        follows = f"; next: trace-gym synthesize --from {out}" if found.selected else ""
        say(f"written to {out}{follows}")
    if found.unscored == found.n:
        raise typer.Exit(1)
