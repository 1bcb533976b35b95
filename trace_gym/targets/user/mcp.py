"""The tools of an MCP server, read live over standard input and output."""

from __future__ import annotations

import asyncio
import os
import shlex
from importlib import import_module
from typing import Any

from trace_gym.errors import ConfigError, MissingExtra, ReadError

SECONDS = 60.0
"""How long a server may take to start and to list its tools."""


def listed(command: str, seconds: float = SECONDS) -> list[dict[str, Any]]:
    """What a server answers to ``tools/list``: name, description, inputSchema and annotations of each tool.

    Args:
        command: What starts the server, as words; it runs with the caller's environment and rights.
        seconds: How long it may take.

    Raises:
        MissingExtra: The package mcp is not installed.
        ConfigError: There is no command.
        ReadError: The server does not start, does not answer in time, or lists no tool.
    """
    try:
        import_module("mcp")
    except ImportError:
        raise MissingExtra("tools of an MCP server are read by the package mcp: pip install 'trace-gym[mcp]'") from None
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ConfigError(f"--mcp {command!r} cannot be read as a command: {error}") from None
    if not words:
        raise ConfigError('--mcp names no command; expected one such as --mcp "python my_server.py"')
    try:
        found = asyncio.run(asyncio.wait_for(_listed(words), seconds))
    except TimeoutError:
        raise ReadError(f"the MCP server {command!r} did not list its tools within {seconds:g} seconds") from None
    except Exception as error:
        raise ReadError(f"the MCP server {command!r} did not list its tools: {_cause(error)}; run it by hand") from None
    if not found:
        raise ReadError(f"the MCP server {command!r} lists no tool")
    return found


async def _listed(words: list[str]) -> list[dict[str, Any]]:
    mcp, stdio = import_module("mcp"), import_module("mcp.client.stdio")
    server = mcp.StdioServerParameters(command=words[0], args=words[1:], env=dict(os.environ))
    found: list[dict[str, Any]] = []
    async with stdio.stdio_client(server) as (read, write), mcp.ClientSession(read, write) as session:
        await session.initialize()
        asked: dict[str, Any] = {}
        while True:
            page = (await session.list_tools(**asked)).model_dump(mode="json", by_alias=True, exclude_none=True)
            found += page["tools"]
            if not (cursor := page.get("nextCursor")):
                return found
            asked = {"params": import_module("mcp.types").PaginatedRequestParams(cursor=cursor)}


def _cause(error: BaseException) -> str:
    """The innermost of the errors that task groups wrap."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"
