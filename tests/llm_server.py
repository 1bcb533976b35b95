"""An OpenAI-compatible server on this machine that misbehaves as it is told."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]
Act = Callable[["Handler", Body], None]
"""Function that answers a request of the server."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one packet: two would wait for each other
    disable_nagle_algorithm = True
    server: Server

    def do_GET(self) -> None:
        self.server.acts[0](self, {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.requests.append(body)
            self.server.keys.add(self.headers["Authorization"])
            acts = self.server.acts
            act = acts.pop(0) if len(acts) > 1 else acts[0]
            self.server.busy += 1
            self.server.busiest = max(self.server.busiest, self.server.busy)
        try:
            act(self, body)
        except OSError:  # the client has gone
            self.close_connection = True
        finally:
            with self.server.lock:
                self.server.busy -= 1

    def reply(self, payload: bytes, status: int = 200, length: int | None = None, **headers: str) -> None:
        """Send a response; `length` may lie."""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload) if length is None else length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(payload)
        self.wfile.flush()

    def log_message(self, *_: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    """Does one of `acts` a request; the last one again and again."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, *acts: Act) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.acts = list(acts)
        self.requests: list[Body] = []
        self.keys: set[str] = set()
        self.busy = self.busiest = 0
        self.lock = threading.Lock()
        self.release = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def handle_error(self, *_: Any) -> None:
        pass

    def close(self) -> None:
        """Stop; a second time does nothing."""
        self.release.set()
        if self.thread.is_alive():
            self.shutdown()
            self.thread.join()
            self.server_close()


class Together:
    """Count of the requests that wait at the same time, for `seconds` or until the first `count` of them have arrived.

    A request that waits is not answered, so the count is exact, unlike `Server.busiest`.
    """

    def __init__(self, count: int = 1, seconds: float = 0.05) -> None:
        self.seconds = seconds
        self.now = self.most = self.arrived = 0
        self.count, self._barrier, self._lock = count, threading.Barrier(count, timeout=20), threading.Lock()

    def __call__(self, body: Body) -> None:
        with self._lock:
            self.now, self.arrived = self.now + 1, self.arrived + 1
            self.most, early = max(self.most, self.now), self.arrived <= self.count
        if early:
            self._barrier.wait()
        time.sleep(self.seconds)
        with self._lock:
            self.now -= 1


def message(text: str | None, *, finish: str = "stop", usage: Body | None = None, **message: Any) -> Act:
    """An answer with this text."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text} | message}
    counted = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15} if usage is None else usage

    def act(handler: Handler, body: Body) -> None:
        answer = {"id": "c", "model": f"{body['model']}-1", "choices": [choice], "usage": counted}
        handler.reply(json.dumps(answer).encode())

    return act


def raw(payload: bytes, **how: Any) -> Act:
    """Bytes as the body of the answer."""
    return lambda handler, _: handler.reply(payload, **how)


def fails(status: int, message: str = "no", code: str | None = None, **headers: str) -> Act:
    """An HTTP error."""
    return raw(json.dumps({"error": {"message": message, "code": code}}).encode(), status=status, **headers)


def refuses(field: str, then: Act, status: int = 400, message: str = "Unknown parameter") -> Act:
    """An error as long as the request has this field, and the other act without it."""

    def act(handler: Handler, body: Body) -> None:
        (fails(status, message) if field in json.dumps(body) else then)(handler, body)

    return act


def hangs(handler: Handler, _: Body) -> None:
    """Never answer."""
    handler.server.release.wait(20)
    handler.close_connection = True


def drips(handler: Handler, _: Body) -> None:
    """Keep the connection alive with blanks, and never answer."""
    handler.reply(b" ", length=100_000)
    while not handler.server.release.wait(0.02):
        handler.wfile.write(b" ")
        handler.wfile.flush()


def drops(handler: Handler, _: Body) -> None:
    """Close the connection before the answer."""
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def breaks_off(handler: Handler, _: Body) -> None:
    """Close the connection in the middle of the answer."""
    handler.reply(b'{"id": "c", "choices": [{"index": 0, "mess', length=500)
    handler.close_connection = True


def slowly(then: Act, seconds: float) -> Act:
    """The other act, after a while."""

    def act(handler: Handler, body: Body) -> None:
        time.sleep(seconds)
        then(handler, body)

    return act
