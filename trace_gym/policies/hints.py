"""Hints: guidance that is added to the prompt of some rollouts during training, but not to the training tokens.

A hint is never part of an episode's messages. `HFPolicy.rollout` adds it to the prompt from which the model samples,
and stores the tokens of the conversation without the hint.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, EnvNotFound
from trace_gym.types import Manifest, Message

CHECKED = "TG702"
"""Code of the property that checks that a hint does not contain an answer."""
LOOKED_AT = 4
"""Number of scenarios per environment that `require_hints` searches for a hint."""


def hint_of(episode: Episode) -> str:
    """Return the hint of an episode's world, or else the hint in the plan of the environment's specification.

    Return ``""`` if neither exists.
    """
    own = episode.start.hint
    if text := str((own() if callable(own) else own) or ""):
        return text
    try:
        return planned(registry.manifest(episode.scenario.env))
    except EnvNotFound:  # a world that was never registered
        return ""


def planned(card: Manifest) -> str:
    """Return the hint in the plan of a manifest's specification.

    Return ``""`` if there is no hint, or if validation did not confirm that the hint contains no answer (TG702).
    """
    plan = card.spec.plan if card.spec else None
    checked = any(f.code == CHECKED and f.verdict == "passed" for f in card.report.findings)
    return plan.hint if plan and checked else ""


def require_hints(names: Sequence[str], share: float) -> str:
    """Check that at least one of the environments has a hint, if the share of rollouts with hints is not 0.

    Args:
        names: Names of environments and mixtures.
        share: Fraction of the rollouts that should get a hint.

    Returns:
        A warning that names the environments without a hint, or ``""`` if every environment has one or `share` is 0.

    Raises:
        ConfigError: No environment has a hint.
    """
    mixtures = registry.list_mixtures()
    parts = {part for name in names for part in (list(registry.mixture(name).mixture) if name in mixtures else [name])}
    without = sorted(part for part in parts if not _has_hint(part)) if share else []
    if not without:
        return ""
    if len(without) == len(parts):
        raise ConfigError(
            f"the setting `hints` has no effect, because no hint was found in {', '.join(names)}. Remove the setting, "
            "or define an attribute `hint` in the environment. A hint in an environment's plan is used only if it "
            f"passed the property {CHECKED}"
        )
    return f"hints has no effect in {', '.join(without)}, because no hint was found there"


def _has_hint(name: str) -> bool:
    return any(hint_of(registry.start_episode(scenario)) for scenario in registry.scenarios(name, "train", LOOKED_AT))


def drawn(episodes: Sequence[Episode], share: float, seed: str) -> list[str]:
    """Return one text per episode: the hint for a random subset of the episodes, and ``""`` for the others.

    Args:
        episodes: Episodes in which no turn has been taken.
        share: Expected fraction of the episodes with a hint, from 0 to 1.
        seed: Seed of the selection.
    """
    rng = Random(seed)
    return [hint_of(episode) if rng.random() < share else "" for episode in episodes]


def with_hint(messages: Sequence[Message], hint: str) -> list[Message]:
    """Return a copy of the initial messages with the hint at the end of the system prompt."""
    first, *rest = messages
    return [{**first, "content": f"{first['content']}\n\n{hint}"}, *rest] if hint else list(messages)
