"""Many MCP sessions in one process: each is one episode, isolated, limited and closed when it is idle."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import PASSED, TOY
from snippets import process, runs

pytest.importorskip("mcp", reason="the mcp package is not installed: pip install 'trace-gym[mcp]'")

import uvicorn
from mcp import ClientSession
from mcp.client import streamable_http

if not hasattr(streamable_http, "streamable_http_client"):
    pytest.skip("the client of another mcp package", allow_module_level=True)
from typer.testing import CliRunner

from trace_gym import registry
from trace_gym.adapters import listening
from trace_gym.adapters.mcp import http as mcp_http
from trace_gym.adapters.rollout import CONVERSATION_TOOLS, END, SAY
from trace_gym.cli.entry import app as command
from trace_gym.errors import ConfigError, EnvNotFound, ScenarioError
from trace_gym.registration import VARIABLE
from trace_gym.sandbox import describe
from trace_gym.types import Trajectory

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def folder(user_folder: Path) -> Path:
    """All of it plays an environment of the user's own."""
    return user_folder


@contextmanager
def serving(*envs: str, **options: Any) -> Iterator[str]:
    """The URL of a server in a thread."""
    app = mcp_http.app(envs or (TOY,), **options)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(listening.config(app, log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join(10)


@asynccontextmanager
async def client(url: str, query: str = "") -> AsyncIterator[ClientSession]:
    async with (
        streamable_http.streamable_http_client(f"{url}/mcp{query}") as streams,
        ClientSession(streams[0], streams[1]) as session,
    ):
        await session.initialize()
        yield session


def run(work: Callable[[], Awaitable[Any]]) -> Any:
    async def limited() -> Any:
        return await asyncio.wait_for(work(), 60)

    return asyncio.run(limited())


async def state(session: ClientSession) -> dict[str, Any]:
    read = await session.read_resource("trace-gym://score")  # type: ignore[arg-type]
    found: dict[str, Any] = json.loads(read.contents[0].text)  # type: ignore[union-attr]
    return found


async def call(session: ClientSession, tool: str, **arguments: Any) -> dict[str, Any]:
    """The result of a call by the names of the protocol, which do not depend on the package's version."""
    return (await session.call_tool(tool, arguments)).model_dump(by_alias=True)


def health(url: str) -> dict[str, Any]:
    with urllib.request.urlopen(f"{url}/health", timeout=10) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def message_of(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error)


@pytest.mark.parametrize(
    ("query", "scenario"),
    [
        ("?seed=7", f"{TOY}/1/7"),
        ("?seed=2&split=test", f"{TOY}/1/{registry.SPLITS['test'][2]}"),
        (f"?scenario={TOY}/2/5", f"{TOY}/2/5"),
        ("", f"{TOY}/1/4"),
    ],
)
def test_url_selects_the_scenario_of_a_session(query: str, scenario: str) -> None:
    async def work() -> None:
        with serving(level=1, seed=4) as url:
            async with client(url, query) as session:
                assert await state(session) == {"scenario": scenario, "done": False, "reward": None}

    run(work)


def test_sessions_without_a_seed_get_different_scenarios() -> None:
    async def work() -> None:
        with serving() as url:
            async with client(url) as one, client(url) as two, client(url) as three:
                assert len({(await state(s))["scenario"] for s in (one, two, three)}) == 3

    run(work)


def test_sessions_do_not_affect_each_other() -> None:
    """Each of eight concurrent sessions says something; every other one ends."""

    async def work() -> None:
        ended: list[str] = []
        with serving(level=1, at_end=lambda e: ended.append(str(e.scenario))) as url:
            async with AsyncExitStack() as stack:
                sessions = [await stack.enter_async_context(client(url, f"?seed={n}")) for n in range(8)]
                tools = (await sessions[0].list_tools()).tools
                assert [t.name for t in tools][-3:] == [t["function"]["name"] for t in CONVERSATION_TOOLS]
                await asyncio.gather(*(call(s, SAY, text=f"I am {n}.") for n, s in enumerate(sessions)))
                over = await asyncio.gather(*(call(s, END) for s in sessions[::2]))
                assert {o["structuredContent"]["scenario"] for o in over} == set(ended)
                assert [(await state(s))["done"] for s in sessions] == [True, False] * 4
                assert health(url) == {"status": "healthy", "sessions": 8, "limit": 64}
            assert health(url)["sessions"] == 0  # a client that leaves ends its session
            assert sorted(ended) == [f"{TOY}/1/{n}" for n in (0, 2, 4, 6)]

    run(work)


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("?seed=x", "expected a non-negative integer"),
        ("?seed=-1", "expected a non-negative integer"),
        ("?sede=1", "found 'sede'"),
        ("?seed=1&seed=2", "each parameter at most once"),
        ("?seed=" + "9" * 5000, "at most 500 characters"),
        ("?seed=1&split=all", "unknown split: found 'all'"),
        (f"?scenario={TOY}/9/1", "has levels"),
        (f"?scenario={TOY}/1/1&seed=1", "has both a scenario and a seed or split"),
        ("?scenario=tau2_precondition/0/1", "does not belong to the selected environments"),
    ],
)
def test_session_with_a_wrong_url_is_refused_with_the_reason(query: str, problem: str) -> None:
    async def work() -> None:
        with serving() as url:
            with pytest.raises(Exception) as caught:
                async with client(url, query):
                    pass
            assert problem in message_of(caught.value)
            assert health(url)["sessions"] == 0

    run(work)


