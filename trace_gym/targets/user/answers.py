"""Conversion of the results of MCP tools to the text that an agent reads."""

from __future__ import annotations

import re
from typing import Any

from trace_gym.targets.user.formats import format_of, formatted

_PREFIX = re.compile(r"(error executing tool [^:]*:|mcp error -?\d+:|error:)\s*", re.I)


def answer_of(result: dict[str, Any]) -> str:
    """Return the text of a ``tools/call`` result, or a sentence that begins with ``Error: `` if the tool failed.

    The content blocks of a result are joined with line breaks. If there are no content blocks, or if the result is a
    list, which servers split into one block per item, ``structuredContent`` is returned as JSON instead. The JSON has
    the same whitespace as the blocks.
    """
    blocks = [_block(block) for block in result.get("content") or ()]
    text = "\n".join(blocks)
    if result.get("isError"):
        return refusal(text)
    structured = result.get("structuredContent")
    wrapped = isinstance(structured, dict) and structured.keys() == {"result"}
    data = structured["result"] if wrapped and structured is not None else structured
    if data is not None and (not blocks or (wrapped and isinstance(data, list))):
        return data if isinstance(data, str) else formatted(data, format_of(blocks))
    return text


def refusal(text: str) -> str:
    """Return the text of a failure in the format of trace_gym: a single line that begins with ``Error: ``."""
    said = " ".join(text.split())
    while match := _PREFIX.match(said):
        said = said[match.end() :]
    if said[:1] in ("{", "["):
        said = f"the call failed with {said}"
    return f"Error: {said or 'the call failed'}"


def _block(block: dict[str, Any]) -> str:
    """Return a content block as text: its text or URI, or else its type in brackets."""
    match block:
        case {"type": "text", "text": str(text)} | {"resource": {"text": str(text)}}:
            return text
        case {"type": "resource_link", "uri": str(uri)} | {"resource": {"uri": str(uri)}}:
            return uri
    return f"[{block.get('type', 'content')} {block.get('mimeType', '')}".rstrip() + "]"
