"""Verbs about the whole loop: run, report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trace_gym.cli.options import AllowUnisolated, User
from trace_gym.errors import ConfigError, ReadError
from trace_gym.terminal import say

PRESETS = "demo, full, smoke"
"""Names of `trace_gym.settings.presets`, which is not imported for a help text."""


def register(app: typer.Typer) -> None:
    """Add this module's verbs to the command line."""
    app.command()(run)
    app.command()(report)


def run(
    config: Annotated[Path | None, typer.Argument(help="YAML of the run.", show_default=False)] = None,
    preset: Annotated[str | None, typer.Option(help=f"A configuration that ships: {PRESETS}.")] = None,
    out: Annotated[Path | None, typer.Option(help="Run folder; runs/NAME by default.")] = None,
    source: Annotated[
        Path | None, typer.Option(help="A results file to diagnose instead of fresh rollouts of the model.")
    ] = None,
    user: User = None,
    allow_unisolated: AllowUnisolated = False,
) -> None:
    """Run the whole loop: diagnose, synthesize, validate, train, route, evaluate, report.

    A run that was interrupted, even by kill -9, continues with the same command. Stages whose inputs have not
    changed are skipped.

    Example: trace-gym run --preset demo
    """
    from trace_gym.cli.agents import _needs_lab
    from trace_gym.pipeline import run as run_loop
    from trace_gym.settings import RunConfig

    if (config is None) == (preset is None):
        raise ConfigError(f"give a configuration file or one of --preset {PRESETS}")
    settings = RunConfig.read(config) if config is not None else RunConfig.preset(preset or "")
    if source is not None:
        if not source.is_file():
            raise ReadError(f"{source}: no such file; --source takes a results file of tau-bench or tau2")
        kept = settings.model_dump(exclude={"rollouts"})  # the file replaces the rollouts
        settings = RunConfig.parse({**kept, "source": source}, "the settings with --source")
    if user is not None:
        settings = RunConfig.parse({**settings.model_dump(), "user": user}, "the settings with --user")
    _needs_lab()
    if settings.author == "llm":
        from trace_gym.sandbox import require_isolation

        require_isolation()  # now, and not after the stages that come before it
    folder = out or Path("runs") / (preset or (config.stem if config else "run"))
    made = run_loop(settings, folder)
    say(f"report: {made.path('report.html')}")


def report(
    folder: Annotated[Path, typer.Argument(help="A run folder.", show_default=False)],
    out: Annotated[Path | None, typer.Option(help="HTML file; report.html in the run folder by default.")] = None,
) -> None:
    """Write the HTML report of a run, finished or not.

    Example: trace-gym report runs/demo
    """
    from trace_gym.files import write
    from trace_gym.pipeline import reporting
    from trace_gym.report import render_page

    made = reporting.open_run(folder)
    page = out or folder / "report.html"
    write(page, render_page(reporting.collect(made)))
    say(str(page))
