"""Construction of the policy and the user model of ``trace-gym rollout`` from its options.

An option that has no effect on the chosen policy raises ConfigError.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from trace_gym.errors import ConfigError
from trace_gym.models.policy_uri import POLICY_URIS, model_of, scripted_policy
from trace_gym.policies.base import BatchPolicy, Policy
from trace_gym.threads import CONCURRENCY

if TYPE_CHECKING:
    from trace_gym.user_model import LanguageUser


@dataclass(frozen=True)
class ModelOptions:
    """Options of a model that runs as the agent. None selects the default of the policy."""

    temperature: float | None = None
    max_tokens: int | None = None
    """Maximum number of tokens in a conversation."""
    max_turn_tokens: int | None = None
    """Maximum number of tokens in one turn."""
    concurrency: int | None = None
    """Maximum number of conversations with endpoints at the same time."""
    price: str | None = None
    """Price of an endpoint in US dollars per million tokens."""

    def __post_init__(self) -> None:
        if self.temperature is not None and not math.isfinite(self.temperature):
            raise ConfigError(
                f"--temperature is not valid: found {self.temperature}, expected a finite number of at least 0"
            )

    @property
    def used_temperature(self) -> float:
        """The temperature, or its default of 1.0."""
        return 1.0 if self.temperature is None else self.temperature


class OpenedPolicy(NamedTuple):
    """A policy that is ready for rollouts."""

    policy: Policy | BatchPolicy
    concurrency: int = CONCURRENCY
    """Maximum number of conversations with endpoints at the same time."""
    ledger: Path | None = None
    """Ledger of the requests to an endpoint. The file exists only after the first request."""


def open_policy_option(
    policy: str, *, model: str | None, adapter: Path | None, base_url: str | None, options: ModelOptions, out: Path
) -> AbstractContextManager[OpenedPolicy]:
    """Return the policy that the options select, in a context in which a server that it requires runs.

    Args:
        policy: ``model``, or a policy URI as for `trace_gym.models.policy_uri.open_policy`.
        model: The model of policy ``model``: ``lab``, a Hugging Face folder or name, ``openai:MODEL@URL``, or a YAML
            file with model settings.
        adapter: Folder of a LoRA adapter for the model. An endpoint must be a vLLM server that can load adapters.
        base_url: URL of the endpoint of ``openai:MODEL``.
        options: Other options of the model.
        out: File of the rollouts. The log of a vLLM server and the ledger of requests are written next to it.

    Raises:
        ConfigError: The policy does not exist, or an option has no effect on it.
        MissingExtra: A library that the policy requires is not installed.
        ReadError: The model cannot be loaded.
        Unavailable: The vLLM server of the model did not start or did not answer.
    """
    given = {"--model": model, "--adapter": adapter, "--base-url": base_url, "--temperature": options.temperature}
    given |= {"--max-tokens": options.max_tokens, "--max-turn-tokens": options.max_turn_tokens}
    given |= {"--concurrency": options.concurrency, "--price": options.price}
    found = (model or "lab", "") if policy == "model" else model_of(policy)
    if found is None:
        made = scripted_policy(policy, f"model, {POLICY_URIS}")
        _reject_without_effect(policy, given, *given)
        return nullcontext(OpenedPolicy(made))
    name, own_adapter = found
    rejected = {"--model": policy != "model", "--adapter": own_adapter, "--base-url": not name.startswith("openai:")}
    _reject_without_effect(policy, given, *(option for option, unused in rejected.items() if unused))
    return _model_policy(name, base_url, Path(own_adapter) if own_adapter else adapter, options, out)


def build_user_model(user: str | None, *, folder: Path | None, tokens: int | None, out: Path) -> LanguageUser | None:
    """Return the language model that rewords the messages of the scripted user, or None if no model is given.

    Args:
        user: URI of the model, such as ``openai:MODEL``.
        folder: Folder for the recorded answers of the model. The default is a folder next to `out`.
        tokens: Budget in tokens.
        out: File of the rollouts.

    Raises:
        ConfigError: The URI is not valid, or an option has no effect on this user model.
    """
    given = {"--user-folder": folder, "--user-tokens": tokens}
    if user is None:
        if wrong := [name for name, value in given.items() if value is not None]:
            raise ConfigError(f"{', '.join(wrong)} has no effect without --user. Remove it, or add --user")
        return None
    if tokens is not None and not user.startswith("openai:"):
        raise ConfigError(f"--user-tokens has no effect with --user {user}. Remove --user-tokens")
    from trace_gym.llm import Budget
    from trace_gym.user_model import LanguageUser

    answers_folder = folder or out.with_name(f"{out.name}.user")
    return LanguageUser(user, folder=answers_folder, budget=Budget(tokens=tokens))


def _reject_without_effect(policy: str, given: dict[str, Any], *names: str) -> None:
    """Raise ConfigError if one of the named options is set, because it has no effect on the policy."""
    if wrong := [name for name in names if given[name] is not None]:
        raise ConfigError(
            f"{', '.join(wrong)} has no effect on the policy {policy}. Remove it, or choose another policy"
        )


@contextmanager
def _model_policy(
    model: str, base_url: str | None, adapter: Path | None, options: ModelOptions, out: Path
) -> Iterator[OpenedPolicy]:
    from trace_gym.llm.model_uri import endpoint_of
    from trace_gym.models import ModelSettings, load_policy
    from trace_gym.models.server import ModelServer
    from trace_gym.models.server_command import rank_of
    from trace_gym.models.unused import ROLLOUTS, check

    if base_url is not None:
        name, url = endpoint_of(model)
        if url:
            raise ConfigError(
                f"the URL of the endpoint is given twice: found {model} and --base-url {base_url}. Remove one of the "
                "URLs"
            )
        model = f"openai:{name}@{base_url}"
    settings = ModelSettings.parse(model, "--model")
    remote = {"--concurrency": options.concurrency, "--price": options.price}
    if not settings.is_remote and (wrong := [name for name, value in remote.items() if value is not None]):
        raise ConfigError(
            f"the model {model} runs in this process and does not support {' and '.join(wrong)}. Remove "
            f"{' and '.join(wrong)}, or choose a model behind an endpoint"
        )
    settable = ("max_tokens", "max_turn_tokens", "concurrency", "price")
    given = {key: value for key in settable if (value := getattr(options, key)) is not None}
    settings = ModelSettings.parse({**settings.model_dump(exclude_unset=True), **given}, "--model")
    check(settings, ROLLOUTS)
    if not settings.served or settings.engine == "vllm":
        from trace_gym.cli.options import require_lab_extra

        require_lab_extra()
    rank = rank_of(adapter) if adapter and settings.starts_server else None
    with ModelServer(settings, log=out.with_name(f"{out.name}.vllm.log"), lora_rank=rank) as server:
        ledger = out.with_name(f"{out.name}.agent") / "requests.jsonl" if settings.has_chat_endpoint else None
        player = load_policy(server.start(), adapter, temperature=options.used_temperature, ledger=ledger)
        yield OpenedPolicy(player, settings.used_concurrency, ledger)
