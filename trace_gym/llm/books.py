"""What is kept of every request: its answer on disk first, then its line in the ledger."""

from __future__ import annotations

from dataclasses import dataclass

from trace_gym.llm.budget import Amount
from trace_gym.llm.ledger import Entry, Ledger
from trace_gym.llm.recordings import Recordings
from trace_gym.llm.request import Completion, Request


@dataclass(frozen=True)
class Books:
    """A cache and a ledger, each of which may be missing."""

    cache: Recordings | None = None
    ledger: Ledger | None = None

    def find(self, model: str, request: Request) -> Completion | None:
        """The answer of this model, if the cache holds it.

        Raises:
            ReadError: The file is damaged.
        """
        found = self.cache.find(model, request) if self.cache else None
        return found and found.model_copy(update={"cached": True})

    def answered(self, request: Request, completion: Completion, seconds: float, counted: Amount) -> None:
        """Keep an answer; one that came from disk gets its line alone.

        Args:
            request: What was asked.
            completion: What was answered.
            seconds: How long it took.
            counted: What the budget counts.
        """
        if self.cache and not completion.cached:
            self.cache.save(request, completion)
        if self.ledger:
            entry = Entry(
                purpose=request.purpose,
                key=request.key,
                sample=request.sample,
                model=completion.model,
                served=completion.served,
                outcome="cached" if completion.cached else "answered",
                prompt_tokens=completion.prompt_tokens,
                completion_tokens=completion.completion_tokens,
                cost=completion.cost,
                counted_tokens=counted.tokens,
                counted_cost=counted.dollars,
                seconds=round(seconds, 3),
            )
            self.ledger.write(entry)

    def failed(self, request: Request, model: str, error: str, seconds: float, counted: Amount) -> None:
        """Note a request that was sent and not answered."""
        if self.ledger:
            entry = Entry(
                purpose=request.purpose,
                key=request.key,
                sample=request.sample,
                model=model,
                outcome="failed",
                counted_tokens=counted.tokens,
                counted_cost=counted.dollars,
                seconds=round(seconds, 3),
                error=error,
            )
            self.ledger.write(entry)
