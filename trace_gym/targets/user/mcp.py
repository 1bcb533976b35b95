"""Sessions with a live MCP server, which a command starts (stdio) or which runs at a URL (streamable HTTP)."""

from __future__ import annotations

import logging
import os
import re
import shlex
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import IO, Any

from trace_gym.errors import ConfigError, MissingExtra, ReadError
from trace_gym.targets.user.answers import answer_of, refusal
from trace_gym.types import Call

SECONDS = 60.0
"""Time limit in seconds for starting a server and listing its tools, and for each call."""
_LOGGER = "mcp.client.stdio"
"""Logger of the mcp package. It logs a traceback for each line of a server's stdout that is not a protocol message."""
CLOSED = -32000
"""JSON-RPC error code that indicates that the server closed the connection."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Server:
    """An open session with an MCP server."""

    place: str
    """The command that starts the server, or its URL."""
    session: Any
    portal: Any
    seconds: float

    def tools(self) -> list[dict[str, Any]]:
        """Return the name, description, inputSchema and annotations of each tool.

        Raises:
            ReadError: The server does not respond in time, or lists no tools.
        """
        found: list[dict[str, Any]] = []
        asked: dict[str, Any] = {}
        while True:
            try:
                page = self._ask("did not list its tools", partial(self.session.list_tools, **asked))
            except import_module("mcp").McpError as error:
                raise ReadError(f"the MCP server {self.place!r} did not list its tools: {error}") from None
            listed = page.model_dump(mode="json", by_alias=True, exclude_none=True)
            found += listed["tools"]
            if not (cursor := listed.get("nextCursor")):
                break
            asked = {"params": import_module("mcp.types").PaginatedRequestParams(cursor=cursor)}
        if not found:
            raise ReadError(f"the MCP server {self.place!r} has no tools. Check the command or the URL")
        return found

    def call(self, call: Call) -> str:
        """Call a tool and return the text for the agent: the result, or a sentence that begins with ``Error: ``.

        Raises:
            ReadError: The server does not respond in time, or has exited.
        """
        failed = import_module("mcp").McpError
        try:
            made = self._ask(f"did not answer {call.tool}", partial(self.session.call_tool, call.tool, call.arguments))
        except failed as error:
            return refusal(str(error))
        return answer_of(made.model_dump(mode="json", by_alias=True, exclude_none=True))

    def _ask(self, failure: str, request: Callable[[], Awaitable[Any]]) -> Any:
        """Send a request and return the response. A protocol error from the server is raised unchanged."""
        failed = import_module("mcp").McpError

        async def bounded() -> Any:
            with import_module("anyio").fail_after(self.seconds):
                return await request()

        try:
            return self.portal.call(bounded)
        except TimeoutError:
            raise ReadError(f"the MCP server {self.place!r} {failure} within {self.seconds:g} seconds") from None
        except Exception as error:
            if isinstance(error, failed) and error.error.code != CLOSED:
                raise
            raise ReadError(
                f"the MCP server {self.place!r} {failure}: {_cause(error)}. Start the server in a terminal to see its "
                "output"
            ) from None


def is_url(place: str) -> bool:
    """Return whether the location of a server is a URL; otherwise it is a command."""
    return re.match(r"https?://", place.strip()) is not None


@contextmanager
def opened(place: str, seconds: float = SECONDS) -> Iterator[Server]:
    """Open a session with an MCP server. A server that was started by a command exits at the end of the session.

    Args:
        place: The URL of the server, or a command line that starts it. The command runs with the environment variables
            and permissions of this process.
        seconds: Time limit for the start of the server, and for each request.

    Raises:
        MissingExtra: The package mcp is not installed.
        ConfigError: The command is empty or not valid.
        ReadError: The server does not start.
    """
    try:
        import_module("mcp")
    except ImportError:
        raise MissingExtra("MCP servers require the package mcp. Run pip install 'trace-gym[mcp]'") from None
    noise = _Noise(place)
    words, failure = [] if is_url(place) else _words(place), list[BaseException]()
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        try:
            with (
                noise.replaced(),
                import_module("anyio.from_thread").start_blocking_portal() as portal,
                portal.wrap_async_context_manager(_session(place.strip(), words, log, seconds)) as session,
            ):
                try:
                    yield Server(place, session, portal, seconds)
                except BaseException as error:
                    # The error is raised after the session, because task groups would wrap it in an exception group.
                    failure.append(error)
        except Exception as error:
            late = isinstance(_innermost(error), TimeoutError)
            why = (
                f" within {seconds:g} seconds"
                if late
                else f": {_cause(error)}. Start it in a terminal to see its output"
            )
            raise ReadError(f"the MCP server {place!r} did not start{why}{_tail(log)}") from None
        for own in failure:
            if isinstance(own, ReadError):
                raise ReadError(f"{own}{_tail(log)}") from None
            raise own


class _Noise:
    """Filter that replaces log records about invalid output of a server by a single warning."""

    def __init__(self, place: str) -> None:
        self.place, self.logged = place, False

    @contextmanager
    def replaced(self) -> Iterator[None]:
        """Install the filter while the block runs."""
        logger = logging.getLogger(_LOGGER)
        logger.addFilter(self.filter)
        try:
            yield
        finally:
            logger.removeFilter(self.filter)

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to log a record unchanged. Suppress records about invalid output."""
        if not record.exc_info:
            return True
        if not self.logged:
            self.logged = True
            _log.warning(
                "the MCP server %r writes to its stdout what is not a message of the protocol%s; it is ignored. "
                "Let it write logs to stderr",
                self.place,
                _found(record.exc_info[1]),
            )
        return False


