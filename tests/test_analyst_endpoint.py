"""Tests of the language-model analyst with an endpoint: errors, budgets, and resumption."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from diagnosis_cases import cancel, episode
from llm_server import Body, Handler, Server, fails, message

from trace_gym.diagnosis import diagnose
from trace_gym.diagnosis.analyst import AnalystOptions, ModelAnalyst
from trace_gym.diagnosis.analyst.opening import open_analyst
from trace_gym.errors import BudgetSpent
from trace_gym.types import Trajectory, to_jsonl

pytestmark = pytest.mark.slow

SKILL = {
    "name": "check_dates",
    "description": "Check the date of a booking.",
    "needed_when": "A date matters.",
    "present_when": "The date is checked.",
    "lacking_when": "The date is not checked.",
}


def trajectories(count: int = 24) -> list[Trajectory]:
    """Return trajectories of which every second failed, with the words of the label in a message of the agent."""
    return [
        episode([], cancel(f"R{n}"), "I checked the date." if n % 2 else "I guessed the date.", success=bool(n % 2))
        .model_copy(update={"id": f"t{n}", "task": f"task{n}"})
        for n in range(count)
    ]  # fmt: skip


def answer(prompt: str) -> str:
    """Answer a prompt as a careful reader would."""
    if "Label whether" not in prompt:
        if "Registered capabilities" in prompt:
            number = re.search(r"- (R\d+) `relative_date_reasoning`", prompt)
            return json.dumps({"matches": [{"capability": "C1", "registered": number[1] if number else ""}]})
        return json.dumps({"capabilities": [SKILL]})
    labels = []
    for number, text in re.findall(r"## Episode (T\d+).*?BEGIN \w+\n(.*?)\nEND ", prompt, flags=re.S):
        good = "I checked" in text
        words = "I checked the date" if good else "I guessed the date"
        labels.append(
            {
                "trajectory": number,
                "capability": "C1",
                "label": "PRESENT" if good else "LACKING",
                "quote": words,
            }
        )
    return json.dumps({"labels": labels})


def careful(handler: Handler, body: Body) -> None:
    usage = {"prompt_tokens": 5000, "completion_tokens": 100, "total_tokens": 5100}
    message(answer(str(body["messages"][-1]["content"])), usage=usage)(handler, body)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    made = Server(careful)
    yield made
    made.close()


def opened(server: Server, folder: Path, **given: Any) -> AbstractContextManager[ModelAnalyst]:
    return open_analyst(f"openai:m@{server.url}", AnalystOptions(runs=2, concurrency=1), folder, print, **given)


def test_a_repeated_analysis_sends_no_request_again(server: Server, tmp_path: Path) -> None:
    with opened(server, tmp_path) as first:
        labels = first.label(trajectories())
    sent = len(server.requests)
    assert sent == first.report().requests
    with opened(server, tmp_path) as again:
        assert again.label(trajectories()) == labels
    assert len(server.requests) == sent
    assert again.report().cached == sent


def test_an_interrupted_analysis_resumes(server: Server, tmp_path: Path) -> None:
    with opened(server, tmp_path, tokens=60_000) as limited, pytest.raises(BudgetSpent):
        limited.label(trajectories())
    sent = len(server.requests)
    assert sent > 0
    with opened(server, tmp_path) as reader:
        assert [len(run) for run in reader.label(trajectories())] == [24, 24]
    assert len(server.requests) == reader.report().requests
    assert reader.report().cached == sent


def slowly(handler: Handler, body: Body) -> None:
    time.sleep(0.15)
    careful(handler, body)


def test_a_killed_command_repeats_no_answered_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    source, work, out = tmp_path / "log.jsonl", tmp_path / "work", tmp_path / "diagnosis.json"
    source.write_text(to_jsonl(trajectories(40)))
    server = Server(slowly)
    command = [sys.executable, "-c", "from trace_gym.cli import main; main()", "diagnose", str(source)]
    command += ["--analyst", f"openai:m@{server.url}", "--runs", "3", "--work", str(work), "--out", str(out)]
    try:
        killed = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while len(list(work.rglob("answers/*/*.json"))) < 14:
            assert killed.poll() is None
            time.sleep(0.02)
        os.kill(killed.pid, signal.SIGKILL)
        killed.wait()
        answered = [json.loads(p.read_text())["request"]["messages"] for p in work.rglob("answers/*/*.json")]
        assert len(answered) >= 14 and not out.exists()
        time.sleep(0.3)  # until the server has handled the requests that were in flight
        before = len(server.requests)
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    finally:
        server.close()
    repeated = [body["messages"] for body in server.requests[before:]]
    assert repeated
    assert not [messages for messages in repeated if messages in answered]
    assert set(json.loads(out.read_text())["labels"]) == {f"t{n}" for n in range(40)}


def test_a_storm_of_429_loses_no_label(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    server = Server(careful, *[fails(429, retry_after="0")] * 5, careful)
    try:
        with opened(server, tmp_path) as reader:
            assert [len(run) for run in reader.label(trajectories())] == [24, 24]
    finally:
        server.close()


def test_a_run_of_stages_selects_the_environment_that_the_model_matched(server: Server, tmp_path: Path) -> None:
    from trace_gym.pipeline import diagnose as stage
    from trace_gym.pipeline.ledger import Run
    from trace_gym.settings import RunConfig

    settings = {"analyst": f"openai:m@{server.url}", "runs": 2, "keep": 2}
    run = Run(RunConfig.parse({"diagnose": settings}, "test"), tmp_path / "run")
    run.path("rollouts", "select.jsonl").parent.mkdir(parents=True)
    run.path("rollouts", "select.jsonl").write_text(to_jsonl(trajectories()))
    run.path("config.yaml").parent.mkdir(exist_ok=True)
    stage.diagnose(run)
    found = json.loads(run.path("diagnosis.json").read_text())
    assert [c["name"] for c in found["capabilities"] if c["selected"]] == ["relative_date_reasoning"]
    sent = len(server.requests)
    with opened(server, run.path("elsewhere")) as other:
        assert diagnose(trajectories(), analyst=other).runs == 2
    assert len(server.requests) > sent
