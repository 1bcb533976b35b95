"""Splits: disjoint ranges of seeds for training, validation, selection and tests."""

from __future__ import annotations

from trace_gym.errors import ConfigError, ScenarioError
from trace_gym.types import Scenario

SPLITS = {
    "train": range(10**6),
    "validate": range(10**6, 2 * 10**6),
    "select": range(2 * 10**6, 3 * 10**6),
    "test": range(3 * 10**6, 4 * 10**6),
    "pretrain": range(4 * 10**6, 10**9),
}
"""Seeds of each split; they are disjoint, so what is trained on is never tested on."""


def split_of(scenario: Scenario) -> str:
    """The split that a scenario's seed belongs to.

    Raises:
        ScenarioError: The seed is beyond every split.
    """
    for name, seeds in SPLITS.items():
        if scenario.seed in seeds:
            return name
    raise ScenarioError(f"{scenario} belongs to no split; seeds end at {10**9 - 1}")


def seeds_of(split: str) -> range:
    """Return the seeds of a split.

    Raises:
        ConfigError: There is no such split.
    """
    if split not in SPLITS:
        raise ConfigError(f"{split!r} is no split; expected one of {', '.join(SPLITS)}")
    return SPLITS[split]
