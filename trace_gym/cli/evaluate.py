"""The command `evaluate`, which compares the rollouts of several policies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trace_gym import terminal
from trace_gym.cli.options import reject_overwriting
from trace_gym.terminal import say


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(evaluate)


def evaluate(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="JSONL of trace-gym rollout, or results of tau-bench or tau2. The first file is the baseline.",
            show_default=False,
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="Write the evaluation as JSON.")] = None,
) -> None:
    """Compare the rollouts of policies on the same scenarios: intervals, paired test, tasks gained and lost.

    Example: trace-gym evaluate base.jsonl adapter.jsonl
    """
    from trace_gym import evaluation as stage
    from trace_gym.evaluation.from_files import compare_files

    reject_overwriting(out, *files)
    made = compare_files(files)
    terminal.console().print(stage.render(made))
    if out is not None:
        made.write(out)
        say(f"written to {out}")
