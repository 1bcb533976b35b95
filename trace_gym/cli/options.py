"""Options and checks that several commands share."""

from __future__ import annotations

import os
from collections.abc import Collection
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from trace_gym.errors import ConfigError, MissingExtra
from trace_gym.registration import ALLOW_UNISOLATED, ALLOW_UNISOLATED_FLAG


def _allow(wanted: bool) -> bool:
    if wanted:
        os.environ[ALLOW_UNISOLATED] = "1"  # child processes inherit the variable
    return wanted


MODEL_HELP = (
    "lab (the built-in toy model), smollm2 (after trace-gym model fetch smollm2), a Hugging Face folder or name, or a "
    "YAML file with model settings (name, device, dtype, max_tokens, ...)."
)
ModelOption = Annotated[str, typer.Option(help=MODEL_HELP)]
LevelsOption = Annotated[list[int] | None, typer.Option("--level", help="Level; repeatable. By default all levels.")]
AllowUnisolated = Annotated[
    bool,
    typer.Option(
        ALLOW_UNISOLATED_FLAG,
        callback=_allow,
        help="Run code that is not admitted even if the sandbox cannot isolate files and network on this machine.",
    ),
]
"""Option that permits running unadmitted code on a machine where the sandbox cannot isolate files and network."""


def reject_options(context: typer.Context, names: Collection[str], why: str) -> None:
    """Raise an error for options and arguments that were given on the command line even though they have no effect.

    Args:
        context: The command line.
        names: Parameters of the command that have no effect.
        why: The condition under which they have no effect, such as ``on author recorded``.

    Raises:
        ConfigError: One of the parameters was given.
    """
    given = given_options(context)
    if shown := ", ".join(given[name] for name in given if name in names):
        raise ConfigError(f"{shown} has no effect {why}. Remove it")


def given_options(context: typer.Context) -> dict[str, str]:
    """Return the parameters that were given on the command line, as a mapping of name to command line spelling."""
    given = {}
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            written = parameter.opts[0]
            given[name] = written if written.startswith("-") else name.upper()
    return given


Reviewer = Annotated[
    str, typer.Option(help="Model that reviews an environment that passed the other checks: openai:MODEL or files:DIR.")
]
"""Option for the language model of TG214."""
Solver = Annotated[
    str,
    typer.Option(
        help="Model that solves scenarios of an environment that passed the other checks: openai:MODEL or files:DIR."
    ),
]
"""Option for the language model of TG215."""
ReaderOption = Annotated[
    str,
    typer.Option(
        help="Model that judges the evidence of --reviewer and --solver; by default, "
        "each of these models judges its own evidence."
    ),
]
"""Option for the language model that judges the evidence of the other two."""

User = Annotated[
    str | None,
    typer.Option(
        help="Language model that rewords the scripted user: openai:MODEL, openai:MODEL@URL, or replay:DIR. The "
        "content of the messages still comes from the script."
    ),
]
"""Option for a language model that rewords the messages of the scripted user."""


def reject_overwriting(out: Path | None, *inputs: Path, option: str = "--out") -> None:
    """Raise an error if the output path of an option is also an input path.

    Raises:
        ConfigError: The output would replace an input.
    """
    if out is not None and any(out.resolve() == path.resolve() for path in inputs):
        raise ConfigError(f"{option} {out} is also an input file, which would be overwritten. Choose another path")


def require_lab_extra() -> None:
    """Raise MissingExtra if a library of the ``lab`` extra is not installed."""
    if missing := [m for m in ("torch", "transformers", "peft") if find_spec(m) is None]:
        raise MissingExtra(
            f"required libraries are not installed: {', '.join(missing)}. Run: pip install 'trace-gym[lab]'"
        )
