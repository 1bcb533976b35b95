"""Setup of language models with a folder for the cache of completions and the log of requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from trace_gym.errors import ConfigError
from trace_gym.llm.budget import Budget, Price
from trace_gym.llm.model_uri import Resolved, ignored_settings, open_model_uri


@contextmanager
def open_models(
    uri: str,
    checkers: Sequence[str],
    folder: Path,
    log: Callable[[str], None],
    *,
    tokens: int | None = None,
    dollars: float | None = None,
    price: str = "",
    answered_by: str = "",
) -> Iterator[tuple[Resolved, list[Resolved | None]]]:
    """Open a model that writes environments, and the models that check them. At the end, close all of them.

    All models share the folder and the budget. Completions for earlier requests in the folder are read from a cache.
    A model that is not behind an endpoint has no budget.

    Args:
        uri: Model URI of the author.
        checkers: Model URIs of the models that check environments. An empty URI yields None.
        folder: Folder of the cache and of the log of requests.
        log: Function that receives log lines about retries and waiting times.
        tokens: Budget in tokens for all requests; None means no limit.
        dollars: Budget in US dollars for all requests; requires a price.
        price: US dollars per million tokens, as ``prompt/completion`` or as one number for both.
        answered_by: Name of the person or model that answers the requests of ``files:DIR``.

    Raises:
        ConfigError: The price is not valid, a setting has no effect on this model, or `open_model_uri` fails.
        ReadError: The recordings or the log of requests cannot be read.
        MissingExtra: The openai package is not installed.
    """
    _check_settings(uri, tokens, dollars, price, answered_by, checkers)
    budget, folder = Budget(tokens=tokens, dollars=dollars), folder.expanduser().resolve()
    with ExitStack() as stack:

        def opened(uri: str, answered_by: str = "") -> Resolved:
            model = open_model_uri(
                uri,
                cache=folder / "completions",
                ledger=folder / "requests.jsonl",
                budget=budget,
                price=price_of(price),
                log=log,
                answered_by=answered_by,
            )
            stack.callback(model.close)
            return model

        yield opened(uri, answered_by), [opened(checker) if checker else None for checker in checkers]


def _check_settings(
    uri: str, tokens: int | None, dollars: float | None, price: str, answered_by: str, others: Sequence[str]
) -> None:
    """Raise an error if the price is not valid, or a setting has no effect on the models."""
    price_of(price)
    given = {"tokens": tokens, "dollars": dollars, "price": price, "by": answered_by}
    if unused := list(ignored_settings(uri, given, others)):
        raise ConfigError(
            f"these options have no effect with the model {uri!r}: {', '.join(unused)}. The options 'tokens', "
            "'dollars' and 'price' require openai:MODEL, and 'by' requires files:DIR. Remove the options, or choose "
            "another model"
        )


def price_of(text: str) -> Price | None:
    """Parse the price of a setting; None if the setting is empty.

    Raises:
        ConfigError: The setting is not a valid price.
    """
    prompt, _, completion = text.partition("/")
    try:
        return Price(float(prompt), float(completion or prompt)) if text else None
    except ValueError:
        raise ConfigError(
            f"invalid price: found {text!r}, expected PROMPT/COMPLETION in US dollars per million tokens, such as "
            "0.5/1.5"
        ) from None
