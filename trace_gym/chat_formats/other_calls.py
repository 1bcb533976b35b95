"""Chat formats in which a tool call is not a JSON object."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from trace_gym.model_text import Malformed, parse_json, tool_name
from trace_gym.types import Call, Message


class Qwen3Coder:
    """Chat format of Qwen3-Coder: ``<function=NAME>`` tags that contain ``<parameter=NAME>`` tags.

    If the schema requires a string for an argument, its text is used unchanged. Otherwise, the text is parsed as JSON.
    If it is not valid JSON, it is used unchanged.
    """

    _function = re.compile(r"<function=(.*?)>(.*?)(?:</function>|(?=<function=)|$)", re.S)
    _parameter = re.compile(r"<parameter=(.*?)>(.*?)(?:</parameter>|(?=<parameter=)|$)", re.S)

    def parse(self, text: str, tools: Sequence[Message] = ()) -> tuple[str, list[Call]]:
        if "<function=" not in text:
            if "<tool_call>" in text:
                raise Malformed("the tool call has no name; <tool_call> must hold <function=NAME>...</function>")
            return text, []
        calls = [self._call(tool_name(name.strip()), body, tools) for name, body in self._function.findall(text)]
        return re.sub(r"</?tool_call>", "", self._function.sub("", text)), calls

    def render(self, call: Call) -> str:
        arguments = "".join(
            f"<parameter={key}>\n{value if isinstance(value, str) else json.dumps(value)}\n</parameter>\n"
            for key, value in call.arguments.items()
        )
        return f"<tool_call>\n<function={call.tool}>\n{arguments}</function>\n</tool_call>"

    def _call(self, name: str, body: str, tools: Sequence[Message]) -> Call:
        known: Mapping[str, Any] = next((t["function"] for t in tools if t["function"]["name"] == name), {})
        schemas = known.get("parameters", {}).get("properties", {})
        found = self._parameter.findall(body)
        return Call(name, {key: _typed(value, schemas.get(key, {})) for key, value in found})


class Pythonic:
    """Chat format of Llama 4 and LFM2: a list of Python calls, such as ``[cancel(order_id='A1', count=2)]``."""

    _starts, _ends = (re.compile(rf"<\|(?:tool_call|python)_{word}\|>") for word in ("start", "end"))

    def parse(self, text: str, tools: Sequence[Message] = ()) -> tuple[str, list[Call]]:
        message, *blocks = self._starts.split(text)
        if not blocks:
            if not re.match(r"\s*\[\s*[A-Za-z_]\w*\(", text):
                return text, []
            message, blocks = "", [text]
        calls = []
        for block in blocks:
            body, *following = self._ends.split(block, maxsplit=1)
            calls += self._calls(body)
            message += "".join(following)
        return message, calls

    def render(self, call: Call) -> str:
        arguments = ", ".join(f"{key}={value!r}" for key, value in call.arguments.items())
        return f"[{call.tool}({arguments})]"

    def _calls(self, body: str) -> list[Call]:
        try:
            listed = ast.parse(body.strip(), mode="eval").body
            return [self._call(item) for item in (listed.elts if isinstance(listed, ast.List) else [listed])]
        except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError) as error:
            raise Malformed(f"the tool call is not valid ({error}); expected [<tool>(<name>=<value>, ...)]") from None

    def _call(self, item: ast.expr) -> Call:
        """Return the call that a Python expression describes.

        Raises:
            ValueError: The expression is not a call whose arguments are all keyword arguments with literal values.
        """
        if not (isinstance(item, ast.Call) and isinstance(item.func, ast.Name)) or item.args:
            raise ValueError("the list must contain only tool calls with keyword arguments")
        arguments = {str(k.arg): ast.literal_eval(k.value) for k in item.keywords if k.arg is not None}
        return Call(tool_name(item.func.id), parse_json(json.dumps(arguments)))


def _typed(text: str, schema: Mapping[str, Any]) -> Any:
    """Return the value of an argument that was written as text, given the schema of its parameter."""
    text = text.removeprefix("\n").removesuffix("\n")
    options = [schema, *schema.get("anyOf", ()), *schema.get("oneOf", ())]
    types = {name for option in options for name in _types(option)}
    if "string" in types and not ("null" in types and text.strip() == "null"):
        return text
    try:
        return parse_json(text)
    except ValueError:
        return text  # the tool rejects a value of the wrong type


def _types(schema: Mapping[str, Any]) -> list[str]:
    found = schema.get("type", [])
    return [found] if isinstance(found, str) else list(found)
