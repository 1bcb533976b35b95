"""The model of an author, with its answers and its ledger beside what it writes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from trace_gym.errors import ConfigError
from trace_gym.llm import Budget, Price, Resolved, resolve
from trace_gym.llm.address import without_effect
from trace_gym.synthesize.admission import CANDIDATES


def open_model(
    address: str,
    folder: Path,
    tell: Callable[[str], None],
    *,
    tokens: int | None = None,
    dollars: float | None = None,
    price: str = "",
    by: str = "",
) -> Resolved:
    """The model of an address; what it answered for this folder before is not asked again.

    Args:
        address: As for `trace_gym.llm.resolve`.
        folder: Where environments go.
        tell: Takes a line about retries and waiting.
        tokens: Most tokens in all; without a limit when None.
        dollars: Most US dollars in all; needs a price.
        price: Dollars for a million tokens, ``prompt/completion`` or one number for both.
        by: Who answers with ``files:DIR``.

    Raises:
        ConfigError: The price is not valid, a limit has no effect on this model, or `trace_gym.llm.resolve` fails.
        ReadError: The recordings or the ledger cannot be read.
        MissingExtra: The openai package is not installed.
    """
    price_of(price)
    given = {"tokens": tokens, "dollars": dollars, "price": price, "by": by}
    if unused := list(without_effect(address, given)):
        raise ConfigError(
            f"{', '.join(unused)} has no effect: found the model {address}, expected openai:MODEL for budgets and "
            "prices, or files:DIR for by. Leave it out, or name another model"
        )
    place = folder.expanduser().resolve() / CANDIDATES
    return resolve(
        address,
        cache=place / "completions",
        ledger=place / "requests.jsonl",
        budget=Budget(tokens=tokens, dollars=dollars),
        price=price_of(price),
        tell=tell,
        by=by,
    )


def price_of(text: str) -> Price | None:
    """Return the price that a setting states; None where it is empty.

    Raises:
        ConfigError: It has another form.
    """
    prompt, _, completion = text.partition("/")
    try:
        return Price(float(prompt), float(completion or prompt)) if text else None
    except ValueError:
        raise ConfigError(f"a price is prompt/completion in dollars, such as 0.5/1.5; found {text!r}") from None