def _found(error: BaseException | None) -> str:
    """Return the invalid line that a validation error quotes, as a suffix for an error message."""
    with suppress(AttributeError, LookupError, TypeError):
        return f": found {str(error.errors()[0]['input'])[:80]!r}"  # type: ignore[union-attr]
    return ""


def listed(place: str, seconds: float = SECONDS) -> list[dict[str, Any]]:
    """Return the response of a server to ``tools/list``: name, description, inputSchema and annotations of each tool.

    Raises:
        MissingExtra: The package mcp is not installed.
        ConfigError: The command is empty or not valid.
        ReadError: The server does not start, does not answer in time, or lists no tools.
    """
    with opened(place, seconds) as server:
        return server.tools()


@asynccontextmanager
async def _session(place: str, words: list[str], log: IO[str], seconds: float) -> AsyncIterator[Any]:
    mcp = import_module("mcp")
    async with AsyncExitStack() as stack:
        if words:
            server = mcp.StdioServerParameters(command=words[0], args=words[1:], env=dict(os.environ))
            transport = import_module("mcp.client.stdio").stdio_client(server, errlog=log)
        else:
            transport = _http(place)
        read, write, *_ = await stack.enter_async_context(transport)
        session = await stack.enter_async_context(mcp.ClientSession(read, write))
        with import_module("anyio").fail_after(seconds):
            await session.initialize()
        yield session


def _http(url: str) -> Any:
    """Open the client of the streamable HTTP transport, whose name depends on the version of the mcp package."""
    module = import_module("mcp.client.streamable_http")
    return (vars(module).get("streamable_http_client") or vars(module)["streamablehttp_client"])(url)


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ConfigError(f"--mcp {command!r} is not a valid command: {error}") from None
    if not words:
        raise ConfigError(
            '--mcp is empty: expected a command such as --mcp "python my_server.py", or a URL such as '
            "--mcp http://localhost:8000/mcp"
        )
    return words


def _tail(log: IO[str]) -> str:
    """Return the last line that a server wrote to standard error, as a suffix for an error message."""
    log.seek(0)
    lines = [line.strip() for line in log.read().splitlines() if line.strip()]
    return f" (it wrote: {lines[-1][:300]})" if lines else ""


def _cause(error: BaseException) -> str:
    return f"{type(_innermost(error)).__name__}: {_innermost(error)}"


def _innermost(error: BaseException) -> BaseException:
    """Return the first error inside nested exception groups."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error
