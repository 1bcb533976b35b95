"""Landlock rules, which permanently restrict a process's access to files, the network and signals.

Landlock is a Linux security module that does not require special privileges.
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterable
from ctypes import Structure, c_int32, c_uint64

from trace_gym.sandbox import linux

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
FILES = [13, 14, 15, 15, 16, 16, 16]
"""Number of file access rights in each Landlock ABI version, beginning with version 1."""
NETWORK = 0b11
"""Rights to bind and connect TCP sockets, available since Landlock ABI version 4."""
SCOPES = 0b11
"""Restrictions of abstract Unix sockets and signals, available since Landlock ABI version 6."""
READ = EXECUTE | READ_FILE | READ_DIR
OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | 1 << 14 | 1 << 15
"""Rights that apply to files other than folders."""


class _Ruleset(Structure):
    _fields_ = [("files", c_uint64), ("network", c_uint64), ("scopes", c_uint64)]


class _Below(Structure):
    _pack_ = 1
    _fields_ = [("allowed", c_uint64), ("folder", c_int32)]


def version() -> int:
    """Return the Landlock ABI version of the kernel, or 0 if the kernel does not support Landlock."""
    try:
        return linux.syscall(linux.LANDLOCK_CREATE, 0, 0, 1)
    except OSError:
        return 0


def restrict(readable: Iterable[str], writable: Iterable[str], devices: Iterable[str] = ()) -> None:
    """Restrict this process and its children to the given paths, and block TCP and signals to other processes.

    Args:
        readable: Files and folder trees that may be read and executed.
        writable: Folder trees with full access.
        devices: Files that may be read and written.
    """
    known = version()
    every = (1 << FILES[min(known, len(FILES)) - 1]) - 1
    rules = _Ruleset(every, NETWORK if known >= 4 else 0, SCOPES if known >= 6 else 0)
    size = 8 if known < 4 else 16 if known < 6 else 24
    ruleset = linux.syscall(linux.LANDLOCK_CREATE, ctypes.byref(rules), size, 0)
    for paths, rights in ((readable, READ), (writable, every), (devices, READ_FILE | WRITE_FILE)):
        for path in paths:
            _allow(ruleset, path, rights & every)
    linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
    linux.syscall(linux.LANDLOCK_RESTRICT, ruleset, 0)
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # the path does not exist
    try:
        if not stat.S_ISDIR(os.fstat(folder).st_mode):
            rights &= OF_A_FILE
        linux.syscall(linux.LANDLOCK_ADD, ruleset, 1, ctypes.byref(_Below(rights, folder)), 0)
    finally:
        os.close(folder)
