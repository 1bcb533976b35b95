"""System call filter (seccomp) that blocks network access, access to other processes, mounts, and new namespaces.

The filter is a classic BPF program that the kernel evaluates at every system call. A blocked call fails with EPERM. The
filter is a second line of defense after namespaces and Landlock. If namespaces are not available, the filter is the
main protection against network access.
"""

from __future__ import annotations

import ctypes
import errno
from collections.abc import Iterable, Iterator
from ctypes import POINTER, Structure, c_ubyte, c_uint32, c_ushort

from trace_gym.sandbox import linux

ARCHITECTURES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}
"""Mapping from machine type to the architecture id that the kernel passes to a filter."""
ALLOW, ERRNO = 0x7FFF_0000, 0x0005_0000
X32 = 0x4000_0000
NAMESPACES = 0x7E02_0080
"""Flags of `clone` that create namespaces: user, pid, net, ipc, uts, cgroup, mount, time."""

REFUSED = {  # name: (x86_64, aarch64)
    "socket": (41, 198),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "mknodat": (259, 33),
    "syslog": (103, 116),
    "fanotify_init": (300, 262),
}
OLD = {"mknod": 133, "iopl": 172, "ioperm": 173}
"""Blocked system calls that exist only on x86_64."""
CLONE, CLONE3 = (56, 220), (435, 435)
SIGNALS = {"kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131)}

Instruction = tuple[int, int, int, int]
"""BPF instruction: opcode, jump offset if true, jump offset if false, and operand."""
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16
"""Offsets of the fields of ``struct seccomp_data`` that the filter reads."""


class _Instruction(Structure):
    _fields_ = [("code", c_ushort), ("true", c_ubyte), ("false", c_ubyte), ("k", c_uint32)]


class _Program(Structure):
    _fields_ = [("count", c_ushort), ("instructions", POINTER(_Instruction))]


def program(machine: str, protected: Iterable[int] = ()) -> list[Instruction]:
    """Return the filter program for a machine type.

    Args:
        machine: A key of `ARCHITECTURES`.
        protected: Ids of processes that must not receive signals. Pass them if the sandboxed process can see them.
    """
    column = list(ARCHITECTURES).index(machine)
    refuse = (RETURN, 0, 0, ERRNO | errno.EPERM)
    made: list[Instruction] = [(LOAD, 0, 0, ARCHITECTURE), (EQUAL, 1, 0, ARCHITECTURES[machine]), refuse]
    made.append((LOAD, 0, 0, NUMBER))
    if machine == "x86_64":
        made += [(AT_LEAST, 0, 1, X32), refuse]
        made += [line for number in OLD.values() for line in ((EQUAL, 0, 1, number), refuse)]
    made += [line for numbers in REFUSED.values() for line in ((EQUAL, 0, 1, numbers[column]), refuse)]
    made += [(EQUAL, 0, 1, CLONE3[column]), (RETURN, 0, 0, ERRNO | errno.ENOSYS)]  # the C library falls back to clone
    flags: list[Instruction] = [(LOAD, 0, 0, FIRST_ARGUMENT), (ANY_BIT, 0, 1, NAMESPACES), refuse]
    made += [(EQUAL, 0, len(flags) + 1, CLONE[column]), *flags, (RETURN, 0, 0, ALLOW)]
    made += _no_signals(column, sorted(set(protected)), refuse)
    return [*made, (RETURN, 0, 0, ALLOW)]


def _no_signals(column: int, protected: list[int], refuse: Instruction) -> Iterator[Instruction]:
    """Yield instructions that block signals to the given processes, to their process groups, and to all processes."""
    pids = [p & 0xFFFF_FFFF for pid in protected for p in (pid, -pid)] + [0xFFFF_FFFF]
    tests = [line for pid in pids for line in ((EQUAL, 0, 1, pid), refuse)] if protected else []
    for numbers in SIGNALS.values() if tests else ():
        yield (EQUAL, 0, len(tests) + 2, numbers[column])
        yield (LOAD, 0, 0, FIRST_ARGUMENT)
        yield from tests
        yield (RETURN, 0, 0, ALLOW)


def available() -> bool:
    """Return whether the filter supports this machine type."""
    return linux.MACHINE in ARCHITECTURES


def install(protected: Iterable[int] = ()) -> None:
    """Install the filter permanently for this process and its children."""
    lines = program(linux.MACHINE, protected)
    made = _Program(len(lines), (_Instruction * len(lines))(*(_Instruction(*line) for line in lines)))
    linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
    linux.prctl(linux.PR_SET_SECCOMP, 2, ctypes.addressof(made))
