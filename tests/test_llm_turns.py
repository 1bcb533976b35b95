"""Tool calls in requests and answers: through an endpoint, in recordings, and in the text form of request files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llm_server import Server, message

from trace_gym.errors import ModelError
from trace_gym.llm import ModelRequest, open_model_uri
from trace_gym.llm.written_turns import written_turn

TOOLS = ({"type": "function", "function": {"name": "look_up", "parameters": {"type": "object", "properties": {}}}},)
CALL = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
PLAIN = ModelRequest(messages=({"role": "user", "content": "Look."},), purpose="turn")
WITH_TOOLS = PLAIN.model_copy(update={"tools": TOOLS})


@pytest.fixture
def calling() -> Iterator[Server]:
    server = Server(message(None, finish="tool_calls", tool_calls=[CALL]))
    yield server
    server.close()


def test_endpoint_returns_tool_calls_of_a_request_with_tools(calling: Server, tmp_path: Path) -> None:
    answer = open_model_uri(f"openai:m@{calling.url}", cache=tmp_path).complete(WITH_TOOLS)
    assert (answer.text, answer.tool_calls, answer.finish) == ("", (CALL,), "tool_calls")
    assert calling.requests[0]["tools"] == list(TOOLS)
    assert open_model_uri(f"replay:{tmp_path}").complete(WITH_TOOLS).tool_calls == (CALL,)
    with pytest.raises(ModelError, match="it had other tools"):
        open_model_uri(f"replay:{tmp_path}").complete(PLAIN)


def test_tool_calls_without_tools_are_an_empty_answer(calling: Server) -> None:
    with pytest.raises(ModelError, match="empty"):
        open_model_uri(f"openai:m@{calling.url}", retries=0).complete(PLAIN)
    assert "tools" not in calling.requests[0]


@pytest.mark.parametrize("calls", ["look_up", [1], ["look_up"], 7])
def test_tool_calls_that_are_no_objects_are_an_invalid_answer(calls: Any) -> None:
    server = Server(message(None, tool_calls=calls))
    try:
        with pytest.raises(ModelError, match="not a valid chat completion"):
            open_model_uri(f"openai:m@{server.url}", retries=0).complete(WITH_TOOLS)
    finally:
        server.close()


def test_tools_change_the_key_only_if_there_are_any() -> None:
    assert WITH_TOOLS.key != PLAIN.key
    # Recordings of earlier versions contain this key.
    assert PLAIN.key == "5220d8b34bc9f82522285aa5f18b4797029566213272f7b3644d43dd7fafda81"


@pytest.mark.parametrize(
    ("text", "said", "calls"),
    [
        ("Hello {name}.", "Hello {name}.", []),
        ('{"tool": "look_up", "arguments": {"room": "1"}}', "", [("look_up", '{"room": "1"}')]),
        ('```json\n{"tool": "list"}\n```\n', "", [("list", "{}")]),
        ('[{"tool": "a", "arguments": {}}, {"tool": "b", "arguments": {}}]', "", [("a", "{}"), ("b", "{}")]),
        ('{"tool": "a"}\n{"tool": "b", "arguments": {"x": 1}}', "", [("a", "{}"), ("b", '{"x": 1}')]),
        ('One moment.\n{"tool": "a", "arguments": {"x": [1]}}', "One moment.", [("a", '{"x": [1]}')]),
        ('{"tool": "a", "arguments": {"x": ', '{"tool": "a", "arguments": {"x":', []),
        ('{"price": 3}', '{"price": 3}', []),
        ('{"tool": "a", "price": 3}', '{"tool": "a", "price": 3}', []),
        ("[]", "[]", []),
    ],
)
def test_written_turn_is_a_message_or_tool_calls(text: str, said: str, calls: list[tuple[str, str]]) -> None:
    content, made = written_turn(text)
    assert content == said
    assert [(c["function"]["name"], c["function"]["arguments"]) for c in made] == calls
