"""The keeper: a process that starts confined processes, watches them, and ends all that they started.

``python -m trace_gym.sandbox.keeper`` reads jobs from standard input, one JSON object per line. While a job runs, every
authenticated line of its process is passed on at once as ``{"told": ...}``, and lines ``{"say": ...}`` from the caller
are passed to the process. ``{"over": ...}`` ends the answer. The keeper is started without secrets and imports the
harness once, so that each job is a fork of a clean process.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import secrets
import selectors
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import Any, TextIO

from trace_gym.sandbox import linux
from trace_gym.sandbox.forks import Pipes, or_exit, outer
from trace_gym.sandbox.layers import active
from trace_gym.sandbox.limits import MIB, Limits
from trace_gym.sandbox.watch import Watch, end_all
from trace_gym.sandbox.worker import TAMPERED, Job

PERIOD = 0.05
"""Seconds between two looks at what a job uses."""
PRINTED = 20_000
"""Characters of what a job printed that are kept."""


@dataclass
class Outcome:
    """The end of a job."""

    ended: str = ""
    """Empty where it ended by itself; else the limit that it exceeded, or ``died``."""
    says: str = ""
    printed: str = ""
    left: bool = False
    """Whether something that it started could not be ended."""


class Caller:
    """The caller's lines on standard input, and the answers to them."""

    def __init__(self) -> None:
        self.answers: TextIO = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)  # whatever is printed here is no answer
        self.rest = bytearray()
        self.gone = False

    def answer(self, **what: Any) -> None:
        """Write a line; if the caller has closed the pipe, set `gone`, which ends the job."""
        try:
            self.answers.write(json.dumps(what) + "\n")
            self.answers.flush()
        except BrokenPipeError:
            self.gone = True
            self.answers = io.StringIO()

    def read(self) -> list[bytes]:
        """Wait for input and return the complete lines; at the end of the input, set `gone`."""
        chunk = os.read(0, MIB)
        self.gone = self.gone or not chunk
        *lines, rest = bytes(self.rest + chunk).split(b"\n")
        self.rest = bytearray(rest)
        return lines


def main() -> None:
    """Answer jobs until the input ends."""
    caller = Caller()
    if sys.platform == "linux":
        linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
        linux.prctl(linux.PR_SET_DUMPABLE, 0)  # what runs as the same user cannot look into it
    gc.collect()
    gc.freeze()  # a collection in a fork would copy all that it looks at
    while not caller.gone:
        for line in caller.read():
            asked = json.loads(line)
            if "probe" in asked:
                caller.answer(over={"layers": active(asked["probe"])})
            elif "job" in asked:  # anything else was meant for a job that is over
                caller.answer(over=vars(keep(asked["job"], caller)))


def keep(asked: dict[str, Any], caller: Caller) -> Outcome:
    """Run one job and end all of it."""
    job = Job(**asked)
    limits = Limits(**job.limits)
    folder = tempfile.mkdtemp(prefix="trace-gym-")
    heard, told, printed = os.pipe(), os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        theirs = Pipes(heard[0], told[1], printed[1])
        or_exit(lambda: outer(job, limits, folder, theirs))
    for end in (heard[0], told[1], printed[1]):
        os.close(end)
    outcome = Outcome()
    try:
        talk = _Talk(caller, job.word, heard[1], told[0], printed[0])
        _follow(outcome, talk, Watch(limits, os.getpid(), deadline=job.deadline), child)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        outcome.left = not end_all(os.getpid())
        shutil.rmtree(folder, ignore_errors=True)
        for end in (heard[1], told[0], printed[0]):
            os.close(end)
    return outcome


