"""Linux namespaces: a separate file system, process table, network and users for a process tree.

If the sandbox runs as root, it creates the namespaces directly and switches to an unprivileged user before the module
runs. Otherwise, it first creates a user namespace, which keeps the user id, and later drops the capabilities that the
user namespace grants.
"""

from __future__ import annotations

import os

from trace_gym.sandbox import linux

MADE = linux.NEWNS | linux.NEWPID | linux.NEWNET | linux.NEWIPC | linux.NEWUTS
FIRST_FREE = 1_000_000_000
"""Start of a range of user ids that systems do not use. Each sandbox that root starts uses one of them."""
NOBODY = 65_534


def enter() -> bool:
    """Move this process, which must have only one thread, into new namespaces.

    The new process namespace applies to child processes and not to this process.

    Returns:
        Whether the process has root privileges outside the namespaces.

    Raises:
        OSError: A system call fails.
    """
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        try:
            linux.unshare(MADE)
            return True
        except OSError:
            pass  # root of a container may have only the permissions of an ordinary user
    linux.unshare(MADE | linux.NEWUSER)
    linux.prctl(linux.PR_SET_DUMPABLE, 1)  # makes this user the owner of the process's files in /proc
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    return False


def owner() -> int:
    """Return an unused user id for a sandbox that root starts, derived from the process id."""
    return FIRST_FREE + os.getpid()


def become(user: int) -> None:
    """Switch permanently to another user id, or to the user nobody if that fails.

    Raises:
        OSError: A system call fails.
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
