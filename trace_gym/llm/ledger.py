"""Ledger: a log file with one JSON line per request to a language model, and functions that compute totals."""

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
from trace_gym.files import make_folder
from trace_gym.llm.budget import Amount
from trace_gym.llm.request import Completion
from trace_gym.types import Record


class LedgerEntry(Record):
    """One line of the ledger."""

    time: str = Field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    """Time in UTC at which the request ended."""
    purpose: str
    key: str
    sample: int = 0
    model: str
    served: str = ""
    """Name of the model in the response of the endpoint."""
    outcome: Literal["answered", "cached", "failed"]
    """``answered`` by the model, ``cached`` (read from a cache or a recording), or ``failed``.

    Each failed attempt at a request has a separate line.
    """
    attempt: int = 1
    """Number of the attempt at the request, starting with 1."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    """Cost in US dollars; None if unknown. For a cached answer, this is the cost of the original request."""
    counted_tokens: int = 0
    """Number of tokens that count toward the budget. If the usage is unknown, it is the maximum possible number."""
    counted_cost: float | None = None
    """US dollars that count toward the budget; None if the price is not known."""
    seconds: float = 0.0
    error: str = ""


class Ledger:
    """Ledger file. Several threads and processes may append entries at the same time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        make_folder(path.parent)

    def write(self, entry: LedgerEntry) -> None:
        """Append one line in a single write."""
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
        """Return whether the file ends with a line break. It does not if an earlier write was interrupted."""
        os.lseek(file, -1, os.SEEK_END)
        return os.read(file, 1) == b"\n"


def read_ledger(path: Path) -> list[LedgerEntry]:
    """Return the entries of a ledger; an empty list if the file does not exist. Incomplete lines are skipped.

    Raises:
        ReadError: A line is valid JSON but not a valid entry.
    """
    entries = []
    for number, line in enumerate(path.read_bytes().split(b"\n") if path.exists() else [], 1):
        try:
            entries.append(LedgerEntry.model_validate(from_json(line)))
        except ValidationError:
            raise ReadError(
                f"{path}:{number} is not a valid ledger entry. Delete the line, or pass another file"
            ) from None
        except ValueError:  # not JSON: empty or incomplete
            continue
    return entries


class Usage(Record):
    """Number of requests and their cost. Answers that were read from disk are counted separately: they are free."""

    requests: int = 0
    """Number of requests that a model answered."""
    cached: int = 0
    """Number of requests that were answered from a cache or a recording."""
    failed: int = 0
    """Number of attempts without an answer. It is known only if the totals are read from a ledger."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0
    """Cost in US dollars; None if the cost of any request is unknown."""

    def __str__(self) -> str:
        cost = "cost unknown" if self.cost is None else f"{self.cost:.4f} dollars"
        return (
            f"{self.requests:,} requests, {self.failed:,} failed attempts, {self.prompt_tokens:,} prompt tokens, "
            f"{self.completion_tokens:,} completion tokens, {cost}"
        )

    @classmethod
    def of(cls, completions: Iterable[Completion]) -> Self:
        """Return the totals over completions."""
        return cls._sum([("cached" if c.cached else "answered", c) for c in completions])

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return the totals over a ledger.

        Raises:
            ReadError: The file is not a valid ledger.
        """
        return cls.of_entries(read_ledger(path))

    @classmethod
    def of_entries(cls, entries: Iterable[LedgerEntry]) -> Self:
        """Return the totals over entries of a ledger."""
        return cls._sum([(entry.outcome, entry) for entry in entries])

    @classmethod
    def _sum(cls, lines: list[tuple[str, Completion | LedgerEntry]]) -> Self:
        count = [outcome for outcome, _ in lines].count
        answered = [line for outcome, line in lines if outcome == "answered"]
        costs = [line.cost for line in answered]
        return cls(
            requests=len(answered),
            cached=count("cached"),
            failed=count("failed"),
            prompt_tokens=sum(line.prompt_tokens for line in answered),
            completion_tokens=sum(line.completion_tokens for line in answered),
            cost=None if None in costs else sum(c for c in costs if c is not None),
        )


def counted(entries: Iterable[LedgerEntry]) -> tuple[Amount, int]:
    """Return the total amount that counts toward a budget, and the number of requests without a price."""
    total, unpriced = Amount(), 0
    for entry in entries:
        total = total.plus(Amount(entry.counted_tokens, entry.counted_cost))
        unpriced += entry.counted_tokens > 0 and entry.counted_cost is None
    return total, unpriced
