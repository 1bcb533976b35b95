"""The model of an author, with its answers and its ledger beside what it writes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from trace_gym.errors import ConfigError
from trace_gym.llm import Budget, Price, Resolved, resolve
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
        ConfigError: The price is none, or see `trace_gym.llm.resolve`.
        ReadError: The recordings or the ledger cannot be read.
        MissingExtra: The openai package is not installed.
    """
    place = folder.expanduser().resolve() / CANDIDATES
    return resolve(
        address,
        cache=place / "completions",
        ledger=place / "requests.jsonl",
        budget=Budget(tokens=tokens, dollars=dollars),
        price=_price(price),
        tell=tell,
        by=by,
    )


def _price(text: str) -> Price | None:
    prompt, _, completion = text.partition("/")
    try:
        return Price(float(prompt), float(completion or prompt)) if text else None
    except ValueError:
        raise ConfigError(f"a price is prompt/completion in dollars, such as 0.5/1.5; found {text!r}") from None
