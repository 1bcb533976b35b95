"""Landlock: a process gives up files, network and signals for good; no privilege is needed for it."""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterable
from ctypes import Structure, c_int32, c_uint64

from trace_gym.sandbox import linux

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
FILES = [13, 14, 15, 15, 16, 16, 16]
"""How many rights over files each version of the interface knows, from version 1 on."""
NETWORK = 0b11
"""Binding and connecting of TCP, from version 4 on."""
SCOPES = 0b11
"""Abstract Unix sockets, and signals, from version 6 on."""
READ = EXECUTE | READ_FILE | READ_DIR
OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | 1 << 14 | 1 << 15
"""Rights that mean something for what is no folder."""


class _Ruleset(Structure):
    _fields_ = [("files", c_uint64), ("network", c_uint64), ("scopes", c_uint64)]


class _Below(Structure):
    _pack_ = 1
    _fields_ = [("allowed", c_uint64), ("folder", c_int32)]


def version() -> int:
    """The version of the kernel's interface; 0 where there is none."""
    try:
        return linux.syscall(linux.LANDLOCK_CREATE, 0, 0, 1)
    except OSError:
        return 0


def restrict(readable: Iterable[str], writable: Iterable[str], devices: Iterable[str] = ()) -> None:
    """Leave this process and those it starts only these paths, no TCP, and no signals to the outside.

    Args:
        readable: Files and folders to read and to run, with all below.
        writable: Folders to do anything in.
        devices: Files to read and to write.
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
        return  # it is not there
    try:
        if not stat.S_ISDIR(os.fstat(folder).st_mode):
            rights &= OF_A_FILE
        linux.syscall(linux.LANDLOCK_ADD, ruleset, 1, ctypes.byref(_Below(rights, folder)), 0)
    finally:
        os.close(folder)
