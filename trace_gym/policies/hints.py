"""Hints: guidance that some rollouts are sampled with, and that nothing is trained on.

A hint is never part of an episode's messages. `HFPolicy.rollout` puts it into the prompt that the model samples from,
and keeps the tokens of the conversation without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, EnvNotFound
from trace_gym.types import Manifest, Message

CHECKED = "TG702"
"""The property that holds a hint to naming no answer."""
LOOKED_AT = 4
"""Scenarios of an environment in which a hint is looked for."""


def hint_of(episode: Episode) -> str:
    """The hint of an episode's environment: its world's own, or the one of its plan if that was checked; or nothing."""
    own = getattr(episode.start, "hint", "")
    if told := str((own() if callable(own) else own) or ""):
        return told
    try:
        return planned(registry.manifest(episode.scenario.env))
    except EnvNotFound:  # a world that was never registered
        return ""


def planned(card: Manifest) -> str:
    """The hint that was planned, where the report of the environment says that it gives nothing away."""
    plan = card.spec.plan if card.spec else None
    checked = any(f.code == CHECKED and f.verdict == "passed" for f in card.report.findings)
    return plan.hint if plan and checked else ""


def require_hints(names: Sequence[str], share: float) -> None:
    """Check that at least one of the environments has a hint, if hints are to be shown.

    Raises:
        ConfigError: None of them has one.
    """
    scenarios = [s for name in names for s in registry.scenarios(name, "train", LOOKED_AT)] if share else []
    if scenarios and not any(hint_of(registry.episode(scenario)) for scenario in scenarios):
        raise ConfigError(
            f"hints has no effect: found no hint in {', '.join(names)}, expected an attribute `hint` of the "
            "environment, or a planned hint that was checked. Remove hints, or add one"
        )


def drawn(episodes: Sequence[Episode], share: float, seed: str) -> list[str]:
    """The hint for each episode, empty for those that get none.

    Args:
        episodes: Not yet begun.
        share: How many get theirs, on average; 0 asks for none.
        seed: The same seed draws the same episodes.
    """
    rng = Random(seed)
    return [hint_of(episode) if rng.random() < share else "" for episode in episodes]


def with_hint(messages: Sequence[Message], hint: str) -> list[Message]:
    """The messages of an opening with the hint at the end of the system prompt; those given stay as they are."""
    first, *rest = messages
    return [{**first, "content": f"{first['content']}\n\n{hint}"}, *rest] if hint else list(messages)
