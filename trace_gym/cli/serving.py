"""Verbs that serve environments to other programs: serve-mcp, serve-openenv."""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trace_gym.cli.environments import Env, matching_names
from trace_gym.errors import ConfigError
from trace_gym.files import cannot_write, locked, read_text
from trace_gym.terminal import say

if TYPE_CHECKING:
    from trace_gym.episode import Episode

Envs = Annotated[
    list[str], typer.Argument(help="Names or gymnasium ids.", show_default=False, autocompletion=matching_names)
]
Split = Annotated[str, typer.Option(help="Which seeds are counted through: train, validate, select, test.")]
Weights = Annotated[str, typer.Option(help="How an attempt is paid: default (for progress, too) or sparse.")]


def register(app: typer.Typer) -> None:
    """Add this module's verbs to the command line."""
    app.command("serve-mcp")(serve_mcp)
    app.command("serve-openenv")(serve_openenv)


def serve_mcp(
    env: Env,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the scenario.")] = 0,
    level: Annotated[int, typer.Option(min=0, help="Level of the scenario.")] = 0,
    split: Split = "train",
    weights: Weights = "default",
    out: Annotated[Path | None, typer.Option(help="JSONL file that the finished attempt is added to.")] = None,
) -> None:
    """Serve one attempt at a scenario over MCP, for the chat program, IDE or agent framework that starts this command.

    Example: trace-gym serve-mcp tau2_precondition --seed 3
    """
    from trace_gym import registry
    from trace_gym.adapters.attempt import Attempt
    from trace_gym.adapters.mcp import serve
    from trace_gym.adapters.problems import Problems
    from trace_gym.score import reward

    def at_end(episode: Episode) -> None:
        assert episode.score is not None
        say(f"{episode.scenario}: reward {reward(episode.score):.2f}", err=True)
        if out is not None:
            _append(out, episode)

    attempt = Attempt(registry.episode(Problems([env], level, split).at(seed)), weights=weights, at_end=at_end)
    serve(attempt)
    if not attempt.done:
        say(f"{attempt.episode.scenario}: not scored, the client left before the end", err=True)


def serve_openenv(
    envs: Envs,
    host: Annotated[
        str, typer.Option(help="Address to listen at; 0.0.0.0 is every one of this machine.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8000,
    level: Annotated[
        int | None, typer.Option(min=0, help="Level of every scenario; drawn from the seed if none.")
    ] = None,
    split: Split = "train",
    weights: Weights = "default",
    sessions: Annotated[int, typer.Option(min=1, help="How many may be open at once.")] = 64,
) -> None:
    """Serve environments to OpenEnv clients; seeds take turns at several.

    Example: trace-gym serve-openenv tau2_precondition tau2_multi_step --port 8000
    """
    from trace_gym.adapters.attempt import library
    from trace_gym.adapters.openenv import app

    made = app(envs, level=level, split=split, weights=weights, sessions=sessions)
    uvicorn = library("uvicorn", "openenv")
    try:
        listener = socket.create_server((host, port))
    except OSError as error:
        raise ConfigError(f"{host}:{port} cannot be listened at: {error.strerror}; name another --port") from None
    with listener, suppress(KeyboardInterrupt):
        say(f"serving at http://{host}:{listener.getsockname()[1]}, Ctrl-C stops")
        uvicorn.Server(uvicorn.Config(made, log_level="warning")).run(sockets=[listener])


def _append(path: Path, episode: Episode) -> None:
    """Add the record of an attempt to a file of others."""
    from trace_gym.rollout import trajectory

    with locked(path, wait=30.0):
        before = read_text(path).count("\n") if path.is_file() else 0
        record = trajectory(episode, sample=before, model="mcp client", source="serve-mcp")
        try:
            with path.open("a", encoding="utf-8") as file:
                file.write(record.model_dump_json() + "\n")
        except OSError as error:
            raise cannot_write(path, error) from None
