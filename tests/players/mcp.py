"""MCP: a server and a client of the mcp package, joined in memory."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from typing import Any, TypeVar

from players import text_of
from trace_gym import registry
from trace_gym.actions import read_turn
from trace_gym.adapters.rollout import CONVERSATION_TOOLS, AdapterRollout
from trace_gym.episode import Action
from trace_gym.types import Call, Message, Scenario

_T = TypeVar("_T")
SAY = CONVERSATION_TOOLS[1]["function"]["name"]


@cache
def loop() -> asyncio.AbstractEventLoop:
    """Return the event loop of servers and clients, in a thread next to the test."""
    made = asyncio.new_event_loop()
    threading.Thread(target=made.run_forever, daemon=True).start()
    return made


def run(work: Coroutine[Any, Any, _T]) -> _T:
    return asyncio.run_coroutine_threadsafe(work, loop()).result(30)


class Session:
    """A connection; the task that opened it also closes it, as anyio asks for."""

    def __init__(self, rollout: AdapterRollout) -> None:
        self.leave = asyncio.Event()
        self.done = False
        self.paid: float | None = None
        ready: Future[Any] = Future()
        self.connection = asyncio.run_coroutine_threadsafe(self.connect(rollout, ready), loop())
        self.client = ready.result(30)

    async def connect(self, rollout: AdapterRollout, ready: Future[Any]) -> None:
        from mcp.shared.memory import create_connected_server_and_client_session

        from trace_gym.adapters.mcp import server

        async with create_connected_server_and_client_session(server(rollout)) as client:
            ready.set_result(client)
            await self.leave.wait()

    def close(self) -> None:
        loop().call_soon_threadsafe(self.leave.set)
        self.connection.result(30)

    @property
    def tools(self) -> list[Message]:
        """Those of the environment; ours must follow them."""
        keys = {"name": "name", "description": "description", "inputSchema": "parameters"}
        listed = [t.model_dump(by_alias=True) for t in run(self.client.list_tools()).tools]
        shown = [{"type": "function", "function": {keys[k]: t[k] for k in keys}} for t in listed]
        assert shown[-len(CONVERSATION_TOOLS) :] == list(CONVERSATION_TOOLS)
        return shown[: -len(CONVERSATION_TOOLS)]

    def act(self, action: Action) -> list[str]:
        """A client has read the model's turn already, so what it sends is a call."""
        said, calls = read_turn(text_of(action))
        call = calls[0] if calls else Call(SAY, {"text": said})
        answer = run(self.client.call_tool(call.tool, call.arguments)).model_dump(by_alias=True)
        texts = [part["text"] for part in answer["content"]]
        if (over := answer["structuredContent"]) is None:
            return texts
        self.done, self.paid = over["done"], over["reward"]
        return texts[:-1]

    def reward(self) -> float | None:
        return self.paid


class Mcp:
    name, talks = "mcp", True
    ugly = ("", '<tool_call>{"name": "rm", "arguments": {}}</tool_call>', "\x00\ud800", "x" * 100_000)
    """Texts that do not reach the server, because no client can read them as a turn."""

    @contextmanager
    def open(self, scenario: Scenario) -> Iterator[Session]:
        session = Session(AdapterRollout(registry.start_episode(scenario)))
        try:
            yield session
        finally:
            session.close()


_HERE = find_spec("mcp") is not None and metadata.version("mcp") < "2"
PLAYERS: list[Mcp] = [Mcp()] if _HERE else []
MISSING = "" if PLAYERS else "pip install 'trace-gym[mcp]': the mcp package 1.x is not installed"
