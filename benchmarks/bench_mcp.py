"""Memory and start time of MCP sessions: one process per session over stdio, or one process for all over HTTP.

    python benchmarks/bench_mcp.py [--sessions 1 64] [--env tau2_precondition]

Sessions are opened one after the other and stay open. The script prints the seconds until the first session has listed
its tools (including the start of the process), the median seconds of each further session, and the memory of all server
processes together (proportional set size, so that shared pages count once).
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

COMMAND = ["-c", "from trace_gym.cli import main; main()", "serve-mcp"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, nargs="+", default=[1, 64])
    parser.add_argument("--env", default="tau2_precondition")
    options = parser.parse_args()
    print("transport  sessions  first s  further s     MiB  MiB per further session")
    for name, measure in (("stdio", stdio), ("http", http)):
        alone = 0.0
        for count in options.sessions:
            seconds, memory = asyncio.run(measure(options.env, count))
            alone = alone or memory
            each = (memory - alone) / (count - 1) if count > 1 else 0.0
            further = median(seconds[1:]) if count > 1 else 0.0
            print(f"{name:9}  {count:8}  {seconds[0]:7.2f}  {further:9.3f}  {memory:6.0f}  {each:23.2f}", flush=True)


async def listed(stack: AsyncExitStack, streams: Any) -> None:
    """Open a session over streams and list its tools."""
    session = await stack.enter_async_context(ClientSession(streams[0], streams[1]))
    await session.initialize()
    assert (await session.list_tools()).tools


async def stdio(env: str, count: int) -> tuple[list[float], float]:
    """Return the seconds until each session has listed its tools, and the MiB of memory, with a process per session."""
    seconds = []
    async with AsyncExitStack() as stack:
        for seed in range(count):
            began = time.perf_counter()
            server = StdioServerParameters(command=sys.executable, args=[*COMMAND, env, "--seed", str(seed)])
            await listed(stack, await stack.enter_async_context(stdio_client(server)))
            seconds.append(time.perf_counter() - began)
        return seconds, memory([p for p, c in processes().items() if "serve-mcp" in c and "--seed" in c])


async def http(env: str, count: int) -> tuple[list[float], float]:
    """Return the seconds until each session has listed its tools, and the MiB of memory, with one process for all."""
    seconds, began = [], time.perf_counter()
    line = [sys.executable, *COMMAND, env, "--http", "--port", "0", "--sessions", str(count)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            url = server.stdout.readline().split()[2].rstrip(",")
            async with AsyncExitStack() as stack:
                for seed in range(count):
                    client = streamable_http_client(f"{url}?seed={seed}")
                    await listed(stack, await stack.enter_async_context(client))
                    seconds.append(time.perf_counter() - began)
                    began = time.perf_counter()
                return seconds, memory([server.pid])
        finally:
            server.terminate()


def processes() -> dict[int, str]:
    """Return the command lines of this process's children."""
    children = Path(f"/proc/self/task/{Path('/proc/thread-self').readlink().name}/children").read_text().split()
    return {int(p): Path(f"/proc/{p}/cmdline").read_text().replace("\0", " ") for p in children}


def memory(pids: list[int]) -> float:
    """Return the total proportional set size of the processes in MiB."""
    rollups = [Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines() for pid in pids]
    return sum(int(line.split()[1]) for lines in rollups for line in lines if line.startswith("Pss:")) / 1024


if __name__ == "__main__":
    main()
