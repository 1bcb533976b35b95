"""Failures of an endpoint: what may pass is repeated, what lasts stops the run, and cut turns are reported."""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import llm_server
import pytest
from llm_server import Body, Handler, Server
from test_overflow import CHATTY, answering, choice, turns
from toy_world import open_toy, toys

from trace_gym.cli import main
from trace_gym.errors import PolicyError
from trace_gym.policies.openai import OpenAIPolicy
from trace_gym.rollouts import rollout
from trace_gym.types import Trajectory


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    made = Server(answering(lambda body: (200, CHATTY)))
    yield made
    made.close()


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses between requests, which take no time."""
    made: list[float] = []
    monkeypatch.setattr("time.sleep", made.append)
    return made


def play(server: Server, count: int = 1, path: Path | None = None, **options: Any) -> list[Trajectory]:
    policy = OpenAIPolicy("tiny", base_url=server.url, **options)
    try:
        return rollout(policy, toys(count), path=path, concurrency=4, open_episode=open_toy)
    finally:
        for thread in threading.enumerate():
            if thread.name.startswith("ThreadPoolExecutor"):
                thread.join()
        policy.client.close()


def reset(handler: Handler, body: Body) -> None:
    """Close the connection without an answer."""
    handler.close_connection = True


def no_completion(payload: Any) -> llm_server.Act:
    return answering(lambda body: (200, payload))


NO_COMPLETIONS = [
    b"<html>gateway</html>",
    b"\xff\xfe",
    b"",
    b"data: {}\n\n",
    b'{"id": "c", "choices": [',
    {},
    [],
    None,
    {"choices": []},
    {"choices": None},
    {"choices": [{"index": 0, "finish_reason": "stop", "message": None}]},
    {"error": {"message": "overloaded"}},
    "hello",
]


@pytest.mark.parametrize("payload", NO_COMPLETIONS, ids=range(len(NO_COMPLETIONS)))
def test_answer_that_is_no_completion_is_repeated(payload: Any, server: Server, pauses: list[float]) -> None:
    server.acts = [no_completion(payload), no_completion(payload), *server.acts]
    (record,) = play(server)
    assert record.success is False and record.ended == "turn_limit"
    assert len(pauses) == 2 and all(0 < pause <= 8.0 for pause in pauses)


@pytest.mark.parametrize("value", ["1e400", "-1e400", "nan", "-5", "0", "soon", "", "Wed, 21 Oct 2015 07:28:00 GMT"])
def test_unusable_retry_after_is_ignored(value: str, server: Server, pauses: list[float]) -> None:
    def limited(handler: Handler, body: Body) -> None:
        handler.reply(b"{}", 429, Retry_After=value)

    server.acts = [limited, *server.acts]
    assert play(server)[0].success is False
    assert len(pauses) == 1 and 0 < pauses[0] <= 8.0


def test_retry_after_is_obeyed_within_bounds(server: Server, pauses: list[float], caplog: Any) -> None:
    def limited(seconds: str) -> llm_server.Act:
        return lambda handler, body: handler.reply(b"{}", 429, Retry_After=seconds)

    acts, server.acts = server.acts, [limited("7"), *server.acts]
    assert play(server)[0].success is False
    assert pauses == [7.0]
    server.acts = [limited("86400"), *acts]
    assert play(server)[0].success is None
    assert pauses == [7.0]


LASTING: dict[str, llm_server.Act] = {
    "closed connections": reset,
    "server errors": answering(lambda body: (503, {"error": {"message": "overloaded"}})),
    "another service": no_completion(b"<html>welcome</html>"),
    "no quota left": answering(lambda body: (429, {"error": {"message": "no", "code": "insufficient_quota"}})),
}


@pytest.mark.parametrize("why", LASTING)
def test_endpoint_that_fails_for_good_stops_the_run_and_keeps_what_is_done(
    why: str, server: Server, pauses: list[float], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "a.jsonl"
    done = play(server, 3, path)
    server.acts, before = [LASTING[why]], len(server.requests)
    with pytest.raises(PolicyError, match=r"tiny\).* episodes in a row failed so.*the same command continues"):
        play(server, 100, path, max_retries=1)
    assert len(server.requests) - before <= 4 * 2 * 3, "at most a few rounds of each worker"
    assert "is not scored" not in caplog.text
    kept = [Trajectory.model_validate_json(line) for line in path.read_text().splitlines()]
    assert [r for r in kept if r.success is not None] == sorted(done, key=lambda r: [k.id for k in kept].index(r.id))
    server.acts = [answering(lambda body: (200, CHATTY))]
    assert all(r.success is False for r in play(server, 8, path))


def test_server_that_is_not_there_ends_rollout_with_one_message(
    server: Server,
    pauses: list[float],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server.close()
    line = ["rollout", "tau2_precondition", "--policy", f"openai:tiny@{server.url}", "--out", str(tmp_path / "a.jsonl")]
    monkeypatch.setattr(sys, "argv", ["trace-gym", *line])
    with pytest.raises(SystemExit) as ended:
        main()
    err = capsys.readouterr().err
    assert ended.value.code == 1
    assert len(err.splitlines()) == 1 and "refused" in err.lower() and "the same command continues" in err


def test_failures_with_successes_between_them_do_not_stop_the_run(
    server: Server, pauses: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    started: list[Body] = []

    def every_third(body: Body) -> tuple[int, Any]:
        if turns(body) == 0:
            started.append(body)
        return (503, {}) if len(started) % 3 == 0 else (200, CHATTY)

    server.acts = [answering(every_third)]
    policy = OpenAIPolicy("tiny", base_url=server.url, max_retries=0)
    records = rollout(policy, toys(12), concurrency=1, open_episode=open_toy)
    policy.client.close()
    unscored = [r for r in records if r.success is None]
    assert 0 < len(unscored) < 12
    assert all(f"{r.id} is not scored" in caplog.text for r in unscored)


def test_turn_that_the_server_cuts_is_reported_once_and_noted(
    server: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    server.acts = [answering(lambda body: (200, choice({"content": "I was going to"}, "length", total=60)))]
    records = play(server, 5, tmp_path / "a.jsonl")
    assert caplog.text.count("--max-turn-tokens") == 1 and "after 5 tokens" in caplog.text
    stored = [Trajectory.model_validate_json(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    for record in (*records, *stored):
        assert record.success is False and "cut a turn after 5 tokens (finish_reason length)" in record.note


def test_turn_cut_before_its_limit_is_noted_with_the_limit(server: Server) -> None:
    server.acts = [answering(lambda body: (200, choice({"content": "I was"}, "length", total=60)))]
    (record,) = play(server, max_tokens=100)
    assert "before the limit of 100 tokens" in record.note
    server.acts = [answering(lambda body: (200, CHATTY))]
    assert play(server)[0].note == ""


def test_rollout_counts_episodes_that_ended_early(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server.acts = [answering(lambda body: (200, choice({"content": "I was"}, "length", total=60)))]
    line = ["rollout", "tau2_precondition", "-n", "3", "--policy", f"openai:tiny@{server.url}"]
    monkeypatch.setattr(sys, "argv", ["trace-gym", *line, "--out", str(tmp_path / "a.jsonl")])
    with pytest.raises(SystemExit):
        main()
    assert "3 ended early" in capsys.readouterr().out


def test_arguments_given_as_an_object_are_taken_without_a_warning(
    server: Server, recwarn: pytest.WarningsRecorder
) -> None:
    function = {"name": "look", "arguments": {"box": "b1"}}
    message = {"tool_calls": [{"id": "c1", "type": "function", "function": function}]}
    server.acts = [answering(lambda body: (200, choice(message)))]
    (record,) = play(server)
    assert record.messages[2]["tool_calls"][0]["function"]["arguments"] == json.dumps({"box": "b1"})
    assert not [w for w in recwarn if "ydantic" in str(w.message)]
