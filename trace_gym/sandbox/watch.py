"""Watching a process tree through ``/proc``: what it uses, and ending it.

A tree is all that descends from one process. Orphans come back to it where the process is their subreaper, so a
process that forks twice does not get away.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass, field

from trace_gym.sandbox.limits import MIB, Limits

TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
PAGE = os.sysconf("SC_PAGESIZE") if hasattr(os, "sysconf") else 4096
PARENT, USER_TIME, SYSTEM_TIME, THREADS, RESIDENT = 1, 11, 12, 17, 21
"""Positions in ``/proc/PID/stat``, after the name."""
SHARED = 2
"""Position in ``/proc/PID/statm`` of the pages that are files'."""


def descendants(of: int) -> dict[int, list[int]]:
    """The processes below one, with the numbers that ``/proc`` holds of each; empty where there is no ``/proc``."""
    found: dict[int, list[int]] = {}
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit() and (numbers := _stat(name)):
                found[int(name)] = numbers
    below: dict[int, list[int]] = {}
    layer = [of]
    while layer:
        layer = [pid for pid, numbers in found.items() if numbers[PARENT] in layer and pid not in below]
        below |= {pid: found[pid] for pid in layer}
    return below


def glance(of: int) -> dict[int, list[int]]:
    """The same, quicker, and without some that appear meanwhile; kernels that keep no lists of children get all."""
    if not os.path.exists(f"/proc/{of}/task/{of}/children"):
        return descendants(of)
    below: dict[int, list[int]] = {}
    layer = [of]
    while layer:
        layer = [child for pid in layer for child in _children(pid) if child not in below]
        below |= {pid: numbers for pid in layer if (numbers := _stat(str(pid)))}
    return below


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError, ValueError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children") as file:
                found += map(int, file.read().split())
    return found


def _stat(pid: str) -> list[int]:
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return [0, *(int(x) for x in fields[1:])]
    except (OSError, ValueError):
        return []  # it is gone


def _own_memory(pid: int) -> int:
    """Bytes of resident memory that are no files'."""
    try:
        with open(f"/proc/{pid}/statm") as file:
            fields = file.read().split()
        return (int(fields[1]) - int(fields[SHARED])) * PAGE
    except (OSError, ValueError, IndexError):
        return 0


@dataclass
class Watch:
    """Compares a process tree with its limits, as often as it is asked."""

    limits: Limits
    root: int
    """The process below which the tree is."""
    started: float = field(default_factory=time.monotonic)
    deadline: float | None = None
    """Seconds of the clock that were granted, where they are less than the limit."""
    spent: dict[int, float] = field(default_factory=dict)
    """Processor time of every process that was seen."""

    def excess(self) -> tuple[str, str]:
        """Which limit is exceeded, and by what; empty texts where none is."""
        limits, tree = self.limits, glance(self.root)
        for pid, numbers in tree.items():
            self.spent[pid] = (numbers[USER_TIME] + numbers[SYSTEM_TIME]) / TICK
        elapsed = time.monotonic() - self.started
        if self.deadline is not None and elapsed > self.deadline:
            return "budget", f"it had not ended after {self.deadline:g} seconds"
        if elapsed > limits.wall_seconds:
            return "wall", f"it ran longer than {limits.wall_seconds:g} seconds"
        if (cpu := sum(self.spent.values())) > limits.cpu_seconds:
            return "cpu", f"it used more than {limits.cpu_seconds:g} seconds of processor time ({cpu:.1f})"
        if (count := sum(numbers[THREADS] for numbers in tree.values())) > limits.processes:
            return "processes", f"it had {count} processes and threads; at most {limits.processes}"
        if (used := sum(map(_own_memory, tree))) > limits.memory_mib * MIB:
            return "memory", f"it held {used // MIB} MiB of memory; at most {limits.memory_mib}"
        return "", ""


def end_all(root: int, seconds: float = 10.0) -> bool:
    """Kill all that is below a process and wait for it; new ones that appear meanwhile are killed, too.

    Returns:
        Whether nothing is left.
    """
    end = time.monotonic() + seconds
    while tree := descendants(root):
        for pid in tree:  # stopped first, or a process that forks all the time stays ahead
            _signal(pid, signal.SIGSTOP)
        for pid in descendants(root):
            _signal(pid, signal.SIGKILL)
        _reap()
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    _reap()
    return True


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
