"""OpenEnv: a client over the wire of a running server, and sessions of its harness."""

from __future__ import annotations

import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import Any

from players import text_of
from trace_gym import registry
from trace_gym.episode import Action
from trace_gym.types import Message, Scenario

HERE = find_spec("openenv") is not None
if HERE:
    # openenv loads its web interface with itself where gradio is installed, which costs five seconds of CPU.
    sys.modules.setdefault("gradio", None)  # type: ignore[arg-type]


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """The address of a server in a thread."""
    import uvicorn

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws_per_message_deflate=False))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join(10)


@cache
def server(envs: tuple[str, ...]) -> tuple[str, Any]:
    """A server of these environments, for as long as the process lives."""
    from trace_gym.adapters.openenv import app

    running = serving(app(envs))
    return running.__enter__(), running


class Wire:
    """A rollout on the server."""

    def __init__(self, remote: Any, scenario: Scenario) -> None:
        self.remote = remote
        remote.reset(scenario=str(scenario))

    @property
    def tools(self) -> Sequence[Message]:
        return list(self.remote.tools)

    @property
    def done(self) -> bool:
        return bool(self.remote.done)

    def act(self, action: Action) -> list[str]:
        return [m["content"] for m in self.remote.take(text_of(action))]

    def reward(self) -> float | None:
        return None if self.remote.reward is None else float(self.remote.reward)


class Client:
    name, talks = "openenv", True

    @contextmanager
    def open(self, scenario: Scenario) -> Iterator[Wire]:
        from trace_gym.adapters.openenv import Remote

        with Remote(server(tuple(registry.list_environments()))[0]) as remote:
            yield Wire(remote, scenario)


class Rollout:
    """A session, driven as the harness `Conversation` does."""

    def __init__(self, session: Any) -> None:
        self.session = session
        self.transcript: list[Message] = session.initial_messages()

    @property
    def tools(self) -> list[Message]:
        """As TRL shows them to the policy."""
        listed = [t.model_dump() for t in self.session.list_tools()]
        names = {"name": "name", "description": "description", "input_schema": "parameters"}
        return [{"type": "function", "function": {names[k]: t[k] for k in names}} for t in listed]

    @property
    def done(self) -> bool:
        return bool(self.session.rollout.done)

    def act(self, action: Action) -> list[str]:
        answers = self.session.take(text_of(action))
        self.transcript += answers
        return [m["content"] for m in answers]

    def reward(self) -> float | None:
        paid = self.session.verify(self.transcript).env_reward
        return None if paid is None else float(paid)


class Harness:
    name, talks = "openenv-session", True

    @contextmanager
    def open(self, scenario: Scenario) -> Iterator[Rollout]:
        from trace_gym.adapters.openenv import Sessions

        session = Sessions([scenario.env]).create(str(scenario))
        yield Rollout(session)
        session.close()


PLAYERS: list[Client | Harness] = [Client(), Harness()] if HERE else []
MISSING = "" if PLAYERS else "pip install 'trace-gym[openenv]': openenv is not installed, and verifiers excludes it"
