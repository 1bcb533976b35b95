"""The same model gives the same scores in process and behind an endpoint that parses tool calls, as vLLM does."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("peft", reason="models need the lab extra")

import torch
from llm_server import Body, Handler, Server

from trace_gym import registry
from trace_gym.chat_formats import FORMATS
from trace_gym.model_text import Malformed
from trace_gym.models import ModelSettings, load_policy, load_weights
from trace_gym.policies.chat import Chat
from trace_gym.rollouts import rollout
from trace_gym.types import Message, Trajectory

NAME = "lab"
ENVIRONMENTS = ("tau2_precondition", "tau2_structured_data")


class ChatServer:
    """Chat completions of the toy model. Each request renders and tokenizes the whole conversation again."""

    def __init__(self) -> None:
        self.model, self.tokenizer = load_weights(ModelSettings())
        self.chat = Chat(self.tokenizer)
        self._lock = threading.Lock()

    def __call__(self, handler: Handler, body: Body) -> None:
        assert body["temperature"] == 0
        with self._lock:
            prompt = self.chat.opening([_with_parsed_arguments(m) for m in body["messages"]], body["tools"])
            ids = self._sample(prompt, body["max_tokens"])
            [text] = self.chat.texts([ids])
        finish = "stop" if ids[-1] == self.chat.eos else "length"
        usage = {"prompt_tokens": len(prompt), "completion_tokens": len(ids), "total_tokens": len(prompt) + len(ids)}
        choice = {"index": 0, "finish_reason": finish, "message": self._message(text)}
        answer = {"id": "c", "object": "chat.completion", "created": 0, "model": NAME, "usage": usage}
        handler.reply(json.dumps(answer | {"choices": [choice]}).encode())

    def _sample(self, prompt: list[int], limit: int) -> list[int]:
        ids, past, chunk = list[int](), None, prompt
        while len(ids) < limit and self.chat.eos not in ids:
            with torch.inference_mode():
                out = self.model(input_ids=torch.tensor([chunk]), past_key_values=past, use_cache=True)
            past = out.past_key_values
            ids.append(int(out.logits[0, -1].argmax()))
            chunk = ids[-1:]
        return ids

    def _message(self, text: str) -> Message:
        """Return a turn as a message. Text whose tool calls cannot be parsed is content, as with vLLM."""
        try:
            said, calls = FORMATS[self.chat.style].parse(text)
        except Malformed:
            said, calls = text, []
        made: list[Any] = [
            {"id": f"c{n}", "type": "function", "function": {"name": c.tool, "arguments": json.dumps(c.arguments)}}
            for n, c in enumerate(calls)
        ]
        return {"role": "assistant", "content": said or None} | ({"tool_calls": made} if made else {})


def _with_parsed_arguments(message: Message) -> Message:
    """Return a message with the arguments of tool calls as objects, which vLLM passes to the chat template."""
    if not message.get("tool_calls"):
        return message
    calls = [
        call | {"function": call["function"] | {"arguments": json.loads(call["function"]["arguments"])}}
        for call in message["tool_calls"]
    ]
    return message | {"tool_calls": calls}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    made = Server(ChatServer())
    yield made
    made.close()


def outcome(record: Trajectory) -> tuple[Any, ...]:
    return record.id, record.success, record.reward, record.ended, [m["content"] for m in record.messages]


def test_the_scores_are_those_in_process(server: Server) -> None:
    scenarios = [s for env in ENVIRONMENTS for s in registry.scenarios(env, "select", 6, levels=[0])]
    in_process = load_policy(ModelSettings())
    at_endpoint = load_policy(ModelSettings(endpoint=f"openai:{NAME}@{server.url}"), temperature=0.0)
    expected = rollout(in_process, scenarios, temperature=0.0, progress=False)
    found = rollout(at_endpoint, scenarios, progress=False)
    assert [outcome(record) for record in found] == [outcome(record) for record in expected]
    assert {record.success for record in found} == {True, False}
    assert any(m.get("tool_calls") for record in found for m in record.messages)
