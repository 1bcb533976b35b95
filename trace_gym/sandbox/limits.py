"""How much a confined process tree may use."""

from __future__ import annotations

import os
from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """What all processes of one validation may use together, unless it says otherwise."""

    cpu_seconds: float = 900.0
    """Processor time, counted from when the module is loaded."""
    wall_seconds: float = 1800.0
    memory_mib: int = 4096
    """Resident memory; each process may also reserve no more than this many addresses on top of what it has."""
    processes: int = 48
    """Processes and threads: validation starts fresh interpreters, at most about ten at once."""
    open_files: int = 256
    """Of each process."""
    disk_mib: int = 128
    """The private folder."""
    output_mib: int = 16
    """The report, and what is printed beside it."""


def limit_process(limits: Limits, processes: int | None) -> None:
    """Limit this process and those that it will start, for good. POSIX only.

    Args:
        limits: How much.
        processes: How many there may be of this user; None where a user's own processes would count as well.
    """
    import resource

    def lower(which: int, wanted: int) -> None:
        hard = resource.getrlimit(which)[1]
        least = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(which, (least, least))

    used = resource.getrusage(resource.RUSAGE_SELF)
    lower(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime + limits.cpu_seconds) + 1)
    lower(resource.RLIMIT_AS, _addresses() + limits.memory_mib * MIB)
    lower(resource.RLIMIT_NOFILE, limits.open_files)
    lower(resource.RLIMIT_FSIZE, limits.disk_mib * MIB)
    lower(resource.RLIMIT_CORE, 0)
    if processes is not None:
        lower(resource.RLIMIT_NPROC, processes)


def _addresses() -> int:
    """Bytes of address space that this process has now."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGESIZE")
    except OSError:
        return 1024 * MIB
