"""Resource limits for a sandboxed process tree."""

from __future__ import annotations

import os
from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Resource limits of a job. Unless noted otherwise, a limit applies to all processes of the job together."""

    cpu_seconds: float = 900.0
    """Processor time in seconds, beginning when the module is loaded."""
    wall_seconds: float = 1800.0
    memory_mib: int = 4096
    """Resident memory in MiB. The address space of each process can also grow by at most this amount."""
    processes: int = 48
    """Number of processes and threads. Validation itself runs about ten interpreters at the same time."""
    open_files: int = 256
    """Number of open files per process."""
    disk_mib: int = 128
    """Size of the private folder in MiB."""
    output_mib: int = 16
    """Total size of the report and of all printed output in MiB."""


def limit_process(limits: Limits, processes: int | None) -> None:
    """Limit this process and its future children permanently. POSIX only.

    Args:
        limits: Limits to set.
        processes: Maximum number of processes of the current user, or None for no limit. Use None if the user also runs
            processes outside the sandbox, because the kernel counts these as well.
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
    """Return the current size of the address space of this process in bytes."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGESIZE")
    except OSError:
        return 1024 * MIB
