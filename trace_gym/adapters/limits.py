"""Limits of a network server: sizes, depths and waits, so that no client can exhaust or block it.

`Limits` is ASGI middleware for any application. `trace_gym.adapters.listening` adds the limits that apply before a
request reaches an application.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

from trace_gym.errors import ConfigError

Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
App = Callable[[Event, Receive, Send], Awaitable[None]]

BODY = 2**20
"""Most bytes of a request body and of a WebSocket message."""
DEPTH, DIGITS = 100, 1000
"""Deepest nesting of JSON, and most digits of a number in it."""
IDLE = 1800.0
"""Seconds after which a session without a message is closed."""
PATIENCE = 30.0
"""Seconds for a client to send a request head, to send a body, and to accept what is sent to it."""
SESSIONS = 64
"""Most sessions that are open at once."""
CLOSED_IDLE, CLOSED_ERROR, CLOSED_FULL, TOO_BIG = 4408, 1011, 1013, 1009
"""WebSocket close codes: idle timeout, server error, no free session, message too large."""

_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_NUMBER = re.compile(rb"\d{%d,}" % (DIGITS + 1))
_BRACKET = re.compile(rb"[\[\]{}]")


def json_problem(text: bytes) -> str:
    """Return why JSON text is refused before it is parsed, or ``""`` if it is not.

    Nesting that is too deep would exceed the recursion limit of a parser or serializer, and Python does not convert
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
    """Check the limits that a user chooses.

    Raises:
        ConfigError: One is out of range.
    """
    if sessions < 1:
        raise ConfigError(f"sessions is {sessions}; expected at least 1")
    if not 0 < idle < float("inf"):
        raise ConfigError(f"the idle timeout is {idle} seconds; expected a positive, finite number")


class Limits:
    """ASGI middleware that refuses what is too large, too deep or too slow, and says why.

    HTTP: a body that is larger than `body` is answered with 413, one that does not arrive in `patience` seconds with
    408, and JSON that no parser should see with 400. WebSocket: a message that is too large closes the connection with
    code 1009, `idle` seconds without a message close it with 4408, and an application that closes after an error frame
    has the error as the reason.
    """

    def __init__(self, app: App, *, body: int = BODY, idle: float = IDLE, patience: float = PATIENCE) -> None:
        self.app, self.body, self.idle, self.patience = app, body, idle, patience

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        """Handle one connection or request."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await _Socket(self, scope, receive, send).run()
        else:
            await self.app(scope, receive, send)

    async def send(self, send: Send, event: Event) -> None:
        """Send an event to a client that has `patience` seconds to accept it.

        Raises:
            OSError: The client does not read.
        """
        try:
            await asyncio.wait_for(send(event), self.patience)
        except TimeoutError:
            raise OSError(f"the client did not read for {self.patience:g} seconds") from None

    async def _http(self, scope: Event, receive: Receive, send: Send) -> None:
        async def bounded(event: Event) -> None:
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
        first: list[Event] = [{"type": "http.request", "body": content, "more_body": False}]

        async def replayed() -> Event:
            return first.pop() if first else await receive()

        await self.app(scope, replayed, bounded)

    async def _read(self, receive: Receive, announced: int) -> tuple[int, bytes]:
        """Return 200 and the body, or 413 once a larger one was received and discarded.

        A client that still writes when it is refused sees a broken connection instead of the answer.
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
    """One WebSocket connection under the limits."""

    def __init__(self, limits: Limits, scope: Event, receive: Receive, send: Send) -> None:
        self.limits, self.scope, self.receive, self.send = limits, scope, receive, send
        self.error = ""
        """The message of the last frame sent, if that was an error."""
        self.code = CLOSED_ERROR
        self.closed = False

    async def run(self) -> None:
        await self.limits.app(self.scope, self.heard, self.said)

    async def heard(self) -> Event:
        """Return the next event of the client that the application may see."""
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
                problem = "found no JSON object, expected one in a text message"
            else:
                problem = json_problem(content)
            if not problem:
                return event
            await self.refuse(problem)
        return {"type": "websocket.disconnect", "code": CLOSED_ERROR}

    async def said(self, event: Event) -> None:
        """Send an event of the application, with a reason if it closes the connection."""
        if self.closed:
            return
        if event["type"] == "websocket.send":
            self.remember(event.get("text") or "")
        elif event["type"] == "websocket.close" and self.error and not event.get("reason"):
            await self.close(self.code, self.error)
            return
        await self.limits.send(self.send, event)

    def remember(self, text: str) -> None:
        """Note the message of an error frame, of OpenEnv's or of JSON-RPC."""
        self.error, self.code = "", CLOSED_ERROR
        if '"error"' in text[:200]:
            with suppress(ValueError, AttributeError):
                frame = json.loads(text)
                data = frame.get("data") if frame.get("type") == "error" else frame.get("error")
                self.error = str((data or {}).get("message", ""))
                self.code = CLOSED_FULL if '"active_sessions"' in text else CLOSED_ERROR

    async def refuse(self, problem: str) -> None:
        """Answer a message that the application must not parse; the session continues."""
        rpc = {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": problem}}
        frame = {"type": "error", "data": {"message": problem, "code": "INVALID_JSON"}}
        text = json.dumps(rpc if self.scope["path"].endswith("/mcp") else frame)
        await self.limits.send(self.send, {"type": "websocket.send", "text": text})

    async def close(self, code: int, reason: str) -> Event:
        """Close the connection and return the event that tells the application."""
        self.closed = True
        short = reason.encode()[:123].decode(errors="ignore")  # what fits into a close frame
        with suppress(OSError):
            await self.limits.send(self.send, {"type": "websocket.close", "code": code, "reason": short})
        return {"type": "websocket.disconnect", "code": code}


async def refuse(send: Send, status: int, problem: str) -> None:
    """Answer a request with an error."""
    content = json.dumps({"detail": problem}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
    headers += [(b"connection", b"close")] if status in (408, 413) else []
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
