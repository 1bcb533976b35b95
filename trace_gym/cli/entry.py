"""Entry point: collects the verbs and turns errors into messages and exit codes."""

from __future__ import annotations

import sys
from typing import Annotated, Any, NoReturn

import typer

import trace_gym
from trace_gym.cli import (
    agents,
    environments,
    exporting,
    loop,
    sandboxing,
    serving,
    streams,
    synthesis,
    targets,
    validation,
)
from trace_gym.cli.summaries import Summaries
from trace_gym.errors import TraceGymError
from trace_gym.terminal import reserved_stdout, say


class Commands(Summaries):
    """The commands. An interruption and a reader that closes the pipe end them without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            say("trace-gym: interrupted; the same command continues where it stopped", err=True)
            raise typer.Exit(130) from None
        except BrokenPipeError:  # such as `trace-gym list | head`: nothing is wrong
            streams.drop_output_if_broken()
            raise typer.Exit(0) from None


app = typer.Typer(
    name="trace-gym",
    cls=Commands,
    help="Find the capabilities an agent lacks, train each in its own verifiable environment, route between them.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,  # plain help: panels cut the names of options in a narrow terminal
    pretty_exceptions_enable=False,
)
for module in (environments, targets, synthesis, validation, agents, loop, sandboxing, serving, exporting):
    module.register(app)


def _reserve_stdout(commands: typer.Typer) -> None:
    """Let only the commands themselves write to stdout while they run, and not the environments that they run."""
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
    """Run the command line; exit codes: 0 done, 1 a clear error, 2 a usage error, 130 interrupted.

    Of ``validate``, 1 says that the environment failed, so what kept it from being checked is 2.
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
