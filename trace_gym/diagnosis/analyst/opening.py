"""Construction of a language-model analyst from a model URI, with a cache, a ledger and a budget in a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from trace_gym.diagnosis.analyst.model_analyst import ModelAnalyst
from trace_gym.diagnosis.analyst.options import AnalystOptions
from trace_gym.errors import ConfigError, ModelError
from trace_gym.llm import Budget, Completion, ModelRequest, open_model_uri
from trace_gym.llm.model_uri import ignored_settings
from trace_gym.llm.opening import price_of


class _NoModel:
    """Placeholder model for an analyst that is used only for an estimate. Requests raise an error."""

    name = "none"

    def complete(self, request: ModelRequest) -> Completion:
        raise ModelError(f"the request {request.purpose!r} was not sent, because this is a dry run")


@contextmanager
def open_analyst(
    uri: str,
    options: AnalystOptions,
    folder: Path,
    log: Callable[[str], None],
    *,
    tokens: int | None = None,
    dollars: float | None = None,
    price: str = "",
    dry: bool = False,
) -> Iterator[ModelAnalyst]:
    """Yield the analyst for a model URI. Answers in the folder are reused, so that a run can be resumed.

    Args:
        uri: Model URI, as for `trace_gym.llm.open_model_uri`.
        options: Options of the analyst.
        folder: Folder for answers and the ledger.
        log: Function that receives progress messages.
        tokens: Budget in tokens for all requests in the folder; None means no limit.
        dollars: Budget in US dollars for all requests in the folder; requires a price.
        price: US dollars per million tokens, as ``prompt/completion`` or as one number for both.
        dry: Whether to use the analyst only for an estimate. No model is opened, and no key is necessary.

    Raises:
        ConfigError: The price is not valid, or a setting has no effect on this model.
        ReadError: The recordings or the ledger cannot be read.
        MissingExtra: The openai package is not installed.
    """
    cost = price_of(price)
    if unused := list(ignored_settings(uri, {"tokens": tokens, "dollars": dollars, "price": price})):
        raise ConfigError(
            f"{', '.join(unused)} has no effect with the model {uri}: budgets and prices require openai:MODEL. Remove "
            "the option, or choose another model"
        )
    if dry:
        yield ModelAnalyst(_NoModel(), options, log=log)
        return
    model = open_model_uri(
        uri,
        cache=folder / "answers",
        ledger=folder / "requests.jsonl",
        budget=Budget(tokens=tokens, dollars=dollars),
        price=cost,
        concurrency=options.concurrency,
        log=log,
    )
    try:
        yield ModelAnalyst(model, options, log=log)
    finally:
        model.close()
