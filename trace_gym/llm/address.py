"""From an address to a model."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Lock

from trace_gym.errors import ConfigError
from trace_gym.llm.books import Books
from trace_gym.llm.budget import Amount, Budget, Price
from trace_gym.llm.endpoint import Endpoint, checked_url
from trace_gym.llm.files import Files
from trace_gym.llm.ledger import Ledger, counted, read_ledger
from trace_gym.llm.metered import Metered
from trace_gym.llm.recordings import Recordings, Replay
from trace_gym.llm.request import Completion, Request
from trace_gym.terminal import say

ADDRESSES = "openai:MODEL, openai:MODEL@URL, replay:DIR, replay-purpose:DIR, files:DIR"


_HOST = re.compile(r"@(?:localhost\b|[\w.-]+:\d+(?:/|$)|(?:[\w-]+\.)+[\w-]+/)")
"""A host without a scheme after the name of a model; a version such as ``@20240620`` does not match."""
_NO_URL = re.compile(r"@(?:[A-Za-z][A-Za-z0-9+.-]*://|$)")
"""A URL with a scheme that is not supported, or an empty one, for example from an unset variable."""


def endpoint_of(address: str) -> tuple[str, str | None]:
    """Return the model and the base URL of ``openai:MODEL`` or ``openai:MODEL@URL``; without a URL None.

    Every option and setting that names a model is read by this function.

    Raises:
        ConfigError: The address has another form, or its URL is not one.
    """
    kind, _, rest = address.partition(":")
    model, at, url = rest.partition("@http")
    if kind != "openai" or not model:
        raise ConfigError(f"{address!r} is not the address of a model: expected openai:MODEL or openai:MODEL@URL")
    if not at and _HOST.search(model):  # it would be sent to the default endpoint, with the key
        raise ConfigError(f"{address!r} names a host without a scheme: write openai:MODEL@http://HOST or @https://HOST")
    if not at and (found := _NO_URL.search(model)):
        raise ConfigError(
            f"{address!r} has no valid URL: found {model[found.start() + 1 :]!r} after @, expected http://HOST or "
            "https://HOST. Correct the URL, or leave out @"
        )
    return model, checked_url(f"http{url}") if at else None


def without_effect(address: str, given: Mapping[str, object]) -> Iterator[str]:
    """Yield the names of settings that have no effect on the model of an address.

    Args:
        address: As for `resolve`.
        given: Name -> value of ``tokens``, ``dollars``, ``price`` and ``by``; one that is None or empty is not set.
    """
    kind = address.partition(":")[0]
    used = {"openai": {"tokens", "dollars", "price"}, "files": {"by"}}.get(kind, set())
    yield from (name for name, value in given.items() if value not in (None, "") and name not in used)


class Resolved:
    """A model that looks into its cache first, and asks the same question once."""

    def __init__(self, source: Metered | Replay | Files, books: Books) -> None:
        self._source, self._books = source, books
        self._asking: dict[str, Lock] = {}

    @property
    def name(self) -> str:
        """``openai:<model>``, ``replay:<what wrote the recordings>``, or ``files[:<who answers>]``."""
        return self._source.name

    def complete(self, request: Request) -> Completion:
        """The answer to a request, from the cache or from the model.

        Raises:
            ModelError: There is none.
            BudgetSpent: It might cost more than is left.
            ConfigError: The endpoint refuses the key, or does not serve the model.
            ReadError: The file that holds the answer is damaged.
        """
        with self._asking.setdefault(request.key, Lock()):
            began = time.monotonic()
            answer = self._books.find(self.name, request) or self._source.complete(request)
            if answer.cached:
                self._books.answered(request, answer, time.monotonic() - began, Amount())
            return answer

    def close(self) -> None:
        """Close the connections to an endpoint."""
        if isinstance(self._source, Metered):
            self._source.endpoint.close()


def tell_on_stderr(line: str) -> None:
    """Say what is being done where results do not go."""
    say(line, err=True)


def resolve(
    address: str,
    *,
    cache: Path | None = None,
    budget: Budget | None = None,
    ledger: Path | None = None,
    concurrency: int = 4,
    tell: Callable[[str], None] = tell_on_stderr,
    base_url: str | None = None,
    price: Price | None = None,
    timeout: float = 600.0,
    retries: int = 6,
    patience: float = 1800.0,
    wait: float | None = None,
    by: str = "",
) -> Resolved:
    """The model of an address.

    ``openai:gpt-x`` or ``openai:qwen@http://127.0.0.1:8000/v1`` is behind an endpoint, ``replay:DIR`` answers from a
    folder of recordings (``replay-purpose:DIR`` also where the prompts have changed since), and ``files:DIR`` hands
    requests over as files.

    Args:
        address: See above.
        cache: Folder where answers are kept, and looked for first.
        budget: What may be spent through endpoints; may be shared with other models. What `ledger` already holds
            counts, once for each budget, so that a second run goes on where the first was interrupted.
        ledger: File with one JSON line a request.
        concurrency: Requests to the endpoint at once.
        tell: Takes a line about retries and waiting.
        base_url: The endpoint; ``OPENAI_BASE_URL`` or OpenAI's when None.
        price: What the endpoint asks for a million tokens; a budget in dollars needs it.
        timeout: Seconds for one attempt.
        retries: Attempts after the first.
        patience: Seconds for all attempts at one request and the pauses between them.
        wait: Seconds that ``files:DIR`` waits for one answer; without end when None.
        by: Who answers with ``files:DIR``, as its user says.

    Raises:
        ConfigError: There is no such address, no key, no price for a budget in dollars, or a limit that is none.
        ReadError: The recordings or the ledger cannot be read.
        MissingExtra: The openai package is not installed.
    """
    for name, limit in (("concurrency", concurrency), ("timeout", timeout), ("patience", patience)):
        if not limit > 0:
            raise ConfigError(f"{name} is more than 0, found {limit}")
    kind, _, rest = address.partition(":")
    if kind not in ("openai", "replay", "replay-purpose", "files") or not rest or rest.startswith("@http"):
        raise ConfigError(f"there is no model {address!r}; expected {ADDRESSES}")
    if kind.startswith("replay"):
        return Resolved(Replay(Path(rest), kind == "replay-purpose"), Books(None, Ledger(ledger) if ledger else None))
    books = Books(Recordings(cache) if cache else None, Ledger(ledger) if ledger else None)
    if kind == "files":
        return Resolved(Files(Path(rest), books, tell, by=by, limit=wait), books)
    budget = _opened(budget or Budget(), ledger, price, address, tell)
    model, url = endpoint_of(address)
    endpoint = Endpoint(model, url or base_url, tell)
    return Resolved(Metered(endpoint, books, budget, price, concurrency, timeout, retries, patience, tell), books)


def _opened(
    budget: Budget, ledger: Path | None, price: Price | None, address: str, tell: Callable[[str], None]
) -> Budget:
    """The budget, with what the ledger holds."""
    if budget.dollars is not None and price is None:
        raise ConfigError(f"a budget in dollars needs the price of {address}, in dollars for a million tokens")
    if ledger is not None and budget.limited and budget.opens(ledger):
        amount, unpriced = counted(read_ledger(ledger))
        budget.count(amount)
        if unpriced and budget.dollars is not None:
            tell(f"{ledger} holds {unpriced} requests without a price; the budget in dollars cannot count them")
    return budget
