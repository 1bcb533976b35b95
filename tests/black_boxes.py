"""Helpers for the tests of third-party validation."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trace_gym.types import Finding
from trace_gym.validation import validate


def of(made: type) -> str:
    return f"gym:foreign_envs:strangers/{made.__name__}-v0"


def ask(address: str, *only: str, profile: str = "quick", **kw: Any) -> dict[str, Finding]:
    report = validate(address, profile=profile, only=only or None, progress=False, **kw)
    assert report.env == address
    return {f.code: f for f in report.findings}


def run(snippet: str) -> str:
    """Return the output of a counterexample, which may raise the exception of the environment."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(Exception):
        exec(compile(snippet, "counterexample", "exec"), {})
    return out.getvalue()


def log(path: Path, groups: Sequence[Sequence[float]]) -> str:
    rows = [{"prompt_id": n, "reward": reward} for n, group in enumerate(groups) for reward in group]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return f"rollouts:{path}"
