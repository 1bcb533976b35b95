"""Linter that runs in a separate process with limits on time and memory.

The limits are required because some texts make the parser or the lint rules very slow. Isolation is not required,
because the process only reads the module and does not run it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from trace_gym.errors import SandboxError
from trace_gym.interpreter import command
from trace_gym.parent_death import die_with_parent
from trace_gym.sandbox.filesystem_view import import_path
from trace_gym.sandbox.limits import Limits, limit_process
from trace_gym.sandbox.lint_rules import MAX_CHARACTERS, LintViolation
from trace_gym.sandbox.linter import lint
from trace_gym.target_packages import TARGETS_VARIABLE, with_folders

LINT_LIMITS = Limits(cpu_seconds=20.0, wall_seconds=120.0, memory_mib=1024, disk_mib=0)
"""Default limits of a lint run. Linting an environment in this repository takes less than a second and 100 MiB."""
STOPPED = (-signal.SIGKILL, -signal.SIGSEGV, -getattr(signal, "SIGXCPU", signal.SIGKILL))
"""Exit codes of a lint process that exceeded a limit."""
NO_MEMORY = 3


def lint_source(
    text: str, *, target_imports: Sequence[str] | None = None, limits: Limits = LINT_LIMITS
) -> list[LintViolation]:
    """Return the violations of a module in line order, or an empty list if the module follows `RULES`.

    The module is not run. If linting exceeds the limits, the result is a single violation of the rule ``size``.

    Args:
        text: Source text of the module.
        target_imports: Full names of the target modules that the module may import; None for those of all registered
            targets.
        limits: Limits on processor time, wall-clock time and memory.

    Raises:
        SandboxError: The lint process failed for another reason.
    """
    if len(text) > MAX_CHARACTERS:
        return lint(text)  # for a text of this length, `lint` checks only the size
    request = {"text": text, "target_imports": target_imports and list(target_imports), "limits": asdict(limits)}
    try:
        done = _run(request, limits)
    except subprocess.TimeoutExpired:
        return [_limit_violation(limits, f"no result after {limits.wall_seconds:g} s")]
    if done.returncode in (*STOPPED, NO_MEMORY):
        return [_limit_violation(limits, f"exit code {done.returncode}")]
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise SandboxError(
            f"the linter failed with exit code {done.returncode}: {last[:300]}. "
            "Run trace-gym doctor to check the installation"
        )
    return [LintViolation(**violation) for violation in json.loads(done.stdout)]


def _run(request: Mapping[str, Any], limits: Limits) -> subprocess.CompletedProcess[str]:
    """Run the linter in a process, which sets the limits for itself.

    `trace_gym.interpreter.complete_lines` is not suitable: its output is a file, and the limits forbid to write files.
    """
    return subprocess.run(
        command(__name__, safe_path=True),
        input=json.dumps(request),
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": import_path(),
            "PYTHONDONTWRITEBYTECODE": "1",
            TARGETS_VARIABLE: with_folders(),
        },
        timeout=limits.wall_seconds,
    )


def _limit_violation(limits: Limits, found: str) -> LintViolation:
    return LintViolation(
        1,
        "size",
        f"the linter exceeded its limits: found {found}, expected a result within {limits.cpu_seconds:g} s of "
        f"processor time and {limits.memory_mib} MiB. Use fewer and simpler patterns, names and expressions",
    )


def main() -> None:
    """Read a request from standard input and print the violations as JSON."""
    die_with_parent()
    request = json.load(sys.stdin)
    if sys.platform != "win32":
        limit_process(Limits(**request["limits"]), None)
    try:
        violations = lint(request["text"], target_imports=request["target_imports"])
    except MemoryError:
        sys.exit(NO_MEMORY)
    print(json.dumps([asdict(violation) for violation in violations]))


if __name__ == "__main__":
    main()
