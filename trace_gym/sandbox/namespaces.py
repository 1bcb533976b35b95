"""Namespaces: a file system, processes, network and users of its own for a process tree.

Root makes them as root and becomes nobody before anything runs; others make a user namespace first, in which they
stay who they are and give up all that it granted.
"""

from __future__ import annotations

import os

from trace_gym.sandbox import linux

MADE = linux.NEWNS | linux.NEWPID | linux.NEWNET | linux.NEWIPC | linux.NEWUTS
FIRST_FREE = 1_000_000_000
"""User ids from here on belong to nobody, and one is taken for each sandbox."""
NOBODY = 65_534


def enter() -> bool:
    """Move this process, which must have one thread, into new namespaces; processes count for its next child.

    Returns:
        Whether it is root outside.

    Raises:
        OSError: The kernel refuses.
    """
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        try:
            linux.unshare(MADE)
            return True
        except OSError:
            pass  # root of a container; it may be allowed what anybody is
    linux.unshare(MADE | linux.NEWUSER)
    linux.prctl(linux.PR_SET_DUMPABLE, 1)  # or its own files in /proc are root's
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    return False


def owner() -> int:
    """The user id that a sandbox of root's takes on."""
    return FIRST_FREE + os.getpid()


def become(user: int) -> None:
    """Be another user, for good; nobody where that one cannot be.

    Raises:
        OSError: The kernel refuses.
    """
    os.setgroups([])
    try:
        os.setresgid(user, user, user)
    except OSError:
        user = NOBODY
        os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)
