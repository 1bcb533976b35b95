"""Fresh Python processes, each of which runs one module of trace_gym.

The process reads a JSON object from standard input and prints JSON lines to standard output.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

NOT_INSTALLED = "a fresh process cannot import trace_gym"
"""Beginning of the error message if a process does not find the package."""


def command(module: str, safe_path: bool = False) -> list[str]:
    """Return the command line that runs a module without warnings.

    Args:
        module: Full name of the module.
        safe_path: Exclude the working directory from the import path (``python -P``).
    """
    return [sys.executable, *(["-P"] if safe_path else []), "-W", "ignore", "-m", module]


def answers(
    module: str,
    request: object,
    settings: Sequence[Mapping[str, str]],
    *,
    seconds: float,
    work: str,
    error: type[Exception],
) -> list[Any]:
    """Run a module in one process per setting, all at the same time, and return the last JSON line of each.

    Args:
        module: Full name of the module.
        request: JSON value for the standard input of each process.
        settings: Environment variables of each process, in addition to those of this process.
        seconds: Time limit for each process.
        work: Task of the process for the error message, such as ``run the environment``.
        error: Exception that is raised if a process fails or exceeds the time limit.
    """
    text, started, found = json.dumps(request).encode(), [], []
    pipe = subprocess.PIPE
    with ExitStack() as stack:
        for setting in settings:
            env = _environment(setting)
            process = subprocess.Popen(command(module), env=env, stdin=pipe, stdout=pipe, stderr=pipe)
            started.append(stack.enter_context(process))
            stack.callback(process.kill)
        for process in started:
            try:
                output, errors = process.communicate(text, seconds)
            except subprocess.TimeoutExpired:
                raise error(f"a fresh process did not finish within {seconds} seconds") from None
            if process.returncode:
                last = (errors.decode(errors="replace").strip().splitlines() or ["no error output"])[-1]
                if "No module named 'trace_gym'" in last:
                    raise error(f"{NOT_INSTALLED}, because the package is not installed")
                raise error(f"a fresh process cannot {work} and ends with: {last[:300]}")
            found.append(json.loads(output.splitlines()[-1]))
    return found


def complete_lines(module: str, request: object, seconds: float) -> tuple[list[bytes], int | None]:
    """Run a module in a process that may hang or crash.

    Returns:
        The complete lines that the process printed, and its exit code, or None if it exceeded the time limit.
    """
    text, env = json.dumps(request).encode(), _environment({})
    with tempfile.TemporaryFile() as output:  # a file keeps the output before a timeout
        to: Any = {"stdout": output, "stderr": subprocess.DEVNULL}
        try:
            code = subprocess.run(command(module), env=env, input=text, timeout=seconds, **to).returncode
        except subprocess.TimeoutExpired:
            code = None
        output.seek(0)
        return output.read().split(b"\n")[:-1], code


def _environment(setting: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables of a process with the import path of this process."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(p or os.getcwd() for p in sys.path), **setting}
