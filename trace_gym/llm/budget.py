"""Budgets for language models. A request is sent only if its maximum cost is within the remaining budget."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Condition
from typing import NamedTuple

from trace_gym.errors import BudgetSpent, ConfigError
from trace_gym.locks import shared_lock


class Amount(NamedTuple):
    """Number of tokens and US dollars that were spent or may be spent."""

    tokens: int = 0
    dollars: float | None = None
    """Amount in US dollars; None if the price is not known."""

    def plus(self, other: Amount, sign: int = 1) -> Amount:
        """Return the sum, or with ``sign=-1`` the difference. An amount without a price counts as 0 dollars."""
        dollars = (self.dollars or 0.0) + sign * (other.dollars or 0.0)
        return Amount(self.tokens + sign * other.tokens, dollars)


@dataclass(frozen=True, slots=True)
class Price:
    """Price in US dollars per million tokens. Discounts for cached prompts are not considered."""

    prompt: float
    completion: float

    def __post_init__(self) -> None:
        if not all(math.isfinite(p) and p >= 0 for p in (self.prompt, self.completion)):
            raise ConfigError(
                f"invalid price: found {self.prompt} for prompt tokens and {self.completion} for completion tokens, "
                "expected two numbers of at least 0 (US dollars per million tokens)"
            )

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return the cost of a number of tokens in US dollars."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6


@dataclass
class Charge:
    """Amount that is charged for one request: the actual cost, or the maximum cost until the actual cost is known."""

    amount: Amount


class Budget:
    """Optional limits on tokens and dollars. Models that use the same budget object share the limits.

    Args:
        tokens: Maximum number of prompt and completion tokens; None means no limit.
        dollars: Maximum number of US dollars; None means no limit. It requires the price of each model.
    """

    def __init__(self, *, tokens: int | None = None, dollars: float | None = None) -> None:
        for name, limit in (("tokens", tokens), ("dollars", dollars)):
            if limit is not None and not (limit >= 0 and math.isfinite(limit)):
                raise ConfigError(
                    f"invalid budget: found {limit} {name}, expected a number of at least 0. Correct the number, or "
                    "omit it"
                )
        self.tokens, self.dollars = tokens, dollars
        self.spent = Amount()
        self._reserved = Amount()
        self._requests = 0
        self._ledgers: set[Path] = set()
        self._held: list[object] = []
        self._changed = Condition()

    @property
    def limited(self) -> bool:
        """Whether tokens or dollars are limited."""
        return self.tokens is not None or self.dollars is not None

    def claim_ledger(self, ledger: Path) -> bool:
        """Lock a ledger for this process, and return whether its amounts have not been counted yet.

        Raises:
            InUse: Another process uses this ledger, so the remaining budget is not known.
        """
        with self._changed:
            new = ledger.resolve() not in self._ledgers
            if new:
                self._held.append(shared_lock(ledger))
            self._ledgers.add(ledger.resolve())
            return new

    def count(self, amount: Amount) -> None:
        """Add an amount that was spent before, such as in an interrupted run."""
        with self._changed:
            self.spent = self.spent.plus(amount)

    @contextmanager
    def reserved(self, most: Amount, what: str) -> Iterator[Charge]:
        """Reserve the maximum cost of a request while the block runs, and count the actual cost at the end.

        If the maximum cost exceeds the remaining budget only because of the reservations of concurrent requests, this
        context manager waits until these requests have finished.

        Args:
            most: Maximum cost of the request.
            what: Purpose of the request, for error messages.

        Raises:
            BudgetSpent: The maximum cost exceeds the remaining budget.
        """
        with self._changed:
            while not self._fits(most):
                if not self._requests or not self._fits(most, settled=True):
                    raise BudgetSpent(self._refusal(most, what))
                self._changed.wait()
            self._reserved = self._reserved.plus(most)
            self._requests += 1
        charge = Charge(most)
        try:
            yield charge
        finally:
            with self._changed:
                self._reserved = self._reserved.plus(most, -1)
                self._requests -= 1
                self.spent = self.spent.plus(charge.amount)
                self._changed.notify_all()

    def _fits(self, most: Amount, settled: bool = False) -> bool:
        total = self.spent.plus(most) if settled else self.spent.plus(self._reserved).plus(most)
        return not (
            (self.tokens is not None and total.tokens > self.tokens)
            or (self.dollars is not None and (total.dollars or 0.0) > self.dollars + 1e-12)
        )

    def _refusal(self, most: Amount, what: str) -> str:
        parts = []
        if self.tokens is not None:
            parts.append(f"{most.tokens:,} tokens, and {max(self.tokens - self.spent.tokens, 0):,} of {self.tokens:,}")
        if self.dollars is not None:
            left = max(self.dollars - (self.spent.dollars or 0.0), 0.0)
            parts.append(f"{most.dollars or 0.0:.4f} dollars, and {left:.4f} of {self.dollars:.4f}")
        limits = "; ".join(f"it may take up to {part} are left" for part in parts)
        return f"{what!r} was not sent: {limits}. Raise the budget, or lower max_tokens of the request"
