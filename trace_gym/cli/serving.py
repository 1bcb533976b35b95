"""The commands `serve-mcp` and `serve-openenv`, which serve environments to other programs."""

from __future__ import annotations

import tempfile
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trace_gym.adapters.limits import IDLE, SESSIONS
from trace_gym.cli.environments import matching_names
from trace_gym.errors import ConfigError
from trace_gym.files import cannot_write, read_text
from trace_gym.locks import locked
from trace_gym.terminal import say

if TYPE_CHECKING:
    from trace_gym.episode import Episode

HOST, PORT = "127.0.0.1", 8000

Envs = Annotated[
    list[str], typer.Argument(help="Names or gymnasium ids.", show_default=False, autocompletion=matching_names)
]
Split = Annotated[str, typer.Option(help="Seed range of the scenarios: train, validate, select, test or pretrain.")]
Weights = Annotated[str, typer.Option(help="Reward: default (includes partial progress) or sparse.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the command line."""
    app.command("serve-mcp")(serve_mcp)
    app.command("serve-openenv")(serve_openenv)


def serve_mcp(
    envs: Envs,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, help="Seed of the scenario; 0 by default. With --http, each session samples a seed by default."
        ),
    ] = None,
    level: Annotated[
        int | None,
        typer.Option(
            min=0, help="Level of the scenario; 0 by default. With --http, the seed determines the level by default."
        ),
    ] = None,
    split: Split = "train",
    weights: Weights = "default",
    out: Annotated[Path | None, typer.Option(help="JSONL file to which finished rollouts are appended.")] = None,
    http: Annotated[
        bool, typer.Option("--http", help="Serve multiple sessions over HTTP, one episode per session.")
    ] = False,
    host: Annotated[str | None, typer.Option(help=f"With --http: address to listen on. [default: {HOST}]")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help=f"With --http: port; 0 selects a free port. [default: {PORT}]")
    ] = None,
    sessions: Annotated[
        int | None,
        typer.Option(min=1, help=f"With --http: maximum number of concurrent sessions. [default: {SESSIONS}]"),
    ] = None,
    idle: Annotated[
        float | None,
        typer.Option(
            min=0, help=f"With --http: seconds without a request after which a session is closed. [default: {IDLE:g}]"
        ),
    ] = None,
) -> None:
    """Serve episodes over MCP to a chat program, IDE or agent framework.

    Without --http, the client starts this command, which serves one episode over standard input and output.

    Example: trace-gym serve-mcp tau2_precondition --seed 3
    """
    from trace_gym import registry
    from trace_gym.adapters.problems import Problems
    from trace_gym.score import reward

    if out is not None:
        _check_writable(out)
    lock = Lock()

    def at_end(episode: Episode) -> None:
        assert episode.score is not None
        say(f"{episode.scenario}: reward {reward(episode.score):.2f}", err=True)
        if out is not None:
            with lock:  # sessions end in different threads
                _append(out, episode)

    network = {"host": host, "port": port, "sessions": sessions, "idle": idle}
    chosen: dict[str, Any] = {name: value for name, value in network.items() if value is not None}
    if http:
        from trace_gym.adapters.mcp.http import app

        at, on = chosen.pop("host", HOST), chosen.pop("port", PORT)
        made = app(envs, level=level, split=split, weights=weights, seed=seed, host=at, at_end=at_end, **chosen)
        _listen(made, at, on, "mcp", "/mcp")
        return
    if chosen:
        raise ConfigError(f"--{min(chosen)} has no effect without --http. Add --http, or remove --{min(chosen)}")
    from trace_gym.adapters.mcp import serve
    from trace_gym.adapters.rollout import AdapterRollout

    scenario = Problems(envs, level or 0, split).at(seed or 0)
    rollout = AdapterRollout(registry.start_episode(scenario), weights=weights, at_end=at_end)
    serve(rollout)
    if not rollout.done:
        say(
            f"{rollout.episode.scenario}: not scored, because the client disconnected before the end of the episode",
            err=True,
        )


def serve_openenv(
    envs: Envs,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 listens on all network interfaces.")] = HOST,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 selects a free port.")] = PORT,
    level: Annotated[
        int | None, typer.Option(min=0, help="Level of every scenario. By default, the seed determines the level.")
    ] = None,
    split: Split = "train",
    weights: Weights = "default",
    sessions: Annotated[int, typer.Option(min=1, help="Maximum number of concurrent sessions.")] = SESSIONS,
    idle: Annotated[
        float, typer.Option(min=0, help="Seconds without a message after which a session is closed.")
    ] = IDLE,
) -> None:
    """Serve environments to OpenEnv clients. Consecutive seeds alternate between multiple environments.

    Example: trace-gym serve-openenv tau2_precondition tau2_multi_step --port 8000
    """
    from trace_gym.adapters.openenv import app

    made = app(envs, level=level, split=split, weights=weights, sessions=sessions, idle=idle)
    _listen(made, host, port, "openenv")


def _listen(made: Any, host: str, port: int, extra: str, path: str = "") -> None:
    """Serve an application until Ctrl-C."""
    from trace_gym.adapters.listening import serve

    serve(made, host, port, extra, lambda url: say(f"serving at {url}{path}; press Ctrl-C to stop"))


def _check_writable(path: Path) -> None:
    """Check that records can be appended to a file.

    Raises:
        ConfigError: The file cannot be written, or is not a text file.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            path.open("a").close()
            path.read_text(encoding="utf-8")
        else:
            tempfile.TemporaryFile(dir=path.parent).close()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot append records to {path} ({error}). Choose another JSONL file with --out") from None


def _append(path: Path, episode: Episode) -> None:
    """Append the record of an episode to a JSONL file."""
    from trace_gym.trajectories import trajectory

    with locked(path, wait=30.0):
        before = read_text(path).count("\n") if path.is_file() else 0
        record = trajectory(episode, sample=before, model="mcp client", source="serve-mcp")
        try:
            with path.open("a", encoding="utf-8") as file:
                file.write(record.model_dump_json() + "\n")
        except OSError as error:
            raise cannot_write(path, error) from None
