"""MCP server for one rollout of a scenario, for MCP clients such as chat programs, IDEs and agent frameworks.

The server lists the tools of the environment with their exact schemas. It also lists three tools for the conversation
(`trace_gym.adapters.rollout.CONVERSATION_TOOLS`): the agent uses them to read its task, talk to the user and end the
conversation.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from importlib import metadata
from typing import Any, TextIO

from pydantic_core import to_json

from trace_gym import terminal
from trace_gym.adapters.rollout import CONVERSATION_TOOLS, END, READ, SAY, AdapterRollout, library
from trace_gym.types import Message

INSTRUCTIONS = f"""\
You are an agent in a conversation with a user. The conversation is scored. Call {READ} first: it returns the rules \
and the user's first message. Write to the user with {SAY}; the user does not see any other text. Call {END} when the \
task is finished."""
RESOURCES = {
    "trace-gym://policy": ("The rules that the agent must follow.", "text/plain"),
    "trace-gym://opening": ("The user's first message.", "text/plain"),
    "trace-gym://score": ("The score, once the conversation is over.", "application/json"),
}
"""Description and MIME type of each resource, by URI."""


REQUESTS = {
    "list_tools": "ListToolsRequest",
    "call_tool": "CallToolRequest",
    "list_prompts": "ListPromptsRequest",
    "get_prompt": "GetPromptRequest",
    "list_resources": "ListResourcesRequest",
    "read_resource": "ReadResourceRequest",
}
"""Mapping from the name of a handler method to the name of its request type in version 1.x of the mcp package."""

Handler = Callable[[Any], Awaitable[Any]]
"""A function that takes the parameters of a request and returns its result."""


def server(rollout: AdapterRollout) -> Any:
    """Return an `mcp.server.lowlevel.Server` for one client. Versions 1.x and 2.x of the mcp package are supported.

    The rules and the user's first message are available as the prompt ``play``, as two resources, and as the result of
    ``read_task``. The result of the call that ends the conversation contains the score, as text and as structured
    content. The resource ``trace-gym://score`` also contains the score.

    Raises:
        MissingExtra: The mcp package is not installed.
    """
    types, make = library("mcp.types", "mcp"), library("mcp.server.lowlevel", "mcp").Server
    answers = _RequestHandlers(rollout, types)
    if _mcp_major_version() > 1:
        newer = {f"on_{name}": partial(_handle_v2, getattr(answers, name)) for name in REQUESTS}
        return make("trace-gym", instructions=INSTRUCTIONS, **newer)
    made = make("trace-gym", instructions=INSTRUCTIONS)
    for name, request in REQUESTS.items():
        # The decorators of version 1.x are not used, because they would validate arguments. The episode does this.
        made.request_handlers[getattr(types, request)] = partial(_handle_v1, getattr(answers, name), types.ServerResult)
    return made


def serve(rollout: AdapterRollout) -> None:
    """Serve a rollout over standard input and output until the client disconnects.

    Raises:
        MissingExtra: The mcp package is not installed.
    """
    made, stdio = server(rollout), library("mcp.server.stdio", "mcp").stdio_server
    wrap = library("anyio", "mcp").wrap_file

    async def run(out: TextIO) -> None:
        async with stdio(stdout=wrap(out)) as (read, write):
            await made.run(read, write, made.create_initialization_options())

    with terminal.reserved_stdout(), open(os.dup(terminal.stdout().fileno()), "w", encoding="utf-8") as out:
        asyncio.run(run(out))


class _RequestHandlers:
    """Request handlers of the server. Results use the protocol's field names, which versions 1.x and 2.x accept."""

    def __init__(self, rollout: AdapterRollout, types: Any) -> None:
        self.rollout, self.types = rollout, types
        self.worker = ThreadPoolExecutor(1)
        """Thread that runs tool calls one at a time, so that a slow environment does not block other sessions."""

    async def list_tools(self, _: Any) -> Any:
        tools = [_mcp_tool(t["function"]) for t in (*self.rollout.tools, *CONVERSATION_TOOLS)]
        return self.types.ListToolsResult.model_validate({"tools": tools})

    async def call_tool(self, params: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self.worker, self._call, params)

    def _call(self, params: Any) -> Any:
        rollout, before = self.rollout, self.rollout.done
        texts = rollout.call(params.name, params.arguments or {})
        wrong, result = any(t.startswith("Error:") for t in texts), None
        if rollout.done and (not before or params.name == END):
            result = rollout.result
            texts.append(f"The conversation is over.\n{_json(result)}")
        # Typed objects instead of dicts: pydantic would try to parse a dict as each content type of the protocol.
        content = [self.types.TextContent(type="text", text=t) for t in texts]
        return self.types.CallToolResult(content=content, isError=wrong, structuredContent=result)

    async def list_prompts(self, _: Any) -> Any:
        prompt = {"name": "play", "description": "The rules and the user's first message."}
        return self.types.ListPromptsResult.model_validate({"prompts": [prompt]})

    async def get_prompt(self, params: Any) -> Any:
        if params.name != "play":
            raise ValueError(f"unknown prompt: found {params.name!r}, expected 'play'")
        prompt_message = {
            "role": "user",
            "content": {"type": "text", "text": f"{INSTRUCTIONS}\n\n{self.rollout.brief}"},
        }
        return self.types.GetPromptResult.model_validate({"messages": [prompt_message]})

    async def list_resources(self, _: Any) -> Any:
        known = [
            {"uri": uri, "name": uri.rpartition("/")[2], "description": message, "mimeType": mime}
            for uri, (message, mime) in RESOURCES.items()
        ]
        return self.types.ListResourcesResult.model_validate({"resources": known})

    async def read_resource(self, params: Any) -> Any:
        if (uri := str(params.uri)) not in RESOURCES:
            raise ValueError(f"unknown resource: found {uri!r}, expected one of {', '.join(RESOURCES)}")
        system, user = self.rollout.messages[:2]
        texts = (system["content"], user["content"], _json(self.rollout.result))
        text = dict(zip(RESOURCES, texts, strict=True))[uri]
        read = {"uri": uri, "mimeType": RESOURCES[uri][1], "text": text}
        return self.types.ReadResourceResult.model_validate({"contents": [read]})


@cache
def _mcp_major_version() -> int:
    return int(metadata.version("mcp").partition(".")[0])


async def _handle_v1(handler: Handler, wrap: Callable[[Any], Any], request: Any) -> Any:
    return wrap(await handler(request.params))


async def _handle_v2(handler: Handler, _: Any, params: Any) -> Any:
    return await handler(params)


def _mcp_tool(function: Message) -> dict[str, Any]:
    return {"name": function["name"], "description": function["description"], "inputSchema": function["parameters"]}


def _json(value: Any) -> str:
    return to_json(value).decode()
