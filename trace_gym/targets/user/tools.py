"""Reader of the tools of a custom target."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trace_gym.errors import ReadError
from trace_gym.files import read_text
from trace_gym.parsing import parse_json


def text_of(path: Path) -> str:
    """Return the text of a file.

    Raises:
        ReadError: The file cannot be read.
    """
    return read_text(path, "Put it there, or make the target anew: trace-gym target init")


def read_tools(path: Path) -> tuple[dict[str, Any], ...]:
    """Return the tools in a JSON file in the format of OpenAI functions.

    Raises:
        ReadError: The file does not contain a list of tools.
    """
    return tools_in(json_of(path), str(path))


def json_of(path: Path) -> Any:
    """Return the parsed content of a JSON file with tools.

    Raises:
        ReadError: The file cannot be read, or is not valid JSON.
    """
    return parse_json(text_of(path), str(path), "Expected a list of OpenAI function tools")


def tools_in(data: Any, where: str) -> tuple[dict[str, Any], ...]:
    """Convert a list of tools, or an object with the key ``tools``, to OpenAI functions.

    Each tool is an OpenAI function (with or without the outer ``{"type": "function", ...}`` object) or an MCP tool.

    Args:
        data: The parsed JSON data.
        where: Name of the source in error messages.

    Raises:
        ReadError: The data is not a list of tools.
    """
    rows = data.get("tools") if isinstance(data, dict) else data
    form = 'expected [{"type": "function", "function": {"name": ..., "description": ..., "parameters": {...}}}, ...]'
    if not isinstance(rows, list) or not rows:
        raise ReadError(f"{where} contains no list of tools; {form}")
    made = []
    for number, row in enumerate(rows, 1):
        said = row.get("function", row) if isinstance(row, dict) else None
        if not isinstance(said, dict) or not isinstance(said.get("name"), str):
            raise ReadError(f"tool {number} in {where} has no name; {form}")
        schema = said.get("parameters") or said.get("inputSchema") or {}
        if not isinstance(schema, dict):
            raise ReadError(f"the parameters of the tool {said['name']} in {where} are not a valid JSON Schema; {form}")
        schema = {"type": "object", "properties": {}, **schema}
        about = {"name": said["name"], "description": str(said.get("description") or ""), "parameters": schema}
        made.append({"type": "function", "function": about})
    return tuple(made)


def names_of(tools: tuple[dict[str, Any], ...]) -> list[str]:
    """Return the names of the tools, in order."""
    return [tool["function"]["name"] for tool in tools]
