"""A process that runs ``trace-gym`` again and again in forks of itself, and kills each where it is told to.

It reads moments from standard input, one a line, answers each with a process id, waits for another line, and tells in
the end how the fork ended. A moment is ``never``,
``replace N`` (before the N-th file is put in its place; an answer of the model is put there first), ``lost N`` (before
the N-th answer is), ``check N`` (in the N-th check) or ``ledger N`` (before the N-th line of the ledger). Somebody else
may kill it too, by the process id that is told first.

What is validated is a stand-in: a module passes unless it never lets the oracle do anything. The rest is as it is.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import openai  # noqa: F401  # before the forks, which are to start quickly

from trace_gym import registry
from trace_gym.cli import main
from trace_gym.llm import Completion, ModelRequest
from trace_gym.llm.ledger import Ledger
from trace_gym.sandbox.linter import lint
from trace_gym.synthesis import repair_loop, synthesize_many  # noqa: F401
from trace_gym.synthesis.calibrate import VARIANCE_CODE
from trace_gym.synthesis.llm_author import LlmAuthor
from trace_gym.types import Finding, Report
from trace_gym.validation import PROPERTIES

FAULTY = "frozenset()"


class Moment:
    """Counts what happens, and ends the process at one of them."""

    def __init__(self, told: str) -> None:
        self.event, _, number = told.partition(" ")
        self.left = int(number or 0)

    def __call__(self, event: str) -> None:
        self.left -= event == self.event
        if event == self.event and not self.left:
            os.kill(os.getpid(), signal.SIGKILL)


def stand_in(moment: Moment) -> None:
    """Put the moments in, and a check that takes no time."""
    replace, line = os.replace, Ledger.write

    def replaced(source: Any, place: Any) -> None:
        if answer := "completions" in Path(place).parts:
            moment("lost")
            replace(source, place)
        moment("replace")
        if not answer:
            replace(source, place)

    def written(self: Ledger, entry: Any) -> None:
        moment("ledger")
        line(self, entry)

    def checked(path: Path, **options: Any) -> Report:
        moment("check")
        faulty = FAULTY in Path(path).read_text()
        metrics = {f"{end}_{level}": float(end == "to") for end in ("from", "to") for level in range(4)}
        findings = tuple(
            Finding(
                code=code,
                property=PROPERTIES[code].name,
                verdict="failed" if faulty and code == "TG201" else "passed",
                message="as it is",
                metrics=metrics if code == VARIANCE_CODE else {},
            )
            for code in PROPERTIES
        )
        return Report(env=Path(path).name, passed=not faulty, findings=findings, scenarios=3, profile="gate")

    os.replace, Ledger.write, repair_loop.validate_sandboxed = replaced, written, checked  # type: ignore[assignment]


def run(told: str) -> int:
    """The exit code of one run, negative for a signal."""
    child = os.fork()
    if child == 0:
        os.dup2(2, 1)
        sys.stdin.readline()  # whoever may kill it knows it by now
        try:
            stand_in(Moment(told))
            main()
        except SystemExit as done:
            os._exit(int(done.code or 0))
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            os._exit(99)
        os._exit(0)
    print(child, flush=True)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def warm() -> None:
    """Load what every fork would load."""
    found = [registry.manifest(name) for name in registry.list_environments()]
    spec = next(card.spec for card in found if card.spec is not None)
    lint(LlmAuthor(Nobody())._writing_prompt(spec))


class Nobody:
    """A model that is never asked."""

    name = "nobody"

    def complete(self, request: ModelRequest) -> Completion:
        raise NotImplementedError


if __name__ == "__main__":
    warm()
    for line in sys.stdin:
        print(run(line.strip()), flush=True)
