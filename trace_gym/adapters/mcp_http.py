"""Many MCP sessions in one process, over the streamable HTTP transport.

Each session is one episode. The URL with which a client opens its session selects the scenario: ``/mcp?seed=7``,
``/mcp?seed=7&split=test`` or ``/mcp?scenario=tau2_precondition/0/7``. Sessions share nothing but the process.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import SystemRandom
from typing import Any
from urllib.parse import parse_qsl

from trace_gym import registry
from trace_gym.adapters.attempt import Attempt, library
from trace_gym.adapters.gymnasium import WEIGHTS
from trace_gym.adapters.limits import IDLE, SESSIONS, Event, Limits, Receive, Send, check_options, refuse
from trace_gym.adapters.mcp import server
from trace_gym.adapters.problems import Problems
from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, ScenarioError, TraceGymError

HEADER = b"mcp-session-id"
QUERY = 500
"""Most characters of the part of a URL that selects a scenario."""
LOCAL = ("127.0.0.1", "localhost", "[::1]")
"""Host names by which a server is reached that listens on this machine only."""


@dataclass
class Session:
    """One MCP session: its episode, and the task that runs its transport."""

    attempt: Attempt
    manager: Any
    close: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
    requests: int = 0
    """Requests that are being answered."""
    used: float = field(default_factory=time.monotonic)


class Sessions:
    """ASGI application of the path ``/mcp``: opens sessions, routes requests to them and closes them.

    Args:
        problems: The environments and the meaning of a seed.
        limit: Most sessions that are open at once.
        idle: Seconds after which a session without a request is closed.
        begin: Starts the rollout of an episode.
        seed: Seed of a session whose URL selects no scenario; None draws one.
        security: `TransportSecuritySettings` of the mcp package, or None.
    """

    def __init__(
        self,
        problems: Problems,
        *,
        limit: int,
        idle: float,
        begin: Callable[[Episode], Attempt],
        seed: int | None,
        security: Any,
    ) -> None:
        self.problems, self.limit, self.idle = problems, limit, idle
        self._begin, self._seed, self._security = begin, seed, security
        self.open: dict[str, Session] = {}
        self.opening = 0

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        """Handle one request."""
        known = next((value.decode("latin-1") for name, value in scope["headers"] if name == HEADER), None)
        if scope["method"] not in ("POST", "DELETE"):
            await refuse(
                send, 405, f"found {scope['method']}, expected POST or DELETE: the server sends nothing by itself"
            )
        elif known is None:
            await self._start(scope, receive, send)
        elif (session := self.open.get(known)) is None:
            await refuse(send, 404, "no such session: it was closed or had no request for too long. Open another")
        else:
            await self._serve(session, scope, receive, send)
            if scope["method"] == "DELETE":
                await self._end(known)

    async def expire(self) -> None:
        """Close sessions that had no request for the idle timeout."""
        while True:
            await asyncio.sleep(min(self.idle / 4, 10.0))
            before = time.monotonic() - self.idle
            for name in [n for n, s in self.open.items() if not s.requests and s.used < before]:
                await self._end(name)

    async def end_all(self) -> None:
        """Close all sessions."""
        for name in list(self.open):
            await self._end(name)

    async def _start(self, scope: Event, receive: Receive, send: Send) -> None:
        first = await receive()
        if (message := _initialize(first.get("body", b""))) is None:
            await refuse(send, 400, "this request belongs to no session: expected an initialize request by POST first")
            return
        code, problem = -32000, ""
        if len(self.open) + self.opening >= self.limit:
            problem = f"all {self.limit} sessions are open. Try again later, or start the server with more --sessions"
        else:
            self.opening += 1
            try:
                await self._open(scope, first, receive, send)
            except TraceGymError as error:
                code, problem = -32602 if isinstance(error, ConfigError | ScenarioError) else -32603, str(error)
            finally:
                self.opening -= 1
        if problem:  # clients show the message of a JSON-RPC error, but not that of an HTTP error
            error_body = {"jsonrpc": "2.0", "id": message.get("id"), "error": {"code": code, "message": problem}}
            await library("starlette.responses", "mcp").JSONResponse(error_body)(scope, receive, send)

    async def _open(self, scope: Event, first: Event, receive: Receive, send: Send) -> None:
        """Open a session for an initialize request, and keep it if the request succeeds."""
        scenario = self._scenario(scope["query_string"].decode("latin-1"))
        attempt = self._begin(await asyncio.to_thread(registry.episode, scenario))
        manage = library("mcp.server.streamable_http_manager", "mcp").StreamableHTTPSessionManager
        session = Session(
            attempt,
            manage(server(attempt), json_response=True, security_settings=self._security, session_idle_timeout=None),
        )
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        session.task = asyncio.create_task(_run(session, ready))
        await ready
        events, names = [first], list[str]()

        async def replayed() -> Event:
            return events.pop() if events else await receive()

        async def watched(event: Event) -> None:
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

    async def _serve(self, session: Session, scope: Event, receive: Receive, send: Send) -> None:
        session.requests += 1
        try:
            await session.manager.handle_request(scope, receive, send)
        finally:
            session.requests -= 1
            session.used = time.monotonic()

    async def _end(self, name: str) -> None:
        if (session := self.open.pop(name, None)) is not None:
            await _stop(session)

    def _scenario(self, query: str) -> Any:
        """Return the scenario that the query of a URL selects.

        Raises:
            ConfigError, ScenarioError: The query is not valid.
        """
        pairs = parse_qsl(query, keep_blank_values=True)
        wanted = dict(pairs)
        if len(query) > QUERY or len(wanted) < len(pairs):
            raise ConfigError(f"the URL selects a scenario in {QUERY} characters or fewer, with each parameter once")
        if unknown := sorted(wanted.keys() - {"seed", "split", "scenario"}):
            raise ConfigError(f"unknown parameter {unknown[0]!r} in the URL: expected seed, split or scenario")
        if (scenario := wanted.get("scenario")) is not None:
            if len(wanted) > 1:
                raise ConfigError("the URL has a scenario and a seed or split: expected one or the other")
            return self.problems.exactly(scenario)
        seed = wanted.get("seed", "" if self._seed is None else str(self._seed))
        if seed and not (seed.isascii() and seed.isdigit()):
            raise ConfigError(f"the seed in the URL is {seed!r}: expected a whole number from 0 on")
        return self.problems.at(int(seed) if seed else SystemRandom().randrange(10**6), wanted.get("split"))


def app(
    envs: str | Sequence[str],
    *,
    level: int | None = None,
    split: str = "train",
    weights: str = "default",
    seed: int | None = None,
    sessions: int = SESSIONS,
    idle: float = IDLE,
    host: str = "127.0.0.1",
    at_end: Callable[[Episode], None] = lambda _: None,
) -> Any:
    """Return the server as an ASGI application: MCP at ``/mcp``, and its load at ``/health``.

    Args:
        envs: Environments to serve; consecutive seeds alternate between several.
        level: Level of every scenario; None draws one from the seed.
        split: Split of the seeds, a key of `trace_gym.registry.SPLITS`.
        weights: How a rollout is rewarded, a key of `trace_gym.adapters.gymnasium.WEIGHTS`.
        seed: Seed of a session whose URL selects no scenario; None draws one.
        sessions: Most sessions that are open at once.
        idle: Seconds after which a session without a request is closed.
        host: Address that the server will listen on. On a loopback address, requests of web pages of other hosts
            are refused.
        at_end: Called when an episode has ended, in the thread that ended it.

    Raises:
        EnvNotFound, ConfigError, ScenarioError: An argument is not valid.
        TamperedEnv: An environment cannot be loaded.
        MissingExtra: The mcp package is not installed.
    """
    if weights not in WEIGHTS:
        raise ConfigError(f"weights {weights!r} is unknown; expected one of {', '.join(WEIGHTS)}")
    check_options(sessions, idle)
    problems = Problems([envs] if isinstance(envs, str) else envs, level, split)
    problems.parts()
    made = Sessions(
        problems,
        limit=sessions,
        idle=idle,
        begin=lambda episode: Attempt(episode, weights=weights, at_end=at_end),
        seed=seed,
        security=_security(host),
    )
    routing = library("starlette.routing", "mcp")

    async def health(_: Any) -> Any:
        load = {"status": "healthy", "sessions": len(made.open), "limit": made.limit}
        return library("starlette.responses", "mcp").JSONResponse(load)

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        expiring = asyncio.create_task(made.expire())
        try:
            yield
        finally:
            expiring.cancel()
            await made.end_all()

    routes = [routing.Route("/health", health), routing.Route("/mcp", _Endpoint(made))]
    return Limits(library("starlette.applications", "mcp").Starlette(routes=routes, lifespan=lifespan), idle=idle)


class _Endpoint:
    """An ASGI application as starlette routes it: for all methods."""

    def __init__(self, sessions: Sessions) -> None:
        self.sessions = sessions

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        await self.sessions(scope, receive, send)


def _security(host: str) -> Any:
    """Return the settings against DNS rebinding for a server that only this machine reaches, otherwise None."""
    if host not in ("127.0.0.1", "localhost", "::1"):
        return None
    settings = library("mcp.server.transport_security", "mcp").TransportSecuritySettings
    hosts = [f"{name}:*" for name in LOCAL]
    return settings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[*hosts, *LOCAL],
        allowed_origins=[f"http://{name}" for name in hosts],
    )


def _initialize(body: bytes) -> dict[str, Any] | None:
    """Return the message of a request that opens a session, or None if it is another."""
    try:
        message = json.loads(body)
    except ValueError:
        return None
    return message if isinstance(message, dict) and message.get("method") == "initialize" else None


async def _run(session: Session, ready: asyncio.Future[None]) -> None:
    """Run the transport of a session until it is closed."""
    try:
        async with session.manager.run():
            ready.set_result(None)
            await session.close.wait()
    except Exception as error:
        if ready.done():
            raise
        ready.set_exception(error)


async def _stop(session: Session) -> None:
    session.close.set()
    if session.task is not None:
        await asyncio.wait([session.task])
