"""The static gate in a separate process, whose time and memory are limited.

The parser and the rules read text that nobody has checked yet, and some texts keep them busy for long. The process
runs nothing of the module, so it needs limits and no isolation.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict

from trace_gym.errors import SandboxError
from trace_gym.sandbox.limits import Limits, limit_process
from trace_gym.sandbox.names import TARGET_IMPORTS
from trace_gym.sandbox.rules import MAX_CHARACTERS, Fault
from trace_gym.sandbox.scan import scan as scan_here
from trace_gym.sandbox.view import import_path
from trace_gym.validate.lifeline import die_with_parent

SCANNING = Limits(cpu_seconds=20.0, wall_seconds=120.0, memory_mib=1024, disk_mib=0)
"""The limits of one scan; the committed environments take less than a second and 100 MiB."""
STOPPED = (-signal.SIGKILL, -signal.SIGSEGV, -getattr(signal, "SIGXCPU", signal.SIGKILL))
"""Exit codes of a scan that exceeded a limit."""
NO_MEMORY = 3


def scan(text: str, *, target_imports: Sequence[str] = TARGET_IMPORTS, limits: Limits = SCANNING) -> list[Fault]:
    """Return the faults of a module, in the order of its lines, or an empty list if it obeys `RULES`.

    Nothing of the module is run. A module that exceeds the limits of the scan has a fault of the rule ``size``.

    Args:
        text: The module.
        target_imports: Full names of the target's modules that it may import from.
        limits: The processor time, wall-clock time and memory of the scan.

    Raises:
        SandboxError: The process of the scan failed for another reason.
    """
    if len(text) > MAX_CHARACTERS:
        return scan_here(text)  # which looks no further
    asked = {"text": text, "target_imports": list(target_imports), "limits": asdict(limits)}
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-W", "ignore", "-m", __name__],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": import_path(), "PYTHONDONTWRITEBYTECODE": "1"},
            timeout=limits.wall_seconds,
        )
    except subprocess.TimeoutExpired:
        return [_exceeded(limits)]
    if done.returncode in (*STOPPED, NO_MEMORY):
        return [_exceeded(limits)]
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise SandboxError(
            f"the scan failed: found exit code {done.returncode} ({last[:300]}), expected a list of faults. "
            "Run trace-gym doctor to check the installation"
        )
    return [Fault(**fault) for fault in json.loads(done.stdout)]


def _exceeded(limits: Limits) -> Fault:
    return Fault(
        1,
        "size",
        f"the scan took more than its limits: found no result, expected one within {limits.cpu_seconds:g} s of "
        f"processor time and {limits.memory_mib} MiB. Use fewer and simpler patterns, names and expressions",
    )


def main() -> None:
    """Read a request from standard input and print the faults as JSON."""
    die_with_parent()
    asked = json.load(sys.stdin)
    if sys.platform != "win32":
        limit_process(Limits(**asked["limits"]), None)
    try:
        faults = scan_here(asked["text"], target_imports=asked["target_imports"])
    except MemoryError:
        sys.exit(NO_MEMORY)
    print(json.dumps([asdict(fault) for fault in faults]))


if __name__ == "__main__":
    main()
