"""The policy of ``trace-gym rollout`` from its options. An option without an effect is an error."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trace_gym.errors import ConfigError
from trace_gym.policies.base import BatchPolicy, Policy

if TYPE_CHECKING:
    from trace_gym.user_model import LanguageUser


@dataclass(frozen=True)
class Sampling:
    """How a model's tokens are sampled; None stands for the default."""

    temperature: float | None = None
    max_tokens: int | None = None
    """Of a whole conversation."""
    max_turn_tokens: int | None = None

    def __post_init__(self) -> None:
        if self.temperature is not None and not math.isfinite(self.temperature):
            raise ConfigError(f"--temperature is not valid: found {self.temperature}, expected a number of at least 0")

    @property
    def used_temperature(self) -> float:
        return 1.0 if self.temperature is None else self.temperature


def actor(
    policy: str, *, model: str | None, adapter: Path | None, base_url: str | None, sampling: Sampling
) -> Policy | BatchPolicy:
    """Return the policy that the options name.

    Args:
        policy: ``model``, ``openai:MODEL``, ``openai:MODEL@URL``, or the name of a scripted policy.
        model: The model of policy ``model``; an address of an endpoint is taken as well.
        adapter: LoRA folder for the model.
        base_url: The endpoint of ``openai:MODEL``.
        sampling: How tokens are sampled.

    Raises:
        ConfigError: There is no such policy, or an option has no effect on it.
        MissingExtra: What the policy needs is not installed.
        ReadError: The model cannot be loaded.
    """
    given = {"--model": model, "--adapter": adapter, "--base-url": base_url, "--temperature": sampling.temperature}
    given |= {"--max-tokens": sampling.max_tokens, "--max-turn-tokens": sampling.max_turn_tokens}
    if policy == "model" and model is not None and model.startswith("openai:"):
        policy, given["--model"] = model, None
    if policy.startswith("openai:"):
        _refuse(policy, given, "--model", "--adapter")
        return _endpoint(policy, base_url, sampling)
    if policy == "model":
        _refuse(policy, given, "--base-url")
        return _loaded(model or "lab", adapter, sampling)
    known = _scripted()
    if policy not in known:
        raise ConfigError(
            f"there is no policy {policy!r}; expected {', '.join(known)}, model, openai:MODEL or openai:MODEL@URL"
        )
    _refuse(policy, given, *given)
    return known[policy]()


def speaker(user: str | None, *, folder: Path | None, tokens: int | None, out: Path) -> LanguageUser | None:
    """Return the language model that rewords the scripted user; None for the words of the script.

    Args:
        user: Address of the model.
        folder: Folder for its answers; by default next to `out`.
        tokens: Budget in tokens.
        out: File of the rollouts.

    Raises:
        ConfigError: The address is not valid, or an option has no effect without a user, or on this one.
    """
    given = {"--user-folder": folder, "--user-tokens": tokens}
    if user is None:
        if wrong := [name for name, value in given.items() if value is not None]:
            raise ConfigError(f"{', '.join(wrong)} has no effect without --user. Leave it out, or add --user")
        return None
    if tokens is not None and not user.startswith("openai:"):
        raise ConfigError(f"--user-tokens has no effect on --user {user}. Leave it out")
    from trace_gym.llm import Budget
    from trace_gym.user_model import LanguageUser

    place = folder or out.with_name(f"{out.name}.user")
    return LanguageUser(user, folder=place, budget=Budget(tokens=tokens))


def _refuse(policy: str, given: dict[str, Any], *names: str) -> None:
    """Raise ConfigError if one of these options is given."""
    if wrong := [name for name in names if given[name] is not None]:
        raise ConfigError(f"{', '.join(wrong)} has no effect on policy {policy}. Leave it out, or name another policy")


def _endpoint(policy: str, base_url: str | None, sampling: Sampling) -> Policy:
    from trace_gym.llm.address import endpoint_of
    from trace_gym.policies.openai import OpenAIPolicy

    model, url = endpoint_of(policy)
    if url and base_url:
        raise ConfigError(f"{policy} names an endpoint, and so does --base-url. Leave out one of them")
    options: dict[str, Any] = {"max_tokens": sampling.max_turn_tokens} if sampling.max_turn_tokens else {}
    return OpenAIPolicy(
        model,
        base_url=url or base_url,
        temperature=sampling.used_temperature,
        conversation_tokens=sampling.max_tokens,
        **options,
    )


def _loaded(model: str, adapter: Path | None, sampling: Sampling) -> BatchPolicy:
    from trace_gym.cli.agents import _needs_lab

    _needs_lab()
    from trace_gym.lab import model_folder
    from trace_gym.policies.hf import HFPolicy

    limits: dict[str, Any] = {"max_tokens": sampling.max_tokens, "max_turn_tokens": sampling.max_turn_tokens}
    return HFPolicy.load(model_folder(model), adapter, **{k: v for k, v in limits.items() if v is not None})


def _scripted() -> dict[str, Callable[[], Policy]]:
    from trace_gym.policies import scripted
    from trace_gym.validate.policies import SCRIPTED

    return {**SCRIPTED, "idle": scripted.Idle}
