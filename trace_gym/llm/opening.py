"""Setup of a language model with a folder for the cache of completions and the log of requests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from trace_gym.errors import ConfigError
from trace_gym.llm.budget import Budget, Price
from trace_gym.llm.model_uri import Resolved, ignored_settings, resolve


def open_model(
    uri: str,
    folder: Path,
    log: Callable[[str], None],
    *,
    tokens: int | None = None,
    dollars: float | None = None,
    price: str = "",
    answered_by: str = "",
) -> Resolved:
    """Return the model that a URI selects. Completions for earlier requests in the same folder are read from a cache.

    Args:
        uri: Model URI, as for `trace_gym.llm.resolve`.
        folder: Folder of the cache and of the log of requests.
        log: Function that receives log lines about retries and waiting times.
        tokens: Budget in tokens for all requests; None means no limit.
        dollars: Budget in US dollars for all requests; requires a price.
        price: US dollars per million tokens, as ``prompt/completion`` or as one number for both.
        answered_by: Name of the person or model that answers the requests of ``files:DIR``.

    Raises:
        ConfigError: The price is not valid, a setting has no effect on this model, or `trace_gym.llm.resolve` fails.
        ReadError: The recordings or the log of requests cannot be read.
        MissingExtra: The openai package is not installed.
    """
    price_of(price)
    given = {"tokens": tokens, "dollars": dollars, "price": price, "by": answered_by}
    if unused := list(ignored_settings(uri, given)):
        raise ConfigError(
            f"these options have no effect with the model {uri!r}: {', '.join(unused)}. The options 'tokens', "
            "'dollars' and 'price' require openai:MODEL, and 'by' requires files:DIR. Remove the options, or choose "
            "another model"
        )
    folder = folder.expanduser().resolve()
    return resolve(
        uri,
        cache=folder / "completions",
        ledger=folder / "requests.jsonl",
        budget=Budget(tokens=tokens, dollars=dollars),
        price=price_of(price),
        log=log,
        answered_by=answered_by,
    )


def open_reviewer(
    uri: str,
    folder: Path,
    log: Callable[[str], None],
    *,
    tokens: int | None = None,
    dollars: float | None = None,
    price: str = "",
) -> Resolved | None:
    """Return the model that reviews environments, in the same way as `open_model`; None if the URI is empty.

    The budget and the price are those of the model that writes environments. They are ignored for a model that is not
    behind an endpoint.
    """
    if not uri:
        return None
    if list(ignored_settings(uri, {"tokens": tokens, "dollars": dollars, "price": price})):
        return open_model(uri, folder, log)
    return open_model(uri, folder, log, tokens=tokens, dollars=dollars, price=price)


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
