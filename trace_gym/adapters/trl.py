"""Environments for the `GRPOTrainer` of TRL, in two modes.

*Simple*: TRL's own tool loop. The policy calls the environment's tools; its first turn without a call ends the rollout,
unheard. Where the user must be asked first, that earns nothing.
*Full*: the whole conversation, in which the user answers and the environment says when it is over.

Both take the same dataset, whose rows name a scenario: TRL repeats a row for all members of a group.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any, TypeVar

from trace_gym import registry
from trace_gym.adapters.attempt import library
from trace_gym.adapters.trl_attempt import Attempt, Trainer, attempt_class, check_version
from trace_gym.adapters.trl_full import Rollout
from trace_gym.adapters.trl_tools import tool_class
from trace_gym.errors import ConfigError
from trace_gym.policies.scripted import plan
from trace_gym.score import DEFAULT_WEIGHTS, RewardWeights, reward
from trace_gym.types import Call, Message, Scenario

__all__ = ["Attempt", "Rollout", "dataset", "exact_schemas", "full", "read_hermes", "simple", "tool_class"]

_T = TypeVar("_T")


def dataset(
    envs: str | Sequence[str],
    *,
    split: str = "train",
    n: int = 100,
    levels: Sequence[int] | None = None,
    offset: int = 0,
) -> Any:
    """`n` scenarios as a `datasets.Dataset`; several environments take turns.

    Columns: ``prompt`` (system message and the user's first), ``scenario`` (the address, which holds the seed) and
    ``environment`` (the name by which TRL picks the class).

    Args:
        envs: Environments or mixtures; a mixture's row is its part's.
        split: A key of `trace_gym.registry.SPLITS`.
        n: Rows.
        levels: Levels that take turns; all by default.
        offset: Scenarios of each environment's split that are passed over.

    Raises:
        MissingExtra: datasets is not installed.
        ConfigError: No environment is named, there is no such split, or it has not as many seeds.
        ScenarioError: A level does not exist.
        EnvNotFound: An environment does not.
        EnvBug: A scenario does not begin.
    """
    made = library("datasets", "trl").Dataset
    names = _named(envs)
    share = -(-n // len(names))
    turns = zip(*(registry.scenarios(name, split, share, levels, offset) for name in names), strict=True)
    scenarios = [scenario for turn in turns for scenario in turn][:n]
    return made.from_list([_row(registry.part_of(s)) for s in scenarios])


def simple(envs: str | Sequence[str], *, weights: RewardWeights = DEFAULT_WEIGHTS, say: bool = False) -> dict[str, Any]:
    """Arguments of `GRPOTrainer` for simple mode; call `exact_schemas` with the trainer that they make.

    Warns of an environment in which the oracle itself earns nothing before its first word to the user.

    Args:
        envs: The environments and mixtures of the dataset.
        weights: How an attempt is paid.
        say: Add a tool ``talk_to_user``, which the target does not have, so that the user can answer.
    """
    names = _parts(envs)
    if mute := [] if say else [name for name in names if not any(_earned_unheard(name, weights))]:
        warnings.warn(
            f"no user answers in simple mode, and in {', '.join(mute)} the oracle earns nothing before its first "
            "word; use full mode, or say=True",
            stacklevel=2,
        )
    return {"environment_factory": {name: tool_class(name, weights, say=say) for name in names}}


def full(
    envs: str | Sequence[str], *, weights: RewardWeights = DEFAULT_WEIGHTS, turn_tokens: int | None = None
) -> dict[str, Any]:
    """Arguments of `GRPOTrainer` for full mode.

    Args:
        envs: The environments and mixtures of the dataset.
        weights: How an attempt is paid.
        turn_tokens: Longest assistant turn; see `Rollout`.
    """
    factories = {name: attempt_class(name, weights) for name in _parts(envs)}
    return {"environment_factory": factories, "rollout_func": Rollout(turn_tokens)}


def exact_schemas(trainer: Trainer) -> None:
    """Show the policy the raw schemas of the target instead of what TRL reads off Python signatures (simple mode).

    TRL takes no JSON Schema, so this fills a private table of the trainer. Tools of your own stay in front.

    Raises:
        MissingExtra: TRL is not installed.
        ConfigError: TRL is another version than the one whose table this is.
    """
    check_version("exact schemas need")
    for name, kind in (trainer.environment_factories or {}).items():
        if schemas := getattr(kind, "_schemas", None):
            trainer._env_tools[name] = [*trainer._standalone_tools, *schemas]


def read_hermes(tokenizer: _T) -> _T:
    """Let TRL find the tool calls of a model that writes ``<tool_call>{...}</tool_call>``; return the tokenizer.

    Simple mode reads turns by the tokenizer's `response_template`. TRL has one only for chat templates that equal one
    of its own to the letter, such as Qwen3's, and refuses others: the embedded agent's, or a template that was edited.
    A tokenizer that has one already keeps it. Full mode does without.

    Raises:
        ConfigError: The chat template opens no assistant turn.
    """
    it: Any = tokenizer
    if getattr(it, "response_template", None) is None:
        it.response_template = {
            "defaults": {"role": "assistant"},
            "start_anchor": _opening_of_a_turn(it),
            "fields": {
                "reasoning_content": {"open": "<think>", "close_pattern": r"</think>\s*", "content": "text"},
                "tool_calls": {
                    "open": "<tool_call>",
                    "close_pattern": r"</tool_call>\s*",
                    "repeats": True,
                    "content": "json",
                    "transform": {"type": "function", "function": "{content}"},
                },
                "content": {"close_pattern": re.escape(it.eos_token) + r"\s*", "content": "text"},
            },
        }
    return tokenizer


def _opening_of_a_turn(tokenizer: Any) -> str:
    ask = [{"role": "user", "content": "-"}]
    before, after = (
        str(tokenizer.apply_chat_template(ask, tokenize=False, add_generation_prompt=opened))
        for opened in (False, True)
    )
    if before == after or not after.startswith(before):
        raise ConfigError("the chat template does not open an assistant turn when asked for a generation prompt")
    return after.removeprefix(before)


def _earned_unheard(env: str, weights: RewardWeights) -> Iterator[float]:
    """What the oracle earns with the calls before its first word, in some scenarios of each level."""
    for scenario in registry.scenarios(env, n=4 * registry.level_count(env)):
        episode = registry.episode(scenario)
        for step in takewhile(lambda s: isinstance(s, Call), plan(episode, "oracle")):
            episode.step(step)
        yield reward(episode.finish(), weights)


def _row(scenario: Scenario) -> dict[str, Any]:
    messages: list[Message] = registry.episode(scenario).messages
    return {"prompt": messages, "scenario": str(scenario), "environment": scenario.env}


def _named(envs: str | Iterable[str]) -> list[str]:
    names = list(dict.fromkeys(registry.name_of(e) for e in ([envs] if isinstance(envs, str) else envs)))
    if not names:
        raise ConfigError(f"name an environment; there are {', '.join(registry.names())}")
    return names


def _parts(envs: str | Iterable[str]) -> list[str]:
    """The environments themselves, with mixtures opened up."""
    mixtures = registry.mixtures()
    opened = (list(registry.mixture(n).mixture) if n in mixtures else [n] for n in _named(envs))
    return list(dict.fromkeys(name for names in opened for name in names))
