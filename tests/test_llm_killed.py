"""Tests that kill ``trace-gym synthesize`` at random moments and restart it: no answer is requested twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from llm_server import Body, Handler, Server, message
from module_author import ModuleAuthor, spec_of
from test_llm_author import GOOD, NEVER_LEGAL, PLAN, READS_THE_CLOCK, block

from trace_gym.files import write
from trace_gym.llm.ledger import read_ledger
from trace_gym.synthesis import repair_loop
from trace_gym.synthesis.repair_loop import AuthoringContext, Candidate, ValidationConfig, make_candidate
from trace_gym.types import Manifest, Report

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the runs are forks of one process"),
]

TESTS = Path(__file__).parent
NAME = "tau2_precondition_verification"
ASKED = 4
"""Requests of an undisturbed run: a plan, a module that is refused, one that fails, one that passes."""


@dataclass
class Paid:
    """Server that counts its answers."""

    fatal: bool = False
    """Whether whoever asks something for the first time is killed while they wait, and gets no answer."""
    victim: list[int] = field(default_factory=list)
    answered: Counter[str] = field(default_factory=Counter)
    seen: set[str] = field(default_factory=set)
    server: Server = field(init=False)

    def __post_init__(self) -> None:
        self.server = Server(self.act)

    def act(self, handler: Handler, body: Body) -> None:
        asked = str(body["messages"][-1]["content"])
        first = asked not in self.seen
        self.seen.add(asked)
        if first and self.fatal:
            os.kill(self.victim[0], signal.SIGKILL)
            handler.close_connection = True
            return
        self.answered[asked] += 1
        message(answer(asked))(handler, body)


def answer(asked: str) -> str:
    """Return a plan, a module that the gate rejects, a module that fails, or a module that passes."""
    if asked.startswith("Plan an environment"):
        return json.dumps(PLAN)
    if "The module was run and did not pass validation" in asked:
        return block(GOOD)
    return block(NEVER_LEGAL if "The module was not run" in asked else READS_THE_CLOCK)


@dataclass
class Runner:
    """Runner of a command in forks of one process."""

    process: subprocess.Popen[str]
    paid: Paid

    def run(self, moment: str) -> int:
        """Return the exit code of a run that is killed at a given moment, unless it ends before."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None and stdout is not None
        stdin.write(f"{moment}\n")
        stdin.flush()
        self.paid.victim[:] = [int(stdout.readline())]
        stdin.write("go\n")
        stdin.flush()
        return int(stdout.readline())


@pytest.fixture
def paid() -> Iterator[Paid]:
    made = Paid()
    yield made
    made.server.close()


@pytest.fixture
def start(paid: Paid, tmp_path: Path) -> Iterator[Callable[[str], Runner]]:
    """Return a function that starts runners with the environments folder of a given name."""
    begun: list[subprocess.Popen[str]] = []
    wanted = tmp_path / "capabilities.yaml"
    wanted.write_text("- name: precondition_verification\n  description: Look before you leap.\n")

    def begin(folder: str) -> Runner:
        options = ["--from", wanted, "--author", "llm", "--llm", f"openai:m@{paid.server.url}", "--workers", "1"]
        options += ["--solver", "none"]
        command = [sys.executable, "-m", "interrupted", "synthesize", *options, "--out", tmp_path / folder]
        known = {k: v for k, v in os.environ.items() if not k.startswith("TRACE_GYM")}
        env = {**known, "PYTHONPATH": str(TESTS), "OPENAI_API_KEY": "none", "OMP_NUM_THREADS": "1"}
        with (tmp_path / "said").open("a") as said:
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": said}
            begun.append(subprocess.Popen(command, text=True, env=env, cwd=tmp_path, **pipes))  # type: ignore[call-overload]
        return Runner(begun[-1], paid)

    yield begin
    for process in begun:
        process.stdin.close()  # type: ignore[union-attr]
        process.wait(timeout=60)
        process.stdout.close()  # type: ignore[union-attr]


def result(folder: Path) -> tuple[str, Manifest]:
    return (folder / f"{NAME}.py").read_text(), Manifest.model_validate_json((folder / f"{NAME}.json").read_bytes())


def test_killed_anywhere_nothing_that_was_answered_is_asked_again(
    paid: Paid, start: Callable[[str], Runner], tmp_path: Path
) -> None:
    """Consecutive runs in one folder are killed at different moments: while they wait, write or check."""
    assert start("whole").run("never") == 0, (tmp_path / "said").read_text()
    assert len(paid.answered) == ASKED and {*paid.answered.values()} == {1}

    paid.answered.clear()
    paid.seen.clear()
    paid.fatal = True
    runner, moments = start("killed"), ["ledger 1", "check 1", "ledger 2", "check 1", "ledger 3", "ledger 4"]
    ends = [runner.run(moment) for n in range(1, 10) for moment in (f"replace {2 * n - 1}", *moments[n - 1 : n])]
    killed = ends.count(-signal.SIGKILL)
    assert killed >= 12 and {*ends} <= {0, -signal.SIGKILL}, (ends, (tmp_path / "said").read_text())
    assert runner.run("never") == 0
    assert len(paid.seen) == len(paid.answered) == ASKED and {*paid.answered.values()} == {1}, paid.answered.values()
    assert result(tmp_path / "killed") == result(tmp_path / "whole")
    entries = read_ledger(tmp_path / "killed" / ".candidates" / "requests.jsonl")
    assert Counter(e.outcome for e in entries if e.outcome != "cached")["answered"] <= ASKED


def test_only_an_answer_that_never_reached_the_disk_is_asked_for_again(
    paid: Paid, start: Callable[[str], Runner], tmp_path: Path
) -> None:
    runner = start("killed")
    assert [runner.run(moment) for moment in ("lost 2", "never")] == [-signal.SIGKILL, 0]
    assert sorted(paid.answered.values()) == [1, 1, 1, 2]


def test_report_of_another_text_is_not_reused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process is killed between the writes of a module and of its report, while an older report exists."""
    made = Candidate(0, "old", "checks", (), Report(env="e", passed=True, findings=(), scenarios=1))
    context = AuthoringContext(spec_of("tau2_precondition"), ModuleAuthor(), tmp_path, ValidationConfig(), log=str)
    monkeypatch.setattr(repair_loop, "_checked", lambda *_: made)
    make_candidate(context, str, 0)
    report = tmp_path / "round-0" / "report.json"
    assert report.is_file()

    def killed(path: Path, text: str) -> None:
        write(path, text)
        raise KeyboardInterrupt

    made = Candidate(0, "new", "checks", (), made.report)
    monkeypatch.setattr(repair_loop, "write", killed)
    with pytest.raises(KeyboardInterrupt):
        make_candidate(context, str, 0)
    assert (tmp_path / "round-0" / context.module.name).read_text() == "new" and not report.exists()
