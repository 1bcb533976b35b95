"""Selection of a language model by a model URI such as ``openai:MODEL``."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Lock

from trace_gym.errors import ConfigError
from trace_gym.llm.budget import Amount, Budget, Price
from trace_gym.llm.endpoint import Endpoint, checked_url
from trace_gym.llm.file_exchange import FileExchange
from trace_gym.llm.ledger import Ledger, counted, read_ledger
from trace_gym.llm.metered_client import MeteredClient
from trace_gym.llm.recordings import Recordings, ReplayModel
from trace_gym.llm.request import Completion, ModelRequest
from trace_gym.llm.request_store import RequestStore
from trace_gym.terminal import say

MODEL_URIS = "openai:MODEL, openai:MODEL@URL, replay:DIR, replay-purpose:DIR, files:DIR"
NO_MODEL = "none"
"""Value of the setting of a solver that turns off the default."""


_HOST = re.compile(r"@(?:localhost\b|[\w.-]+:\d+(?:/|$)|(?:[\w-]+\.)+[\w-]+/)")
"""Pattern of a host without a scheme after the name of a model. A version such as ``@20240620`` does not match."""
_NO_URL = re.compile(r"@(?:[A-Za-z][A-Za-z0-9+.-]*://|$)")
"""Pattern of a URL with an unsupported scheme, or of an empty URL, for example from an unset variable."""


def endpoint_of(uri: str) -> tuple[str, str | None]:
    """Return the model and the base URL in ``openai:MODEL`` or ``openai:MODEL@URL``. Without a URL, the URL is None.

    All options and settings that select a model are parsed by this function.

    Raises:
        ConfigError: The model URI or its URL is not valid.
    """
    kind, _, rest = uri.partition(":")
    model, at, url = rest.partition("@http")
    if kind != "openai" or not model:
        raise ConfigError(f"{uri!r} is not a valid model URI: expected openai:MODEL or openai:MODEL@URL")
    if not at and _HOST.search(model):  # otherwise the request and the key would be sent to the default endpoint
        raise ConfigError(
            f"{uri!r} contains a host without a scheme: expected openai:MODEL@http://HOST or openai:MODEL@https://HOST"
        )
    if not at and (found := _NO_URL.search(model)):
        raise ConfigError(
            f"{uri!r} has no valid URL: found {model[found.start() + 1 :]!r} after @, expected http://HOST or "
            "https://HOST. Correct the URL, or remove the @"
        )
    return model, checked_url(f"http{url}") if at else None


def ignored_settings(uri: str, given: Mapping[str, object], others: Sequence[str] = ()) -> Iterator[str]:
    """Yield the names of settings that have no effect on the models that URIs select.

    Args:
        uri: Model URI, as for `open_model_uri`.
        given: Values of the settings ``tokens``, ``dollars``, ``price`` and ``by``. None and ``""`` mean not set.
        others: URIs of models that share the settings except for ``by``. Empty URIs are ignored.
    """
    used = {"by"} if uri.startswith("files:") else set()
    if any(one.startswith("openai:") for one in (uri, *others)):
        used |= {"tokens", "dollars", "price"}
    yield from (name for name, value in given.items() if value not in (None, "") and name not in used)


def solver_uri(solver: str, author: str) -> str:
    """Return the URI of the model that solves scenarios of generated environments, or ``""`` if no model solves them.

    By default, the solver is the model of the author in separate conversations. For ``files:DIR``, its requests are in
    the folder ``DIR/solver``, so that somebody else can answer them. If the author's answers are replayed, there is no
    solver by default, because a recording may contain only the author's answers.

    Args:
        solver: Model URI, ``none``, or ``""`` for the default.
        author: URI of the model that writes the environments.
    """
    if solver:
        return "" if solver == NO_MODEL else solver
    match author.partition(":"):
        case "openai", _, _:
            return author
        case "files", _, folder:
            return f"files:{Path(folder) / 'solver'}"
    return ""


class Resolved:
    """Model with a cache. If several threads make the same request, the request is sent only once."""

    def __init__(self, source: MeteredClient | ReplayModel | FileExchange, store: RequestStore) -> None:
        self._source, self._store = source, store
        self._asking: dict[str, Lock] = {}

    @property
    def name(self) -> str:
        """``openai:<model>``, ``replay:<models of the recordings>``, or ``files[:<answered_by>]``."""
        return self._source.name

    def complete(self, request: ModelRequest) -> Completion:
        """Return the answer to a request, from the cache or from the model.

        Raises:
            ModelError: The model returned no answer.
            BudgetSpent: The request might cost more than the remaining budget.
            ConfigError: The endpoint rejects the key, or does not serve the model.
            ReadError: The cached file is damaged.
        """
        with self._asking.setdefault(request.key, Lock()):
            start = time.monotonic()
            answer = self._store.find(self.name, request) or self._source.complete(request)
            if answer.cached:
                self._store.answered(request, answer, time.monotonic() - start, Amount())
            return answer

    def close(self) -> None:
        """Close the connections to the endpoint, or end the waiting for answers in files."""
        if isinstance(self._source, MeteredClient):
            self._source.endpoint.close()
        elif isinstance(self._source, FileExchange):
            self._source.close()


def log_to_stderr(line: str) -> None:
    """Print a progress line to standard error, so that standard output contains only results."""
    say(line, err=True)


def open_model_uri(
    uri: str,
    *,
    cache: Path | None = None,
    budget: Budget | None = None,
    ledger: Path | None = None,
    concurrency: int = 4,
    log: Callable[[str], None] = log_to_stderr,
    base_url: str | None = None,
    price: Price | None = None,
    timeout: float = 600.0,
    retries: int = 6,
    patience: float = 1800.0,
    wait: float | None = None,
    answered_by: str = "",
) -> Resolved:
    """Return the model of a model URI.

    Forms of a model URI:

    - ``openai:gpt-x`` or ``openai:qwen@http://127.0.0.1:8000/v1``: requests are sent to an endpoint.
    - ``replay:DIR``: answers are read from a folder of recordings.
    - ``replay-purpose:DIR``: as ``replay:DIR``, but answers are also used if the prompts have changed since the
    recording.
    - ``files:DIR``: requests are written to files, and a person or another program writes the answers.

    Args:
        uri: Model URI in one of these forms.
        cache: Folder in which answers are stored and looked up.
        budget: Limit on tokens or dollars for endpoints. Several models can share a budget. Amounts that `ledger`
            already contains count as spent, so that an interrupted run can be resumed.
        ledger: File with one JSON line per request.
        concurrency: Maximum number of concurrent requests to the endpoint.
        log: Function that receives progress messages, such as a line about each retry.
        base_url: URL of the endpoint. If None, ``OPENAI_BASE_URL`` or the URL of OpenAI is used.
        price: Price of the endpoint; required for a budget in dollars.
        timeout: Time limit in seconds for one attempt.
        retries: Maximum number of attempts after the first.
        patience: Time limit in seconds for all attempts at one request, including the pauses between them.
        wait: Time limit in seconds for one answer to ``files:DIR``; None means no limit.
        answered_by: Name of the person or model that answers the requests of ``files:DIR``. It is not verified.

    Raises:
        ConfigError: The model URI, the key or a limit is not valid, or a budget in dollars has no price.
        ReadError: The recordings or the ledger cannot be read.
        MissingExtra: The openai package is not installed.
    """
    for name, limit in (("concurrency", concurrency), ("timeout", timeout), ("patience", patience)):
        if not limit > 0:
            raise ConfigError(f"invalid {name}: found {limit}, expected a number greater than 0")
    kind, _, rest = uri.partition(":")
    if kind not in ("openai", "replay", "replay-purpose", "files") or not rest or rest.startswith("@http"):
        raise ConfigError(f"{uri!r} is not a valid model URI: expected one of {MODEL_URIS}")
    if kind.startswith("replay"):
        return Resolved(
            ReplayModel(Path(rest), kind == "replay-purpose"), RequestStore(None, Ledger(ledger) if ledger else None)
        )
    store = RequestStore(Recordings(cache) if cache else None, Ledger(ledger) if ledger else None)
    if kind == "files":
        return Resolved(FileExchange(Path(rest), store, log, answered_by=answered_by, limit=wait), store)
    budget = _opened(budget or Budget(), ledger, price, uri, log)
    model, url = endpoint_of(uri)
    endpoint = Endpoint(model, url or base_url, log)
    return Resolved(MeteredClient(endpoint, store, budget, price, concurrency, timeout, retries, patience, log), store)


def _opened(budget: Budget, ledger: Path | None, price: Price | None, uri: str, log: Callable[[str], None]) -> Budget:
    """Count the amounts in the ledger as spent, and return the budget."""
    if budget.dollars is not None and price is None:
        raise ConfigError(
            f"a budget in dollars requires a price for the model {uri!r}. Specify the price in dollars per million "
            "tokens"
        )
    if ledger is not None and budget.limited and budget.claim_ledger(ledger):
        amount, unpriced = counted(read_ledger(ledger))
        budget.count(amount)
        if unpriced and budget.dollars is not None:
            log(f"{ledger} contains {unpriced} requests without a price, which the budget in dollars does not include")
    return budget
