"""Options that several commands share."""

from __future__ import annotations

import os
from typing import Annotated

import typer

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
