"""Convenience functions that start a sandbox for a single operation."""

from __future__ import annotations

import os
from collections.abc import Collection
from functools import lru_cache
from typing import Any

from trace_gym.sandbox.isolation import refuse_without_isolation
from trace_gym.sandbox.layer_list import Layer
from trace_gym.sandbox.limits import Limits
from trace_gym.sandbox.sandbox import Sandbox
from trace_gym.types import Report


def validate_sandboxed(
    path: str | os.PathLike[str],
    *,
    profile: str = "gate",
    budget: float | None = None,
    limits: Limits | None = None,
    require_layers: Collection[str] = (),
    **options: Any,
) -> Report:
    """Check one module file in a separate sandbox.

    Args:
        path: Module file.
        profile: Validation profile.
        budget: Seconds after which the remaining checks are reported as unfinished.
        limits: Resource limits.
        require_layers: Layers that must be active.
        options: Other arguments of `Sandbox.validate`.

    Raises:
        ReadError: The module cannot be read.
        ConfigError: An argument is invalid, or a required layer is missing.
    """
    with Sandbox(limits, require_layers=require_layers) as sandbox:
        return sandbox.validate(path, profile=profile, budget=budget, **options)


def layers() -> list[Layer]:
    """Return all protection layers of the sandbox, with their state on this machine."""
    with Sandbox(isolated=False) as sandbox:
        return sandbox.layers


def require_isolation() -> None:
    """Check that this machine can isolate unadmitted code.

    Call this function before an expensive operation if its result must run in the sandbox.

    Raises:
        SandboxError: This machine cannot isolate files and network, and the user has not permitted running without
            isolation.
    """
    refuse_without_isolation(_known_layers())


@lru_cache(maxsize=1)
def _known_layers() -> tuple[Layer, ...]:
    return tuple(layers())
