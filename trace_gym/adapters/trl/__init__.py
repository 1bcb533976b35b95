"""Adapter for the `GRPOTrainer` of TRL, with two modes.

*Simple* mode uses TRL's tool loop. The policy calls the environment's tools. Its first turn without a tool call ends
the rollout and is not passed to the user. A policy that must ask the user or give a final answer needs a tool for it.
*Full* mode runs the whole conversation: the user answers, and the environment ends the episode.

Both modes use the same dataset. Each row contains a scenario id, and TRL repeats a row for all rollouts of a group.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any, TypeVar

from trace_gym import registry
from trace_gym.adapters.rollout import library
from trace_gym.adapters.trl.environment import Trainer, TrlEnvironment, check_version, environment_class
from trace_gym.adapters.trl.rollout_function import RolloutFunction
from trace_gym.adapters.trl.tools import tool_class
from trace_gym.episode import plan
from trace_gym.errors import ConfigError
from trace_gym.score import DEFAULT_WEIGHTS, RewardWeights, reward
from trace_gym.types import Call, Message, Scenario

__all__ = [
    "TrlEnvironment",
    "RolloutFunction",
    "dataset",
    "dataset_of",
    "exact_schemas",
    "full",
    "read_hermes",
    "simple",
    "tool_class",
]

_T = TypeVar("_T")


def dataset(
    envs: str | Sequence[str],
    *,
    split: str = "train",
    n: int = 100,
    levels: Sequence[int] | None = None,
    offset: int = 0,
) -> Any:
    """Return `n` scenarios as a `datasets.Dataset`; multiple environments are interleaved.

    Columns: ``prompt`` (system message and first user message), ``scenario`` (the scenario id, which contains the seed)
    and ``environment`` (the name by which TRL selects the environment class).

    Args:
        envs: Environments or mixtures. For a mixture, each row contains the scenario of the environment that the
            mixture selects.
        split: Split of the seeds, a key of `trace_gym.registry.SPLITS`.
        n: Number of rows.
        levels: Levels of the scenarios, interleaved; None for all levels.
        offset: Number of scenarios to skip at the start of each environment's split.

    Raises:
        MissingExtra: datasets is not installed.
        ConfigError: `envs` is empty, the split does not exist, or it does not have enough seeds.
        ScenarioError: A level does not exist.
        EnvNotFound: An environment does not exist.
        EnvBug: An environment fails when a scenario is started.
    """
    names = _named(envs)
    share = -(-n // len(names))
    interleaved = zip(*(registry.scenarios(name, split, share, levels, offset) for name in names), strict=True)
    return dataset_of([scenario for turn in interleaved for scenario in turn][:n])


def dataset_of(scenarios: Sequence[Scenario]) -> Any:
    """Return the given scenarios as a `datasets.Dataset` with the columns of `dataset`.

    Raises:
        MissingExtra: datasets is not installed.
        EnvNotFound: An environment does not exist.
        EnvBug: An environment fails when a scenario is started.
    """
    made = library("datasets", "trl").Dataset
    rows = {scenario: _row(registry.part_of(scenario)) for scenario in scenarios}
    return made.from_list([rows[scenario] for scenario in scenarios])


def simple(envs: str | Sequence[str], *, weights: RewardWeights = DEFAULT_WEIGHTS, say: bool = False) -> dict[str, Any]:
    """Return keyword arguments of `GRPOTrainer` for simple mode. Call `exact_schemas` with the created trainer.

    Without `say`, emit a warning for environments in which the oracle's tool calls alone, without its messages, do not
    solve every scenario or fail a conduct check.

    Args:
        envs: Environments and mixtures of the dataset.
        weights: Reward weights.
        say: Add a tool ``talk_to_user`` with one argument, ``text``, so that the policy can talk to the user. The
            target does not have this tool.
    """
    names = _parts(envs)
    if found := [] if say else [text for name in names if (text := _without_messages(name, weights))]:
        warnings.warn(
            "simple mode without say=True passes no messages to the user, so the policy can neither ask for consent "
            f"nor give a final answer. Mean scores of the oracle's tool calls alone: {'; '.join(found)}. Use full "
            "mode, or say=True",
            stacklevel=2,
        )
    return {"environment_factory": {name: tool_class(name, weights, say=say) for name in names}}


def full(
    envs: str | Sequence[str], *, weights: RewardWeights = DEFAULT_WEIGHTS, turn_tokens: int | None = None
) -> dict[str, Any]:
    """Return keyword arguments of `GRPOTrainer` for full mode.

    Args:
        envs: Environments and mixtures of the dataset.
        weights: Reward weights.
        turn_tokens: Maximum number of tokens of an assistant turn; see `RolloutFunction`.
    """
    factories = {name: environment_class(name, weights) for name in _parts(envs)}
    return {"environment_factory": factories, "rollout_func": RolloutFunction(turn_tokens)}


def exact_schemas(trainer: Trainer) -> None:
    """Use the target's raw tool schemas in simple mode, instead of schemas that TRL derives from function signatures.

    TRL has no option for JSON Schemas, so this function writes them to a private attribute of the trainer. Tools that
    you passed to the trainer are kept.

    Raises:
        MissingExtra: TRL is not installed.
        ConfigError: The installed version of TRL is not supported.
    """
    check_version("exact schemas")
    for name, kind in (trainer.environment_factories or {}).items():
        if schemas := getattr(kind, "_schemas", None):
            trainer._env_tools[name] = [*trainer._standalone_tools, *schemas]


def read_hermes(tokenizer: _T) -> _T:
    """Configure a tokenizer so that TRL parses tool calls of the form ``<tool_call>{...}</tool_call>``, and return it.

    In simple mode, TRL parses turns with the tokenizer's `response_template`. TRL sets this attribute only for chat
    templates that it knows, such as Qwen3's, and rejects all others, such as the template of the built-in toy model. An
    existing `response_template` is kept. Full mode does not require this function.

    Raises:
        ConfigError: The chat template has no generation prompt for an assistant turn.
    """
    target: Any = tokenizer
    if getattr(target, "response_template", None) is None:
        target.response_template = {
            "defaults": {"role": "assistant"},
            "start_anchor": _generation_prompt(target),
            "fields": {
                "reasoning_content": {"open": "<think>", "close_pattern": r"</think>\s*", "content": "text"},
                "tool_calls": {
                    "open": "<tool_call>",
                    "close_pattern": r"</tool_call>\s*",
                    "repeats": True,
                    "content": "json",
                    "transform": {"type": "function", "function": "{content}"},
                },
                "content": {"close_pattern": re.escape(target.eos_token) + r"\s*", "content": "text"},
            },
        }
    return tokenizer


def _generation_prompt(tokenizer: Any) -> str:
    conversation = [{"role": "user", "content": "-"}]
    before, after = (
        str(tokenizer.apply_chat_template(conversation, tokenize=False, add_generation_prompt=start_turn))
        for start_turn in (False, True)
    )
    if before == after or not after.startswith(before):
        raise ConfigError(
            "the chat template does not support add_generation_prompt=True, which must append the start of an "
            "assistant turn. Use another chat template"
        )
    return after.removeprefix(before)


def _without_messages(env: str, weights: RewardWeights) -> str:
    """Return the oracle's mean scores without its messages, for four scenarios per level; ``""`` if it needs none."""
    scores = []
    for scenario in registry.scenarios(env, n=4 * registry.level_count(env)):
        episode = registry.start_episode(scenario)
        for call in (step for step in plan(episode, "oracle") if isinstance(step, Call)):
            episode.step(call)
        scores.append(episode.finish())
    success, conduct = fmean(s.success for s in scores), fmean(s.conduct for s in scores)
    if success == conduct == 1:
        return ""
    mean = fmean(reward(score, weights) for score in scores)
    return f"{env} success {success:.2f}, conduct {conduct:.2f}, reward {mean:.2f}"


def _row(scenario: Scenario) -> dict[str, Any]:
    messages: list[Message] = registry.start_episode(scenario).messages
    return {"prompt": messages, "scenario": str(scenario), "environment": scenario.env}


def _named(envs: str | Iterable[str]) -> list[str]:
    names = list(dict.fromkeys(registry.name_of(e) for e in ([envs] if isinstance(envs, str) else envs)))
    if not names:
        raise ConfigError(
            "no environment is selected. Pass the name of at least one environment: "
            f"{', '.join(registry.list_environments())}"
        )
    return names


def _parts(envs: str | Iterable[str]) -> list[str]:
    """Return environment names, with each mixture replaced by its environments."""
    mixtures = registry.list_mixtures()
    expanded = (list(registry.mixture(n).mixture) if n in mixtures else [n] for n in _named(envs))
    return list(dict.fromkeys(name for names in expanded for name in names))
