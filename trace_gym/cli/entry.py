"""Entry point: collects the verbs and turns errors into messages and exit codes."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

import trace_gym
from trace_gym.cli import (
    agents,
    environments,
    exporting,
    loop,
    sandboxing,
    serving,
    synthesis,
    targets,
    validation,
)
from trace_gym.cli.summaries import Summaries
from trace_gym.errors import TraceGymError

app = typer.Typer(
    name="trace-gym",
    cls=Summaries,
    help="Find the capabilities an agent lacks, train each in its own verifiable environment, route between them.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,  # plain help: panels cut the names of options in a narrow terminal
    pretty_exceptions_enable=False,
)
for module in (environments, targets, synthesis, validation, agents, loop, sandboxing, serving, exporting):
    module.register(app)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(trace_gym.__version__)
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; exit codes: 0 done, 1 a clear error, 2 a usage error, 130 interrupted.

    Of ``validate``, 1 says that the environment failed, so what kept it from being checked is 2.
    """
    try:
        app()
    except TraceGymError as error:
        print(f"trace-gym: {error}", file=sys.stderr)
        sys.exit(2 if sys.argv[1:2] == ["validate"] else 1)
    except FileNotFoundError as error:
        print(f"trace-gym: {error.filename}: no such file or folder", file=sys.stderr)
        sys.exit(1)
    except (PermissionError, IsADirectoryError, NotADirectoryError) as error:
        print(f"trace-gym: {error.filename}: {error.strerror}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("trace-gym: interrupted; the same command continues where it stopped", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has gone (`trace-gym list | head`); nothing is wrong.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
