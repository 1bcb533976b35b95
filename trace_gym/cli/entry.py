"""Entry point of the command line: registration of the commands, error messages and exit codes."""

from __future__ import annotations

import sys
from typing import Annotated, Any, NoReturn

import typer

import trace_gym
from trace_gym.cli import (
    diagnose,
    environments,
    evaluate,
    exporting,
    loop,
    models,
    rollout,
    route,
    sandboxing,
    serving,
    streams,
    synthesis,
    targets,
    train,
    validation,
)
from trace_gym.cli.summaries import Summaries
from trace_gym.errors import TraceGymError
from trace_gym.terminal import reserved_stdout, say


class Commands(Summaries):
    """Command group that exits without a traceback on Ctrl-C and on a closed pipe."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            advice = str(error) or "run the same command again to continue where it stopped"
            say(f"trace-gym: interrupted; {advice}", err=True)
            raise typer.Exit(130) from None
        except BrokenPipeError:  # not an error, for example `trace-gym list | head`
            streams.drop_output_if_broken()
            raise typer.Exit(0) from None


app = typer.Typer(
    name="trace-gym",
    cls=Commands,
    help="Find the capabilities that an agent lacks, train a LoRA adapter per capability in a verifiable environment, "
    "and route requests to the adapters.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,  # plain help, because panels truncate option names in a narrow terminal
    pretty_exceptions_enable=False,
)
for module in (
    environments,
    targets,
    synthesis,
    validation,
    rollout,
    diagnose,
    train,
    route,
    evaluate,
    loop,
    models,
    sandboxing,
    serving,
    exporting,
):
    module.register(app)


def _reserve_stdout(commands: typer.Typer) -> None:
    """Reserve stdout for the output of the commands; the output of environments goes to stderr."""
    for command in commands.registered_commands:
        assert command.callback is not None
        command.callback = reserved_stdout()(command.callback)
    for group in commands.registered_groups:
        assert group.typer_instance is not None
        _reserve_stdout(group.typer_instance)


_reserve_stdout(app)


def _version(wanted: bool) -> None:
    if wanted:
        say(trace_gym.__version__)
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line and exit with 0 (success), 1 (error), 2 (usage error) or 130 (interrupted).

    ``validate`` exits with 1 if the environment failed validation, and with 2 if an error prevented validation.
    """
    streams.prepare()
    try:
        app()
    except TraceGymError as error:
        _fail(str(error), 2 if sys.argv[1:2] == ["validate"] else 1)
    except OSError as error:
        streams.drop_output_if_broken()
        place = f"{error.filename}: " if error.filename else "cannot read or write a file: "
        reason = "no such file or folder" if isinstance(error, FileNotFoundError) else error.strerror or str(error)
        _fail(f"{place}{reason}")
    finally:
        streams.drop_output_if_broken()


def _fail(message: str, code: int = 1) -> NoReturn:
    say(f"trace-gym: {message}", err=True)
    sys.exit(code)
