"""Hand-over by files: a request is written as Markdown, and whoever likes writes the answer beside it."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock

from trace_gym.errors import ConfigError, ModelError, ReadError
from trace_gym.files import write
from trace_gym.llm.books import Books
from trace_gym.llm.budget import Amount
from trace_gym.llm.quoting import fenced, inline
from trace_gym.llm.recordings import slug
from trace_gym.llm.request import Completion, Request, well_formed

SUFFIXES = (".md", ".json", ".py", ".txt")
"""Of answer files, the first that is there."""
LONG_AGO = 60.0
"""Seconds after which a file that has not changed counts as whole at first sight."""
TOLD_EVERY = 60.0
"""Seconds between two lines about what is waited for."""
_KEY = re.compile(r"\ufeff?<!-- trace_gym request ([0-9a-f]{64}) -->")
_NUMBER = re.compile(r"^\d+-")


class Files:
    """Writes ``NNN-purpose.md`` into a folder and waits for ``NNN-purpose.answer.md``, or another of `SUFFIXES`.

    A request that the folder holds already keeps its number, so a second run takes the answers that are there. An
    answer that was written before its request is taken as well: it is a file named after the purpose, such as
    ``plan-tau2_claims.answer.md``, with or without a number, and without a page of the same name.

    Args:
        folder: Made when it is missing.
        books: Where answers are kept.
        tell: Takes a line about what is waited for.
        by: Who answers, such as the name of a model; nobody checks it. Empty where that is not known.
        limit: Seconds to wait for one answer; without end when None.
        settle: Seconds that an answer file must stay unchanged.
        poll: Seconds between two looks.
    """

    def __init__(
        self,
        folder: Path,
        books: Books,
        tell: Callable[[str], None],
        *,
        by: str = "",
        limit: float | None = None,
        settle: float = 2.0,
        poll: float = 0.25,
    ) -> None:
        self.name = f"files:{by}" if by else "files"
        self.folder, self.books, self.tell = folder, books, tell
        self.limit, self.settle, self.poll = limit, settle, poll
        self._lock = Lock()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(
                f"cannot use {folder} as the folder of files:DIR: found {error.strerror}, expected a folder that can "
                "be written to. Pass another folder"
            ) from None

    def complete(self, request: Request) -> Completion:
        """Write the request, unless it is there, and wait for the answer.

        Raises:
            ModelError: The time limit is over.
            ReadError: The answer is no UTF-8 text.
        """
        began = time.monotonic()
        text = self._wait(self._ask(request), request.purpose)
        completion = Completion(text=well_formed(text), model=self.name)
        self.books.answered(request, completion, time.monotonic() - began, Amount())
        return completion

    def _ask(self, request: Request) -> Path:
        """Return the page of the request, and write it if the folder does not have it."""
        with self._lock:
            pages = self._pages()
            if known := next((path for path, key in pages.items() if key == request.key), None):
                return known
            path = self._early(request) or self._free(request.purpose)
            write(path, _markdown(request, path, self.settle, pages))
            return path

    def _pages(self) -> dict[Path, str]:
        """Return the pages of the folder in order of their names, with the keys of their requests."""
        found = sorted(p for p in self.folder.glob("*.md") if not p.name.endswith(".answer.md"))
        return {path: key for path in found if (key := _key_of(path))}

    def _early(self, request: Request) -> Path | None:
        """Claim the page of an answer that was written before its request; None if there is no such answer.

        The name of the answer states the purpose. An answer that begins with the key of a request answers only that
        request.
        """
        for answer in sorted(p for suffix in SUFFIXES for p in self.folder.glob(f"*.answer{suffix}")):
            stem = answer.name.partition(".answer.")[0]
            if _NUMBER.sub("", stem) != slug(request.purpose) or not answer.stat().st_size:
                continue
            if _key_of(answer) in ("", request.key):
                path = self.folder / f"{stem}.md"
                with suppress(FileExistsError):  # that page is another request's, and so is the answer
                    path.open("x").close()
                    self.tell(f"using {answer}, which was there before the request {request.purpose!r}")
                    return path
        return None

    def _free(self, purpose: str) -> Path:
        """Claim the next number."""
        numbers = [int(m[0]) for p in self.folder.iterdir() if (m := re.match(r"\d+(?=-)", p.name))]
        number = max(numbers, default=0) + 1
        while True:
            path = self.folder / f"{number:03}-{slug(purpose)}.md"
            try:
                path.open("x").close()  # another process may want it too
                return path
            except FileExistsError:
                number += 1

    def _wait(self, asked: Path, purpose: str) -> str:
        began = time.monotonic()
        told: float | None = None
        wanted = asked.with_suffix(".answer.md")
        seen: tuple[object, ...] | None = None
        since = began
        while True:
            now = time.monotonic()
            path, stamp, age = _look(asked)
            if stamp != seen:
                seen, since = stamp, now
            if path and (now - since >= self.settle or age > LONG_AGO):
                return _read(path)
            if told is None or now - told >= TOLD_EVERY:
                self.tell(f"waiting for {wanted}" + (f" ({(now - began) / 60:.0f} min)" if told else ""))
                told = now
            if self.limit is not None and now - began >= self.limit:
                raise ModelError(
                    f"{purpose!r} was not answered within {self.limit:g} s. The request is {asked}; write the answer "
                    f"to {wanted} and run the same command again"
                )
            time.sleep(self.poll)


def _look(asked: Path) -> tuple[Path | None, tuple[object, ...] | None, float]:
    """The answer file, if it holds anything, what changes when it is written to, and its age in seconds."""
    for suffix in SUFFIXES:
        path = asked.with_suffix(f".answer{suffix}")
        try:
            found = os.stat(path)
        except FileNotFoundError:
            continue
        if found.st_size:
            return path, (path, found.st_size, found.st_mtime_ns, found.st_ino), time.time() - found.st_mtime
    return None, None, 0.0


def _key_of(path: Path) -> str:
    """Return the key of the request in the first line of a page or an answer; empty if it has none."""
    with path.open(encoding="utf-8", errors="replace") as file:
        match = _KEY.match(file.readline(200))
    return match[1] if match else ""


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ReadError(f"{path} is not UTF-8 text; save it as UTF-8") from None


def _markdown(request: Request, path: Path, settle: float, pages: Mapping[Path, str]) -> str:
    """Return the request as a page that can be handed over whole.

    A request that continues one of `pages` has only the messages that are new.
    """
    stem = path.stem
    parts = [
        f"<!-- trace_gym request {request.key} -->\n# {inline(request.purpose)}",
        f"Answer the conversation below. Write the answer, and nothing else, to `{stem}.answer.md` in this folder "
        f"(or `{stem}.answer.json`, `.answer.py`). The file is taken once it has not changed for {settle:g} seconds: "
        "save it whole, or write it under another name and rename it.",
    ]
    if request.sample:
        parts.append(f"The same was asked before; this is sample {request.sample}. Answer on your own.")
    if request.answer is not None:
        schema = json.dumps(request.answer, indent=1, ensure_ascii=False)
        parts.append(f"The answer is one JSON object of this JSON Schema:\n\n{fenced(schema, 'json')}")
    first, count = _continued(request, pages)
    if first is not None:
        parts.append(
            f"The conversation continues `{first.name}` in this folder. Its first {count} messages are those of that "
            "page and are not repeated here: read that page first, unless you know it already."
        )
    for message in request.messages[count:]:
        more = {k: v for k, v in message.items() if k not in ("role", "content")}
        content = message.get("content")
        told = content if isinstance(content, str) else json.dumps(content, indent=1) if content else ""
        tail = f"\n\n{fenced(json.dumps(more, indent=1), 'json')}" if more else ""
        parts.append(f"---\n\n## {inline(str(message['role']))}\n\n{fenced(told, 'markdown')}{tail}")
    return "\n\n".join(parts) + "\n"


def _continued(request: Request, pages: Mapping[Path, str]) -> tuple[Path | None, int]:
    """Return the page of the request that holds most of the first messages, and how many; None and 0 without one."""
    for count in range(len(request.messages) - 1, 0, -1):
        begun = request.model_copy(update={"messages": request.messages[:count]}).key
        if page := next((path for path, key in pages.items() if key == begun), None):
            return page, count
    return None, 0
