"""A fresh process that plays a foreign environment: ``python -m trace_gym.validate.foreign.probe``.

It reads a JSON object from standard input. ``{"address": ..., "plans": [[seed, turns], ...]}`` asks for hashes of what
is seen; with ``"seeds"`` and ``"turns"`` each is tried in each problem, as any may hang the process or end it.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from trace_gym.types import sha256
from trace_gym.validate.foreign.address import open_patiently
from trace_gym.validate.foreign.box import BlackBox, attempt
from trace_gym.validate.lifeline import die_with_parent
from trace_gym.validate.properties import Broken

SECONDS = 60
"""For a process, from its start."""
PATIENCE = 10
"""Seconds for one turn."""
PROGRAM, PRINTS = 'print("run as " + "a program")', "run as a program"
"""A turn, and what it prints where it is run: no environment that only repeats it prints that."""


class Mishap(NamedTuple):
    """A turn that was not answered as it should be."""

    seed: int
    turns: tuple[str, ...]
    says: str


def _command(setting: dict[str, str]) -> dict[str, Any]:
    path = os.pathsep.join(p or os.getcwd() for p in sys.path)
    return {
        "args": [sys.executable, "-W", "ignore", "-m", "trace_gym.validate.foreign.probe"],
        "env": {**os.environ, "PYTHONPATH": path, **setting},
        "text": True,
    }


def digests(
    address: str, plans: Sequence[tuple[int, Sequence[str]]], settings: Sequence[dict[str, str]]
) -> list[list[str]]:
    """What one fresh process each sees under these settings: for a seed and its turns, a hash of the trace.

    Raises:
        Broken: One of them cannot play the environment.
    """
    answers = []
    job = json.dumps({"address": address, "plans": list(plans)})
    for setting in settings:
        try:
            done = subprocess.run(**_command(setting), input=job, capture_output=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            raise Broken(f"a fresh process had not played it after {SECONDS} seconds") from None
        if done.returncode:
            cause = (done.stderr.strip().splitlines() or ["nothing on its error output"])[-1]
            raise Broken(f"a fresh process cannot play it, and ends with: {cause[:300]}")
        answers.append(json.loads(done.stdout.splitlines()[-1]))
    return answers


def endure(address: str, seeds: Sequence[int], turns: Sequence[Sequence[str]]) -> tuple[Mishap | None, int]:
    """The first sequence of turns that hangs, raises, kills the process or is run by it, and how many were taken.

    Every problem is begun anew for each sequence, which is taken to its last turn, the end notwithstanding.
    """
    with tempfile.TemporaryDirectory() as folder:
        job = json.dumps(
            {"address": address, "seeds": list(seeds), "turns": list(map(list, turns)), "patience": PATIENCE}
        )
        out = Path(folder) / "out.txt"
        with out.open("w") as file, contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(**_command({}), input=job, stdout=file, stderr=subprocess.DEVNULL, timeout=2 * SECONDS)
        lines = [json.loads(line) for line in out.read_text().splitlines() if line.endswith("]")]
    if lines[-1:] == [["over"]]:
        return None, len(lines) - 1
    if not lines:
        raise Broken("a fresh process cannot play it")
    seed, number, says = lines[-1]
    says = says or f"is not answered in {PATIENCE} seconds, or ends the process"
    return Mishap(seed, tuple(turns[number]), says), sum(not line[-1] for line in lines)


def _see(box: BlackBox, plans: Sequence[tuple[int, Sequence[str]]]) -> list[str]:
    return [sha256(attempt(box, seed, actions).trace) for seed, actions in plans]


def _endure(box: BlackBox, job: dict[str, Any]) -> None:
    """Print ``[seed, number, ""]`` before a sequence is taken, what went wrong after it, and at last ``["over"]``."""
    for seed in job["seeds"]:
        for number, turns in enumerate(job["turns"]):
            print(json.dumps([seed, number, ""]), flush=True)
            faulthandler.dump_traceback_later(job["patience"], exit=True)  # it ends even a loop that is written in C
            if says := _mishap(box, seed, turns):
                print(json.dumps([seed, number, says]), flush=True)
                os._exit(0)
            faulthandler.cancel_dump_traceback_later()
    print(json.dumps(["over"]), flush=True)


def _mishap(box: BlackBox, seed: int, turns: Sequence[str]) -> str:
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            box.begin(seed)
            paid = [box.act(text).reward for text in turns]
    except (Exception, SystemExit) as error:
        return f"raises {type(error).__name__}: {str(error)[:200]}"
    if wrong := [reward for reward in paid if not math.isfinite(reward)]:
        return f"is paid {wrong[0]}"
    return "is run as Python, in the process of the environment" if PRINTS in printed.getvalue() else ""


def main() -> None:
    """Answer one job."""
    die_with_parent()
    job = json.load(sys.stdin)
    box = open_patiently(job["address"])
    try:
        if "turns" in job:
            _endure(box, job)
        else:
            with contextlib.redirect_stdout(sys.stderr):
                answer = json.dumps(_see(box, job["plans"]))
            print(answer)
    finally:
        box.close()


if __name__ == "__main__":
    main()
