"""Hand-over by files: a request is written as Markdown, and whoever likes writes the answer beside it."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock

from trace_gym.errors import ModelError, ReadError
from trace_gym.files import write
from trace_gym.llm.books import Books
from trace_gym.llm.budget import Amount
from trace_gym.llm.recordings import slug
from trace_gym.llm.request import Completion, Request, well_formed

SUFFIXES = (".md", ".json", ".py", ".txt")
"""Of answer files, the first that is there."""
LONG_AGO = 60.0
"""Seconds after which a file that has not changed counts as whole at first sight."""
TOLD_EVERY = 60.0
"""Seconds between two lines about what is waited for."""
_KEY = re.compile(r"<!-- trace_gym request ([0-9a-f]{64}) -->")


class Files:
    """Writes ``NNN-purpose.md`` into a folder and waits for ``NNN-purpose.answer.md``, or another of `SUFFIXES`.

    A request that the folder holds already keeps its number, so a second run takes the answers that are there.

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
        folder.mkdir(parents=True, exist_ok=True)
        self._asked: dict[str, Path] = {}
        for path in sorted(p for p in folder.glob("*.md") if not p.name.endswith(".answer.md")):
            if match := _KEY.match(path.read_text(encoding="utf-8", errors="replace")):
                self._asked.setdefault(match[1], path)

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
        """The file of the request."""
        with self._lock:
            if (path := self._asked.get(request.key)) is None or not path.exists():
                path = self._free(request.purpose)
                write(path, _markdown(request, path, self.settle))
                self._asked[request.key] = path
            return path

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


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ReadError(f"{path} is not UTF-8 text; save it as UTF-8") from None


def _markdown(request: Request, path: Path, settle: float) -> str:
    """The request as a page that can be handed over whole."""
    stem = path.stem
    parts = [
        f"<!-- trace_gym request {request.key} -->\n# {request.purpose}",
        f"Answer the conversation below. Write the answer, and nothing else, to `{stem}.answer.md` in this folder "
        f"(or `{stem}.answer.json`, `.answer.py`). The file is taken once it has not changed for {settle:g} seconds: "
        "save it whole, or write it under another name and rename it.",
    ]
    if request.sample:
        parts.append(f"The same was asked before; this is sample {request.sample}. Answer on your own.")
    if request.answer is not None:
        schema = json.dumps(request.answer, indent=1, ensure_ascii=False)
        parts.append(f"The answer is one JSON object of this JSON Schema:\n\n```json\n{schema}\n```")
    for message in request.messages:
        more = {k: v for k, v in message.items() if k not in ("role", "content")}
        content = message.get("content")
        told = content if isinstance(content, str) else json.dumps(content, indent=1) if content else ""
        parts.append(f"---\n\n## {message['role']}\n\n{told}" + (f"\n\n{json.dumps(more, indent=1)}" if more else ""))
    return "\n\n".join(parts) + "\n"
