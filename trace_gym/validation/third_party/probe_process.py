"""Fresh process that runs a third-party environment: ``python -m trace_gym.validation.third_party.probe_process``.

The process reads a JSON object from standard input. For ``{"address": ..., "plans": [[seed, turns], ...]}``, it prints
hashes of the rollouts. For ``"seeds"`` and ``"turns"`` instead of ``"plans"``, it tries each sequence of turns in each
problem. The work runs in a separate process, because any turn may hang or exit.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import json
import math
import os
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from trace_gym.interpreter import answers, complete_lines
from trace_gym.parent_death import die_with_parent
from trace_gym.types import sha256
from trace_gym.validation.properties import CheckFailed
from trace_gym.validation.third_party.black_box import BlackBox, run_black_box
from trace_gym.validation.third_party.uri import open_with_retry

MODULE = "trace_gym.validation.third_party.probe_process"
SECONDS = 60
"""Time limit of a process in seconds."""
PATIENCE = 10
"""Time limit of one sequence of turns in seconds."""
PROGRAM, PRINTS = 'print("run as " + "a program")', "run as a program"
"""A turn that contains a Python program, and the output of the program. The output does not occur in the turn, so it
appears in a response only if the environment executes the program."""


class TurnFailure(NamedTuple):
    """A sequence of turns to which an environment does not respond correctly."""

    seed: int
    turns: tuple[str, ...]
    message: str


def digests(
    address: str, plans: Sequence[tuple[int, Sequence[str]]], settings: Sequence[dict[str, str]]
) -> list[list[str]]:
    """Run the plans in one fresh process per setting and return the hashes of their rollouts.

    Raises:
        CheckFailed: A process cannot run the environment.
    """
    job = {"address": address, "plans": list(plans)}
    return [
        answers(MODULE, job, [setting], seconds=SECONDS, work="run the environment", error=CheckFailed)[0]
        for setting in settings
    ]


def try_turns(address: str, seeds: Sequence[int], turns: Sequence[Sequence[str]]) -> tuple[TurnFailure | None, int]:
    """Try sequences of turns in a fresh process, and return the first failure and the number of sequences tried.

    A failure is a hang, an exception, the end of the process, or the execution of a turn as code. The problem is
    restarted for each sequence. All turns of a sequence are taken, even after the end of the rollout.
    """
    job = {"address": address, "seeds": list(seeds), "turns": list(map(list, turns)), "patience": PATIENCE}
    printed, _ = complete_lines(MODULE, job, 2 * SECONDS)
    lines = [json.loads(line) for line in printed if line.endswith(b"]")]
    if lines[-1:] == [["over"]]:
        return None, len(lines) - 1
    if not lines:
        raise CheckFailed("a fresh process cannot run the environment")
    seed, number, message = lines[-1]
    message = message or f"gets no response within {PATIENCE} seconds, or ends the process"
    return TurnFailure(seed, tuple(turns[number]), message), sum(not line[-1] for line in lines)


def _digests(box: BlackBox, plans: Sequence[tuple[int, Sequence[str]]]) -> list[str]:
    return [sha256(run_black_box(box, seed, actions).trace) for seed, actions in plans]


def _try_turns(box: BlackBox, job: dict[str, Any]) -> None:
    """Try the sequences of turns and report progress to the parent process as JSON lines.

    The line ``[seed, number, ""]`` is printed before each sequence. A failure is printed as ``[seed, number, message]``
    and ends the process. If there is no failure, the last line is ``["over"]``.
    """
    for seed in job["seeds"]:
        for number, turns in enumerate(job["turns"]):
            print(json.dumps([seed, number, ""]), flush=True)
            faulthandler.dump_traceback_later(job["patience"], exit=True)  # this also ends loops in C code
            if message := _turn_failure(box, seed, turns):
                print(json.dumps([seed, number, message]), flush=True)
                os._exit(0)
            faulthandler.cancel_dump_traceback_later()
    print(json.dumps(["over"]), flush=True)


def _turn_failure(box: BlackBox, seed: int, turns: Sequence[str]) -> str:
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            box.begin(seed)
            paid = [box.act(text).reward for text in turns]
    except (Exception, SystemExit) as error:
        return f"raises {type(error).__name__}: {str(error)[:200]}"
    if wrong := [reward for reward in paid if not math.isfinite(reward)]:
        return f"gets the reward {wrong[0]}"
    return "is executed as Python code in the process of the environment" if PRINTS in printed.getvalue() else ""


def main() -> None:
    """Read one job from standard input, run it, and print its results."""
    die_with_parent()
    job = json.load(sys.stdin)
    box = open_with_retry(job["address"])
    try:
        if "turns" in job:
            _try_turns(box, job)
        else:
            with contextlib.redirect_stdout(sys.stderr):
                answer = json.dumps(_digests(box, job["plans"]))
            print(answer)
    finally:
        box.close()


if __name__ == "__main__":
    main()
