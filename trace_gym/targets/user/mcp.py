"""Sessions with a live MCP server, which a command starts (stdio) or a URL names (streamable HTTP)."""

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
"""How long a server may take to start and list its tools, and to answer one call."""
_LOGGER = "mcp.client.stdio"
"""Logs each line of a server's stdout that is not a message, with a traceback."""
CLOSED = -32000
"""JSON-RPC code of a connection that the server closed."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Server:
    """An open session with an MCP server."""

    place: str
    """The command or the URL."""
    session: Any
    portal: Any
    seconds: float

    def tools(self) -> list[dict[str, Any]]:
        """Return the name, description, inputSchema and annotations of each tool.

        Raises:
            ReadError: The server does not answer in time, or lists no tool.
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
            raise ReadError(f"the MCP server {self.place!r} lists no tool")
        return found

    def call(self, call: Call) -> str:
        """Call a tool and return what an agent reads: the result, or ``Error: `` and a sentence.

        Raises:
            ReadError: The server does not answer in time, or has ended.
        """
        failed = import_module("mcp").McpError
        try:
            made = self._ask(f"did not answer {call.tool}", partial(self.session.call_tool, call.tool, call.arguments))
        except failed as error:
            return refusal(str(error))
        return answer_of(made.model_dump(mode="json", by_alias=True, exclude_none=True))

    def _ask(self, failure: str, request: Callable[[], Awaitable[Any]]) -> Any:
        """Return the answer to a request; an error that the server answers with is raised as it is."""
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
            raise ReadError(f"the MCP server {self.place!r} {failure}: {_cause(error)}; run it by hand") from None


def is_url(place: str) -> bool:
    """Return whether a server is named by a URL and not by a command."""
    return re.match(r"https?://", place.strip()) is not None


@contextmanager
def opened(place: str, seconds: float = SECONDS) -> Iterator[Server]:
    """Open a session with the server at a URL, or with one that a command starts and that ends with the session.

    Args:
        place: The URL, or the command as words; a command runs with the caller's environment and rights.
        seconds: How long the server may take to start, and to answer each request.

    Raises:
        MissingExtra: The package mcp is not installed.
        ConfigError: There is no command.
        ReadError: The server does not start.
    """
    try:
        import_module("mcp")
    except ImportError:
        raise MissingExtra("MCP servers are reached by the package mcp: pip install 'trace-gym[mcp]'") from None
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
                except BaseException as error:  # raised once the session is closed: task groups would wrap it
                    failure.append(error)
        except Exception as error:
            late = isinstance(_innermost(error), TimeoutError)
            why = f" within {seconds:g} seconds" if late else f": {_cause(error)}; run it by hand"
            raise ReadError(f"the MCP server {place!r} did not start{why}{_tail(log)}") from None
        for own in failure:
            if isinstance(own, ReadError):
                raise ReadError(f"{own}{_tail(log)}") from None
            raise own


class _Noise:
    """A filter that replaces log records on a server's invalid output by one warning."""

    def __init__(self, place: str) -> None:
        self.place, self.told = place, False

    @contextmanager
    def replaced(self) -> Iterator[None]:
        """Filter the records while the block runs."""
        logger = logging.getLogger(_LOGGER)
        logger.addFilter(self.filter)
        try:
            yield
        finally:
            logger.removeFilter(self.filter)

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is logged as it is."""
        if not record.exc_info:
            return True
        if not self.told:
            self.told = True
            _log.warning(
                "the MCP server %r writes to its stdout what is not a message of the protocol%s; it is ignored. "
                "Let it write logs to stderr",
                self.place,
                _found(record.exc_info[1]),
            )
        return False


def _found(error: BaseException | None) -> str:
    """Return the invalid line that a validation error quotes, to be added to a message."""
    with suppress(AttributeError, LookupError, TypeError):
        return f": found {str(error.errors()[0]['input'])[:80]!r}"  # type: ignore[union-attr]
    return ""


def listed(place: str, seconds: float = SECONDS) -> list[dict[str, Any]]:
    """Return what a server answers to ``tools/list``: name, description, inputSchema and annotations of each tool.

    Raises:
        MissingExtra: The package mcp is not installed.
        ConfigError: There is no command.
        ReadError: The server does not start, does not answer in time, or lists no tool.
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
    """Return the client of the streamable HTTP transport, which newer versions of mcp name otherwise."""
    module = import_module("mcp.client.streamable_http")
    return (vars(module).get("streamable_http_client") or vars(module)["streamablehttp_client"])(url)


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ConfigError(f"--mcp {command!r} cannot be read as a command: {error}") from None
    if not words:
        raise ConfigError(
            '--mcp names no server; expected a command such as --mcp "python my_server.py", or a URL such as '
            "--mcp http://localhost:8000/mcp"
        )
    return words


def _tail(log: IO[str]) -> str:
    """Return the last line that a server wrote to standard error, to be added to a message."""
    log.seek(0)
    lines = [line.strip() for line in log.read().splitlines() if line.strip()]
    return f" (it wrote: {lines[-1][:300]})" if lines else ""


def _cause(error: BaseException) -> str:
    return f"{type(_innermost(error)).__name__}: {_innermost(error)}"


def _innermost(error: BaseException) -> BaseException:
    """The innermost of the errors that task groups wrap."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error
