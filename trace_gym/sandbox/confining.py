"""Functions that start a sandbox for one purpose: to check one module, or to see what this machine has."""

from __future__ import annotations

import os
from collections.abc import Collection
from functools import lru_cache
from typing import Any

from trace_gym.sandbox.confine import Sandbox
from trace_gym.sandbox.isolation import refuse_without_isolation
from trace_gym.sandbox.layers import Layer
from trace_gym.sandbox.limits import Limits
from trace_gym.types import Report


def confined_validate(
    path: str | os.PathLike[str],
    *,
    profile: str = "gate",
    budget: float | None = None,
    limits: Limits | None = None,
    require: Collection[str] = (),
    **options: Any,
) -> Report:
    """Check one module file in a separate sandbox.

    Args:
        path: The module.
        profile: How thoroughly.
        budget: Seconds after which the rest is unfinished.
        limits: What it may use.
        require: Layers without which it is not run.
        options: The other arguments of `Sandbox.validate`.

    Raises:
        ReadError: The module cannot be read.
        ConfigError: Something that is asked for does not exist, or a required layer is missing.
    """
    with Sandbox(limits, require=require) as sandbox:
        return sandbox.validate(path, profile=profile, budget=budget, **options)


def layers() -> list[Layer]:
    """The layers of the sandbox, with those that this machine has."""
    with Sandbox(isolated=False) as sandbox:
        return sandbox.layers


def require_isolation() -> None:
    """Check that unadmitted code can be run at all, before anything is spent on writing it.

    Raises:
        SandboxError: This machine cannot isolate files and network, and the user has not permitted that.
    """
    refuse_without_isolation(_known_layers())


@lru_cache(maxsize=1)
def _known_layers() -> tuple[Layer, ...]:
    return tuple(layers())
