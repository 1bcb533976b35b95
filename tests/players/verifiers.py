"""verifiers: its agent plays a task through its interception server, against an endpoint that says what it is told."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from tempfile import mkdtemp
from typing import Any

from trace_gym.episode import Action
from trace_gym.types import Call, Message, Say, Scenario

PATIENCE = 60.0
PLUGIN = "trace_gym_tasks"
LEAVE = '<tool_call>{"name": "transfer_to_human_agents", "arguments": {"summary": "Over to you."}}</tool_call>'
"""A turn that ends an attempt in the environments of tau2."""
TWO_LINES = "from trace_gym.adapters.verifiers import *\nfrom trace_gym.adapters.verifiers import __all__\n"


class Handler(BaseHTTPRequestHandler):
    """Hands a request to the session that its model names, and waits for the turn."""

    protocol_version, wbufsize, disable_nagle_algorithm = "HTTP/1.1", -1, True

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        turn = self.turn(body)
        choice = {"index": 0, "finish_reason": "stop", "message": turn}
        answer = {"id": "c", "object": "chat.completion", "created": 0, "model": body["model"], "choices": [choice]}
        payload = json.dumps(answer if turn else {"error": {"message": "out of order"}}).encode()
        self.send_response(200 if turn else 400)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def turn(self, body: dict[str, Any]) -> Message | None:
        session = SESSIONS[body["model"]]
        session.heard.put(body)
        return session.turns.get()

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def endpoint(text: str, port: int = 0) -> Iterator[str]:
    """The address of an endpoint that answers every request with the same words."""

    class Same(Handler):
        def turn(self, body: dict[str, Any]) -> Message | None:
            return {"role": "assistant", "content": text}

    with ThreadingHTTPServer(("127.0.0.1", port), Same) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


@cache
def world() -> tuple[asyncio.AbstractEventLoop, str, Any]:
    """State that all sessions share: a running event loop, the endpoint's address, verifiers' interception server."""
    from verifiers.v1.interception import InterceptionServer

    folder = Path(mkdtemp())
    (folder / f"{PLUGIN}.py").write_text(TWO_LINES)
    sys.path.append(str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    interception = asyncio.run_coroutine_threadsafe(InterceptionServer().__aenter__(), loop).result(PATIENCE)
    return loop, f"http://127.0.0.1:{server.server_port}/v1", interception


class Session:
    """One attempt; `settings` are those of verifiers' agent."""

    def __init__(self, task: Any, **settings: Any) -> None:
        import verifiers.v1 as vf

        loop, url, interception = world()
        self.heard: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self.turns: SimpleQueue[Message | None] = SimpleQueue()
        self.name = f"session-{next(NUMBERS)}"
        SESSIONS[self.name] = self
        client = vf.EvalClientConfig(base_url=url, api_key_var="NO_KEY")
        chosen = {"harness": {"id": PLUGIN}, "runtime": vf.SubprocessConfig(), **settings}
        config = vf.AgentConfig(model=self.name, client=client, **chosen)
        run: Coroutine[Any, Any, Any] = vf.Agent(config, interception=interception).run(task)
        self.trace: Future[Any] = asyncio.run_coroutine_threadsafe(run, loop)
        self.trace.add_done_callback(lambda _: self.heard.put(None))
        self.body = self._hear() or {}

    def _hear(self) -> dict[str, Any] | None:
        return self.heard.get(timeout=PATIENCE)

    @property
    def tools(self) -> list[Message]:
        return list(self.body["tools"])

    @property
    def done(self) -> bool:
        return self.trace.done()

    def act(self, action: Action) -> list[str]:
        if self.done:
            return ["(the model is not asked again)"]
        known = len(self.body["messages"]) + 1
        self.turns.put(message_of(action))
        if (body := self._hear()) is None:
            return [m["content"] for m in self.trace.result().state.closing]
        self.body = body
        return [m["content"] for m in body["messages"][known:]]

    def fail(self) -> None:
        """The endpoint refuses the request."""
        self.turns.put(None)
        self._hear()

    def reward(self) -> float | None:
        """The reward; None is what verifiers does not count, a trace that is not ok."""
        trace = self.trace.result(PATIENCE)
        return float(trace.reward) if trace.ok else None

    def close(self) -> None:
        self.turns.put(None)  # an attempt that nobody goes on with must not hang
        self.trace.result(PATIENCE)
        del SESSIONS[self.name]


def message_of(action: Action) -> Message:
    """The assistant message of an endpoint that parses calls; text that no one can read stays text."""
    if isinstance(action, Call):
        function = {"name": action.tool, "arguments": json.dumps(action.arguments)}
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        }
    assert isinstance(action, (Say, str))
    text = action if isinstance(action, str) else action.text
    return {"role": "assistant", "content": text.encode(errors="ignore").decode()}  # JSON holds no half character


NUMBERS = count()
SESSIONS: dict[str, Session] = {}


class Verifiers:
    name, talks = "verifiers", True

    @contextmanager
    def open(self, scenario: Scenario) -> Iterator[Session]:
        world()
        from trace_gym.adapters.verifiers import TraceData, TraceTask

        session = Session(TraceTask(TraceData.of(scenario)))
        yield session
        session.close()


PLAYERS: list[Verifiers] = [Verifiers()] if find_spec("verifiers") else []
MISSING = (
    "" if PLAYERS else "pip install 'trace-gym[verifiers]': its pins exclude openenv, so .ci/verifiers builds it apart"
)
