"""Processes of one sandboxed job, which are forked from the supervisor, give up permissions, and run the module.

Each job has three nested processes. The first enters the namespaces, the second sets up the file system and reaps
orphaned processes, and the third runs the module.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from trace_gym.parent_death import die_with_parent
from trace_gym.sandbox import filesystem_view, landlock, linux, namespaces, seccomp
from trace_gym.sandbox.layer_list import LANDLOCK, NAMESPACES, SECCOMP, USER
from trace_gym.sandbox.limits import Limits, limit_process
from trace_gym.sandbox.worker import INTERACTIVE, SandboxJob, run

FAILED = 111
"""Exit code of a process that could not be sandboxed."""


@dataclass(frozen=True)
class Pipes:
    """Ends of the supervisor's pipes that the process of a job uses."""

    input_pipe: int
    """Pipe with the caller's requests, which becomes standard input."""
    output_pipe: int
    log_pipe: int


def run_and_exit(work: Callable[[], object]) -> NoReturn:
    """Call a function in a forked process and end the process with `FAILED`, even if the function returns."""
    try:
        work()
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    os._exit(FAILED)


def enter_namespaces(job: SandboxJob, limits: Limits, folder: str, pipes: Pipes) -> None:
    """Run the first process of a job, which creates and enters the namespaces for its child processes."""
    os.setsid()
    die_with_parent()
    os.dup2(pipes.log_pipe, 2)
    # The user id is derived from the process id, which must be read outside the new namespace: inside, it is always 1.
    # With the same user id, the kernel would count the processes of concurrent sandboxes together.
    user = namespaces.owner() if USER in job.layers else os.geteuid()
    root = namespaces.enter() if NAMESPACES in job.layers else False
    child = os.fork()
    if child == 0:
        run_and_exit(lambda: _first(job, limits, folder, pipes, root, user))
    os.close(pipes.output_pipe)
    _exit_like(child)


def _first(job: SandboxJob, limits: Limits, folder: str, pipes: Pipes, root: bool, user: int) -> None:
    """Run the second process of a job, which sets up the file system and reaps orphaned processes."""
    die_with_parent()
    visible = filesystem_view.readable()
    if NAMESPACES in job.layers:
        filesystem_view.build(folder, visible, limits, user)
        folder = filesystem_view.WORK
    elif USER in job.layers:
        os.chown(folder, user, user)
    if USER in job.layers:
        namespaces.become(user)
        die_with_parent()  # the kernel clears this setting when the user changes
    alone = USER in job.layers or (NAMESPACES in job.layers and _counts_in_namespaces())
    child = os.fork()
    if child == 0:
        run_and_exit(lambda: _inner(job, limits, folder, pipes, visible, alone))
    os.close(pipes.output_pipe)
    if NAMESPACES in job.layers:
        linux.drop_capabilities()
    _exit_like(child)


def _inner(job: SandboxJob, limits: Limits, folder: str, pipes: Pipes, visible: list[str], alone: bool) -> None:
    """Run the third process of a job, which applies the remaining restrictions and runs the module."""
    die_with_parent()
    pipe = fcntl.fcntl(pipes.output_pipe, fcntl.F_DUPFD_CLOEXEC, 20 + secrets.randbelow(150))
    os.dup2(2, 1)
    os.dup2(pipes.input_pipe if job.task in INTERACTIVE else os.open(os.devnull, os.O_RDONLY), 0)
    os.closerange(3, pipe)
    os.closerange(pipe + 1, 4096)
    limit_process(limits, limits.processes if alone else None)
    if NAMESPACES in job.layers:
        linux.drop_capabilities()
    if LANDLOCK in job.layers:
        shared = [filesystem_view.SHARED_MEMORY] if os.path.isdir(filesystem_view.SHARED_MEMORY) else []
        landlock.restrict(visible, [folder, *shared], filesystem_view.DEVICES)
    if SECCOMP in job.layers:
        seen = () if NAMESPACES in job.layers else (os.getppid(), os.getpgid(0), os.getsid(0), *_ancestors())
        seccomp.install(seen)
    run(job, folder, pipe)


def _ancestors() -> list[int]:
    """Return the process ids of the ancestors of this process, as far as ``/proc`` shows them."""
    found, pid = [], os.getppid()
    with contextlib.suppress(OSError, ValueError):
        while pid > 1:
            found.append(pid)
            with open(f"/proc/{pid}/stat") as file:
                pid = int(file.read().rpartition(")")[2].split()[1])
    return found


def _counts_in_namespaces() -> bool:
    """Return whether the kernel counts a user's processes per user namespace, which requires Linux 5.14 or later."""
    major, minor = (int(x) for x in os.uname().release.split(".")[:2])
    return (major, minor) >= (5, 14)


def _exit_like(child: int) -> NoReturn:
    """Wait for a child, reap orphans, and exit with the exit code of the child."""
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)
