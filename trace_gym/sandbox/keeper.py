"""The keeper: a process that starts confined processes, watches them, and ends all that they started.

``python -m trace_gym.sandbox.keeper`` reads jobs from standard input, a JSON object a line, and answers each with
one. It is started without secrets and imports the harness once, so that each job is a fork of a clean process.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import json
import os
import secrets
import selectors
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from trace_gym.sandbox import landlock, linux, namespaces, seccomp, view
from trace_gym.sandbox.layers import LANDLOCK, NAMESPACES, SECCOMP, USER, active
from trace_gym.sandbox.limits import MIB, Limits, limit_process
from trace_gym.sandbox.watch import Watch, end_all
from trace_gym.sandbox.worker import TAMPERED, Job, run

PERIOD = 0.05
"""Seconds between two looks at what a job uses."""
FAILED = 111
"""Exit code of a process that could not be confined."""
PRINTED = 20_000
"""Characters of what a job printed that are kept."""


@dataclass
class Outcome:
    """What came of a job."""

    lines: list[dict[str, Any]] = field(default_factory=list)
    """What was told, and bore the word of the job."""
    ended: str = ""
    """Empty where it ended by itself; else the limit that it exceeded, or ``died``."""
    says: str = ""
    printed: str = ""
    left: bool = False
    """Whether something that it started could not be ended."""


def main() -> None:
    """Answer jobs until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever is printed here is no answer
    if sys.platform == "linux":
        linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
        linux.prctl(linux.PR_SET_DUMPABLE, 0)  # what runs as the same user cannot look into it
    gc.collect()
    gc.freeze()  # a collection in a fork would copy all that it looks at
    for line in sys.stdin:
        asked = json.loads(line)
        if "probe" in asked:
            answer: dict[str, Any] = {"layers": active(asked["probe"])}
        else:
            answer = vars(keep(asked))
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def keep(asked: dict[str, Any]) -> Outcome:
    """Run one job and end all of it."""
    job = Job(**asked)
    limits = Limits(**job.limits)
    folder = tempfile.mkdtemp(prefix="trace-gym-")
    told, printed = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        _or_exit(lambda: _outer(job, limits, folder, told[1], printed[1]))
    os.close(told[1])
    os.close(printed[1])
    outcome = Outcome()
    try:
        _collect(outcome, job, Watch(limits, os.getpid(), deadline=job.deadline), child, told[0], printed[0])
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        outcome.left = not end_all(os.getpid())
        shutil.rmtree(folder, ignore_errors=True)
        os.close(told[0])
        os.close(printed[0])
    return outcome


def _collect(outcome: Outcome, job: Job, watch: Watch, child: int, told: int, printed: int) -> None:
    """Read what is told and printed until the job is over or exceeds a limit."""
    most = watch.limits.output_mib * MIB
    texts = {told: bytearray(), printed: bytearray()}
    with selectors.DefaultSelector() as ready:
        for pipe in texts:
            os.set_blocking(pipe, False)
            ready.register(pipe, selectors.EVENT_READ)
        ready.register(0, selectors.EVENT_READ)
        while not outcome.ended:
            over, status = os.waitpid(child, os.WNOHANG)
            for key, _ in ready.select(0 if over else PERIOD):
                if key.fd == 0:  # nothing is asked while a job runs, so this is the end of the input
                    outcome.ended, outcome.says = "caller", "whoever asked for it is gone"
                    return
                if chunk := os.read(key.fd, MIB):
                    texts[key.fd] += chunk
                else:
                    ready.unregister(key.fd)
            outcome.ended, outcome.says = watch.excess()
            if sum(map(len, texts.values())) > most:
                outcome.ended, outcome.says = "output", f"it wrote more than {watch.limits.output_mib} MiB"
            elif over and not outcome.ended:
                _drain(texts, most)
                outcome.ended, outcome.says = _judged(status)
                break
    outcome.lines = list(_lines(bytes(texts[told]), job.word))
    outcome.printed = bytes(texts[printed]).decode("utf-8", "replace")[-PRINTED:]


def _drain(texts: dict[int, bytearray], most: int) -> None:
    for pipe, text in texts.items():
        with contextlib.suppress(BlockingIOError):
            while len(text) <= most and (chunk := os.read(pipe, MIB)):
                text += chunk


def _lines(text: bytes, word: str) -> list[dict[str, Any]]:
    """The whole lines that bear the word."""
    found = []
    for line in text.split(b"\n"):
        with contextlib.suppress(ValueError, RecursionError):
            made = json.loads(line)
            if isinstance(made, dict) and secrets.compare_digest(str(made.pop("word", "")), word):
                found.append(made)
    return found


def _judged(status: int) -> tuple[str, str]:
    code = os.waitstatus_to_exitcode(status)
    if code in (0, TAMPERED):  # what the second means is told as well, unless the module sees to it that it is not
        return "" if code == 0 else "tampered", ""
    if code in (128 + signal.SIGXCPU, 128 + signal.SIGKILL):
        return "cpu", "it was stopped at its limit of processor time, or killed"
    if code > 128:
        return "died", f"its process died of {signal.Signals(code - 128).name}"
    return "died", f"its process ended with exit code {code}"


# Inside of the forks


def _or_exit(work: Callable[[], object]) -> NoReturn:
    """Do something in a forked process, and never come back."""
    try:
        work()
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    os._exit(FAILED)


def _outer(job: Job, limits: Limits, folder: str, told: int, printed: int) -> None:
    """The process around a job: enters namespaces, whose processes begin with the next fork."""
    os.setsid()
    _die_with_parent()
    os.dup2(printed, 2)
    # Before the fork: in the new namespace every first process is number 1, and sandboxes that run at once would be
    # one user, whose processes count together.
    user = namespaces.owner() if USER in job.layers else os.geteuid()
    root = namespaces.enter() if NAMESPACES in job.layers else False
    child = os.fork()
    if child == 0:
        _or_exit(lambda: _first(job, limits, folder, told, root, user))
    os.close(told)
    _exit_like(child)


def _first(job: Job, limits: Limits, folder: str, told: int, root: bool, user: int) -> None:
    """The first process of the new namespaces: lays out the file system, and reaps what the job leaves."""
    _die_with_parent()
    visible = view.readable()
    if NAMESPACES in job.layers:
        view.build(folder, visible, limits, user)
        folder = view.WORK
    elif USER in job.layers:
        os.chown(folder, user, user)
    if USER in job.layers:
        namespaces.become(user)
        _die_with_parent()  # forgotten when the user changes
    alone = USER in job.layers or (NAMESPACES in job.layers and _counts_in_namespaces())
    child = os.fork()
    if child == 0:
        _or_exit(lambda: _inner(job, limits, folder, told, visible, alone))
    os.close(told)
    if NAMESPACES in job.layers:
        linux.drop_capabilities()
    _exit_like(child)


def _inner(job: Job, limits: Limits, folder: str, told: int, visible: list[str], alone: bool) -> None:
    """The process that runs the module."""
    pipe = fcntl.fcntl(told, fcntl.F_DUPFD_CLOEXEC, 20 + secrets.randbelow(150))
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
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


def _die_with_parent() -> None:
    if sys.platform == "linux":
        linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)


def _exit_like(child: int) -> NoReturn:
    """Wait for a child, reaping orphans on the way, and end as it did."""
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