def test_full_server_refuses_the_next_client_with_the_reason() -> None:
    async def work() -> None:
        with serving(sessions=1) as url:
            async with client(url, "?seed=1") as session:
                with pytest.raises(Exception) as caught:
                    async with client(url):
                        pass
                assert "all 1 sessions are in use" in message_of(caught.value)
                await call(session, END)
            async with client(url):
                pass

    run(work)


def test_idle_session_is_closed_and_makes_room() -> None:
    async def work() -> None:
        with serving(sessions=1, idle=0.3) as url:
            async with client(url) as session:
                while health(url)["sessions"]:
                    await asyncio.sleep(0.05)
                with pytest.raises(Exception, match="Session terminated"):
                    await session.list_tools()
                async with client(url):
                    pass

    run(work)


def test_slow_environment_does_not_stop_other_sessions(folder: Path) -> None:
    text = (folder / f"{TOY}.py").read_text().replace(f'id = "{TOY}"', 'id = "slow_loans"')
    text = text.replace(
        "        found = [", "        while not self.__class__.__dict__.get('free'): pass\n        found = ["
    )
    (folder / "slow_loans.py").write_text(text)
    registry.admit(folder / "slow_loans.py", PASSED, author="hand", describe=describe)

    async def work() -> None:
        with serving("slow_loans", TOY) as url:
            async with client(url, "?scenario=slow_loans/0/1") as slow, client(url, f"?scenario={TOY}/0/1") as other:
                waiting = asyncio.create_task(call(slow, "search", words=""))
                assert (await call(other, "search", words=""))["isError"] is False
                assert not waiting.done()
                registry.load_world("slow_loans").free = True  # type: ignore[attr-defined]
                assert (await waiting)["isError"] is False

    run(work)


def request(url: str, body: bytes, method: str = "POST", **headers: str) -> tuple[int, str]:
    told = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    told |= {k.replace("_", "-"): v for k, v in headers.items()}
    try:
        sent = urllib.request.Request(f"{url}/mcp", body or None, told, method=method)
        with urllib.request.urlopen(sent, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_requests_that_open_no_session_are_refused() -> None:
    listing = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'
    opening = b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}'
    with serving() as url:
        assert request(url, listing)[0] == 400
        assert request(url, listing, mcp_session_id="x")[0] == 404
        assert request(url, b"", "GET")[0] == 405
        assert request(url, b"", "DELETE")[0] == 400
        assert request(url, b"[" * 5000)[0] == 400
        assert request(url, b"x" * 2**21)[0] == 413
        assert "error" in request(url, opening)[1]  # without a protocol version
        assert request(url, opening, origin="http://evil.example")[0] == 403
        assert request(url, opening, host="evil.example")[0] == 421
        assert health(url)["sessions"] == 0


def test_command_serves_sessions_and_records_them(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "played.jsonl"
    [printed] = runs("docs/guides/mcp.md")
    _, verb, *_, flag, _, _ = printed.split()  # the last two are --port and a port that may be taken
    line = [sys.executable, "-c", "from trace_gym.cli import main; main()", verb, TOY, "twin_loans", flag]
    line += ["--port", "0", "--level", "1", "--sessions", "5", "--idle", "30", "--out", str(out)]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", VARIABLE: str(folder)}
    with process(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env) as server:
        assert server.stdout and server.stderr
        url = server.stdout.readline().split()[2].rstrip(",;").removesuffix("/mcp")
        assert health(url)["limit"] == 5

        async def work() -> None:
            for seed in range(2):
                async with client(url, f"?seed={seed}") as session:
                    await call(session, END)

        run(work)
        server.send_signal(signal.SIGINT)
        told = server.stderr.read()
        assert server.wait(20) == 0
    assert told.splitlines() == [f"{TOY}/1/0: reward 0.00", "twin_loans/1/1: reward 0.00"]
    records = [Trajectory.model_validate_json(text) for text in out.read_text().splitlines()]
    assert [r.id for r in records] == [f"{TOY}/1/0#0", "twin_loans/1/1#1"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--port", "8000"], "--port has no effect without --http"),
        (["--idle", "5", "--host", "0.0.0.0"], "--host has no effect"),
        (["--http", "--idle", "0"], "expected a positive"),
        (["--http", "--host", "no.such.host.invalid"], "cannot listen"),
        (["--http", "--level", "9"], "has no level 9"),
        (["--out", "."], "Choose another JSONL file"),
    ],
)
def test_options_that_cannot_take_effect_are_an_error(options: list[str], problem: str) -> None:
    done = CliRunner().invoke(command, ["serve-mcp", TOY, *options])
    assert done.exit_code != 0
    assert problem in str(done.exception)


def test_arguments_that_do_not_exist_are_named() -> None:
    with pytest.raises(EnvNotFound, match="no_such"):
        mcp_http.app("no_such")
    with pytest.raises(ConfigError, match="weights: found 'all'"):
        mcp_http.app(TOY, weights="all")
    with pytest.raises(ConfigError, match="at least 1"):
        mcp_http.app(TOY, sessions=0)
    with pytest.raises(ScenarioError, match="has no level 7: expected an integer from 0 to 2"):
        mcp_http.app(TOY, level=7)
