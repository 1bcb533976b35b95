"""The processes of one job: forked from the keeper, they give up their rights and then run the module.

Three processes are nested: one enters the namespaces, the first process inside them lays out the file system and reaps
orphans, and the last one runs the module.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from trace_gym.sandbox import landlock, linux, namespaces, seccomp, view
from trace_gym.sandbox.layers import LANDLOCK, NAMESPACES, SECCOMP, USER
from trace_gym.sandbox.limits import Limits, limit_process
from trace_gym.sandbox.worker import INTERACTIVE, Job, run
from trace_gym.validate.lifeline import die_with_parent

FAILED = 111
"""Exit code of a process that could not be confined."""


@dataclass(frozen=True)
class Pipes:
    """The ends that a job's process gets."""

    heard: int
    """Requests of the caller, as its standard input."""
    told: int
    printed: int


def or_exit(work: Callable[[], object]) -> NoReturn:
    """Do something in a forked process, and never come back."""
    try:
        work()
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    os._exit(FAILED)


def outer(job: Job, limits: Limits, folder: str, pipes: Pipes) -> None:
    """The process around a job: enters namespaces, whose processes begin with the next fork."""
    os.setsid()
    die_with_parent()
    os.dup2(pipes.printed, 2)
    # Before the fork: in the new namespace every first process is number 1, and sandboxes that run at once would be
    # one user, whose processes count together.
    user = namespaces.owner() if USER in job.layers else os.geteuid()
    root = namespaces.enter() if NAMESPACES in job.layers else False
    child = os.fork()
    if child == 0:
        or_exit(lambda: _first(job, limits, folder, pipes, root, user))
    os.close(pipes.told)
    _exit_like(child)


def _first(job: Job, limits: Limits, folder: str, pipes: Pipes, root: bool, user: int) -> None:
    """The first process of the new namespaces: lays out the file system, and reaps what the job leaves."""
    die_with_parent()
    visible = view.readable()
    if NAMESPACES in job.layers:
        view.build(folder, visible, limits, user)
        folder = view.WORK
    elif USER in job.layers:
        os.chown(folder, user, user)
    if USER in job.layers:
        namespaces.become(user)
        die_with_parent()  # forgotten when the user changes
    alone = USER in job.layers or (NAMESPACES in job.layers and _counts_in_namespaces())
    child = os.fork()
    if child == 0:
        or_exit(lambda: _inner(job, limits, folder, pipes, visible, alone))
    os.close(pipes.told)
    if NAMESPACES in job.layers:
        linux.drop_capabilities()
    _exit_like(child)


def _inner(job: Job, limits: Limits, folder: str, pipes: Pipes, visible: list[str], alone: bool) -> None:
    """The process that runs the module."""
    die_with_parent()
    pipe = fcntl.fcntl(pipes.told, fcntl.F_DUPFD_CLOEXEC, 20 + secrets.randbelow(150))
    os.dup2(2, 1)
    os.dup2(pipes.heard if job.task in INTERACTIVE else os.open(os.devnull, os.O_RDONLY), 0)
    os.closerange(3, pipe)
    os.closerange(pipe + 1, 4096)
    limit_process(limits, limits.processes if alone else None)
    if NAMESPACES in job.layers:
        linux.drop_capabilities()
    if LANDLOCK in job.layers:
        shared = [view.SHARED_MEMORY] if os.path.isdir(view.SHARED_MEMORY) else []
        landlock.restrict(visible, [folder, *shared], view.DEVICES)
    if SECCOMP in job.layers:
        seen = () if NAMESPACES in job.layers else (os.getppid(), os.getpgid(0), os.getsid(0), *_ancestors())
        seccomp.install(seen)
    run(job, folder, pipe)


def _ancestors() -> list[int]:
    """The processes above this one, as far as ``/proc`` tells."""
    found, pid = [], os.getppid()
    with contextlib.suppress(OSError, ValueError):
        while pid > 1:
            found.append(pid)
            with open(f"/proc/{pid}/stat") as file:
                pid = int(file.read().rpartition(")")[2].split()[1])
    return found


def _counts_in_namespaces() -> bool:
    """Whether the kernel counts a user's processes for each user namespace; older ones count all of them."""
    major, minor = (int(x) for x in os.uname().release.split(".")[:2])
    return (major, minor) >= (5, 14)


def _exit_like(child: int) -> NoReturn:
    """Wait for a child, reaping orphans on the way, and end as it did."""
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)
