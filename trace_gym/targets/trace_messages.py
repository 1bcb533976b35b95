"""Reconstruction of a trace's conversation from its generation, response and function spans.

A generation span contains the messages of a chat completions request and the response. A response span contains the
items of a Responses API request if the exporter wrote them, and otherwise only an id. A function span contains a
function call and its result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from trace_gym.errors import ReadError
from trace_gym.parsing import first_fault
from trace_gym.targets.conversation import Logged

_MESSAGES = TypeAdapter(list[Logged])


@dataclass(frozen=True)
class TracedCall:
    """A function call and its result, from a function span."""

    name: str
    arguments: str
    result: str
    failed: bool

    @classmethod
    def of(cls, data: dict[str, Any], error: dict[str, Any] | None) -> TracedCall:
        """Create the call from the data of a function span."""
        result = str(data.get("output") or (error or {}).get("message") or "")
        return cls(str(data.get("name") or ""), str(data.get("input") or "{}"), result, error is not None)


def messages_of(generated: Sequence[dict[str, Any]], calls: Sequence[TracedCall], place: str) -> list[Logged]:
    """Return the messages of a trace.

    A request contains either the complete conversation before it, or only the items since the previous request. If no
    request contains the results of the last calls, the results are taken from the function spans.

    Args:
        generated: Data of the generation and response spans, in order.
        calls: Calls of the function spans, in order.
        place: Name of the trace in error messages.

    Raises:
        ReadError: The trace contains no messages, or a message is not valid.
    """
    items: list[dict[str, Any]] = []
    for data in generated:
        given = _items(data, "input")
        items = given if len(given) >= len(items) else items + [item for item in given if item not in items]
        items = items + _items(data, "output")
    if not items:
        raise ReadError(
            f"{place} contains no messages: found no generation span with input and output, and no response span with "
            "items. Enable sensitive data in the tracing settings, and use an exporter that includes the items of each "
            "response"
        )
    rows = _joined([row for item in (*_instructions(generated), *items) for row in _message(item)])
    try:
        return _MESSAGES.validate_python(_with_results(rows, calls))
    except ValidationError as error:
        raise ReadError(f"{place} contains a message that is not valid: {first_fault(error)}") from None


def model_of(generated: Sequence[dict[str, Any]]) -> str:
    """Return the name of the model in the first request that has one, or an empty string."""
    names = (data.get("model") or _response(data).get("model") for data in generated)
    return next((str(name) for name in names if name), "")


def _instructions(generated: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the system prompt of the first response, which is stored separately from the items of the request."""
    texts = [r.get("instructions") for data in generated if (r := _response(data))]
    return [{"role": "system", "content": texts[0]}] if texts and isinstance(texts[0], str) else []


def _response(data: dict[str, Any]) -> dict[str, Any]:
    response = data.get("response") or data.get("_response")
    return response if isinstance(response, dict) else {}


def _items(data: dict[str, Any], side: str) -> list[Any]:
    """Return the items of the input or output of a request."""
    places = (data.get(side), data.get(f"_{side}"), _response(data).get(side))
    found = next((place for place in places if place is not None), None)
    if isinstance(found, str):
        return [{"role": "user" if side == "input" else "assistant", "content": found}]
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _message(item: dict[str, Any]) -> list[dict[str, Any]]:
    """Convert a Responses API item to a chat completions message. Return chat completions messages unchanged."""
    match item.get("type"):
        case "function_call":
            call = {"id": item.get("call_id"), "name": item.get("name"), "arguments": item.get("arguments") or "{}"}
            return [{"role": "assistant", "content": None, "tool_calls": [call]}]
        case "function_call_output":
            output = item.get("output")
            return [{"role": "tool", "tool_call_id": item.get("call_id"), "content": output}]
        case "message" | None:
            role = "system" if item.get("role") == "developer" else item.get("role")
            return [{**item, "id": None, "role": role}]
        case _:
            return []  # reasoning, and tools that the provider runs


def _joined(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Merge consecutive calls with no result in between into one message, because they belong to one agent turn."""
    joined: list[dict[str, Any]] = []
    for row in rows:
        if row.get("tool_calls") and joined and joined[-1].get("role") == "assistant" and not row.get("content"):
            joined[-1] = {**joined[-1], "tool_calls": [*(joined[-1].get("tool_calls") or ()), *row["tool_calls"]]}
        else:
            joined.append(row)
    return joined


def _with_results(rows: Sequence[dict[str, Any]], calls: Sequence[TracedCall]) -> list[dict[str, Any]]:
    """Mark the results of failed calls, and append the results of the last calls, which no request contains.

    Calls are matched with function spans by function name, starting with the last call.
    """
    results = {row["tool_call_id"]: dict(row) for row in rows if row.get("role") == "tool" and row.get("tool_call_id")}
    left, missing = list(calls), list[dict[str, Any]]()
    for call in reversed([call for row in rows for call in row.get("tool_calls") or ()]):
        name = (call.get("function") or call).get("name")
        at = next((n for n in reversed(range(len(left))) if left[n].name == name), None)
        if at is None:
            continue
        done, key = left.pop(at), call.get("id")
        if key not in results:
            missing.append({"role": "tool", "tool_call_id": key, "content": done.result, "error": done.failed})
        elif done.failed:
            results[key]["error"] = True
    return [results.get(row.get("tool_call_id"), row) for row in rows] + missing[::-1]
