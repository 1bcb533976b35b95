"""Monitoring and killing of a process tree, based on ``/proc``.

The tree contains all descendants of one process, which must be a subreaper. The kernel reassigns orphaned processes to
the subreaper, so a process cannot leave the tree by forking twice.
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
"""Indices of the fields in ``/proc/PID/stat`` that follow the process name."""
SHARED = 2
"""Index of the number of file-backed pages in ``/proc/PID/statm``."""


def scan_descendants(of: int) -> dict[int, list[int]]:
    """Return a dict from the id of each descendant of a process to its fields in ``/proc/PID/stat``."""
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


def list_descendants(of: int) -> dict[int, list[int]]:
    """Return the same dict as `scan_descendants`, but faster.

    Processes that start during the call may be missing. If the kernel does not provide lists of child processes, the
    slower function is used.
    """
    if not os.path.exists(f"/proc/{of}/task/{of}/children"):
        return scan_descendants(of)
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
        return []  # the process has ended


def _own_memory(pid: int) -> int:
    """Return the resident memory of a process in bytes, excluding file-backed pages."""
    try:
        with open(f"/proc/{pid}/statm") as file:
            fields = file.read().split()
        return (int(fields[1]) - int(fields[SHARED])) * PAGE
    except (OSError, ValueError, IndexError):
        return 0


@dataclass
class ProcessMonitor:
    """Monitor that compares the resource usage of a process tree with its limits."""

    limits: Limits
    root: int
    """Id of the root process. Its descendants are monitored, but not the process itself."""
    started: float = field(default_factory=time.monotonic)
    deadline: float | None = None
    """Additional time limit of the job in seconds of wall-clock time; None for no additional limit."""
    spent: dict[int, float] = field(default_factory=dict)
    """Mapping from process id to processor time in seconds, for every process that was observed."""

    def find_exceeded_limit(self) -> tuple[str, str]:
        """Return the name of an exceeded limit and a message, or two empty strings."""
        limits, tree = self.limits, list_descendants(self.root)
        for pid, numbers in tree.items():
            self.spent[pid] = (numbers[USER_TIME] + numbers[SYSTEM_TIME]) / TICK
        elapsed = time.monotonic() - self.started
        if self.deadline is not None and elapsed > self.deadline:
            return "budget", f"the module did not finish within {self.deadline:g} seconds"
        if elapsed > limits.wall_seconds:
            return "wall", f"the module ran longer than {limits.wall_seconds:g} seconds"
        if (cpu := sum(self.spent.values())) > limits.cpu_seconds:
            return "cpu", f"the module used more than {limits.cpu_seconds:g} seconds of processor time ({cpu:.1f})"
        if (count := sum(numbers[THREADS] for numbers in tree.values())) > limits.processes:
            return "processes", f"the module had {count} processes and threads, expected at most {limits.processes}"
        if (used := sum(map(_own_memory, tree))) > limits.memory_mib * MIB:
            return "memory", f"the module used {used // MIB} MiB of memory, expected at most {limits.memory_mib}"
        return "", ""


def kill_tree(root: int, seconds: float = 10.0) -> bool:
    """Kill all descendants of a process, including new ones, and wait for their end.

    Returns:
        Whether all descendants ended in time.
    """
    end = time.monotonic() + seconds
    while tree := scan_descendants(root):
        for pid in tree:  # all processes are stopped first, so that they cannot fork while others are killed
            _signal(pid, signal.SIGSTOP)
        for pid in scan_descendants(root):
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
