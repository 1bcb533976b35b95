"""A local endpoint with OpenAI's chat API. A function supplies the messages that the endpoint returns."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

Reply = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Function that takes the body of a request and returns the message of the assistant."""
LARGEST_HEADER = 1 << 16


@asynccontextmanager
async def scripted_endpoint(reply: Reply) -> AsyncIterator[str]:
    """Serve chat completions on this machine, and yield the base URL of the endpoint."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            header = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            length = next(line for line in header.split("\r\n") if line.startswith("content-length:"))
            body = json.loads(await reader.readexactly(int(length.partition(":")[2])))
            choice = {"index": 0, "finish_reason": "stop", "message": await reply(body)}
            answer = {"id": "scripted", "object": "chat.completion", "created": 0, "model": body["model"]}
            payload = json.dumps({**answer, "choices": [choice]}).encode()
            head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(payload)}\r\n"
            writer.write(head.encode() + b"Connection: close\r\n\r\n" + payload)
            await writer.drain()
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, limit=LARGEST_HEADER)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()
