"""The ledger of requests, one JSON line for each that was sent or answered from disk, and its sum."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Literal, Self

from pydantic import Field, ValidationError
from pydantic_core import from_json

from trace_gym.errors import ReadError
from trace_gym.llm.budget import Amount
from trace_gym.llm.request import Completion
from trace_gym.types import Record


class Entry(Record):
    """One line of the ledger."""

    time: str = Field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    """When it ended, in UTC."""
    purpose: str
    key: str
    sample: int = 0
    model: str
    served: str = ""
    """What the endpoint says it is."""
    outcome: Literal["answered", "cached", "failed"]
    """``cached``: read from a cache or a recording. ``failed``: sent without an answer; each attempt has its line."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    """US dollars for the tokens; None when unknown. Of a cached answer, what it cost then."""
    counted_tokens: int = 0
    """What the budget counts: the tokens, or the most that it could have taken where nobody knows."""
    counted_cost: float | None = None
    """The same in dollars; None without a price."""
    seconds: float = 0.0
    error: str = ""


class Ledger:
    """Appends entries to a file. Lines of several threads and processes never mix."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        path.parent.mkdir(parents=True, exist_ok=True)

    def write(self, entry: Entry) -> None:
        """Append one line, in one piece."""
        line = entry.model_dump_json().encode() + b"\n"
        with self._lock:
            file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                torn = os.lseek(file, 0, os.SEEK_END) > 0 and not self._ends_a_line(file)
                os.write(file, b"\n" + line if torn else line)
            finally:
                os.close(file)

    @staticmethod
    def _ends_a_line(file: int) -> bool:
        """False after a full disk or a power cut; the torn line then stays alone."""
        os.lseek(file, -1, os.SEEK_END)
        return os.read(file, 1) == b"\n"


def read_ledger(path: Path) -> list[Entry]:
    """The entries of a ledger; none when there is no file. A torn line is passed over.

    Raises:
        ReadError: A line is something else than an entry.
    """
    entries = []
    for number, line in enumerate(path.read_bytes().split(b"\n") if path.exists() else [], 1):
        try:
            entries.append(Entry.model_validate(from_json(line)))
        except ValidationError:
            raise ReadError(f"{path}:{number} is no entry of a ledger; name another file, or delete the line") from None
        except ValueError:  # no JSON: empty or torn
            continue
    return entries


class Usage(Record):
    """What was asked and spent. Counts of answers from disk stand apart, since nothing was paid for them."""

    requests: int = 0
    """Answered by a model."""
    cached: int = 0
    """Answered from a cache or a recording."""
    failed: int = 0
    """Sent without an answer; known to a ledger only."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0
    """US dollars; None when that of any request is unknown."""

    @classmethod
    def of(cls, completions: Iterable[Completion]) -> Self:
        """The sum over completions."""
        return cls._sum([("cached" if c.cached else "answered", c) for c in completions])

    @classmethod
    def read(cls, path: Path) -> Self:
        """The sum over a ledger.

        Raises:
            ReadError: It is no ledger.
        """
        return cls._sum([(entry.outcome, entry) for entry in read_ledger(path)])

    @classmethod
    def _sum(cls, lines: list[tuple[str, Completion | Entry]]) -> Self:
        count = [outcome for outcome, _ in lines].count
        paid = [line for outcome, line in lines if outcome == "answered"]
        costs = [line.cost for line in paid]
        return cls(
            requests=len(paid),
            cached=count("cached"),
            failed=count("failed"),
            prompt_tokens=sum(line.prompt_tokens for line in paid),
            completion_tokens=sum(line.completion_tokens for line in paid),
            cost=None if None in costs else sum(c for c in costs if c is not None),
        )


def counted(entries: Iterable[Entry]) -> tuple[Amount, int]:
    """What a budget counts of them, and how many requests without a price are among them."""
    total, unpriced = Amount(), 0
    for entry in entries:
        total = total.plus(Amount(entry.counted_tokens, entry.counted_cost))
        unpriced += entry.counted_tokens > 0 and entry.counted_cost is None
    return total, unpriced
