"""One attempt at a scenario as an MCP server, for any MCP client: a chat program, an IDE, an agent framework.

The tools are those of `trace_gym.adapters.attempt`: the environment's own with their exact schemas, then three by
which the agent reads its task, talks to the user and ends the conversation.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import redirect_stdout
from functools import cache, partial
from importlib import metadata
from typing import Any

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
    handlers = _handlers(attempt, types)
    if _major() > 1:
        newer = {f"on_{name}": partial(_newer, handler) for name, handler in handlers.items()}
        return make("trace-gym", instructions=INSTRUCTIONS, **newer)
    made = make("trace-gym", instructions=INSTRUCTIONS)
    for name, handler in handlers.items():
        # The decorators of 1.x would check the arguments; here it is the episode that answers wrong ones.
        request = getattr(types, name.title().replace("_", "") + "Request")
        made.request_handlers[request] = partial(_older, handler, types.ServerResult)
    return made


def serve(attempt: Attempt) -> None:
    """Serve an attempt over standard input and output, until the client leaves.

    Raises:
        MissingExtra: The mcp package is not installed.
    """
    made, stdio = server(attempt), library("mcp.server.stdio", "mcp").stdio_server

    async def run() -> None:
        async with stdio() as (read, write):
            with redirect_stdout(sys.stderr):  # what an environment prints is no message of the protocol
                await made.run(read, write, made.create_initialization_options())

    asyncio.run(run())


def _handlers(attempt: Attempt, types: Any) -> dict[str, Handler]:
    """What answers each kind of request; results are read from the wire's names, which both versions know."""

    async def list_tools(_: Any) -> Any:
        return types.ListToolsResult.model_validate({"tools": [_listed(t["function"]) for t in (*attempt.tools, *OWN)]})

    async def call_tool(params: Any) -> Any:
        before = attempt.done
        texts = attempt.call(params.name, params.arguments or {})
        answer: dict[str, Any] = {"isError": any(t.startswith("Error:") for t in texts)}
        if attempt.done and (not before or params.name == END):
            answer["structuredContent"] = attempt.result
            texts.append(f"The conversation is over.\n{json.dumps(attempt.result, ensure_ascii=False)}")
        return types.CallToolResult.model_validate(answer | {"content": [_text(t) for t in texts]})

    async def list_prompts(_: Any) -> Any:
        prompt = {"name": "play", "description": "The rules and the user's first message."}
        return types.ListPromptsResult.model_validate({"prompts": [prompt]})

    async def get_prompt(params: Any) -> Any:
        if params.name != "play":
            raise ValueError(f"there is no prompt {params.name!r}; the only one is 'play'")
        told = {"role": "user", "content": _text(f"{INSTRUCTIONS}\n\n{attempt.brief}")}
        return types.GetPromptResult.model_validate({"messages": [told]})

    async def list_resources(_: Any) -> Any:
        known = [
            {"uri": uri, "name": uri.rpartition("/")[2], "description": says, "mimeType": mime}
            for uri, (says, mime) in RESOURCES.items()
        ]
        return types.ListResourcesResult.model_validate({"resources": known})

    async def read_resource(params: Any) -> Any:
        if (uri := str(params.uri)) not in RESOURCES:
            raise ValueError(f"there is no resource {uri!r}; there are {', '.join(RESOURCES)}")
        system, user = attempt.messages[:2]
        texts = (system["content"], user["content"], json.dumps(attempt.result, ensure_ascii=False))
        text = dict(zip(RESOURCES, texts, strict=True))[uri]
        read = {"uri": uri, "mimeType": RESOURCES[uri][1], "text": text}
        return types.ReadResourceResult.model_validate({"contents": [read]})

    return {f.__name__: f for f in (list_tools, call_tool, list_prompts, get_prompt, list_resources, read_resource)}


@cache
def _major() -> int:
    return int(metadata.version("mcp").partition(".")[0])


async def _older(handler: Handler, wrap: Callable[[Any], Any], request: Any) -> Any:
    return wrap(await handler(request.params))


async def _newer(handler: Handler, _: Any, params: Any) -> Any:
    return await handler(params)


def _listed(function: Message) -> dict[str, Any]:
    return {"name": function["name"], "description": function["description"], "inputSchema": function["parameters"]}


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}
