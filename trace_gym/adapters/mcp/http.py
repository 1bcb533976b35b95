"""MCP server with multiple concurrent sessions, over the streamable HTTP transport.

Each session runs one episode, independently of other sessions. The URL that a client uses to open a session selects the
scenario: ``/mcp?seed=7``, ``/mcp?seed=7&split=test`` or ``/mcp?scenario=tau2_precondition/0/7``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from trace_gym.adapters.gymnasium import WEIGHTS
from trace_gym.adapters.limits import IDLE, SESSIONS, AsgiEvent, Receive, RequestLimits, Send, check_options
from trace_gym.adapters.mcp.sessions import McpSessions
from trace_gym.adapters.problems import Problems
from trace_gym.adapters.rollout import AdapterRollout, library
from trace_gym.episode import Episode
from trace_gym.errors import expect_choice

LOCAL = ("127.0.0.1", "localhost", "[::1]")
"""Host names of a server that listens only on this machine."""


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
    """Return the server as an ASGI application with the paths ``/mcp`` (MCP) and ``/health`` (number of sessions).

    Args:
        envs: Environments to serve. Consecutive seeds alternate between multiple environments.
        level: Level of every scenario; None draws a level from the seed.
        split: Split of the seeds, a key of `trace_gym.registry.SPLITS`.
        weights: Name of the reward weights, a key of `trace_gym.adapters.gymnasium.WEIGHTS`.
        seed: Seed of a session whose URL selects no scenario; None draws a random seed.
        sessions: Maximum number of concurrent sessions.
        idle: Seconds after which a session without a request is closed.
        host: Address that the server will listen on. On a loopback address, requests from web pages of other hosts
            are rejected.
        at_end: Function that is called with each episode that has ended, in the thread in which it ended.

    Raises:
        EnvNotFound, ConfigError, ScenarioError: An argument is not valid.
        TamperedEnv: An environment cannot be loaded.
        MissingExtra: The mcp package is not installed.
    """
    expect_choice("value of weights", weights, WEIGHTS)
    check_options(sessions, idle)
    problems = Problems([envs] if isinstance(envs, str) else envs, level, split)
    problems.parts()
    made = McpSessions(
        problems,
        limit=sessions,
        idle=idle,
        begin=lambda episode: AdapterRollout(episode, weights=weights, at_end=at_end),
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
    return RequestLimits(
        library("starlette.applications", "mcp").Starlette(routes=routes, lifespan=lifespan), idle=idle
    )


class _Endpoint:
    """Wrapper of `McpSessions` that starlette recognizes as an ASGI application, so all HTTP methods are routed."""

    def __init__(self, sessions: McpSessions) -> None:
        self.sessions = sessions

    async def __call__(self, scope: AsgiEvent, receive: Receive, send: Send) -> None:
        await self.sessions(scope, receive, send)


def _security(host: str) -> Any:
    """Return settings that prevent DNS rebinding attacks if `host` is a loopback address, else None."""
    if host not in ("127.0.0.1", "localhost", "::1"):
        return None
    settings = library("mcp.server.transport_security", "mcp").TransportSecuritySettings
    hosts = [f"{name}:*" for name in LOCAL]
    return settings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[*hosts, *LOCAL],
        allowed_origins=[f"http://{name}" for name in hosts],
    )
