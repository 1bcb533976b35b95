"""An endpoint with its meter running: so many requests at once, retries, the budget, the books."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import BoundedSemaphore

from trace_gym.errors import ConfigError
from trace_gym.llm.books import Books
from trace_gym.llm.budget import Amount, Budget, Price
from trace_gym.llm.endpoint import Endpoint, Failed
from trace_gym.llm.request import Completion, Request

REPLY_TOKENS = 16_384
"""Longest answer to a request that names no max_tokens while there is a budget, which cannot reserve without one."""
PROMPT_MARGIN = 512
"""Tokens set aside for what a server's chat template and our asking for JSON add to a prompt."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds between two attempts, doubled each time, where the server does not ask for another pause."""


@dataclass
class Metered:
    """Answers requests through an endpoint, within limits.

    Args:
        endpoint: Who is asked.
        books: Where answers and attempts are kept.
        budget: What may be spent.
        price: What tokens cost; nothing is known of dollars without it.
        concurrency: Requests at once.
        timeout: Seconds for one attempt.
        retries: Attempts after the first.
        patience: Seconds for all attempts and the pauses between them.
        tell: Takes a line about each retry.
    """

    endpoint: Endpoint
    books: Books
    budget: Budget
    price: Price | None
    concurrency: int
    timeout: float
    retries: int
    patience: float
    tell: Callable[[str], None]
    _slots: BoundedSemaphore = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._slots = BoundedSemaphore(self.concurrency)

    @property
    def name(self) -> str:
        return f"openai:{self.endpoint.model}"

    def complete(self, request: Request) -> Completion:
        """The answer, after as many attempts as it takes and are allowed.

        Raises:
            ModelError: None of them brought one.
            ConfigError: The endpoint refuses the key, or does not serve the model.
            BudgetSpent: An attempt might cost more than is left.
        """
        with self._slots:
            began, attempt = time.monotonic(), 1
            while True:
                try:
                    return self._attempt(request, self.patience - (time.monotonic() - began))
                except Failed as failed:
                    pause = self._pause(failed, attempt)
                    spent = time.monotonic() - began
                    if attempt > min(self.retries, failed.again) or spent + pause >= self.patience:
                        raise failed.final(self._gives_up(request, failed, attempt, spent, pause)) from None
                    self.tell(f"{request.purpose}: {failed}; again in {pause:.0f} s ({attempt} of {self.retries})")
                time.sleep(pause)
                attempt += 1

    def _attempt(self, request: Request, left: float) -> Completion:
        most = self._most(request)
        began = time.monotonic()
        with self.budget.reserved(most, request.purpose) as charge:
            try:
                answer = self.endpoint.send(request, self._max_tokens(request), min(self.timeout, left))
            except Failed as failed:
                charge.amount = most if failed.paid is None else self._amount(*failed.paid)
                self.books.failed(request, self.name, str(failed), time.monotonic() - began, charge.amount)
                raise
            if answer.prompt_tokens + answer.completion_tokens:  # an endpoint that counts nothing is counted in full
                charge.amount = self._amount(answer.prompt_tokens, answer.completion_tokens)
                answer = answer.model_copy(update={"cost": charge.amount.dollars})
            self.books.answered(request, answer, time.monotonic() - began, charge.amount)
            return answer

    def _max_tokens(self, request: Request) -> int | None:
        return request.max_tokens or (REPLY_TOKENS if self.budget.limited else None)

    def _most(self, request: Request) -> Amount:
        """The most that a request can take. A token is at least a byte."""
        texts = json.dumps([request.messages, request.answer], ensure_ascii=False)
        return self._amount(len(texts.encode()) + PROMPT_MARGIN, self._max_tokens(request) or REPLY_TOKENS)

    def _amount(self, prompt_tokens: int, completion_tokens: int) -> Amount:
        dollars = self.price.of(prompt_tokens, completion_tokens) if self.price else None
        return Amount(prompt_tokens + completion_tokens, dollars)

    def _pause(self, failed: Failed, attempt: int) -> float:
        """As long as the server asks for, or twice as long each time, a little random so that threads part."""
        if failed.wait:
            return failed.wait
        return min(FIRST_PAUSE * 2.0 ** (attempt - 1), LONGEST_PAUSE) * random.uniform(0.75, 1.0)

    def _gives_up(self, request: Request, failed: Failed, attempt: int, spent: float, pause: float) -> str:
        who = f"{self.name} at {self.endpoint.where}"
        if not failed.again:
            told = f"{who} did not answer {request.purpose!r}: {failed}"
        else:
            told = f"{who} did not answer {request.purpose!r} in {attempt} attempts and {spent:.0f} s; last: {failed}"
            if attempt <= min(self.retries, failed.again):
                told += f"; it is to be asked again in {pause:.0f} s, and the patience is {self.patience:.0f} s"
        if failed.final is ConfigError:
            told += "; check the key, the base URL and the model"
        if self.books.cache:
            told += f". What was answered is kept in {self.books.cache.folder}"
        return told
