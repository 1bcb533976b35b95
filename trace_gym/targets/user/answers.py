"""The text that an agent reads as the result of an MCP tool."""

from __future__ import annotations

import re
from typing import Any

from trace_gym.targets.user.formats import format_of, formatted

_PREFIX = re.compile(r"(error executing tool [^:]*:|mcp error -?\d+:|error:)\s*", re.I)


def answer_of(result: dict[str, Any]) -> str:
    """Return the text of a result of ``tools/call``, or ``Error: `` and a sentence where the tool failed.

    The text blocks of a result are shown unchanged, one below the other. ``structuredContent`` is shown instead, as
    JSON, where there are no text blocks, and where a list was split into one block per item, in the format of these.
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
    """Return a failure as a refusal of the gym: ``Error: `` and one line, without further prefixes."""
    said = " ".join(text.split())
    while match := _PREFIX.match(said):
        said = said[match.end() :]
    if said[:1] in ("{", "["):
        said = f"the call failed with {said}"
    return f"Error: {said or 'the call failed'}"


def _block(block: dict[str, Any]) -> str:
    """Return a content block as text: its text, or what it is."""
    match block:
        case {"type": "text", "text": str(text)} | {"resource": {"text": str(text)}}:
            return text
        case {"type": "resource_link", "uri": str(uri)} | {"resource": {"uri": str(uri)}}:
            return uri
    return f"[{block.get('type', 'content')} {block.get('mimeType', '')}".rstrip() + "]"
