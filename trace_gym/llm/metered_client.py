"""Client of an endpoint with retries, a budget, a limit on concurrent requests, and a store for answers."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import BoundedSemaphore

from trace_gym.errors import ConfigError
from trace_gym.llm.budget import Amount, Budget, Price
from trace_gym.llm.endpoint import Endpoint, RequestFailed
from trace_gym.llm.request import Completion, ModelRequest
from trace_gym.llm.request_store import RequestStore
from trace_gym.llm.retries import next_pause

DEFAULT_MAX_TOKENS = 16_384
"""Value of max_tokens for requests that do not set it, if there is a budget.

A limit is necessary because the budget reserves the maximum cost of each request.
"""
PROMPT_MARGIN = 512
"""Number of tokens reserved for the server's chat template and for the instruction to answer with JSON."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""First and maximum pause in seconds between attempts.

The pause doubles after each attempt, unless the response of the server contains a pause.
"""


@dataclass
class MeteredClient:
    """Model behind an endpoint, with retries and limits.

    Args:
        endpoint: Endpoint that receives the requests.
        store: Cache and ledger for answers and failed attempts.
        budget: Limit on tokens or dollars.
        price: Price of tokens. Without a price, the cost in dollars is unknown.
        concurrency: Maximum number of concurrent requests.
        timeout: Time limit in seconds for one attempt.
        retries: Maximum number of attempts after the first.
        patience: Time limit in seconds for all attempts and the pauses between them.
        log: Function that receives a line about each retry.
    """

    endpoint: Endpoint
    store: RequestStore
    budget: Budget
    price: Price | None
    concurrency: int
    timeout: float
    retries: int
    patience: float
    log: Callable[[str], None]
    _slots: BoundedSemaphore = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._slots = BoundedSemaphore(self.concurrency)

    @property
    def name(self) -> str:
        return f"openai:{self.endpoint.model}"

    def complete(self, request: ModelRequest) -> Completion:
        """Send a request, with retries, and return the answer.

        Raises:
            ModelError: No attempt returned a valid answer.
            ConfigError: The endpoint rejects the key, or does not serve the model.
            BudgetSpent: An attempt might cost more than the remaining budget.
        """
        with self._slots:
            start, attempt = time.monotonic(), 1
            while True:
                try:
                    return self._attempt(request, attempt, self.patience - (time.monotonic() - start))
                except RequestFailed as failed:
                    retries, spent = min(self.retries, failed.max_retries), time.monotonic() - start
                    pause = next_pause(attempt, retries, failed.wait, first=FIRST_PAUSE, longest=LONGEST_PAUSE)
                    if pause is None or spent + pause >= self.patience:
                        raise failed.error_type(self._failure_message(request, failed, attempt, spent, pause)) from None
                    self.log(f"{request.purpose}: {failed}; retry {attempt} of {self.retries} in {pause:.0f} s")
                time.sleep(pause)
                attempt += 1

    def _attempt(self, request: ModelRequest, attempt: int, left: float) -> Completion:
        most = self._most(request)
        start = time.monotonic()
        with self.budget.reserved(most, request.purpose) as charge:
            try:
                answer = self.endpoint.send(request, self._max_tokens(request), min(self.timeout, left))
            except RequestFailed as failed:
                charge.amount = most if failed.billed_tokens is None else self._amount(*failed.billed_tokens)
                self.store.failed(request, self.name, str(failed), time.monotonic() - start, charge.amount, attempt)
                raise
            if answer.prompt_tokens + answer.completion_tokens:  # without usage, the maximum is charged
                charge.amount = self._amount(answer.prompt_tokens, answer.completion_tokens)
                answer = answer.model_copy(update={"cost": charge.amount.dollars})
            self.store.answered(request, answer, time.monotonic() - start, charge.amount, attempt)
            return answer

    def _max_tokens(self, request: ModelRequest) -> int | None:
        return request.max_tokens or (DEFAULT_MAX_TOKENS if self.budget.limited else None)

    def _most(self, request: ModelRequest) -> Amount:
        """Return the maximum amount that a request can cost. It uses the fact that a token has at least one byte."""
        texts = json.dumps([request.messages, request.answer, *request.tools], ensure_ascii=False)
        return self._amount(len(texts.encode()) + PROMPT_MARGIN, self._max_tokens(request) or DEFAULT_MAX_TOKENS)

    def _amount(self, prompt_tokens: int, completion_tokens: int) -> Amount:
        dollars = self.price.of(prompt_tokens, completion_tokens) if self.price else None
        return Amount(prompt_tokens + completion_tokens, dollars)

    def _failure_message(
        self, request: ModelRequest, failed: RequestFailed, attempt: int, spent: float, pause: float | None
    ) -> str:
        who = f"{self.name} at {self.endpoint.where}"
        if not failed.max_retries:
            message = f"{who} did not answer {request.purpose!r}: {failed}"
        else:
            message = (
                f"{who} did not answer {request.purpose!r} in {attempt} attempts and {spent:.0f} s; last: {failed}"
            )
            if pause is not None:
                message += (
                    f"; the next attempt in {pause:.0f} s would exceed the limit of {self.patience:.0f} s (patience)"
                )
        if failed.error_type is ConfigError:
            message += "; check the key, the base URL and the model"
        if self.store.cache:
            message += f". Earlier answers are stored in {self.store.cache.folder}"
        return message
