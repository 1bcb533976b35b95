"""What may be spent on language models: a request is sent only if the most that it can cost still fits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Condition
from typing import NamedTuple

from trace_gym.errors import BudgetSpent, ConfigError
from trace_gym.files import shared_lock


class Amount(NamedTuple):
    """What was, or may be, spent."""

    tokens: int = 0
    dollars: float | None = None
    """None without a price."""

    def plus(self, other: Amount, sign: int = 1) -> Amount:
        """The sum, or with ``sign=-1`` the difference; what has no price adds no dollars."""
        dollars = (self.dollars or 0.0) + sign * (other.dollars or 0.0)
        return Amount(self.tokens + sign * other.tokens, dollars)


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens, as the user's provider asks. Discounts for repeated prompts are not counted."""

    prompt: float
    completion: float

    def __post_init__(self) -> None:
        if not all(math.isfinite(p) and p >= 0 for p in (self.prompt, self.completion)):
            raise ConfigError(f"a price is dollars for a million tokens, 0 or more; found {self}")

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Dollars for so many tokens."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6


@dataclass
class Charge:
    """What one request is counted as; the most it can cost until somebody knows better."""

    amount: Amount


class Budget:
    """A limit in tokens, in dollars, in both or in none, shared by all models that are given it.

    Args:
        tokens: Prompt and completion together.
        dollars: Needs the price of every model that spends from it.
    """

    def __init__(self, *, tokens: int | None = None, dollars: float | None = None) -> None:
        for name, limit in (("tokens", tokens), ("dollars", dollars)):
            if limit is not None and not (limit >= 0 and math.isfinite(limit)):
                raise ConfigError(f"a budget of {limit} {name} is none; give a number from 0, or leave it out")
        self.tokens, self.dollars = tokens, dollars
        self.spent = Amount()
        self._reserved = Amount()
        self._requests = 0
        self._ledgers: set[Path] = set()
        self._held: list[object] = []
        self._changed = Condition()

    @property
    def limited(self) -> bool:
        """Whether there is a limit at all."""
        return self.tokens is not None or self.dollars is not None

    def opens(self, ledger: Path) -> bool:
        """Whether this ledger was not counted yet; from now on it is, and other processes may not spend by it.

        Raises:
            InUse: Another process spends by this ledger, so what is left is not known.
        """
        with self._changed:
            new = ledger.resolve() not in self._ledgers
            if new:
                self._held.append(shared_lock(ledger))
            self._ledgers.add(ledger.resolve())
            return new

    def count(self, amount: Amount) -> None:
        """Count what was spent elsewhere, such as before an interruption."""
        with self._changed:
            self.spent = self.spent.plus(amount)

    @contextmanager
    def reserved(self, most: Amount, what: str) -> Iterator[Charge]:
        """Set aside the most that a request can cost, and count its charge at the end.

        Waits while requests under way might leave enough of what is set aside for them.

        Raises:
            BudgetSpent: It does not fit.
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
        told = "; ".join(f"it may take up to {part} are left" for part in parts)
        return f"{what!r} was not sent: {told}. Raise the budget, or lower max_tokens of the request"
