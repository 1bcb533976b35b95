"""Storage of requests and answers in a cache and a ledger."""

from __future__ import annotations

from dataclasses import dataclass

from trace_gym.llm.budget import Amount
from trace_gym.llm.ledger import Ledger, LedgerEntry
from trace_gym.llm.recordings import Recordings
from trace_gym.llm.request import Completion, ModelRequest


@dataclass(frozen=True)
class RequestStore:
    """Optional cache and optional ledger of a model."""

    cache: Recordings | None = None
    ledger: Ledger | None = None

    def find(self, model: str, request: ModelRequest) -> Completion | None:
        """Return the cached answer of a model to a request; None if there is none.

        Raises:
            ReadError: The cached file is damaged.
        """
        found = self.cache.find(model, request) if self.cache else None
        return found and found.model_copy(update={"cached": True})

    def answered(
        self, request: ModelRequest, completion: Completion, seconds: float, counted: Amount, attempt: int = 1
    ) -> None:
        """Store an answer in the cache, and then write a line to the ledger.

        If the answer was read from disk, only the line in the ledger is written.

        Args:
            request: The request.
            completion: The answer.
            seconds: Duration of the request.
            counted: Amount that counts toward the budget.
            attempt: Number of the attempt at the request.
        """
        if self.cache and not completion.cached:
            self.cache.save(request, completion)
        if self.ledger:
            entry = LedgerEntry(
                purpose=request.purpose,
                key=request.key,
                sample=request.sample,
                model=completion.model,
                served=completion.served,
                outcome="cached" if completion.cached else "answered",
                attempt=attempt,
                prompt_tokens=completion.prompt_tokens,
                completion_tokens=completion.completion_tokens,
                cost=completion.cost,
                counted_tokens=counted.tokens,
                counted_cost=counted.dollars,
                seconds=round(seconds, 3),
            )
            self.ledger.write(entry)

    def failed(
        self, request: ModelRequest, model: str, error: str, seconds: float, counted: Amount, attempt: int = 1
    ) -> None:
        """Write a line to the ledger for a request that was sent but not answered."""
        if self.ledger:
            entry = LedgerEntry(
                purpose=request.purpose,
                key=request.key,
                sample=request.sample,
                model=model,
                outcome="failed",
                attempt=attempt,
                counted_tokens=counted.tokens,
                counted_cost=counted.dollars,
                seconds=round(seconds, 3),
                error=error,
            )
            self.ledger.write(entry)
