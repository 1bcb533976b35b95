"""A vLLM server that trace_gym starts on a free port, restarts if it dies, and stops.

Clients use the same code as for a server that the user has started. A restarted server has the same port, and
`VLLMServer` repeats the requests that failed in the meantime and loads its adapter again. If the server cannot be
restarted, its port is served by a `LastWords` server, so that clients in all processes fail without waiting.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self
from urllib.request import ProxyHandler, build_opener

from trace_gym.errors import Unavailable
from trace_gym.files import make_folder
from trace_gym.models.server_command import SERVED_NAME, needs_zero_adapter, server_command, server_environment
from trace_gym.models.settings import ModelSettings
from trace_gym.models.zero_adapter import write_zero_adapter
from trace_gym.process_group import ProcessGroup
from trace_gym.sampling.last_words import LastWords
from trace_gym.terminal import progress_bar, say

STOP_SECONDS = 20.0
"""Time limit in seconds for a graceful shutdown of the server, after which it is killed."""
PERIOD = 0.25
"""Interval between two checks of the server, in seconds."""
SHORT_LIFE = 60.0
"""Number of seconds after the server became ready. If the server ends within this time `MAX_SHORT_LIVES` times in
succession, the problem is permanent and the server is not restarted."""
MAX_SHORT_LIVES = 3
LOG_LINES = 15
"""Number of lines of the log in an error message."""
_log = logging.getLogger(__name__)


class ModelServer:
    """Context manager for the vLLM server of a model. `start` starts the server, and leaving the context stops it.

    Args:
        settings: Settings of the model. If they do not require a server that trace_gym starts, no server is started.
        log: File to which the output of the server is appended.
        lora_rank: Maximum rank of the adapters that the server can load, or None if it loads none.
        adapters: Number of adapters that are used at the same time.
        progress: Show the start of the server on stderr.
    """

    def __init__(
        self,
        settings: ModelSettings,
        *,
        log: Path,
        lora_rank: int | None = None,
        adapters: int = 1,
        progress: bool = True,
    ) -> None:
        self.settings, self.log, self.progress = settings, log, progress
        self._lora_rank, self._adapters = lora_rank, adapters
        self._port = 0
        self._command: list[str] = []
        self._process: ProcessGroup | None = None
        self._last_words: LastWords | None = None
        self._files: TemporaryDirectory[str] | None = None
        self._failure = ""
        self._starting, self._closing = threading.Lock(), threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="vllm", daemon=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def pid(self) -> int | None:
        """Process id of the leader of the server's process group, or None if the server is not running."""
        return self._process.pid if self._process else None

    def start(self) -> ModelSettings:
        """Start the server unless it is running, wait until it is ready, and return the settings with its endpoint.

        Raises:
            Unavailable: The server ended before it was ready, was not ready in time, or could not be restarted.
            ConfigError: The interpreter cannot be executed, or the server cannot load adapters with this rank.
            MissingExtra: transformers is not installed.
            ReadError: The configuration of the model cannot be read.
        """
        if not self.settings.starts_server:
            return self.settings
        if self._failure:
            raise Unavailable(self._failure)
        if self._process is None:
            make_folder(self.log.parent)
            self._port = free_port()
            self._command = self._make_command()
            try:
                self._wait_with_progress(self._launch())
            except BaseException:
                self._discard()
                raise
            self._watcher.start()
        url = f"http://127.0.0.1:{self._port}/v1"
        return self.settings.model_copy(update={"endpoint": f"openai:{SERVED_NAME}@{url}"})

    def _make_command(self) -> list[str]:
        zero = None
        if needs_zero_adapter(self.settings, self._lora_rank):
            self._files = TemporaryDirectory(prefix="trace_gym_vllm_")
            zero = Path(self._files.name, "zero_adapter")
            write_zero_adapter(self.settings, zero)
        return server_command(
            self.settings, self._port, lora_rank=self._lora_rank, adapters=self._adapters, zero_adapter=zero
        )

    def stop(self) -> None:
        """Stop the server if it is running. The server cannot be started again."""
        self._closing.set()
        try:
            with self._starting:
                if self._process is not None:
                    self._process.stop(STOP_SECONDS)
            if self._watcher.is_alive():
                self._watcher.join()
        finally:
            if self._last_words is not None:
                self._last_words.close()
            if self._files is not None:
                self._files.cleanup()

    def _discard(self) -> None:
        with self._starting:
            if self._process is not None:
                self._process.kill()
            self._process = None
            if self._files is not None and not self._watcher.is_alive():
                self._files.cleanup()

    def _launch(self) -> ProcessGroup:
        with self._starting:  # never start a process after `stop`
            if self._closing.is_set():
                raise Unavailable("the server was stopped")
            env = server_environment(self.settings.server)
            self._process = ProcessGroup(self._command, env=env, output=self.log)
        return self._process

    def _wait_with_progress(self, process: ProcessGroup) -> None:
        limit, began = self.settings.server.start_seconds, time.monotonic()
        if self.progress:
            say(f"starting a vLLM server for {self.settings.name} on port {self._port} (log: {self.log})", err=True)
        with progress_bar("starting vLLM", round(limit), self.progress) as update:
            self._wait_until_ready(process, lambda seconds: update(completed=round(seconds)))
        if self.progress:
            say(f"vLLM is ready after {time.monotonic() - began:.0f} s", err=True)

    def _wait_until_ready(self, process: ProcessGroup, tick: Callable[[float], None] = lambda _: None) -> None:
        """Wait until the server accepts requests.

        Raises:
            Unavailable: The server ended, was not ready in time, or was stopped.
        """
        limit, began = self.settings.server.start_seconds, time.monotonic()
        while not is_ready(self._port):
            if (status := process.status()) is not None:
                raise _Ended(f"vLLM ended with exit status {status} before it was ready.{self._details()}")
            if (waited := time.monotonic() - began) > limit:
                raise Unavailable(
                    f"vLLM is not ready: found no response after {waited:.0f} s, expected one after at most {limit:g} s"
                    f" (server.start_seconds). Increase the limit if the model loads slowly.{self._details()}"
                )
            tick(waited)
            if self._closing.wait(PERIOD):
                raise Unavailable("the server was stopped")

    def _watch(self) -> None:
        """Restart the server when it dies, until it is stopped or has a permanent problem."""
        ready, short_lives = time.monotonic(), 0
        while not self._closing.wait(PERIOD):
            assert self._process is not None, "only this thread discards it"
            if (status := self._process.status()) is None:
                continue
            self._process.kill()  # its child processes may still use the memory and the port
            short_lives = short_lives + 1 if time.monotonic() - ready < SHORT_LIFE else 0
            reason = f"vLLM ended with exit status {status}"
            try:
                if short_lives == MAX_SHORT_LIVES:
                    raise Unavailable(f"{reason}, {short_lives} times in succession.{self._details()}")
                _log.warning("%s. It is restarted, and the rollouts continue (log: %s)", reason, self.log)
                with suppress(_Ended):  # the next pass counts this exit: the server may get requests before it is ready
                    self._wait_until_ready(self._launch())
                ready = time.monotonic()
            except Exception as error:
                if not self._closing.is_set():
                    self._give_up(f"{error}")
                return

    def _give_up(self, reason: str) -> None:
        _log.warning("vLLM cannot be restarted: %s", reason)
        self._failure = reason
        self._discard()
        try:
            self._last_words = LastWords(self._port, reason)
        except OSError as error:
            _log.warning("port %d cannot be used: %s. Requests fail after their time limit", self._port, error)

    def _details(self) -> str:
        """Return the last lines of the log, and a hint if they show a known problem."""
        lines = last_lines(self.log, LOG_LINES)
        hint = ""
        if any("No module named" in line and "vllm" in line for line in lines):
            python = self._command[0]
            hint = (
                f" vLLM is not installed for {python}. Install vLLM in a separate virtual environment, and set the "
                "environment variable VLLM_PYTHON to its Python interpreter."
            )
        shown = "".join(f"\n  {line}" for line in lines) or " none"
        return f"{hint} The last lines of {self.log}:{shown}"


class _Ended(Unavailable):
    """The server ended before it was ready."""


def free_port() -> int:
    """Return a port of this machine that no program uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_ready(port: int) -> bool:
    """Return whether the server at a port of this machine accepts requests."""
    try:
        with build_opener(ProxyHandler({})).open(f"http://127.0.0.1:{port}/health", timeout=5) as response:
            return bool(response.status == 200)
    except (OSError, HTTPException):
        return False


def last_lines(path: Path, count: int) -> list[str]:
    """Return the last lines of a text file that are not blank. Long lines are truncated."""
    try:
        with path.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - 64_000))
            text = file.read().decode(errors="replace")
    except OSError:
        return []
    return [line[:300] for line in text.splitlines() if line.strip()][-count:]
