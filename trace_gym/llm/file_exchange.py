"""Model whose requests are written to Markdown files. A person or another program writes the answers to files."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock

from trace_gym.errors import ConfigError, ModelError, ReadError
from trace_gym.files import write
from trace_gym.llm.budget import Amount
from trace_gym.llm.quoting import fenced, inline
from trace_gym.llm.recordings import slug
from trace_gym.llm.request import Completion, ModelRequest, well_formed
from trace_gym.llm.request_store import RequestStore
from trace_gym.llm.written_turns import TURN_INSTRUCTION, written_turn

SUFFIXES = (".md", ".json", ".py", ".txt")
"""Suffixes of answer files, in the order in which they are looked up."""
SETTLED_AGE = 60.0
"""Age in seconds after which an answer file counts as complete without further waiting."""
LOG_INTERVAL = 60.0
"""Seconds between two log lines while waiting for an answer."""
_KEY = re.compile(r"\ufeff?<!-- trace_gym request ([0-9a-f]{64}) -->")
_NUMBER = re.compile(r"^\d+-")


class FileExchange:
    """Model that writes each request to ``NNN-purpose.md`` and reads the answer from ``NNN-purpose.answer.md``.

    If the request has tools, the answer is a turn in the form of `trace_gym.llm.written_turns`.

    The answer file may have any suffix in `SUFFIXES`. If the folder already contains a request, its file is used, so
    that a second run uses the existing answers. An answer may also be written before its request. Such a file is named
    after the purpose, such as ``plan-tau2_claims.answer.md``, with or without a number, and there must be no request
    file of the same name.

    Args:
        folder: Folder of the request files. It is created if it does not exist.
        store: Cache and ledger for the answers.
        log: Function that receives progress messages while the model waits for an answer.
        answered_by: Name of the person or model that writes the answers; empty if unknown. The name is not verified.
        limit: Time limit in seconds for one answer; None means no limit.
        settle: Number of seconds without change after which an answer file counts as complete.
        poll: Seconds between two checks for an answer file.
    """

    def __init__(
        self,
        folder: Path,
        store: RequestStore,
        log: Callable[[str], None],
        *,
        answered_by: str = "",
        limit: float | None = None,
        settle: float = 2.0,
        poll: float = 0.25,
    ) -> None:
        self.name = f"files:{answered_by}" if answered_by else "files"
        self.folder, self.store, self.log = folder, store, log
        self.limit, self.settle, self.poll = limit, settle, poll
        self._closed = Event()
        self._lock = Lock()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(
                f"cannot create the folder {folder} for the model files:DIR: {error.strerror}. Pass a folder that you "
                "can write to"
            ) from None

    def complete(self, request: ModelRequest) -> Completion:
        """Write the request file if it does not exist, and wait for the answer.

        Raises:
            ModelError: The time limit was exceeded.
            ReadError: The answer file is not UTF-8 text.
        """
        start = time.monotonic()
        text = self._wait(self._ask(request), request.purpose)
        said, calls = written_turn(well_formed(text)) if request.tools else (well_formed(text), ())
        completion = Completion(text=said, tool_calls=calls, model=self.name)
        self.store.answered(request, completion, time.monotonic() - start, Amount())
        return completion

    def _ask(self, request: ModelRequest) -> Path:
        """Return the path of the request file, and write the file if it does not exist."""
        with self._lock:
            pages = self._pages()
            if known := next((path for path, key in pages.items() if key == request.key), None):
                return known
            path = self._early(request) or self._free(request.purpose)
            write(path, _markdown(request, path, self.settle, pages))
            return path

    def _pages(self) -> dict[Path, str]:
        """Return the request files in the folder, sorted by name, with the keys of their requests."""
        found = sorted(p for p in self.folder.glob("*.md") if not p.name.endswith(".answer.md"))
        return {path: key for path in found if (key := _key_of(path))}

    def _early(self, request: ModelRequest) -> Path | None:
        """Create and return the request file for an answer that was written before its request; None if there is none.

        The name of the answer file contains the purpose of the request. If the first line of the answer contains the
        key of a request, the answer is used only for that request.
        """
        for answer in sorted(p for suffix in SUFFIXES for p in self.folder.glob(f"*.answer{suffix}")):
            stem = answer.name.partition(".answer.")[0]
            if _NUMBER.sub("", stem) != slug(request.purpose) or not answer.stat().st_size:
                continue
            if _key_of(answer) in ("", request.key):
                path = self.folder / f"{stem}.md"
                with suppress(FileExistsError):  # the request file exists, so the answer belongs to that request
                    path.open("x").close()
                    self.log(f"using {answer}, which was written before the request {request.purpose!r}")
                    return path
        return None

    def _free(self, purpose: str) -> Path:
        """Create an empty request file with the next free number."""
        numbers = [int(m[0]) for p in self.folder.iterdir() if (m := re.match(r"\d+(?=-)", p.name))]
        number = max(numbers, default=0) + 1
        while True:
            path = self.folder / f"{number:03}-{slug(purpose)}.md"
            try:
                path.open("x").close()  # fails if another process has created the file
                return path
            except FileExistsError:
                number += 1

    def _wait(self, request_file: Path, purpose: str) -> str:
        start = time.monotonic()
        last_logged: float | None = None
        wanted = request_file.with_suffix(".answer.md")
        seen: tuple[object, ...] | None = None
        since = start
        while True:
            now = time.monotonic()
            path, stamp, age = _look(request_file)
            if stamp != seen:
                seen, since = stamp, now
            if path and (now - since >= self.settle or age > SETTLED_AGE):
                return _read(path)
            if last_logged is None or now - last_logged >= LOG_INTERVAL:
                self.log(f"waiting for {wanted}" + (f" ({(now - start) / 60:.0f} min)" if last_logged else ""))
                last_logged = now
            if self.limit is not None and now - start >= self.limit:
                raise ModelError(
                    f"the request {purpose!r} was not answered within {self.limit:g} s. Read {request_file}, write the "
                    f"answer to {wanted}, and run the same command again"
                )
            time.sleep(self.poll)
            if self._closed.is_set():
                raise ModelError(f"the request {purpose!r} was not answered before the command ended")

    def close(self) -> None:
        """End the waiting for answers in all threads."""
        self._closed.set()


def _look(request_file: Path) -> tuple[Path | None, tuple[object, ...] | None, float]:
    """Return the path of a non-empty answer file, a tuple that changes on each write, and the file's age in seconds."""
    for suffix in SUFFIXES:
        path = request_file.with_suffix(f".answer{suffix}")
        try:
            found = os.stat(path)
        except FileNotFoundError:
            continue
        if found.st_size:
            return path, (path, found.st_size, found.st_mtime_ns, found.st_ino), time.time() - found.st_mtime
    return None, None, 0.0


