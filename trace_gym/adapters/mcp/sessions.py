"""Session management of the MCP server over HTTP.

The transports of the mcp package implement the protocol. The session manager of the mcp package is not sufficient,
because all of its sessions share one server. This module creates a separate server and episode for each session. It
also limits the number of sessions and their idle time.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import SystemRandom
from typing import Any
from urllib.parse import parse_qsl

from trace_gym.adapters.limits import AsgiEvent, Receive, Send, refuse
from trace_gym.adapters.mcp import server
from trace_gym.adapters.problems import Problems
from trace_gym.adapters.rollout import AdapterRollout, library
from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, ScenarioError, TraceGymError

HEADER = b"mcp-session-id"
QUERY = 500
"""Maximum length of the query string that selects the scenario."""


@dataclass
class McpSession:
    """One MCP session: a rollout, and the asyncio task that runs the session's transport."""

    rollout: AdapterRollout
    manager: Any
    close: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
    used: float = field(default_factory=time.monotonic)
    """Time at which the last request started or ended, from `time.monotonic`."""


class McpSessions:
    """ASGI application for the path ``/mcp``, which opens sessions, routes requests to them and closes them.

    Args:
        problems: Mapping from seeds to scenarios.
        limit: Maximum number of concurrent sessions.
        idle: Seconds after which a session without a request is closed.
        begin: Function that creates the rollout of an episode.
        seed: Seed of a session whose URL selects no scenario; None draws a random seed.
        security: `TransportSecuritySettings` of the mcp package, or None.
    """

    def __init__(
        self,
        problems: Problems,
        *,
        limit: int,
        idle: float,
        begin: Callable[[Episode], AdapterRollout],
        seed: int | None,
        security: Any,
    ) -> None:
        self.problems, self.limit, self.idle = problems, limit, idle
        self._begin, self._seed, self._security = begin, seed, security
        self.open: dict[str, McpSession] = {}
        self.taken = 0
        """Number of sessions that are open or being opened."""

    async def __call__(self, scope: AsgiEvent, receive: Receive, send: Send) -> None:
        """Handle one request."""
        known = next((value.decode("latin-1") for name, value in scope["headers"] if name == HEADER), None)
        if scope["method"] not in ("POST", "DELETE"):
            await refuse(
                send,
                405,
                f"unsupported HTTP method: found {scope['method']}, expected POST or DELETE. "
                "The server sends no messages except for responses",
            )
        elif known is None:
            await self._start(scope, receive, send)
        elif (session := self.open.get(known)) is None:
            await refuse(send, 404, "unknown session: it was closed, or it timed out. Open a new session")
        else:
            await self._serve(session, scope, receive, send)
            if scope["method"] == "DELETE":
                await self._end(known)

    async def expire(self) -> None:
        """Close idle sessions in an endless loop. A session is idle if it had no request during the idle timeout."""
        while True:
            await asyncio.sleep(min(self.idle / 4, 10.0))
            before = time.monotonic() - self.idle
            for name in [n for n, s in self.open.items() if s.used < before]:
                await self._end(name)

    async def end_all(self) -> None:
        """Close all sessions."""
        for name in list(self.open):
            await self._end(name)

    async def _start(self, scope: AsgiEvent, receive: Receive, send: Send) -> None:
        first = await receive()
        if (message := _initialize(first.get("body", b""))) is None:
            await refuse(send, 400, "the request has no session id: expected a POST with an initialize request first")
            return
        code, problem = -32000, ""
        if self.taken >= self.limit:
            problem = f"all {self.limit} sessions are in use. Try again later, or start the server with more --sessions"
        else:
            self.taken += 1
            opened = False
            try:
                opened = await self._open(scope, first, receive, send)
            except TraceGymError as error:
                code, problem = -32602 if isinstance(error, ConfigError | ScenarioError) else -32603, str(error)
            finally:
                self.taken -= not opened
        if problem:  # clients show the message of a JSON-RPC error, but not that of an HTTP error
            error_body = {"jsonrpc": "2.0", "id": message.get("id"), "error": {"code": code, "message": problem}}
            await library("starlette.responses", "mcp").JSONResponse(error_body)(scope, receive, send)

    async def _open(self, scope: AsgiEvent, first: AsgiEvent, receive: Receive, send: Send) -> bool:
        """Open a session for an initialize request, and return whether the request succeeded.

        If the request fails, close the session.
        """
        scenario = self._scenario(scope["query_string"].decode("latin-1"))
        rollout = self._begin(await asyncio.to_thread(self.problems.start, scenario))
        manage = library("mcp.server.streamable_http_manager", "mcp").StreamableHTTPSessionManager
        session = McpSession(
            rollout,
            manage(server(rollout), json_response=True, security_settings=self._security, session_idle_timeout=None),
        )
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        session.task = asyncio.create_task(_run(session, ready))
        await ready
        events, names = [first], list[str]()

        async def replayed() -> AsgiEvent:
            return events.pop() if events else await receive()

        async def watched(event: AsgiEvent) -> None:
            if event["type"] == "http.response.start" and event["status"] < 400:
                names.extend(v.decode("latin-1") for n, v in event["headers"] if n.lower() == HEADER)
                self.open.update(dict.fromkeys(names, session))
            elif event["type"] == "http.response.body" and b'"error"' in event.get("body", b""):
                for name in names:
                    del self.open[name]  # a JSON-RPC error in a successful response
                names.clear()
            await send(event)

        try:
            await self._serve(session, scope, replayed, watched)
        finally:
            if not names:
                await _stop(session)
        return bool(names)

    async def _serve(self, session: McpSession, scope: AsgiEvent, receive: Receive, send: Send) -> None:
        session.used = time.monotonic()
        try:
            await session.manager.handle_request(scope, receive, send)
        finally:
            session.used = time.monotonic()

    async def _end(self, name: str) -> None:
        if (session := self.open.pop(name, None)) is not None:
            self.taken -= 1
            await _stop(session)

    def _scenario(self, query: str) -> Any:
        """Return the scenario that the query of a URL selects.

        Raises:
            ConfigError, ScenarioError: The query is not valid.
        """
        pairs = parse_qsl(query, keep_blank_values=True)
        wanted = dict(pairs)
        if len(query) > QUERY or len(wanted) < len(pairs):
            raise ConfigError(
                f"invalid query in the URL: it must have at most {QUERY} characters and contain each parameter at most "
                "once"
            )
        if unknown := sorted(wanted.keys() - {"seed", "split", "scenario"}):
            raise ConfigError(f"unknown parameter in the URL: found {unknown[0]!r}, expected seed, split or scenario")
        if (scenario := wanted.get("scenario")) is not None:
            if len(wanted) > 1:
                raise ConfigError("the URL has both a scenario and a seed or split. Remove one of them")
            return self.problems.exactly(scenario)
        seed = wanted.get("seed", "" if self._seed is None else str(self._seed))
        if seed and not (seed.isascii() and seed.isdigit()):
            raise ConfigError(f"invalid seed in the URL: found {seed!r}, expected a non-negative integer")
        return self.problems.at(int(seed) if seed else SystemRandom().randrange(10**6), wanted.get("split"))


def _initialize(body: bytes) -> dict[str, Any] | None:
    """Return the JSON-RPC message of an initialize request, or None for any other request."""
    try:
        message = json.loads(body)
    except ValueError:
        return None
    return message if isinstance(message, dict) and message.get("method") == "initialize" else None


async def _run(session: McpSession, ready: asyncio.Future[None]) -> None:
    """Run the transport of a session until the session is closed."""
    try:
        async with session.manager.run():
            ready.set_result(None)
            await session.close.wait()
    except Exception as error:
        if ready.done():
            raise
        ready.set_exception(error)


async def _stop(session: McpSession) -> None:
    session.close.set()
    if session.task is not None:
        await asyncio.wait([session.task])
