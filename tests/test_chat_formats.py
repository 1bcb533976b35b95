"""Chat formats of real model families: the format is found in the chat template, and whole episodes work in it."""

from __future__ import annotations

import copy
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_args

import pytest

pytest.importorskip("transformers", reason="pip install 'trace-gym[lab]'")
pytest.importorskip("trl", reason="pip install 'trace-gym[trl]'")

from tiny_model import tiny_tokenizer

from trace_gym.actions import read_turn
from trace_gym.chat_formats import FORMATS
from trace_gym.errors import ConfigError
from trace_gym.model_text import Malformed
from trace_gym.models import ModelSettings
from trace_gym.policies.chat import Chat
from trace_gym.policies.scripted import Oracle
from trace_gym.registry import start_episode
from trace_gym.trainers.demonstrations import demonstrate
from trace_gym.types import Call, Message

TEMPLATES = sorted((Path(str(find_spec("trl").origin)).parent / "chat_templates").glob("*.jinja"))
"""Chat templates of many model families, which are installed with TRL."""
SUPPORTED = {
    "qwen2_5": ("hermes", "<|im_end|>"),
    "qwen3": ("hermes", "<|im_end|>"),
    "qwen3_instruct_2507": ("hermes", "<|im_end|>"),
    "qwen3_5_nothink": ("qwen3_coder", "<|im_end|>"),
    "qwen3_6": ("qwen3_coder", "<|im_end|>"),
    "nemotron_3_nano": ("qwen3_coder", "<|im_end|>"),
    "llama3_1": ("llama3", "<|eot_id|>"),
    "llama3_2": ("llama3", "<|eot_id|>"),
    "lfm2_v2": ("pythonic", "<|im_end|>"),
}
ENDS = ("<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<turn|>", "<|end|>", "<|eot|>", "<|END_OF_TURN_TOKEN|>")
# A template in the style of Mistral models: only turns without calls have content, and ids have nine characters.
MISTRAL = """
{%- for message in messages -%}
{%- if message.role == "assistant" and message.tool_calls -%}
  {{- "[TOOL_CALLS] [" -}}
  {%- for call in message.tool_calls -%}
    {%- if call.id | length != 9 -%}{{- raise_exception("ids must have nine characters") -}}{%- endif -%}
    {{- {"name": call.function.name, "arguments": call.function.arguments, "id": call.id} | tojson -}}
    {{- "" if loop.last else ", " -}}
  {%- endfor -%}
  {{- "]</s>" -}}
{%- elif message.role == "assistant" -%}
  {{- message.content + "</s>" -}}
{%- elif message.role == "tool" -%}
  {{- "[TOOL_RESULTS]" + {"content": message.content, "call_id": message.tool_call_id} | tojson + "[/TOOL_RESULTS]" -}}
{%- else -%}
  {%- if tools and loop.first -%}{{- "[AVAILABLE_TOOLS]" + tools | tojson + "[/AVAILABLE_TOOLS]" -}}{%- endif -%}
  {{- "[INST]" + message.content + "[/INST]" -}}
{%- endif -%}
{%- endfor -%}
"""


def tokenizer_with(template: str, end: str) -> Any:
    tokenizer = copy.deepcopy(tiny_tokenizer())
    tokenizer.chat_template = template
    tokenizer.add_special_tokens({"eos_token": end, "bos_token": "<s>"})
    return tokenizer


def chat_of(family: str) -> Chat:
    if family == "mistral":
        return Chat(tokenizer_with(MISTRAL, "</s>"))
    [path] = [path for path in TEMPLATES if path.stem == family]
    return Chat(tokenizer_with(path.read_text(encoding="utf-8"), SUPPORTED[family][1]))


@pytest.mark.parametrize("family", [*SUPPORTED, "mistral"])
def test_the_format_is_that_of_the_chat_template(family: str) -> None:
    assert chat_of(family).style == (SUPPORTED[family][0] if family in SUPPORTED else "mistral")


@pytest.mark.parametrize("family", ["llama3_1", "qwen3", "qwen3_6", "lfm2_v2", "mistral"])
@pytest.mark.parametrize("env", ["tau2_multi_step/1/3", "toolsandbox_datetime/0/3"])
def test_the_oracle_succeeds_in_the_format_of_the_model(family: str, env: str) -> None:
    chat, episode = chat_of(family), start_episode(env)
    sample = demonstrate(chat, episode, Oracle(), max_tokens=10**6)
    assert sample is not None and episode.finish().success
    text = chat.tokenizer.decode(sample.ids)
    results = [message["content"] for message in episode.messages if message["role"] == "tool"]
    assert results and all(result[:20].strip('{"') in text for result in results)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_a_template_is_supported_or_rejected_with_a_reason(path: Path) -> None:
    template = path.read_text(encoding="utf-8")
    end = next((end for end in ENDS if end in template), "</s>")
    tokenizer = tokenizer_with(template, end)
    schema: Message = start_episode("tau2_multi_step/0/0").tools[0]
    answers: list[Message] = [
        {"role": "tool", "name": schema["function"]["name"], "tool_call_id": f"call_0_{n}", "content": f"result-{n}"}
        for n in (1, 2)
    ]
    try:
        chat = Chat(tokenizer)
    except ConfigError as error:
        reasons = ("does not render", "unsupported format", "does not end an assistant turn")
        assert any(reason in str(error) for reason in reasons)
    else:
        text = chat.tokenizer.decode(chat.answer(answers, [schema]))
        assert "result-1" in text and "result-2" in text


