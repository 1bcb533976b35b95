"""Environments for OpenEnv: a server with a client, and sessions for its harness and for TRL's asynchronous trainer.

A WebSocket session of the server is one attempt after another, apart from all other sessions. OpenEnv's plain HTTP
routes ``/reset`` and ``/step`` keep no session, so nothing can be played through them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from trace_gym.actions import FORMATS
from trace_gym.adapters.attempt import library
from trace_gym.adapters.gymnasium import WEIGHTS
from trace_gym.adapters.limits import IDLE, SESSIONS, Limits, check_options
from trace_gym.adapters.openenv_client import Remote
from trace_gym.adapters.openenv_server import Answer, Environment, Opening, Turn
from trace_gym.adapters.openenv_sessions import Conversation, Session, Sessions
from trace_gym.adapters.problems import Problems
from trace_gym.errors import ConfigError, EnvBug, TraceGymError

__all__ = ["Answer", "Conversation", "Environment", "Opening", "Remote", "Session", "Sessions", "Turn", "app"]


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
    """The server as a FastAPI application behind `trace_gym.adapters.limits.Limits`.

    ``uvicorn.run(app(...))`` serves it; `trace_gym.adapters.listening.serve` closes silent connections as well.

    Args:
        envs: What it serves; seeds take turns at several.
        level: Level of every scenario; None draws one from the seed.
        split: Which seeds are counted through, a key of `trace_gym.registry.SPLITS`.
        weights: How an attempt is paid, a key of `trace_gym.adapters.gymnasium.WEIGHTS`.
        style: Chat format of turns that are text, a key of `trace_gym.actions.FORMATS`.
        sessions: How many may be open at once.
        idle: Seconds after which a session without a message is closed.

    Raises:
        EnvNotFound, ConfigError, ScenarioError: An argument is none of its choices.
        TamperedEnv: An environment cannot be loaded.
    """
    for name, given, known in (("weights", weights, WEIGHTS), ("style", style, FORMATS)):
        if given not in known:
            raise ConfigError(f"{name} {given!r} is unknown; expected one of {', '.join(known)}")
    check_options(sessions, idle)
    problems = Problems([envs] if isinstance(envs, str) else envs, level, split)
    problems.parts()
    core = library("openenv.core", "openenv")
    made = core.create_app(
        partial(Environment, problems, weights, style),
        Turn,
        Answer,
        env_name="trace-gym",
        concurrency_config=core.ConcurrencyConfig(max_concurrent_envs=sessions, session_timeout=idle),
        reset_observation_cls=Opening,
    )
    made.add_middleware(Limits, idle=idle)
    made.add_exception_handler(TraceGymError, _refused)
    return made


async def _refused(_: Any, error: Exception) -> Any:
    """Answer a plain HTTP request that cannot be served; an error of the environment is the server's."""
    responses = library("fastapi.responses", "openenv")
    return responses.JSONResponse({"detail": str(error)}, 500 if isinstance(error, EnvBug) else 400)
