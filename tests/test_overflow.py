"""A failure of the agent is scored in every engine; a failure of the server is not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llm_server
import pytest
from llm_server import Body, Server
from toy_world import ToyBoxes, open_toy, toys

from trace_gym.errors import ConfigError
from trace_gym.llm.dialect import overflows
from trace_gym.policies.openai import OpenAIPolicy
from trace_gym.rollouts import rollout
from trace_gym.types import Trajectory

OVERFLOWS = [
    "This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.",
    "'max_tokens' is too large: 100. This model's maximum context length is 4096 tokens and your request has 4090.",
    "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
    "the request exceeds the available context size. try increasing the context size",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "The input token count (40000) exceeds the maximum number of tokens allowed (32768).",
    "Input is too long for requested model.",
    "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4090 `inputs` tokens and 100 `max_new_tokens`",
]


@pytest.mark.parametrize("message", OVERFLOWS)
def test_refusals_of_many_servers_are_known_as_overflows(message: str) -> None:
    assert overflows(400, None, message)
    assert not overflows(429, None, message), "a rate limit is counted in tokens, too"


@pytest.mark.parametrize(
    "message", ["max_tokens must be positive", "temperature must be at most 2", "tools: bad schema"]
)
def test_other_refusals_are_not_overflows(message: str) -> None:
    assert not overflows(400, "invalid_request_error", message)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    made = Server(lambda handler, body: None)
    yield made
    made.close()


Answer = Callable[[Body], tuple[int, Any]]
"""Status and body of the response to a request."""


def answering(answer: Answer) -> llm_server.Act:
    def act(handler: llm_server.Handler, body: Body) -> None:
        status, payload = answer(body)
        handler.reply(payload if isinstance(payload, bytes) else json.dumps(payload).encode(), status)

    return act


def choice(message: dict[str, Any], finish: str = "stop", total: int = 0) -> dict[str, Any]:
    made = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": None} | message}
    usage = {"usage": {"prompt_tokens": total - 5, "completion_tokens": 5, "total_tokens": total}} if total else {}
    return {"id": "c", "object": "chat.completion", "created": 0, "model": "tiny", "choices": [made]} | usage


CHATTY = choice({"content": "One moment."})
LATER = 3
"""Turns after which the server fails."""


def turns(body: Body) -> int:
    return sum(m["role"] == "assistant" for m in body["messages"])


def run(server: Server, fail: Answer, path: Path | None = None, **options: Any) -> Trajectory:
    """One episode with an agent that chats until `fail` answers instead."""
    server.acts = [answering(lambda body: fail(body) if turns(body) >= LATER else (200, CHATTY))]
    policy = OpenAIPolicy("tiny", base_url=server.url, max_retries=0, **options)
    try:
        return rollout(policy, toys(1), path=path, open_episode=open_toy)[0]
    finally:
        policy.client.close()


def refusal(message: str, code: str = "", status: int = 400, **more: str) -> Answer:
    return lambda body: (status, {"error": {"message": message, "type": "invalid_request_error", "code": code, **more}})


SCORED: dict[str, Answer] = {
    "the server refuses the conversation": refusal(OVERFLOWS[0], "context_length_exceeded"),
    "the context ends in the middle of a turn": lambda body: (200, choice({"content": "I am"}, "length")),
}


@pytest.mark.parametrize("why", SCORED)
def test_overflow_ends_the_episode_and_is_scored_as_in_process(server: Server, why: str, tmp_path: Path) -> None:
    record = run(server, SCORED[why], tmp_path / "a.jsonl")
    assert (record.success, record.reward, record.ended) == (False, 0.0, "turn_limit")
    assert sum(m["role"] == "assistant" for m in record.messages) == LATER, "the unfinished turn is not taken"
    asked = len(server.requests)
    assert run(server, SCORED[why], tmp_path / "a.jsonl") == record
    assert len(server.requests) == asked, "a second call does not try it again"


def test_longest_turn_that_does_not_fit_is_asked_for_in_what_is_left(server: Server) -> None:
    def fits_without_limit(body: Body) -> tuple[int, dict[str, Any]]:
        return refusal(OVERFLOWS[1])(body) if "max_tokens" in body else (200, CHATTY)

    record = run(server, fits_without_limit, max_tokens=100)
    assert sum(m["role"] == "assistant" for m in record.messages) == ToyBoxes.max_turns


def test_turn_cut_by_its_own_limit_is_taken_as_it_is(server: Server) -> None:
    record = run(server, lambda body: (200, choice({"content": "I am"}, "length", total=50)), max_tokens=5)
    assert sum(m["role"] == "assistant" for m in record.messages) == ToyBoxes.max_turns


def test_budget_of_a_conversation_ends_it(server: Server) -> None:
    server.acts = [answering(lambda body: (200, choice({"content": "Hm."}, total=20 + 10 * turns(body))))]
    policy = OpenAIPolicy("tiny", base_url=server.url, conversation_tokens=40)
    record = rollout(policy, toys(1), open_episode=open_toy)[0]
    policy.client.close()
    assert record.success is False and sum(m["role"] == "assistant" for m in record.messages) == 2


def test_tool_call_that_the_server_cannot_parse_is_a_malformed_turn(server: Server) -> None:
    record = run(server, refusal("Failed to call a function.", "tool_use_failed", failed_generation='{"name": '))
    assert record.success is False and record.score is not None
    assert record.score.wellformed == LATER / ToyBoxes.max_turns


@pytest.mark.parametrize(
    "fail",
    [
        refusal("the server is overloaded", status=503),
        refusal("Rate limit: maximum context length of your plan", status=429),
        refusal("tools[0] has a bad schema"),
        lambda body: (200, b'{"id": ' + b"9" * 5000 + b"}"),
        lambda body: (200, b"<html>gateway</html>"),
    ],
)
def test_failure_of_the_server_is_not_scored_and_tried_again(server: Server, fail: Answer, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    assert run(server, fail, path).success is None
    assert run(server, lambda body: (200, CHATTY), path).success is False
    assert len(path.read_text().splitlines()) == 1


def test_opening_that_does_not_fit_is_an_error_of_the_setup(server: Server) -> None:
    server.acts = [answering(refusal(OVERFLOWS[0]))]
    policy = OpenAIPolicy("tiny", base_url=server.url)
    with pytest.raises(ConfigError, match="toy_boxes/0/0: the initial observation does not fit"):
        rollout(policy, toys(1), open_episode=open_toy)
    policy.client.close()


def test_temperature_that_the_server_refuses_is_an_error_and_the_limit_is_renamed(server: Server) -> None:
    def newer(body: Body) -> tuple[int, dict[str, Any]]:
        if "max_tokens" in body:
            return refusal("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")(body)
        fine = body["temperature"] == 1
        return (200, CHATTY) if fine else refusal("temperature does not support 0; only the default (1)")(body)

    server.acts = [answering(newer)]
    for temperature in (1.0, 0.0):
        policy = OpenAIPolicy("tiny", base_url=server.url, temperature=temperature, max_tokens=9)
        if temperature:
            assert policy.act(open_toy(toys(1)[0])) == {"role": "assistant", "content": "One moment."}
            assert server.requests[-1]["max_completion_tokens"] == 9
        else:
            with pytest.raises(ConfigError, match=r"rejects the temperature 0\.0"):
                policy.act(open_toy(toys(1)[0]))
        policy.client.close()


@pytest.mark.parametrize(
    "body",
    [
        '{"error": "maximum context length is 100 tokens"}',
        '[{"error": {"message": "input token count exceeds the maximum number of tokens allowed"}}]',
    ],
)
def test_overflow_is_recognized_in_every_form_of_the_error_body(body: str) -> None:
    from trace_gym.llm.dialect import overflows

    assert overflows(400, None, f"Error code: 400 {body}")
