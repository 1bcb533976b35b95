"""Reward groups of a policy: the rewards of several rollouts per problem, sampled or read from a trainer's log."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, PolicyError, ReadError, ScenarioError
from trace_gym.files import read_text
from trace_gym.models.policy_uri import POLICY_URIS, check_policy_uri, model_of, open_policy, scripted_policy
from trace_gym.parsing import json_lines
from trace_gym.policies.base import BatchPolicy, Policy
from trace_gym.rollouts import rollout
from trace_gym.types import Scenario
from trace_gym.validation.variance import RewardGroup
from trace_gym.world import World

ROLLOUTS_PER_PROBLEM = 8
"""Number of rollouts per problem."""
PROBLEM_FIELDS = ("group", "scenario", "task", "prompt_id", "problem")
"""Field names for the problem id of a recorded rollout, in order of precedence."""
KINDS = f"{POLICY_URIS}, rollouts:FILE[@LOW..HIGH]"
"""Forms of the option ``--policy`` of ``validate`` and ``synthesize``."""


def open_policy_or_groups(text: str) -> Policy | BatchPolicy | list[RewardGroup]:
    """Return the policy of a policy URI, or the recorded groups of ``rollouts:log.jsonl@-1..1``.

    In this example, the file contains rollouts with rewards from -1 to 1. See `open_policy` for policy URIs.

    Raises:
        ConfigError: The policy does not exist, or its endpoint has no API key.
        ReadError: The file or the model cannot be read.
        MissingExtra: A required package is not installed.
    """
    kind, _, rest = text.partition(":")
    if kind == "rollouts" and rest:
        bounds = re.fullmatch(r"(.+)@(-?\d+(?:\.\d+)?)\.\.(-?\d+(?:\.\d+)?)", rest)
        return read_groups(bounds[1], float(bounds[2]), float(bounds[3])) if bounds else read_groups(rest)
    return open_policy(text) if model_of(text) else scripted_policy(text, KINDS)


def check_policy(text: str) -> None:
    """Check that `open_policy_or_groups` accepts a text, without loading a model.

    Raises:
        ConfigError, ReadError, MissingExtra: The same errors as those of `open_policy_or_groups`, except for errors
            that occur only when a model is loaded.
    """
    if model_of(text):
        check_policy_uri(text)
    else:
        open_policy_or_groups(text)


class EpisodeSource(Protocol):
    """Interface of a world whose episodes run in another process, such as the sandbox."""

    id: str
    levels: range

    def episode(self, scenario: Scenario) -> Episode: ...


def rollout_groups(
    policy: Policy | BatchPolicy, world: type[World] | EpisodeSource, scenarios: Sequence[Scenario]
) -> list[RewardGroup]:
    """Sample rollouts of a policy and return their reward groups. Infrastructure failures are excluded.

    Raises:
        PolicyError: No rollout was scored, or a probability distribution of the model is not finite.
        ConfigError: The endpoint rejects every request, or the model does not support this use.
        EnvBug: The environment failed.
    """
    episodes: Callable[[Scenario], Episode] = partial(Episode, world) if isinstance(world, type) else world.episode
    records = rollout(policy, scenarios, samples=ROLLOUTS_PER_PROBLEM, progress=False, open_episode=episodes)
    scored = [(r.task, r.reward, r.success) for r in records if r.reward is not None]
    if records and not scored:
        raise PolicyError(
            f"none of the {len(records)} rollouts was scored. Check that the endpoint of the policy is reachable"
        )
    return _grouped(scored)


def read_groups(path: str | Path, low: float = 0.0, high: float = 1.0) -> list[RewardGroup]:
    """Return the groups in a JSONL file of ``trace-gym rollout`` or of another trainer.

    A line is one rollout, ``{"group": <id>, "reward": <number>, "success": <bool>}``, or a whole group, ``{"group":
    <id>, "rewards": [...], "successes": [...]}``. `PROBLEM_FIELDS` lists other valid names of the field ``group``.
    Successes are optional. Additional fields and rollouts with a null reward are ignored.

    Args:
        path: The file.
        low: Minimum reward.
        high: Maximum reward. Rewards are scaled from this range to [0, 1].

    Raises:
        ReadError: The file cannot be read, a line has a different format, or a reward is outside the range.
        ConfigError: The range is empty.
    """
    if not low < high:
        raise ConfigError(
            f"invalid reward range: found {low:g} to {high:g}, but the minimum must be less than the maximum, as in "
            "FILE@-1..1"
        )
    text = read_text(path, "Pass a JSONL file with recorded rollouts")
    rollouts: list[tuple[str, float, bool | None]] = []
    for number, row in json_lines(text, str(path)):
        for problem, reward, success in _scored(row, f"{path}:{number}"):
            if not low <= reward <= high:
                raise ReadError(
                    f"invalid reward at {path}:{number}: found {reward:g}, expected {low:g} to {high:g}. Specify the "
                    f"range of the rewards: rollouts:{path}@LOW..HIGH"
                )
            rollouts.append((problem, (reward - low) / (high - low), success))
    if not rollouts:
        raise ReadError(f"{path} contains no rollouts with a reward")
    return _grouped(rollouts)


def env_and_level(problem: str) -> tuple[str, int] | None:
    """Return the environment and the level of a scenario id, or None for a problem id of another library."""
    try:
        scenario = Scenario.parse(problem)
    except ScenarioError:
        return None
    return scenario.env, scenario.level


def _scored(row: Any, where: str) -> list[tuple[str, float, bool | None]]:
    """Return the problem, reward and success of each scored rollout in a line of a log."""
    named = next((row[n] for n in PROBLEM_FIELDS if row.get(n) is not None), None) if isinstance(row, Mapping) else None
    if named is None or not ("reward" in row or "rewards" in row):
        raise ReadError(
            f"{where} is not a valid rollout: expected the field 'reward' or 'rewards', and the problem id in one of "
            f"the fields {', '.join(PROBLEM_FIELDS)}"
        )
    rewards = row["rewards"] if "rewards" in row else [row["reward"]]
    successes = row.get("successes") if "rewards" in row else [row.get("success")]
    if not isinstance(rewards, list) or not isinstance(successes := successes or [None] * len(rewards), list):
        raise ReadError(f"{where} is not a valid group of rollouts: the fields 'rewards' and 'successes' must be lists")
    if len(successes) != len(rewards):
        raise ReadError(
            f"{where} has {len(rewards)} rewards and {len(successes)} successes, but the two numbers must be equal"
        )
    pairs = [(_number(r, where), s) for r, s in zip(rewards, successes, strict=True) if r is not None]
    return [(str(named), reward, None if success is None else bool(success)) for reward, success in pairs]


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ReadError(
            f"invalid reward at {where}: found {value!r}, expected a finite number, or null if the rollout was not "
            "scored"
        )
    return float(value)


def _grouped(rollouts: Iterable[tuple[str, float, bool | None]]) -> list[RewardGroup]:
    """Return the rollouts grouped by problem, in order of appearance.

    The successes of a group are None unless all of its rollouts have one.
    """
    by_problem: dict[str, list[tuple[float, bool | None]]] = {}
    for problem, reward, success in rollouts:
        by_problem.setdefault(problem, []).append((reward, success))
    groups = []
    for problem, rows in by_problem.items():
        successes = tuple(bool(s) for _, s in rows if s is not None)
        groups.append(
            RewardGroup(problem, tuple(r for r, _ in rows), successes if len(successes) == len(rows) else None)
        )
    return groups