TWO = ("", [Call("find", {"id": "A1", "limit": 2}), Call("close", {})])
WRITTEN = {
    "hermes": '<tool_call>\n{"name": "find", "arguments": {"id": "A1", "limit": 2}}\n</tool_call>\n'
    '<tool_call>\n{"name": "close", "arguments": {}}\n</tool_call>',
    "llama3": '<|python_tag|>{"name": "find", "parameters": {"id": "A1", "limit": 2}}; {"name": "close", "parameters": '
    "{}}",
    "mistral": '[TOOL_CALLS] [{"name": "find", "arguments": {"id": "A1", "limit": 2}, "id": "a1B2c3D4e"}, '
    '{"name": "close", "arguments": {}, "id": "a1B2c3D4f"}]',
    "qwen3_coder": "<tool_call>\n<function=find>\n<parameter=id>\nA1\n</parameter>\n<parameter=limit>\n2\n"
    "</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=close>\n</function>\n</tool_call>",
    "pythonic": "<|tool_call_start|>[find(id='A1', limit=2), close()]<|tool_call_end|>",
}
"""The same two calls as the documentation of each model family shows them."""


@pytest.mark.parametrize("style", WRITTEN)
def test_calls_that_models_write_are_read(style: str) -> None:
    assert read_turn(WRITTEN[style], style) == TWO
    assert read_turn("<think>Which one?</think>" + WRITTEN[style], style) == TWO


def test_newer_mistral_models_write_the_name_before_the_arguments() -> None:
    for text in (
        '[TOOL_CALLS]find[ARGS]{"id": "A1", "limit": 2}[TOOL_CALLS]close[ARGS]{}',
        '[TOOL_CALLS]find{"id": "A1", "limit": 2}[TOOL_CALLS]close{}',
        '[TOOL_CALLS]find[CALL_ID]a1B2c3D4e[ARGS]{"id": "A1", "limit": 2}[TOOL_CALLS]close[CALL_ID]a1B2c3D4f[ARGS]{}',
    ):
        assert read_turn(text, "mistral") == TWO


@pytest.mark.parametrize(
    ("style", "text"),
    [
        ("llama3", '{"name": "find", "parameters": {'),
        ("llama3", '{"name": "find", "parameters": [1]}'),
        ("mistral", "[TOOL_CALLS] find the order"),
        ("mistral", "[TOOL_CALLS]"),
        ("qwen3_coder", "<tool_call>find</tool_call>"),
        ("qwen3_coder", "<function=find\x00><parameter=id>1"),
        ("pythonic", "[find('A1')]"),
        ("pythonic", "<|tool_call_start|>[find(id=other)]"),
        ("pythonic", "[find(id=" + "(" * 500),
    ],
)
def test_the_agent_is_told_what_is_wrong_with_a_call(style: str, text: str) -> None:
    with pytest.raises(Malformed):
        read_turn(text, style)


@pytest.mark.parametrize("style", sorted(FORMATS.keys() - {"json"}))
def test_ordinary_messages_are_no_calls(style: str) -> None:
    for text in ("Your refund is [pending].", "Shall I cancel order (A1)?", "1 < 2", "Options: [a] now, [b] later"):
        assert read_turn(text, style) == (text, [])


def test_arguments_have_the_types_of_the_schema() -> None:
    kinds = {"zip": {"type": "string"}, "count": {"type": "integer"}, "note": {"type": ["string", "null"]}}
    schema: Message = {"function": {"name": "find", "parameters": {"type": "object", "properties": kinds}}}
    text = "<function=find><parameter=zip>\n01234\n</parameter><parameter=count>\n3\n</parameter>"
    call = read_turn(text + "<parameter=note>\nnull\n</parameter></function>", "qwen3_coder", [schema])[1]
    assert call == [Call("find", {"zip": "01234", "count": 3, "note": None})]


def test_every_format_can_be_set_for_a_model() -> None:
    options = get_args(ModelSettings.model_fields["tool_calls"].annotation)
    assert {*options} == {"auto", *FORMATS}
