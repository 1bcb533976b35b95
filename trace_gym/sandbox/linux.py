"""Wrappers for Linux system calls that the standard library does not provide.

Every function raises `OSError` if the system call fails.
"""

from __future__ import annotations

import ctypes
import os
import platform
from ctypes import Structure, c_char_p, c_int, c_long, c_uint64, c_ulong, sizeof
from typing import Any

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_SECCOMP = 1, 4, 24, 22
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 36, 38, 47
NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000
NEWUSER, NEWPID, NEWNET = 0x1000_0000, 0x2000_0000, 0x4000_0000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 8, 4096, 16384, 1 << 18
MNT_DETACH = 2
AT_FDCWD, AT_RECURSIVE = -100, 0x8000
MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID = 1, 2
MOUNT_SETATTR, LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 442, 444, 445, 446
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
LAST_CAPABILITY = 63

MACHINE = platform.machine()
_libc = ctypes.CDLL(None, use_errno=True)


class MountAttributes(Structure):
    """``struct mount_attr``."""

    _fields_ = [("set", c_uint64), ("clear", c_uint64), ("propagation", c_uint64), ("userns", c_uint64)]


def call(name: str, *arguments: Any) -> int:
    """Call a function of the C library, and raise `OSError` if it returns -1."""
    made: int = getattr(_libc, name)(*arguments)
    if made == -1:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}() failed: {os.strerror(code)}")
    return made


def syscall(number: int, *arguments: Any) -> int:
    """Make a system call by number. Integer arguments are passed as C longs."""
    return call("syscall", c_long(number), *(c_long(a) if isinstance(a, int) else a for a in arguments))


def prctl(option: int, *arguments: int) -> int:
    """Set an attribute of this process."""
    given = [*arguments, 0, 0, 0, 0][:4]
    return call("prctl", c_int(option), *(c_ulong(a) for a in given))


def unshare(flags: int) -> None:
    """Move this process into new namespaces."""
    call("unshare", c_int(flags))


def mount(source: str, target: str, kind: str | None, flags: int = 0, options: str = "") -> None:
    """Mount a file system, or bind-mount a path at another location."""
    texts = [None if t is None else c_char_p(os.fsencode(t)) for t in (source, target, kind, options)]
    call("mount", texts[0], texts[1], texts[2], c_ulong(flags), texts[3])


def read_only(path: str) -> None:
    """Make all mounts at and below a path read-only, and disable set-user-id programs there."""
    wanted = MountAttributes(MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID, 0, 0, 0)
    syscall(MOUNT_SETATTR, AT_FDCWD, c_char_p(os.fsencode(path)), AT_RECURSIVE, ctypes.byref(wanted), sizeof(wanted))


def pivot_root(path: str) -> None:
    """Make a mount point the root directory and unmount the old root."""
    os.chdir(path)
    here = c_char_p(b".")
    syscall(PIVOT_ROOT[MACHINE], here, here)
    call("umount2", here, c_int(MNT_DETACH))
    os.chdir("/")


def drop_capabilities() -> None:
    """Drop all current capabilities, and all capabilities that a later ``exec`` could grant."""
    for number in range(LAST_CAPABILITY + 1):
        try:
            prctl(PR_CAPBSET_DROP, number)
        except OSError:
            break  # the kernel does not know this capability, or the process may not drop it

    class Header(Structure):
        _fields_ = [("version", ctypes.c_uint32), ("pid", c_int)]

    header = Header(0x2008_0522, 0)
    nothing = (ctypes.c_uint32 * 6)()
    call("capset", ctypes.byref(header), ctypes.byref(nothing))
