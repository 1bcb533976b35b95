"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Annotated

import typer

from trace_gym.errors import ConfigError
from trace_gym.registration import ALLOW_UNISOLATED, ALLOW_UNISOLATED_FLAG


def _allow(wanted: bool) -> bool:
    if wanted:
        os.environ[ALLOW_UNISOLATED] = "1"  # processes that this one starts see it as well
    return wanted


AllowUnisolated = Annotated[
    bool,
    typer.Option(
        ALLOW_UNISOLATED_FLAG,
        callback=_allow,
        help="Run code that is not admitted even if this machine cannot isolate files and network.",
    ),
]
"""The only way to run unadmitted code where the sandbox cannot isolate it."""


def refuse(context: typer.Context, names: Collection[str], why: str) -> None:
    """Refuse options and arguments that were given on the command line although they have no effect.

    Args:
        context: The command line.
        names: Parameters of the command.
        why: Why they have no effect, such as ``on author template``.

    Raises:
        ConfigError: One of them was given.
    """
    given = given_options(context)
    if shown := ", ".join(given[name] for name in given if name in names):
        raise ConfigError(f"{shown} has no effect {why}. Leave it out")


def given_options(context: typer.Context) -> dict[str, str]:
    """Return the parameters that were given on the command line: name -> how the user writes it."""
    given = {}
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            written = parameter.opts[0]
            given[name] = written if written.startswith("-") else name.upper()
    return given


User = Annotated[
    str | None,
    typer.Option(
        help="Language model that rewords the scripted user: openai:MODEL, openai:MODEL@URL, or replay:DIR. The script "
        "still decides the answers."
    ),
]
"""Language model behind the user of every rollout."""
