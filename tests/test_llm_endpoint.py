"""Tests with faulty endpoints: each fault leads to a limited number of retries or a clear error."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from llm_server import (
    Act,
    Server,
    breaks_off,
    drips,
    drops,
    fails,
    hangs,
    message,
    raw,
    refuses,
    slowly,
)
from pydantic import BaseModel, ConfigDict

from trace_gym.errors import ConfigError, ModelError
from trace_gym.llm import ModelRequest, Resolved, Usage, ask, ask_for, code_in, metered_client, open_model_uri
from trace_gym.llm.ledger import read_ledger
from trace_gym.llm.recordings import Recordings
from trace_gym.llm.retries import retry_after

Serve = Callable[..., Server]
Open = Callable[..., Resolved]


class Plan(BaseModel):
    """Answer with a strict schema."""

    model_config = ConfigDict(extra="forbid")

    title: str
    steps: tuple[str, ...] = ()


class Loose(BaseModel):
    """Answer with arbitrary keys, which strict schemas do not support."""

    facts: dict[str, int]


GOOD = '{"title": "Claims", "steps": ["look", "write"]}'


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(metered_client, "FIRST_PAUSE", 0.001)
    servers: list[Server] = []

    def start(*acts: Act) -> Server:
        servers.append(Server(*acts))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def model(serve: Serve) -> Iterator[Open]:
    """Return a function that opens a model at a test server."""
    opened: list[Resolved] = []

    def start(server: Server, **options: Any) -> Resolved:
        given: dict[str, Any] = {"log": lambda line: None, "timeout": 20.0} | options
        opened.append(open_model_uri(f"openai:tiny@{server.url}", **given))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def request(text: str = "Plan it.", **fields: Any) -> ModelRequest:
    return ModelRequest(messages=({"role": "user", "content": text},), purpose="plan claims", **fields)


def test_an_answer_comes_with_what_it_took(serve: Serve, model: Open) -> None:
    server = serve(message("Good."))
    done = model(server).complete(request(max_tokens=50, temperature=0.2))
    assert (done.text, done.model, done.served, done.cached) == ("Good.", "openai:tiny", "tiny-1", False)
    assert (done.prompt_tokens, done.completion_tokens, done.cost) == (10, 5, None)
    sent = {
        "model": "tiny",
        "messages": [{"role": "user", "content": "Plan it."}],
        "max_tokens": 50,
        "temperature": 0.2,
    }
    assert server.requests == [sent]


BAD_ANSWERS = {
    "truncated JSON": (message('{"title": "Claims", "steps": ["lo', finish="length"), "cut off"),
    "truncated JSON in a fence": (message('```json\n{"title": "Claims", "steps": ["lo'), "cut off"),
    "prose alone": (message("I think a plan would be good."), "does not contain a JSON object"),
    "refusal": (message(None, refusal="I cannot help."), "refused: I cannot help"),
    "wrong schema": (message('{"name": "Claims"}'), "title: Field required"),
    "malformed JSON": (message('{"title": "Claims",, "steps": {"title": "inner"}}'), "malformed"),
}


@pytest.mark.parametrize("case", BAD_ANSWERS)
def test_invalid_answer_is_retried_with_error_message(case: str, serve: Serve, model: Open) -> None:
    bad, fault = BAD_ANSWERS[case]
    server = serve(bad, message(GOOD))
    one = model(server)
    plan, spent = ask(one, request(), Plan)
    assert plan == Plan(title="Claims", steps=("look", "write"))
    assert len(spent) == len(server.requests) == 2
    *_, answered, complaint = server.requests[1]["messages"]
    assert answered["role"] == "assistant" and complaint["role"] == "user"
    assert fault in complaint["content"] and '"title"' in complaint["content"]
    server.acts = [bad]
    with pytest.raises(
        ModelError, match=f"openai:tiny returned no valid answer to 'plan claims' in 3 attempts.*{fault}"
    ):
        ask(one, request(), Plan)
    assert len(server.requests) == 5
    assert len(server.requests[4]["messages"]) == 3  # the first request and the last answer, not all of them


def test_prose_and_fences_do_not_matter(serve: Serve, model: Open) -> None:
    texts = [
        f"Here is the plan:\n\n{GOOD}\n\nI hope {{it}} helps.",
        f"```json\n{GOOD}\n```",
        f"Sure.\n```\n{GOOD}\n```\nDone.",
        f'<think>{{"title": "a draft"}}</think>\n{GOOD}',
        f'{GOOD}\nThe first had been {{"name": "x"}}.',
    ]
    server = serve(*map(message, texts))
    one = model(server)
    assert [ask(one, request(), Plan)[0].title for _ in texts] == ["Claims"] * len(texts)
    assert len(server.requests) == len(texts)


def test_code_is_asked_for_until_it_is_there(serve: Serve, model: Open) -> None:
    server = serve(message("Of course."), message("```python\nx = 1\n```"))
    assert ask_for(model(server), request(), code_in)[0] == "x = 1\n"
    with pytest.raises(ConfigError, match="invalid number of attempts: found 0, expected at least 1"):
        ask_for(model(server), request(), code_in, attempts=0)


PASSING: dict[str, list[Act]] = {
    "429 storm": [fails(429, retry_after_ms="1")] * 3,
    "server errors": [fails(500), fails(503, Retry_After="0"), fails(502)],
    "hung connection": [hangs],
    "dripping connection": [drips],
    "disconnect before the answer": [drops, drops],
    "disconnect in the middle": [breaks_off, breaks_off],
    "truncated body": [raw(b'{"choices": [{"mess')],
    "body of another kind": [raw(b"<html>Bad gateway</html>"), raw(b"[]"), raw(b'{"error": {"message": "busy"}}')],
    "no choice": [raw(b'{"choices": []}'), raw(b'{"choices": [{"message": null}]}')],
    "empty answers": [message(""), message(None)],
}

SLOW = {"hung connection", "dripping connection", "hung connections", "dripping connections"}


@pytest.mark.parametrize("case", PASSING)
def test_transient_errors_are_retried(case: str, serve: Serve, model: Open, tmp_path: Path) -> None:
    server = serve(*PASSING[case], message("Good."))
    told: list[str] = []
    timeout = 1.0 if case in SLOW else 20.0
    one = model(server, timeout=timeout, ledger=tmp_path / "ledger.jsonl", log=told.append)
    assert one.complete(request()).text == "Good."
    faults = len(PASSING[case])
    assert len(server.requests) == faults + 1 and len(told) == faults
    assert Usage.read(tmp_path / "ledger.jsonl") == Usage(
        requests=1, failed=faults, prompt_tokens=10, completion_tokens=5, cost=None
    )


LASTING: dict[str, tuple[Act, int, str]] = {
    "429 storm": (fails(429, "slow down", retry_after_ms="1"), 3, "in 3 attempts.*HTTP 429: slow down"),
    "server errors": (fails(500), 3, "in 3 attempts.*HTTP 500"),
    "hung connections": (hangs, 3, "in 3 attempts.*Timeout"),
    "dripping connections": (drips, 3, "in 3 attempts.*(not complete in time|Timeout)"),
    "disconnects": (drops, 3, "in 3 attempts.*RemoteProtocolError"),
    "disconnects in the middle": (breaks_off, 3, "in 3 attempts.*RemoteProtocolError"),
    "empty answers": (message(" "), 3, "in 3 attempts.*the answer is empty"),
    "used up": (message("", finish="length"), 1, "max_tokens was reached"),
    "filtered": (message("", finish="content_filter"), 1, "content_filter"),
    "no quota": (fails(429, "pay first", code="insufficient_quota"), 1, "pay first"),
    "told not to": (fails(500, x_should_retry="false"), 1, "HTTP 500"),
    "too long a wait": (
        fails(429, Retry_After="3600"),
        1,
        "the next attempt in 3600 s would exceed the limit of 1800 s",
    ),
    "too long a prompt": (fails(400, "maximum context length is 8192"), 1, "maximum context length"),
}


@pytest.mark.parametrize("case", LASTING)
def test_permanent_errors_are_raised(case: str, serve: Serve, model: Open, tmp_path: Path) -> None:
    act, attempts, says_so = LASTING[case]
    server = serve(act)
    one = model(server, timeout=0.1 if case in SLOW else 20.0, retries=2, cache=tmp_path / "cache")
    with pytest.raises(ModelError, match=f"openai:tiny at {server.url}/? did not answer 'plan claims'.*{says_so}"):
        one.complete(request())
    assert len(server.requests) == attempts
    assert not list(tmp_path.rglob("*.json"))


def test_rejected_key_raises_config_error(serve: Serve, model: Open) -> None:
    server = serve(fails(401), fails(403), fails(404))
    one = model(server)
    for status in (401, 403, 404):
        with pytest.raises(ConfigError, match=f"HTTP {status}.*check the key, the base URL and the model"):
            one.complete(request())
    assert len(server.requests) == 3


def test_an_empty_answer_is_paid_for_three_times_at_most(serve: Serve, model: Open, tmp_path: Path) -> None:
    server = serve(message(""))
    with pytest.raises(ModelError, match="in 3 attempts"):
        model(server, retries=9, ledger=tmp_path / "ledger").complete(request())
    assert [e.counted_tokens for e in read_ledger(tmp_path / "ledger")] == [15, 15, 15]


def test_nobody_at_the_address_costs_nothing(serve: Serve, model: Open, tmp_path: Path) -> None:
    server = serve(hangs)
    server.close()
    with pytest.raises(ModelError, match="in 2 attempts.*ConnectError"):
        model(server, retries=1, ledger=tmp_path / "ledger").complete(request())
    assert [e.counted_tokens for e in read_ledger(tmp_path / "ledger")] == [0, 0]


def test_patience_bounds_all_attempts(serve: Serve, model: Open) -> None:
    server = serve(fails(429, retry_after_ms="400"))
    with pytest.raises(ModelError, match="would exceed the limit of 1 s"):
        model(server, patience=1.0, retries=100).complete(request())
    assert 1 < len(server.requests) <= 3


def test_retry_after_formats() -> None:
    def pause(**headers: str) -> float | None:
        return retry_after(lambda name: headers.get(name.replace("-", "_")))

    assert pause(retry_after_ms="1500", retry_after="9") == 1.5
    assert pause(retry_after="2.5") == 2.5
    assert (pause(retry_after=formatdate(4e9, usegmt=True)) or 0) > 1e9
    assert pause(retry_after=formatdate(0, usegmt=True)) == 0
    assert [pause(retry_after=text) for text in ("soon", "nan", "inf", "")] == [None] * 4
    assert pause() is None


SCHEMA_OF = {"strict": ("json_schema", True), "json_schema": ("json_schema", False)}


@pytest.mark.parametrize(
    ("refused", "formats"),
    [
        ('"strict": true', ["strict", "json_schema"]),
        ("json_schema", ["strict", "json_schema", "json_object"]),
        ("response_format", ["strict", "json_schema", "json_object", "text"]),
    ],
)
def test_schema_moves_to_prompt_if_server_rejects_it(
    refused: str, formats: list[str], serve: Serve, model: Open
) -> None:
    server = serve(refuses(refused, message(GOOD)))
    told: list[str] = []
    one = model(server, log=told.append)
    assert ask(one, request(), Plan)[0].title == "Claims"
    assert [_form(body) for body in server.requests] == formats
    asked = server.requests[-1]["messages"][-1]["content"]
    assert ("JSON Schema" in asked) == (formats[-1] in ("json_object", "text")) == bool(told)
    ask(one, request("Another."), Plan)
    assert _form(server.requests[-1]) == formats[-1] and len(server.requests) == len(formats) + 1  # it has learned


def _form(body: dict[str, Any]) -> str:
    if "response_format" not in body:
        return "text"
    kind = str(body["response_format"]["type"])
    return "strict" if kind == "json_schema" and body["response_format"]["json_schema"]["strict"] else kind


def test_unsupported_schema_is_not_sent_as_strict(serve: Serve, model: Open) -> None:
    server = serve(message('{"facts": {"a": 1}}'))
    assert ask(model(server), request(), Loose)[0].facts == {"a": 1}
    assert _form(server.requests[0]) == "json_schema"
    server.acts = [message(GOOD)]
    ask(model(server), request(), Plan)
    [schema] = [b["response_format"]["json_schema"] for b in server.requests[1:]]
    assert schema["name"] == "Plan" and schema["schema"]["required"] == ["title", "steps"]
    assert schema["schema"]["additionalProperties"] is False and "default" not in json.dumps(schema)


def test_an_endpoint_may_take_other_fields(serve: Serve, model: Open) -> None:
    newer = refuses('"max_tokens"', message("Good."), message="use max_completion_tokens instead")
    fixed = refuses('"temperature"', newer, message="temperature does not support 0.7, only the default")
    server = serve(fixed)
    told: list[str] = []
    one = model(server, log=told.append)
    assert one.complete(request(max_tokens=9)).text == "Good."
    assert server.requests[-1] == {"model": "tiny", "messages": [*request().messages], "max_completion_tokens": 9}
    assert len(server.requests) == 3 and "does not support a temperature" in told[0]
    one.complete(request("Another.", max_tokens=9))
    assert len(server.requests) == 4


def test_key_is_read_from_environment_and_never_logged(
    serve: Serve, model: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="set OPENAI_API_KEY; .* set OPENAI_BASE_URL"):
        open_model_uri("openai:tiny")
    server = serve(message("Good."))
    model(server).complete(request())
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret\n")
    told: list[str] = []
    server.acts = [fails(500, "bad key sk-secret"), fails(400, "bad key sk-secret"), message("Good.")]
    one = model(server, log=told.append, cache=tmp_path, ledger=tmp_path / "ledger")
    with pytest.raises(ModelError, match=r"bad key \*\*\*"):
        one.complete(request())
    one.complete(request())
    assert server.keys == {"Bearer none", "Bearer sk-secret"}
    written = "".join(p.read_text() for p in tmp_path.rglob("*") if p.is_file())
    assert written and "sk-secret" not in written + "".join(told)
    monkeypatch.setenv("OPENAI_API_KEY", "schlüssel")
    with pytest.raises(ConfigError, match="no valid API key"):
        model(server)


def test_base_url_is_read_from_environment(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve(message("Good."))
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    one = open_model_uri("openai:org/tiny")
    assert one.complete(request()).text == "Good." and one.name == "openai:org/tiny"
    one.close()
    for url in ("127.0.0.1:8000", "http://", "http://[bad", "http://host:port/v1", "ftp://host"):
        with pytest.raises(ConfigError, match="is not a valid URL of an endpoint"):
            open_model_uri("openai:tiny", base_url=url)


def test_text_that_no_file_can_hold_is_mended(serve: Serve, model: Open, tmp_path: Path) -> None:
    server = serve(message("a \ud800 b"), message([{"type": "text", "text": "in "}, {"type": "text", "text": "parts"}]))  # type: ignore[arg-type]
    one = model(server, cache=tmp_path)
    assert one.complete(request("lone \udc00 one")).text == "a ? b"
    assert server.requests[0]["messages"][0]["content"] == "lone ? one"
    assert one.complete(request("Another.")).text == "in parts"


def test_so_many_at_once_and_no_more(serve: Serve, model: Open) -> None:
    server = serve(slowly(message("Good."), 0.03))
    one = model(server, concurrency=2)
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda n: one.complete(request(str(n))), range(12)))
    assert len(done) == len(server.requests) == 12 and server.busiest == 2


def test_an_answer_is_paid_for_once(serve: Serve, model: Open, tmp_path: Path) -> None:
    server = serve(slowly(message("Good."), 0.02))
    options = {"cache": tmp_path / "cache", "ledger": tmp_path / "ledger.jsonl"}
    one = model(server, **options)
    with ThreadPoolExecutor(4) as pool:  # even when it is asked at the same time
        done = list(pool.map(lambda _: one.complete(request()), range(4)))
    assert sorted(d.cached for d in done) == [False, True, True, True]
    again = model(server, **options).complete(request().model_copy(update={"purpose": "another purpose"}))
    assert again.cached and again == done[0].model_copy(update={"cached": True})
    assert len(server.requests) == 1
    for other in (request(sample=1), request(temperature=0.0), request(max_tokens=7), request(answer={}), request("X")):
        assert not one.complete(other).cached
    assert Usage.read(options["ledger"]) == Usage(
        requests=6, cached=4, prompt_tokens=60, completion_tokens=30, cost=None
    )
    [line, *_] = read_ledger(options["ledger"])
    assert (line.purpose, line.key, line.model, line.served) == ("plan claims", request().key, "openai:tiny", "tiny-1")


def test_another_model_has_its_own_answers(serve: Serve, tmp_path: Path) -> None:
    server = serve(message("One."), message("Two."))
    for name, text in (("a/b", "One."), ("a-b", "Two.")):  # which make the same folder name
        one = open_model_uri(f"openai:{name}@{server.url}", cache=tmp_path)
        assert one.complete(request()).text == text
        one.close()


KILLED = """
import sys
from trace_gym.llm import ModelRequest, open_model_uri
from pathlib import Path
one = open_model_uri(sys.argv[1], cache=Path("cache"), ledger=Path("ledger"))
for n in range(3):
    one.complete(ModelRequest(messages=({"role": "user", "content": str(n)},), purpose=f"step {n}"))
"""


def test_after_a_kill_only_what_was_not_answered_is_asked(serve: Serve, model: Open, tmp_path: Path) -> None:
    server = serve(message("0"), message("1"), hangs)
    child = subprocess.Popen([sys.executable, "-c", KILLED, f"openai:tiny@{server.url}"], cwd=tmp_path)
    while len(server.requests) < 3:
        assert child.poll() is None
        time.sleep(0.01)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    server.acts = [message("2")]
    one = model(server, cache=tmp_path / "cache", ledger=tmp_path / "ledger")
    done = [one.complete(request(str(n))) for n in range(3)]
    assert [(d.text, d.cached) for d in done] == [("0", True), ("1", True), ("2", False)]
    assert len(server.requests) == 4
    assert len(Recordings(tmp_path / "cache").read_all()) == 3
    assert Usage.read(tmp_path / "ledger").requests == 3