def _key_of(path: Path) -> str:
    """Return the request key in the first line of a request file or an answer file; empty if there is none."""
    with path.open(encoding="utf-8", errors="replace") as file:
        match = _KEY.match(file.readline(200))
    return match[1] if match else ""


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ReadError(f"{path} is not UTF-8 text. Save the file as UTF-8") from None


def _markdown(request: ModelRequest, path: Path, settle: float, pages: Mapping[Path, str]) -> str:
    """Return the Markdown text of a request file.

    If the conversation continues the conversation in another file, the text contains only the new messages.

    Args:
        request: The request.
        path: Path of the request file.
        settle: Number of seconds without change after which an answer file counts as complete.
        pages: Existing request files with the keys of their requests.
    """
    stem = path.stem
    parts = [
        f"<!-- trace_gym request {request.key} -->\n# {inline(request.purpose)}",
        f"Answer the conversation below. Write the answer, and nothing else, to `{stem}.answer.md` in this folder "
        f"(or `{stem}.answer.json`, `.answer.py`). The file is taken once it has not changed for {settle:g} seconds: "
        "save it whole, or write it under another name and rename it.",
    ]
    if request.sample:
        parts.append(f"This request was sent before; this is sample {request.sample}. Write a new, independent answer.")
    if request.answer is not None:
        schema = json.dumps(request.answer, indent=1, ensure_ascii=False)
        parts.append(f"The answer is one JSON object of this JSON Schema:\n\n{fenced(schema, 'json')}")
    first, count = _continued(request, pages)
    if request.tools:
        parts.append(TURN_INSTRUCTION)
    if request.tools and first is None:
        tools = json.dumps([tool.get("function", tool) for tool in request.tools], indent=1, ensure_ascii=False)
        parts.append(f"The tools are:\n\n{fenced(tools, 'json')}")
    if first is not None:
        parts.append(
            f"The conversation continues `{first.name}` in this folder. Its first {count} messages are those of that "
            "page and are not repeated here: read that page first, unless you know it already."
        )
    for message in request.messages[count:]:
        more = {k: v for k, v in message.items() if k not in ("role", "content")}
        content = message.get("content")
        text = content if isinstance(content, str) else json.dumps(content, indent=1) if content else ""
        tail = f"\n\n{fenced(json.dumps(more, indent=1), 'json')}" if more else ""
        parts.append(f"---\n\n## {inline(str(message['role']))}\n\n{fenced(text, 'markdown')}{tail}")
    return "\n\n".join(parts) + "\n"


def _continued(request: ModelRequest, pages: Mapping[Path, str]) -> tuple[Path | None, int]:
    """Return the request file with the longest conversation that is a prefix of this one, and its number of messages.

    Return None and 0 if there is no such file.
    """
    for count in range(len(request.messages) - 1, 0, -1):
        prefix_key = request.model_copy(update={"messages": request.messages[:count]}).key
        if page := next((path for path, key in pages.items() if key == prefix_key), None):
            return page, count
    return None, 0
