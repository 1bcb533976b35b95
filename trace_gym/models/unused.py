"""Settings of the model that have no effect, or that a use of the model does not support.

`EVERYWHERE` and `BY_USE` form one table. The conditions in `EVERYWHERE` depend only on the settings, and are checked
when the settings are read. The conditions in `BY_USE` also depend on the command, the trainer or the stage of a run
that uses the model, and are checked when its configuration is read. Only values other than the default are errors,
because stored settings contain the defaults.

The limits `max_tokens` and `max_turn_tokens` are not in the table: a use without turns of the agent cannot exceed them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from trace_gym.errors import ConfigError
from trace_gym.llm.model_uri import endpoint_of
from trace_gym.types import Record

if TYPE_CHECKING:
    from trace_gym.models.settings import ModelSettings

T = TypeVar("T")
OPENAI_URL = "https://api.openai.com/v1"
"""URL of an endpoint without a URL."""


@dataclass(frozen=True, slots=True)
class Use:
    """Use of the model by a command, a trainer or a stage of a run."""

    name: str
    """Name in error messages, such as ``the trainer sft``."""
    weights: bool
    """Whether the weights are required, even if an endpoint serves the model."""
    samples: bool
    """Whether rollouts are sampled."""
    trains: bool = False
    """Whether the model is trained."""
    rows: tuple[UnusedModel, ...] = ()
    """Rows of the table that apply to this use only."""


@dataclass(frozen=True, slots=True)
class UnusedModel:
    """Row of the table: settings, the condition under which they have no effect, the reason, and what to do."""

    settings: tuple[str, ...]
    when: Callable[[ModelSettings, Use], bool]
    reason: str
    """Reason, which follows ``because``. It can contain the attributes ``{name}`` and ``{served}`` of the settings."""
    fix: str = "Remove {settings}"
    """Fix. It can contain the names of the settings as ``{settings}``."""
    refused: bool = False
    """Whether the use does not support these settings. They are then errors even if another stage of the run
    uses them."""


def _served(model: ModelSettings, use: Use) -> bool:
    """Return whether only an endpoint runs the model."""
    return not use.weights and bool(model.served)


def _at_openai(model: ModelSettings, use: Use) -> bool:
    urls = [endpoint_of(uri)[1] for uri in model.served.split(", ")] if _served(model, use) else []
    default = os.environ.get("OPENAI_BASE_URL") or OPENAI_URL
    return any((urlsplit(url or default).hostname or "").endswith("api.openai.com") for url in urls)


EVERYWHERE = (
    UnusedModel(
        ("endpoint",), lambda model, _: not model.has_weights, "the setting name is already the endpoint {name}"
    ),
    UnusedModel(
        ("device", "dtype", "cache_gib", "engine", "server", "tool_calls"),
        lambda model, _: not model.has_weights,
        "name is the endpoint {name}",
    ),
    UnusedModel(
        ("server",),
        lambda model, _: not model.starts_server,
        "trace_gym starts a server only if engine is vllm and endpoint is not set",
        "Remove server, or set engine to vllm and remove endpoint",
    ),
    UnusedModel(("cache_gib",), lambda model, _: model.engine == "vllm", "vLLM manages its own memory"),
    UnusedModel(
        ("concurrency",),
        lambda model, _: not model.is_remote,
        "cache_gib limits the number of conversations of a model in this process",
        "Remove concurrency, or set endpoint or engine: vllm",
    ),
    UnusedModel(
        ("price",),
        lambda model, _: not model.has_chat_endpoint,
        "only requests to an endpoint without engine: vllm are recorded",
        "Remove price, or set endpoint and remove engine: vllm",
    ),
)
"""Rows that apply to every use of the model."""

BY_USE = (
    UnusedModel(("device", "dtype"), lambda m, use: _served(m, use) and not m.starts_server, "{served} runs the model"),
    UnusedModel(("cache_gib",), _served, "{served} manages its own memory"),
    UnusedModel(
        ("tool_calls",),
        lambda model, use: _served(model, use) and model.engine == "process",
        "{served} renders the chat template and reads the tool calls",
    ),
    UnusedModel(
        ("engine", "endpoint", "server", "cache_gib", "concurrency", "price", "top_p", "top_k"),
        lambda _, use: not use.samples,
        "no rollouts are sampled",
    ),
    UnusedModel(("tool_calls",), lambda _, use: not (use.samples or use.trains), "the model writes no tool calls"),
    UnusedModel(
        ("top_p", "top_k"),
        lambda _, use: use.samples and use.trains,
        "its gradient assumes that tokens are sampled from the whole distribution",
        "Remove {settings}. Only rollouts without training can exclude tokens",
        refused=True,
    ),
    UnusedModel(
        ("top_k", "template"),
        _at_openai,
        "the endpoint of OpenAI rejects these fields",
        "Remove {settings}, or add the URL of a server that supports them, such as vLLM: openai:MODEL@URL",
        refused=True,
    ),
)
"""Rows that depend on the use of the model."""

ROLLOUTS = Use("the sampling of rollouts", weights=False, samples=True)
"""Rollouts without training: ``trace-gym rollout``, and the stages rollouts, skill and evaluate of a run."""
ROUTER = Use("the router", weights=True, samples=False)
_ANY = Use("", weights=True, samples=True)


def without_effect(model: ModelSettings) -> list[str]:
    """Return an error message for each group of settings that has no effect on any use."""
    return [_message(model, [(_ANY, row)], names) for row, names in _grouped(_found(model, _ANY, EVERYWHERE))]


def check(model: ModelSettings, *uses: Use) -> None:
    """Check that every setting of the model has an effect on at least one use, and that all uses support it.

    Args:
        model: Settings of the model.
        uses: Uses of the model: one for a command, several for a run.

    Raises:
        ConfigError: A setting has no effect or is not supported, or the weights are required but not available.
    """
    if any(use.weights for use in uses) and not model.has_weights:
        _ = model.folder  # raises the error
    found = [_found(model, use, (*use.rows, *BY_USE)) for use in uses]
    errors = list(_refusals(model, uses, found))
    refused = {key for own in found for key, row in own.items() if row.refused}
    everywhere = [key for key in found[0] if key not in refused and all(key in own for own in found)]
    for rows, names in _grouped({key: tuple(own[key] for own in found) for key in everywhere}):
        errors.append(_message(model, list(zip(uses, rows, strict=True)), names))
    if errors:
        raise ConfigError("; ".join(errors))


def check_supported(model: ModelSettings, use: Use) -> None:
    """Check that a use supports all settings of the model. Settings without an effect are allowed.

    Raises:
        ConfigError: A setting is not supported.
    """
    if errors := list(_refusals(model, [use], [_found(model, use, (*use.rows, *BY_USE))])):
        raise ConfigError("; ".join(errors))


def used_by(model: ModelSettings, use: Use) -> ModelSettings:
    """Return a copy of the settings in which those without an effect on a use have their default values.

    Several stages of a run share the settings, so a stage may receive settings that only another stage uses.

    Raises:
        ConfigError: A setting is not supported.
    """
    check_supported(model, use)
    return model.model_copy(update={key: _default(model, key) for key in _found(model, use, (*use.rows, *BY_USE))})


def _found(model: ModelSettings, use: Use, rows: Iterable[UnusedModel]) -> dict[str, UnusedModel]:
    """Map each setting that is not the default and has no effect on a use to the first row that applies."""
    found: dict[str, UnusedModel] = {}
    for row in rows:
        for key in row.settings:
            if getattr(model, key) != _default(model, key) and key not in found and row.when(model, use):
                found[key] = row
    return found


def _refusals(model: ModelSettings, uses: Iterable[Use], found: Iterable[Mapping[str, UnusedModel]]) -> Iterable[str]:
    for use, own in zip(uses, found, strict=True):
        for row, names in _grouped({key: row for key, row in own.items() if row.refused}):
            yield _message(model, [(use, row)], names)


def _grouped(found: Mapping[str, T]) -> list[tuple[T, list[str]]]:
    """Return the distinct values, each with its keys."""
    return [(value, [key for key, own in found.items() if own == value]) for value in dict.fromkeys(found.values())]


def _message(model: ModelSettings, reasons: list[tuple[Use, UnusedModel]], names: list[str]) -> str:
    """Return the error message for settings that have the same rows, one for each use."""
    shown = " and ".join(names)
    values = ", ".join(f"{name}: {_value(getattr(model, name))}" for name in names)
    because = [(use, own.reason.format(name=model.name, served=model.served)) for use, own in reasons]
    fix = reasons[0][1].fix.format(settings=shown) if len(reasons) == 1 else f"Remove {shown}"
    if reasons[0][1].refused:
        use, why = because[0]
        return f"{use.name} does not support {shown}, because {why}: found {values}. {fix}"
    verb = "has" if len(names) == 1 else "have"
    parts = [f"{f' on {use.name}' if use.name else ''}, because {why}" for use, why in because]
    return f"{shown} {verb} no effect{', and no effect'.join(parts)}: found {values}. {fix}"


def _value(value: object) -> object:
    """Return a value for an error message: only the field names of a nested record, whose values may be secret."""
    return ", ".join(sorted(value.model_fields_set)) if isinstance(value, Record) else value


def _default(model: ModelSettings, key: str) -> object:
    return type(model).model_fields[key].get_default(call_default_factory=True)
