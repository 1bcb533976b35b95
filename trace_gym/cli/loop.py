"""The commands `run` and `report` for complete runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trace_gym.cli.options import AllowUnisolated, User
from trace_gym.errors import ConfigError, ReadError
from trace_gym.terminal import say

PRESETS = "demo, full, smoke"
"""Names of `trace_gym.settings.presets`, repeated here because importing that module would slow down the help."""


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the command line."""
    app.command()(run)
    app.command()(report)


def run(
    config: Annotated[
        Path | None, typer.Argument(help="YAML file with the settings of the run.", show_default=False)
    ] = None,
    preset: Annotated[str | None, typer.Option(help=f"Shipped configuration: {PRESETS}.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the run; runs/NAME by default.")] = None,
    source: Annotated[
        Path | None,
        typer.Option(
            help="Results of tau-bench or tau2, or JSONL of trace-gym rollout, to diagnose instead of new rollouts."
        ),
    ] = None,
    user: User = None,
    allow_unisolated: AllowUnisolated = False,
) -> None:
    """Run all stages: diagnose, synthesize, validate, train, route, evaluate, report.

    Run the same command again to continue an interrupted run, even after kill -9. Stages whose inputs have not changed
    are skipped.

    Example: trace-gym run --preset demo
    """
    from trace_gym.cli.options import require_lab_extra
    from trace_gym.llm import Usage
    from trace_gym.pipeline import run as run_loop
    from trace_gym.settings import RunConfig

    if (config is None) == (preset is None):
        raise ConfigError(
            f"expected either a configuration file or --preset, found {'neither' if config is None else 'both'}. "
            f"The presets are {PRESETS}"
        )
    settings = RunConfig.read(config) if config is not None else RunConfig.preset(preset or "")
    if source is not None:
        if not source.is_file():
            raise ReadError(
                f"the file {source} does not exist. Pass a result file of tau-bench or tau2, or a JSONL file of "
                "trace-gym rollout"
            )
        kept = settings.model_dump(exclude={"rollouts"})  # the rollouts are read from the file instead
        settings = RunConfig.parse({**kept, "source": source}, "the settings with --source")
    if user is not None:
        settings = RunConfig.parse({**settings.model_dump(), "user": user}, "the settings with --user")
    require_lab_extra()
    if settings.author == "llm" or not settings.reuse:
        from trace_gym.sandbox import require_isolation

        require_isolation()  # fail before the first stage instead of in the synthesize stage
    folder = out or Path("runs") / (preset or (config.stem if config else "run"))
    made = run_loop(settings, folder)
    if made.requests.exists():
        say(f"agent: {Usage.read(made.requests)}: {made.requests}")
    say(f"report: {made.path('report.html')}")


def report(
    folder: Annotated[Path, typer.Argument(help="Folder of a run.", show_default=False)],
    out: Annotated[Path | None, typer.Option(help="HTML file; report.html in the run folder by default.")] = None,
) -> None:
    """Write the HTML report of a finished or unfinished run.

    Example: trace-gym report runs/demo
    """
    from trace_gym.files import write
    from trace_gym.pipeline import reporting
    from trace_gym.report import render_page

    made = reporting.open_run(folder)
    page = out or folder / "report.html"
    write(page, render_page(reporting.collect(made)))
    say(str(page))
