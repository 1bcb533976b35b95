"""Replacement for a server that cannot be restarted. It uses the same port and answers each request with the reason."""

from __future__ import annotations

import json
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

GAVE_UP = HTTPStatus.GONE
"""Status of the responses. vLLM does not use it, so a client can recognize that further attempts are useless."""


class LastWords:
    """An HTTP server on a port of this machine whose only response is an error with the reason.

    Args:
        port: Port of the server that cannot be restarted.
        reason: Message for the clients.

    Raises:
        OSError: The port is in use.
    """

    def __init__(self, port: int, reason: str) -> None:
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.body = json.dumps({"error": {"message": reason}}).encode()
        self._thread = threading.Thread(target=self._server.serve_forever, name="last words", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the server."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    body = b""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        self.send_response(GAVE_UP)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.do_GET()

    def log_message(self, *_: Any) -> None:
        pass
