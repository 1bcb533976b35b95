"""One attempt at a scenario as an MCP server, for any MCP client: a chat program, an IDE, an agent framework.

The tools are those of `trace_gym.adapters.attempt`: the environment's own with their exact schemas, then three by
which the agent reads its task, talks to the user and ends the conversation.
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
from trace_gym.adapters.attempt import END, OWN, READ, SAY, Attempt, library
from trace_gym.types import Message

INSTRUCTIONS = f"""\
You are the agent of a conversation with a user, which is scored. Call {READ} first: it tells the rules and what the \
user wants. Write to the user with {SAY}; what you write elsewhere is read by nobody. Call {END} when nothing is left \
to do."""
RESOURCES = {
    "trace-gym://policy": ("The rules that the agent works by.", "text/plain"),
    "trace-gym://opening": ("The user's first message.", "text/plain"),
    "trace-gym://score": ("The score, once the conversation is over.", "application/json"),
}
"""Description and type of each."""


REQUESTS = {
    "list_tools": "ListToolsRequest",
    "call_tool": "CallToolRequest",
    "list_prompts": "ListPromptsRequest",
    "get_prompt": "GetPromptRequest",
    "list_resources": "ListResourcesRequest",
    "read_resource": "ReadResourceRequest",
}
"""What is answered: the method here, and the type of the request in 1.x."""

Handler = Callable[[Any], Awaitable[Any]]
"""Answers the parameters of one kind of request."""


def server(attempt: Attempt) -> Any:
    """An `mcp.server.lowlevel.Server` for one client; of the mcp package 1.x, or 2.x where that is installed.

    The rules and the opening are the prompt ``play``, two resources and the result of ``read_task``. The call that
    ends the conversation is answered with the score, as text and as structured content; the resource
    ``trace-gym://score`` has it too.

    Raises:
        MissingExtra: The mcp package is not installed.
    """
    types, make = library("mcp.types", "mcp"), library("mcp.server.lowlevel", "mcp").Server
    answers = _Answers(attempt, types)
    if _major() > 1:
        newer = {f"on_{name}": partial(_newer, getattr(answers, name)) for name in REQUESTS}
        return make("trace-gym", instructions=INSTRUCTIONS, **newer)
    made = make("trace-gym", instructions=INSTRUCTIONS)
    for name, request in REQUESTS.items():
        # The decorators of 1.x would check the arguments; here it is the episode that answers wrong ones.
        made.request_handlers[getattr(types, request)] = partial(_older, getattr(answers, name), types.ServerResult)
    return made


def serve(attempt: Attempt) -> None:
    """Serve an attempt over standard input and output, until the client leaves.

    Raises:
        MissingExtra: The mcp package is not installed.
    """
    made, stdio = server(attempt), library("mcp.server.stdio", "mcp").stdio_server
    wrap = library("anyio", "mcp").wrap_file

    async def run(out: TextIO) -> None:
        async with stdio(stdout=wrap(out)) as (read, write):
            await made.run(read, write, made.create_initialization_options())

    with terminal.reserved_stdout(), open(os.dup(terminal.stdout().fileno()), "w", encoding="utf-8") as out:
        asyncio.run(run(out))


class _Answers:
    """What answers each kind of request; results are made by the wire's names, which both versions know."""

    def __init__(self, attempt: Attempt, types: Any) -> None:
        self.attempt, self.types = attempt, types
        self.worker = ThreadPoolExecutor(1)
        """Takes the calls, one after the other, so that a slow environment does not stop other sessions."""

    async def list_tools(self, _: Any) -> Any:
        tools = [_listed(t["function"]) for t in (*self.attempt.tools, *OWN)]
        return self.types.ListToolsResult.model_validate({"tools": tools})

    async def call_tool(self, params: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self.worker, self._call, params)

    def _call(self, params: Any) -> Any:
        attempt, before = self.attempt, self.attempt.done
        texts = attempt.call(params.name, params.arguments or {})
        wrong, over = any(t.startswith("Error:") for t in texts), None
        if attempt.done and (not before or params.name == END):
            over = attempt.result
            texts.append(f"The conversation is over.\n{_json(over)}")
        # Made as what they are: from a dict, a text is tried as every kind of content that the protocol has.
        content = [self.types.TextContent(type="text", text=t) for t in texts]
        return self.types.CallToolResult(content=content, isError=wrong, structuredContent=over)

    async def list_prompts(self, _: Any) -> Any:
        prompt = {"name": "play", "description": "The rules and the user's first message."}
        return self.types.ListPromptsResult.model_validate({"prompts": [prompt]})

    async def get_prompt(self, params: Any) -> Any:
        if params.name != "play":
            raise ValueError(f"there is no prompt {params.name!r}; the only one is 'play'")
        told = {"role": "user", "content": {"type": "text", "text": f"{INSTRUCTIONS}\n\n{self.attempt.brief}"}}
        return self.types.GetPromptResult.model_validate({"messages": [told]})

    async def list_resources(self, _: Any) -> Any:
        known = [
            {"uri": uri, "name": uri.rpartition("/")[2], "description": says, "mimeType": mime}
            for uri, (says, mime) in RESOURCES.items()
        ]
        return self.types.ListResourcesResult.model_validate({"resources": known})

    async def read_resource(self, params: Any) -> Any:
        if (uri := str(params.uri)) not in RESOURCES:
            raise ValueError(f"there is no resource {uri!r}; there are {', '.join(RESOURCES)}")
        system, user = self.attempt.messages[:2]
        texts = (system["content"], user["content"], _json(self.attempt.result))
        text = dict(zip(RESOURCES, texts, strict=True))[uri]
        read = {"uri": uri, "mimeType": RESOURCES[uri][1], "text": text}
        return self.types.ReadResourceResult.model_validate({"contents": [read]})


@cache
def _major() -> int:
    return int(metadata.version("mcp").partition(".")[0])


async def _older(handler: Handler, wrap: Callable[[Any], Any], request: Any) -> Any:
    return wrap(await handler(request.params))


async def _newer(handler: Handler, _: Any, params: Any) -> Any:
    return await handler(params)


def _listed(function: Message) -> dict[str, Any]:
    return {"name": function["name"], "description": function["description"], "inputSchema": function["parameters"]}


def _json(value: Any) -> str:
    return to_json(value).decode()