class _Talk:
    """The pipes between the caller and one job's process; nothing here waits for the process."""

    def __init__(self, caller: Caller, word: str, heard: int, told: int, printed: int) -> None:
        self.caller, self.word = caller, word
        self.heard, self.told, self.printed = heard, told, printed
        self.texts = {told: bytearray(), printed: bytearray()}
        self.count = 0
        """Bytes that the process has written."""
        self.pending = bytearray()
        """Requests that the process has not read yet."""
        self.ready = selectors.DefaultSelector()
        for pipe in (heard, told, printed):
            os.set_blocking(pipe, False)
        for pipe in (0, told, printed):
            self.ready.register(pipe, selectors.EVENT_READ)

    def exchange(self, seconds: float) -> None:
        """Move what is there to move; wait for it so long at most."""
        for key, _ in self.ready.select(seconds):
            if key.fd == 0:
                self._listen()
            elif key.fd == self.heard:
                self._pass_on()
            elif not self.read(key.fd):
                self.ready.unregister(key.fd)

    def read(self, pipe: int) -> bool:
        """Read from the process and pass its authenticated lines on; False at the end of the pipe."""
        chunk = os.read(pipe, MIB)
        self.count += len(chunk)
        text = self.texts[pipe]
        text += chunk
        if pipe == self.told and b"\n" in chunk:
            *lines, rest = bytes(text).split(b"\n")
            self.texts[pipe] = bytearray(rest)
            for line in lines:
                if (made := _authentic(line, self.word)) is not None:
                    self.caller.answer(told=made)
        elif pipe == self.printed:
            del text[:-PRINTED]
        return bool(chunk)

    def drain(self, most: int) -> None:
        """Read what an ended process has left in its pipes."""
        for pipe in self.texts:
            with contextlib.suppress(BlockingIOError):
                while self.count <= most and self.read(pipe):
                    pass

    def _listen(self) -> None:
        for line in self.caller.read():
            if "say" in (asked := json.loads(line)):
                self.pending += (json.dumps(asked["say"]) + "\n").encode()
        if self.caller.gone:
            self.ready.unregister(0)
        if self.pending and self.heard not in self.ready.get_map():
            self.ready.register(self.heard, selectors.EVENT_WRITE)

    def _pass_on(self) -> None:
        try:
            del self.pending[: os.write(self.heard, self.pending)]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self.pending.clear()
        if not self.pending:
            self.ready.unregister(self.heard)


def _follow(outcome: Outcome, talk: _Talk, watch: Watch, child: int) -> None:
    """Pass messages on until the job is over or exceeds a limit."""
    most = watch.limits.output_mib * MIB
    looked = 0.0
    with talk.ready:
        while not outcome.ended:
            over, status = os.waitpid(child, os.WNOHANG)
            talk.exchange(0 if over else PERIOD)
            if talk.caller.gone:
                outcome.ended, outcome.says = "caller", "the caller is gone"
                return
            if over or time.monotonic() - looked > PERIOD:
                outcome.ended, outcome.says = watch.excess()
                looked = time.monotonic()
            if over and not outcome.ended:
                talk.drain(most)
            if talk.count > most:
                outcome.ended, outcome.says = "output", f"it wrote more than {watch.limits.output_mib} MiB"
            elif over and not outcome.ended:
                outcome.ended, outcome.says = _judged(status)
                break
    outcome.printed = bytes(talk.texts[talk.printed]).decode("utf-8", "replace")


def _authentic(line: bytes, word: str) -> dict[str, Any] | None:
    """Return the content of a line that bears the job's word, or None."""
    with contextlib.suppress(ValueError, RecursionError):
        made = json.loads(line)
        if isinstance(made, dict) and secrets.compare_digest(ascii(made.pop("word", "")), ascii(word)):
            return made
    return None


def _judged(status: int) -> tuple[str, str]:
    code = os.waitstatus_to_exitcode(status)
    if code in (0, TAMPERED):  # what the second means is told as well, unless the module sees to it that it is not
        return "" if code == 0 else "tampered", ""
    if code in (128 + signal.SIGXCPU, 128 + signal.SIGKILL):
        return "cpu", "it was stopped at its limit of processor time, or killed"
    if code > 128:
        return "died", f"its process died of {signal.Signals(code - 128).name}"
    return "died", f"its process ended with exit code {code}"


if __name__ == "__main__":
    main()
