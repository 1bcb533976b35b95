"""Adapter for OpenEnv: a server and its client, and sessions for OpenEnv's harness and TRL's asynchronous trainer.

Each WebSocket session of the server runs one episode after another, independently of other sessions. OpenEnv's plain
HTTP routes ``/reset`` and ``/step`` do not keep a session, so they cannot be used to run an episode.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from trace_gym.adapters.gymnasium import WEIGHTS
from trace_gym.adapters.limits import IDLE, SESSIONS, RequestLimits, check_options
from trace_gym.adapters.openenv.client import Remote
from trace_gym.adapters.openenv.server import Answer, Opening, TraceEnvironment, Turn
from trace_gym.adapters.openenv.sessions import Conversation, Session, Sessions
from trace_gym.adapters.problems import Problems
from trace_gym.adapters.rollout import library
from trace_gym.chat_formats import FORMATS
from trace_gym.errors import EnvBug, TraceGymError, expect_choice

__all__ = ["Answer", "Conversation", "TraceEnvironment", "Opening", "Remote", "Session", "Sessions", "Turn", "app"]


def app(
    envs: str | Sequence[str],
    *,
    level: int | None = None,
    split: str = "train",
    weights: str = "default",
    style: str = "hermes",
    sessions: int = SESSIONS,
    idle: float = IDLE,
) -> Any:
    """Return the server as a FastAPI application that applies the limits of `trace_gym.adapters.limits.RequestLimits`.

    Run the server with ``uvicorn.run(app(...))``. `trace_gym.adapters.listening.serve` additionally closes connections
    that send no request.

    Args:
        envs: Environments to serve. Consecutive seeds alternate between multiple environments.
        level: Level of every scenario; None draws a level from the seed.
        split: Split of the seeds, a key of `trace_gym.registry.SPLITS`.
        weights: Name of the reward weights, a key of `trace_gym.adapters.gymnasium.WEIGHTS`.
        style: Chat format of turns that are text, a key of `trace_gym.chat_formats.FORMATS`.
        sessions: Maximum number of concurrent sessions.
        idle: Seconds after which a session without a message is closed.

    Raises:
        EnvNotFound, ConfigError, ScenarioError: An argument is not valid.
        TamperedEnv: An environment cannot be loaded.
    """
    expect_choice("value of weights", weights, WEIGHTS)
    expect_choice("value of style", style, FORMATS)
    check_options(sessions, idle)
    problems = Problems([envs] if isinstance(envs, str) else envs, level, split)
    problems.parts()
    core = library("openenv.core", "openenv")
    made = core.create_app(
        partial(TraceEnvironment, problems, weights, style),
        Turn,
        Answer,
        env_name="trace-gym",
        concurrency_config=core.ConcurrencyConfig(max_concurrent_envs=sessions, session_timeout=idle),
        reset_observation_cls=Opening,
    )
    made.add_middleware(RequestLimits, idle=idle)
    made.add_exception_handler(TraceGymError, _refused)
    return made


async def _refused(_: Any, error: Exception) -> Any:
    """Return the error response of a plain HTTP request: 500 for an error of the environment, otherwise 400."""
    responses = library("fastapi.responses", "openenv")
    return responses.JSONResponse({"detail": str(error)}, 500 if isinstance(error, EnvBug) else 400)
