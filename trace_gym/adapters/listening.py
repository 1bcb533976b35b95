"""A uvicorn server for ASGI applications, with limits that apply before a request reaches the application."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from trace_gym.adapters.limits import BODY, PATIENCE, App
from trace_gym.adapters.rollout import library
from trace_gym.errors import ConfigError


def serve(app: App, host: str, port: int, extra: str, started: Callable[[str], None]) -> None:
    """Serve an application with uvicorn until it is interrupted.

    Args:
        app: An ASGI application that is wrapped in `Limits`.
        host: Address to listen on.
        port: Port to listen on; 0 selects a free port.
        extra: Name of this package's extra that installs uvicorn, for the error message.
        started: Function that is called with the URL when the server is listening.

    Raises:
        ConfigError: The address is not available.
        MissingExtra: uvicorn is not installed.
    """
    uvicorn = library("uvicorn", extra)
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        raise ConfigError(
            f"cannot listen at {host}:{port}: {error.strerror}. Choose another --host or --port"
        ) from None
    with listener, suppress(KeyboardInterrupt):
        shown = f"[{host}]" if ":" in host else host
        started(f"http://{shown}:{listener.getsockname()[1]}")
        uvicorn.Server(config(app)).run(sockets=[listener])


def config(app: App, *, patience: float = PATIENCE, **settings: Any) -> Any:
    """Return uvicorn's configuration for an application that is wrapped in `Limits`.

    The size of a WebSocket message is checked before the whole message is in memory. A connection that sends no request
    head within `patience` seconds is closed. uvicorn's WebSocket pings detect clients that have disconnected.
    """
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class TimeoutProtocol(H11Protocol):
        """Connection that the server closes if the client does not send a request head in time."""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._await_request()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.deadline.cancelled() and self._waits():
                self._await_request()

        def connection_lost(self, exc: Exception | None) -> None:
            self.deadline.cancel()
            super().connection_lost(exc)

        def _await_request(self) -> None:
            self.deadline = self.loop.call_later(patience, self._give_up)

        def _waits(self) -> bool:
            return self.cycle is None or self.cycle.response_complete

        def _give_up(self) -> None:
            self.deadline.cancel()
            # If this condition is false, a request is in progress, or the connection was upgraded to a WebSocket.
            if self._waits() and self.transport.get_protocol() is self:
                self.transport.close()

    chosen: dict[str, Any] = {"log_level": "warning", "ws_max_size": BODY, "ws_max_queue": 4, "http": TimeoutProtocol}
    return uvicorn.Config(app, **chosen | settings)
