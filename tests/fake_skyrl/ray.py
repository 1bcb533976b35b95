"""Stand-in for Ray, which runs a remote function in this process."""

from __future__ import annotations

from typing import Any


def remote(**_: Any) -> Any:
    def decorate(function: Any) -> Any:
        function.remote = function
        return function

    return decorate


def get(value: Any) -> Any:
    return value
