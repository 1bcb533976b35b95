"""The chat template of SmolLM2: policy, tools, tool calls and tool results in the Hermes format."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest

pytest.importorskip("transformers", reason="pip install 'trace-gym[lab]'")

import smollm2_page
import yaml
from tiny_model import tiny_tokenizer
from toy_world import open_toy, toys

from trace_gym.actions import read_turn
from trace_gym.chat_formats import FORMATS
from trace_gym.models import ModelSettings
from trace_gym.models.catalog import SMOLLM2, TEMPLATES
from trace_gym.policies.chat import Chat
from trace_gym.policies.scripted import Oracle
from trace_gym.trainers import registered
from trace_gym.trainers.demonstrations import demonstrate
from trace_gym.types import Call, Message

ARGUMENTS: dict[str, Any] = {"box": "b1", "note": 'a </tool_call> in "quotes", 3 < 4, é', "ids": [1, 2.5, None, True]}


@pytest.fixture(scope="module")
def chat() -> Chat:
    tokenizer = tiny_tokenizer()
    tokenizer.chat_template = (TEMPLATES / SMOLLM2.chat_template).read_text(encoding="utf-8")
    return Chat(tokenizer)


def text(chat: Chat, messages: list[Message], tools: list[Message] | None = None, prompt: bool = False) -> str:
    render: Any = chat.tokenizer.apply_chat_template
    return str(render(messages, tools=tools, add_generation_prompt=prompt, tokenize=False))


def call(arguments: Any) -> Message:
    return {"id": "1", "type": "function", "function": {"name": "open_box", "arguments": arguments}}


def test_policy_and_tools_are_in_the_system_message(chat: Chat) -> None:
    episode = open_toy(toys(1)[0])
    prompt = chat.tokenizer.decode(chat.opening(episode.messages, episode.tools))
    system, user, rest = prompt.split("<|im_end|>\n")
    policy, _, tools = system.partition("\n\n# Tools\n\n")
    assert policy == f"<|im_start|>system\n{episode.messages[0]['content']}"
    listed = tools.partition("<tools>\n")[2].partition("\n</tools>")[0].splitlines()
    assert [json.loads(line) for line in listed] == list(episode.tools)
    assert user == f"<|im_start|>user\n{episode.messages[1]['content']}"
    assert rest == "<|im_start|>assistant\n"


def test_without_tools_the_turns_are_those_of_the_original_template(chat: Chat) -> None:
    messages: list[Message] = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    assert text(chat, messages, prompt=True) == (
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello<|im_end|>\n<|im_start|>assistant\n"
    )


@pytest.mark.parametrize("arguments", [ARGUMENTS, json.dumps(ARGUMENTS)], ids=["object", "text"])
def test_a_tool_call_round_trips_through_the_parser(chat: Chat, arguments: Any) -> None:
    turn: Message = {"role": "assistant", "content": "", "tool_calls": [call(arguments), call({})]}
    shown = text(chat, [{"role": "user", "content": "-"}, turn]).partition("<|im_start|>assistant\n")[2]
    written, end, _ = shown.partition("<|im_end|>")
    assert end and read_turn(written) == ("", [Call("open_box", ARGUMENTS), Call("open_box", {})])


def test_a_rendered_call_is_what_demonstrations_train(chat: Chat) -> None:
    turn: Message = {"role": "assistant", "content": None, "tool_calls": [call({"box": "b1"})]}
    shown = text(chat, [{"role": "user", "content": "-"}, turn])
    assert f"<|im_start|>assistant\n{FORMATS['hermes'].render(Call('open_box', {'box': 'b1'}))}<|im_end|>\n" in shown


def test_tool_results_are_one_user_turn(chat: Chat) -> None:
    results: list[Message] = [
        {"role": "tool", "tool_call_id": "1", "name": "open_box", "content": f"result {n}"} for n in range(2)
    ]
    answer = chat.tokenizer.decode(chat.answer(results, []))
    assert answer == (
        "\n<|im_start|>user\n<tool_response>\nresult 0\n</tool_response>\n<tool_response>\nresult 1\n</tool_response>"
        "<|im_end|>\n<|im_start|>assistant\n"
    )


def test_a_conversation_in_parts_is_the_rendered_conversation(chat: Chat) -> None:
    """Rollouts and demonstrations render each answer separately; together they are what the template renders."""
    episode = open_toy(toys(1)[0])
    sample = demonstrate(chat, episode, Oracle(), 10_000)
    assert sample is not None and any(m["role"] == "tool" for m in episode.messages)
    last = max(n for n, m in enumerate(episode.messages) if m["role"] == "assistant")
    whole = text(chat, list(episode.messages[: last + 1]), list(episode.tools))
    assert chat.tokenizer.decode(sample.ids) + "\n" == whole


def test_shortened_commands_of_the_page_evaluate_the_base_model_and_the_adapter() -> None:
    files = smollm2_page.files()
    assert ModelSettings.parse(yaml.safe_load(files["smollm2.yaml"])).limits == (4352, 64)
    settings = yaml.safe_load(files["sft.yaml"])
    assert settings.pop("model") == "smollm2.yaml"
    assert (registered.parse(settings).iterations, registered.parse(settings).groups) == (2, 4)
    commands = [shlex.split(line) for line in files["commands.sh"].splitlines()]
    assert [command[:2] for command in commands] == [
        ["trace-gym", name] for name in ("rollout", "train", "rollout", "evaluate")
    ]
    base, _, adapted, evaluated = commands
    assert "--adapter" not in base and adapted[adapted.index("--adapter") + 1] == "runs/sft/adapter"
    assert all(command[command.index("-n") + 1] == "2" for command in (base, adapted))
    assert evaluated[2:] == [base[-1], adapted[-1]]
