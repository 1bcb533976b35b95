"""Chat formats in which the arguments of a tool call are JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from trace_gym.chat_formats.base import call_of, invalid_json, read_call
from trace_gym.model_text import Malformed, parse_json, read_first_json
from trace_gym.types import Call, Message


class Hermes:
    """Chat format of Qwen2.5, Qwen3 and Hermes: each tool call is JSON between ``<tool_call>`` tags."""

    _block = re.compile(r"<tool_call>(.*?)(?:</tool_call>|$)", re.S)

    def parse(self, text: str, tools: Sequence[Message] = ()) -> tuple[str, list[Call]]:
        if "<tool_call>" not in text:
            return text, []
        return self._block.sub("", text), [read_call(body, "<tool_call>") for body in self._block.findall(text)]

    def render(self, call: Call) -> str:
        body = json.dumps({"name": call.tool, "arguments": call.arguments})
        return "<tool_call>\n" + body.replace("<", r"\u003c") + "\n</tool_call>"  # an argument may contain the tag


class JsonAction:
    """Chat format of tau2-bench's Gymnasium interface: ``{"name": ..., "arguments": {...}}`` or a message."""

    def parse(self, text: str, tools: Sequence[Message] = ()) -> tuple[str, list[Call]]:
        if not text.lstrip().startswith("{"):
            return text, []
        return "", [read_call(text, "a JSON object")]

    def render(self, call: Call) -> str:
        return json.dumps({"name": call.tool, "arguments": call.arguments})


class Llama3:
    """Chat format of Llama 3.1 to 3.3: a message, or one or more JSON objects with ``name`` and ``parameters``."""

    def parse(self, text: str, tools: Sequence[Message] = ()) -> tuple[str, list[Call]]:
        rest = text.strip().removeprefix("<|python_tag|>").lstrip()
        if not rest.startswith("{"):
            return text, []
        calls = []
        while rest:
            try:
                made, rest = read_first_json(rest)
            except ValueError as error:
                raise Malformed(invalid_json(error, "a turn with a tool call")) from None
            if isinstance(made, dict) and "parameters" in made:
                made = {"name": made.get("name"), "arguments": made["parameters"]}
            calls.append(call_of(made, "a turn with a tool call"))
            rest = rest.lstrip(" ;,\n")
        return "", calls

    def render(self, call: Call) -> str:
        return json.dumps({"name": call.tool, "parameters": call.arguments})


class Mistral:
    """Chat format of Mistral models: the marker ``[TOOL_CALLS]`` and a list of calls, or a name and arguments.

    The list and the arguments are JSON.
    """

    _named = re.compile(r"\s*([^\[{\s]+)\s*(?:\[CALL_ID\]\s*\w*\s*)?(?:\[ARGS\])?\s*(?=\{)")

    def parse(self, text: str, tools: Sequence[Message] = ()) -> tuple[str, list[Call]]:
        message, *blocks = text.split("[TOOL_CALLS]")
        return message, [call for block in blocks for call in self._block(block)]

    def render(self, call: Call) -> str:
        body = json.dumps([{"name": call.tool, "arguments": call.arguments}])
        return "[TOOL_CALLS] " + body.replace("[TOOL", r"\u005bTOOL")  # an argument may contain the marker

    def _block(self, block: str) -> list[Call]:
        if named := self._named.match(block):
            body = block[named.end() :]
            try:
                return [call_of({"name": named[1], "arguments": parse_json(body)}, "[TOOL_CALLS]")]
            except ValueError as error:
                raise Malformed(invalid_json(error, "[TOOL_CALLS]")) from None
        try:
            made = parse_json(block)
        except ValueError as error:
            raise Malformed(invalid_json(error, "[TOOL_CALLS]")) from None
        return [call_of(item, "[TOOL_CALLS]") for item in (made if isinstance(made, list) else [made])]
