"""Limits for network servers: sizes, nesting depths and timeouts, so that clients cannot exhaust or block a server.

`RequestLimits` is ASGI middleware for any application. `trace_gym.adapters.listening` adds the limits that apply before
a request reaches an application.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

from trace_gym.errors import ConfigError

AsgiEvent = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[AsgiEvent]]
Send = Callable[[AsgiEvent], Awaitable[None]]
App = Callable[[AsgiEvent, Receive, Send], Awaitable[None]]

BODY = 2**20
"""Maximum number of bytes of a request body and of a WebSocket message."""
DEPTH, DIGITS = 100, 1000
"""Maximum nesting depth of JSON, and maximum number of digits of a JSON number."""
IDLE = 1800.0
"""Seconds after which a session without a message is closed."""
PATIENCE = 30.0
"""Timeout in seconds for a client to send a request head, to send a request body, and to read a response."""
SESSIONS = 64
"""Maximum number of concurrent sessions."""
CLOSED_IDLE, CLOSED_ERROR, CLOSED_FULL, TOO_BIG = 4408, 1011, 1013, 1009
"""WebSocket close codes: idle timeout, server error, no free session, message too large."""

_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_NUMBER = re.compile(rb"\d{%d,}" % (DIGITS + 1))
_BRACKET = re.compile(rb"[\[\]{}]")


def json_problem(text: bytes) -> str:
    """Return the reason to reject a JSON text before it is parsed, or ``""`` if the text is safe to parse.

    Deeply nested JSON would exceed the recursion limit of a parser or serializer, and Python refuses to convert
    integers of more than 4300 digits.
    """
    bare = _STRING.sub(b"", text)
    if _NUMBER.search(bare):
        return f"a JSON number is too long: expected at most {DIGITS} digits. Send it as a string"
    depth = 0
    for bracket in _BRACKET.findall(bare):
        depth += 1 if bracket in b"[{" else -1
        if depth > DEPTH:
            return f"the JSON is nested too deeply: expected at most {DEPTH} levels"
    return ""


def check_options(sessions: int, idle: float) -> None:
    """Check the session limit and the idle timeout of a server.

    Raises:
        ConfigError: A value is out of range.
    """
    if sessions < 1:
        raise ConfigError(f"invalid number of sessions: found {sessions}, expected at least 1")
    if not 0 < idle < float("inf"):
        raise ConfigError(f"invalid idle timeout: found {idle} seconds, expected a positive, finite number")


class RequestLimits:
    """ASGI middleware that rejects requests that are too large, too deeply nested or too slow, with an error message.

    HTTP: a body larger than `body` gets status 413, a body that does not arrive within `patience` seconds gets 408,
    and JSON that is not safe to parse (see `json_problem`) gets 400. WebSocket: a message that is too large closes the
    connection with code 1009, and `idle` seconds without a message close it with code 4408. If the application closes
    the connection after an error frame, the error message becomes the close reason.
    """

    def __init__(self, app: App, *, body: int = BODY, idle: float = IDLE, patience: float = PATIENCE) -> None:
        self.app, self.body, self.idle, self.patience = app, body, idle, patience

    async def __call__(self, scope: AsgiEvent, receive: Receive, send: Send) -> None:
        """Handle one connection or request."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await _Socket(self, scope, receive, send).run()
        else:
            await self.app(scope, receive, send)

    async def send(self, send: Send, event: AsgiEvent) -> None:
        """Send an event, and wait at most `patience` seconds for the client to accept the data.

        Raises:
            OSError: The client does not read the data in time.
        """
        try:
            await asyncio.wait_for(send(event), self.patience)
        except TimeoutError:
            raise OSError(f"the client did not read any data for {self.patience:g} seconds") from None

    async def _http(self, scope: AsgiEvent, receive: Receive, send: Send) -> None:
        async def bounded(event: AsgiEvent) -> None:
            await self.send(send, event)

        headers = {name.lower(): value for name, value in scope["headers"]}
        if not {b"content-length", b"transfer-encoding"} & headers.keys():
            await self.app(scope, receive, bounded)
            return
        announced = int(length) if (length := headers.get(b"content-length", b"0")).isdigit() else 0
        status, content = 413, b""
        if announced <= self.body or b"expect" not in headers:
            try:
                status, content = await asyncio.wait_for(self._read(receive, announced), self.patience)
            except TimeoutError:
                status = 413 if announced > self.body else 408
        problems = {
            408: f"the request body did not arrive within {self.patience:g} seconds",
            413: f"the request body is too large: found {announced or 'more'} bytes, expected at most {self.body}",
            200: json_problem(content),
        }
        if problem := problems[status]:
            await refuse(bounded, 400 if status == 200 else status, problem)
            return
        first: list[AsgiEvent] = [{"type": "http.request", "body": content, "more_body": False}]

        async def replayed() -> AsgiEvent:
            return first.pop() if first else await receive()

        await self.app(scope, replayed, bounded)

    async def _read(self, receive: Receive, announced: int) -> tuple[int, bytes]:
        """Read a request body, and return an HTTP status and the body.

        The status is 200, 413 if the body is too large, or 408 if the client disconnects. A body that is too large is
        still received completely and discarded. Otherwise, a client that is still sending would get a connection error
        instead of the response.
        """
        parts: list[bytes] = []
        size, more = announced, True
        received = 0
        while more:
            event = await receive()
            if event["type"] == "http.disconnect":
                return 408, b""
            parts.append(event.get("body", b""))
            received, more = received + len(parts[-1]), event.get("more_body", False)
            if (size := max(size, received)) > self.body:
                parts.clear()
        return (200, b"".join(parts)) if size <= self.body else (413, b"")


