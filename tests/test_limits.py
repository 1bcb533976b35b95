"""Limits of the servers, tried by clients that send too much, too deep, too slowly or nothing."""

from __future__ import annotations

import asyncio
import http.client
import io
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="the servers need the mcp or openenv extra")

import uvicorn

from trace_gym.adapters import listening
from trace_gym.adapters.limits import (
    BODY,
    DEPTH,
    DIGITS,
    AsgiEvent,
    Receive,
    RequestLimits,
    Send,
    check_options,
    json_problem,
)
from trace_gym.errors import ConfigError


async def echo(scope: AsgiEvent, receive: Receive, send: Send) -> None:
    """Answer a request with its body, and a WebSocket message with itself; "bye" is answered with an error frame."""
    if scope["type"] == "http":
        body = (await receive()).get("body", b"")
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})
    elif scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while (event := await receive())["type"] == "websocket.receive":
            leaves = "bye" in event["text"]
            error = {"type": "error", "data": {"message": "the server is full", "active_sessions": 1}}
            await send({"type": "websocket.send", "text": json.dumps(error) if leaves else event["text"]})
            if leaves:
                break
        await send({"type": "websocket.close", "code": 1000})


@contextmanager
def serving(app: Any, **settings: Any) -> Iterator[int]:
    """The port of a server in a thread."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(listening.config(app, log_level="critical", lifespan="off", **settings))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield listener.getsockname()[1]
        server.should_exit = True
        thread.join(10)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serving(RequestLimits(echo)) as number:
        yield number


def post(port: int, body: Any, **headers: str) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("POST", "/", body, {k.replace("_", "-"): v for k, v in headers.items()})
    answer = connection.getresponse()
    status, content = answer.status, answer.read()
    connection.close()
    return status, json.loads(content) if content else None


def in_memory(socket_app: RequestLimits, *events: AsgiEvent | None) -> list[AsgiEvent]:
    """Return the events that a WebSocket client receives if it sends these events and then nothing; None waits."""
    sent: list[AsgiEvent] = []
    waiting: list[AsgiEvent | None] = [{"type": "websocket.connect"}, *events]

    async def receive() -> AsgiEvent:
        if (event := waiting.pop(0) if waiting else None) is None:
            await asyncio.sleep(3600)
        assert event is not None
        return event

    async def send(event: AsgiEvent) -> None:
        sent.append(event)

    asyncio.run(asyncio.wait_for(socket_app({"type": "websocket", "path": "/ws"}, receive, send), 20))
    return sent


def said(text: str) -> AsgiEvent:
    return {"type": "websocket.receive", "text": text}


def nested(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


def test_body_within_limits_reaches_application(port: int) -> None:
    wide = {"text": "[{" * 50_000, "escaped": '\\"[' * 1000, "digits": "9" * 5000, "number": 10 ** (DIGITS - 1)}
    assert post(port, json.dumps(wide)) == (200, wide)
    assert post(port, nested(DEPTH)) == (200, json.loads(nested(DEPTH)))
    assert post(port, iter([b"[1,", b"2]"])) == (200, [1, 2])  # chunked, without Content-Length
    assert post(port, b"") == (200, None)


class Zeros(io.RawIOBase):
    """A body that is never in memory at once."""

    def __init__(self, size: int) -> None:
        self.left = size

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        size = min(size, self.left)
        self.left -= size
        return bytes(size)


@pytest.mark.parametrize("size", [BODY + 1, 50 * BODY])
def test_large_body_gets_413_even_if_client_only_reads_after_writing(port: int, size: int) -> None:
    status, told = post(port, Zeros(size), content_length=str(size))
    assert (status, told["detail"]) == (
        413,
        f"the request body is too large: found {size} bytes, expected at most {BODY}",
    )


def test_large_chunked_body_gets_413(port: int) -> None:
    status, told = post(port, (bytes(2**16) for _ in range(40)))
    assert status == 413 and "expected at most" in told["detail"]


def test_large_body_that_waits_for_permission_is_refused_before_it_is_sent(port: int) -> None:
    assert post(port, b"", content_length=str(2**40), expect="100-continue")[0] == 413


@pytest.mark.parametrize("body", [b"", b"x" * 10])
def test_body_that_does_not_arrive_gets_408(body: bytes) -> None:
    with serving(RequestLimits(echo, patience=0.2)) as port:
        status, told = post(port, body, content_length="100")
    assert status == 408 and "did not arrive within 0.2 seconds" in told["detail"]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (nested(DEPTH + 1), "nested too deeply"),
        ("[" * 500_000, "nested too deeply"),
        ('{"n": %s}' % ("9" * (DIGITS + 1)), "number is too long"),
        ('{"n": -0.%s}' % ("9" * 500_000), "number is too long"),
        ('"' + '\\"' * 1000 + '", ' + "[" * 1000, "nested too deeply"),
    ],
)
def test_json_that_would_break_a_parser_gets_400(port: int, body: str, problem: str) -> None:
    status, told = post(port, body)
    assert status == 400 and problem in told["detail"]
    assert problem in json_problem(body.encode())


def test_silent_connections_are_closed_and_block_nobody() -> None:
    with serving(RequestLimits(echo), patience=0.5) as port:
        silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
        for half in silent[::2]:
            half.sendall(b"POST / HTTP/1.1\r\nHost: x\r\n")  # a head that does not end
        again = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        again.request("GET", "/")
        assert again.getresponse().read() == b""
        again.sock.sendall(b"GET / HT")  # a second head that does not end
        for connection in [*silent, again.sock]:
            connection.settimeout(10)
            assert connection.recv(1) == b""
            connection.close()


def test_application_that_takes_long_is_not_mistaken_for_a_silent_client() -> None:
    async def slow(scope: AsgiEvent, receive: Receive, send: Send) -> None:
        await asyncio.sleep(0.6)
        await echo(scope, receive, send)

    with serving(RequestLimits(slow), patience=0.2) as port:
        assert post(port, b"[1]") == (200, [1])


def test_client_that_does_not_read_is_given_up() -> None:
    async def stuck(_: AsgiEvent) -> None:
        await asyncio.sleep(3600)

    with pytest.raises(OSError, match="did not read any data for 0.05 seconds"):
        asyncio.run(RequestLimits(echo, patience=0.05).send(stuck, {}))


def test_websocket_without_a_message_is_closed_with_a_reason() -> None:
    *first, last = in_memory(RequestLimits(echo, idle=0.05), said('{"a": 1}'), None)
    assert [e["type"] for e in first] == ["websocket.accept", "websocket.send"]
    assert last == {"type": "websocket.close", "code": 4408, "reason": "no message for 0.05 seconds; connect again"}


def test_websocket_message_that_is_too_large_closes_with_1009() -> None:
    *_, last = in_memory(RequestLimits(echo), said("{" + " " * BODY))
    assert (last["code"], last["reason"]) == (1009, f"message of {BODY + 1} bytes, expected at most {BODY}")


@pytest.mark.parametrize("text", ["[1]", "1", "null", '"x"', "hello", "", nested(DEPTH + 1), "{" + "9" * 2000])
def test_websocket_message_that_breaks_a_parser_is_answered_and_session_continues(text: str) -> None:
    _, told, echoed, _ = in_memory(RequestLimits(echo, idle=0.05), said(text), said('{"a": 1}'))
    assert json.loads(told["text"])["type"] == "error"
    assert echoed["text"] == '{"a": 1}'


def test_binary_message_is_answered() -> None:
    _, told, _ = in_memory(RequestLimits(echo, idle=0.05), {"type": "websocket.receive", "bytes": b"\xff"})
    assert "expected a text message with a JSON object" in told["text"]


def test_refused_websocket_is_closed_with_the_error_as_reason() -> None:
    *_, last = in_memory(RequestLimits(echo), said('{"bye": "%s"}' % ("x" * 300)))
    assert (last["code"], last["reason"]) == (1013, "the server is full")


@pytest.mark.parametrize(("sessions", "idle"), [(0, 1.0), (1, 0.0), (1, -1.0), (1, float("inf")), (1, float("nan"))])
def test_limits_out_of_range_are_an_error(sessions: int, idle: float) -> None:
    with pytest.raises(ConfigError, match="expected"):
        check_options(sessions, idle)
