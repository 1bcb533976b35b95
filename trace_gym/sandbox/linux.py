"""What the standard library does not offer of Linux: calls that confine a process, by ctypes.

Every function raises `OSError` where the kernel refuses.
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
    """A function of the C library that returns -1 for an error."""
    made: int = getattr(_libc, name)(*arguments)
    if made == -1:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return made


def syscall(number: int, *arguments: Any) -> int:
    """A system call by its number; numbers are passed on as C longs."""
    return call("syscall", c_long(number), *(c_long(a) if isinstance(a, int) else a for a in arguments))


def prctl(option: int, *arguments: int) -> int:
    """Change something about this process."""
    given = [*arguments, 0, 0, 0, 0][:4]
    return call("prctl", c_int(option), *(c_ulong(a) for a in given))


def unshare(flags: int) -> None:
    """Leave namespaces for new ones."""
    call("unshare", c_int(flags))


def mount(source: str, target: str, kind: str | None, flags: int = 0, options: str = "") -> None:
    """Mount a file system, or bind a path to another place."""
    texts = [None if t is None else c_char_p(os.fsencode(t)) for t in (source, target, kind, options)]
    call("mount", texts[0], texts[1], texts[2], c_ulong(flags), texts[3])


def read_only(path: str) -> None:
    """Make everything mounted at and below a path read-only, and without set-user-id."""
    wanted = MountAttributes(MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID, 0, 0, 0)
    syscall(MOUNT_SETATTR, AT_FDCWD, c_char_p(os.fsencode(path)), AT_RECURSIVE, ctypes.byref(wanted), sizeof(wanted))


def pivot_root(path: str) -> None:
    """Make a mount point the root, and let go of the old one."""
    os.chdir(path)
    here = c_char_p(b".")
    syscall(PIVOT_ROOT[MACHINE], here, here)
    call("umount2", here, c_int(MNT_DETACH))
    os.chdir("/")


def drop_capabilities() -> None:
    """Have no capability from the next ``exec`` on, and none of those held now."""
    for number in range(LAST_CAPABILITY + 1):
        try:
            prctl(PR_CAPBSET_DROP, number)
        except OSError:
            break  # beyond the last that this kernel knows, or not ours to drop

    class Header(Structure):
        _fields_ = [("version", ctypes.c_uint32), ("pid", c_int)]

    header = Header(0x2008_0522, 0)
    nothing = (ctypes.c_uint32 * 6)()
    call("capset", ctypes.byref(header), ctypes.byref(nothing))