class _Socket:
    """Wrapper of one WebSocket connection that applies the limits."""

    def __init__(self, limits: RequestLimits, scope: AsgiEvent, receive: Receive, send: Send) -> None:
        self.limits, self.scope, self.receive, self.send = limits, scope, receive, send
        self.error = ""
        """Message of the last sent frame if that frame was an error, otherwise ``""``."""
        self.code = CLOSED_ERROR
        self.closed = False

    async def run(self) -> None:
        await self.limits.app(self.scope, self.receive_event, self.send_event)

    async def receive_event(self) -> AsgiEvent:
        """Return the next event of the client that passes the limits, or a disconnect event."""
        while not self.closed:
            try:
                event = await asyncio.wait_for(self.receive(), self.limits.idle)
            except TimeoutError:
                return await self.close(CLOSED_IDLE, f"no message for {self.limits.idle:g} seconds; connect again")
            if event["type"] != "websocket.receive":
                return event
            content = (event.get("text") or "").encode(errors="replace") or event.get("bytes") or b""
            if (size := len(content)) > self.limits.body:
                return await self.close(TOO_BIG, f"message of {size} bytes, expected at most {self.limits.body}")
            if event.get("text") is None or not content.lstrip().startswith(b"{"):
                problem = "the message is not valid: expected a text message with a JSON object"
            else:
                problem = json_problem(content)
            if not problem:
                return event
            await self.refuse(problem)
        return {"type": "websocket.disconnect", "code": CLOSED_ERROR}

    async def send_event(self, event: AsgiEvent) -> None:
        """Send an event of the application. If it closes the connection after an error, add the error as the reason."""
        if self.closed:
            return
        if event["type"] == "websocket.send":
            self.store_error(event.get("text") or "")
        elif event["type"] == "websocket.close" and self.error and not event.get("reason"):
            await self.close(self.code, self.error)
            return
        await self.limits.send(self.send, event)

    def store_error(self, text: str) -> None:
        """Store the message of an OpenEnv or JSON-RPC error frame, to use it as a close reason."""
        self.error, self.code = "", CLOSED_ERROR
        if '"error"' in text[:200]:
            with suppress(ValueError, AttributeError):
                frame = json.loads(text)
                data = frame.get("data") if frame.get("type") == "error" else frame.get("error")
                self.error = str((data or {}).get("message", ""))
                self.code = CLOSED_FULL if '"active_sessions"' in text else CLOSED_ERROR

    async def refuse(self, problem: str) -> None:
        """Send an error response for a message that is not passed to the application. The session continues."""
        rpc = {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": problem}}
        frame = {"type": "error", "data": {"message": problem, "code": "INVALID_JSON"}}
        text = json.dumps(rpc if self.scope["path"].endswith("/mcp") else frame)
        await self.limits.send(self.send, {"type": "websocket.send", "text": text})

    async def close(self, code: int, reason: str) -> AsgiEvent:
        """Close the connection and return the disconnect event for the application."""
        self.closed = True
        short = reason.encode()[:123].decode(errors="ignore")  # the reason in a close frame has at most 123 bytes
        with suppress(OSError):
            await self.limits.send(self.send, {"type": "websocket.close", "code": code, "reason": short})
        return {"type": "websocket.disconnect", "code": code}


async def refuse(send: Send, status: int, problem: str) -> None:
    """Send an HTTP error response with the problem as its ``detail``."""
    content = json.dumps({"detail": problem}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
    headers += [(b"connection", b"close")] if status in (408, 413) else []
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
