"""Policy that runs a model at an OpenAI-compatible endpoint, according to the settings of the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trace_gym.llm.ledger import Ledger
from trace_gym.llm.model_uri import endpoint_of
from trace_gym.llm.opening import price_of
from trace_gym.models.settings import ModelSettings
from trace_gym.models.unused import ROLLOUTS, check_supported
from trace_gym.policies.base import Policy
from trace_gym.policies.openai import OpenAIPolicy
from trace_gym.policies.request_log import RequestLog
from trace_gym.sampling.serving import load_adapter


def endpoint_policy(
    settings: ModelSettings,
    adapter: str | Path | None,
    *,
    name: str | None,
    temperature: float,
    ledger: Ledger | None,
    stage: str,
) -> Policy:
    """Return the policy that requests chat completions from the endpoint of a model.

    Args:
        settings: Settings of the model, with an endpoint.
        adapter: Folder of a LoRA adapter, which is loaded into the server.
        name: Name of the policy. By default, the name of the model at the endpoint.
        temperature: Sampling temperature.
        ledger: Ledger of the requests.
        stage: Name of the stage or command in the ledger.

    Raises:
        MissingExtra: The openai package is not installed.
        ConfigError: The endpoint cannot be used.
        ReadError: The adapter cannot be read.
        Unavailable: The server did not answer.
    """
    model, url = endpoint_of(settings.served)
    check_supported(settings, ROLLOUTS)
    if adapter is not None:
        model = load_adapter(url, Path(adapter))
    # The weights of an endpoint are compared with runs in process, so the same limits apply.
    tokens, turn = settings.limits if settings.has_weights else (settings.max_tokens, settings.max_turn_tokens)
    options: dict[str, Any] = {"temperature": temperature} | ({"max_tokens": turn} if turn else {})
    options |= {"top_p": settings.top_p} if settings.top_p < 1 else {}
    extra: dict[str, Any] = {"chat_template_kwargs": settings.template} if settings.template else {}
    extra |= {"top_k": settings.top_k} if settings.top_k else {}
    options |= {"extra_body": extra} if extra else {}
    log = RequestLog(ledger, stage, price_of(settings.price))
    policy = OpenAIPolicy(model, name=name or model, base_url=url, conversation_tokens=tokens, log=log, **options)
    policy.concurrency = settings.used_concurrency
    return policy
