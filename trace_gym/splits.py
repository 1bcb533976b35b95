"""Splits: disjoint ranges of seeds for training, validation, selection and tests."""

from __future__ import annotations

from trace_gym.errors import ScenarioError, expect_choice
from trace_gym.types import Scenario

SPLITS = {
    "train": range(10**6),
    "validate": range(10**6, 2 * 10**6),
    "select": range(2 * 10**6, 3 * 10**6),
    "test": range(3 * 10**6, 4 * 10**6),
    "pretrain": range(4 * 10**6, 10**9),
}
"""Seeds of each split. The splits are disjoint, so that no scenario is used for both training and tests."""


def split_of(scenario: Scenario) -> str:
    """Return the split that contains the seed of a scenario.

    Raises:
        ScenarioError: No split contains the seed.
    """
    for name, seeds in SPLITS.items():
        if scenario.seed in seeds:
            return name
    raise ScenarioError(
        f"the scenario {scenario} does not belong to a split: found seed {scenario.seed}, expected at most {10**9 - 1}"
    )


def seeds_of(split: str) -> range:
    """Return the seeds of a split.

    Raises:
        ConfigError: The split does not exist.
    """
    expect_choice("split", split, SPLITS)
    return SPLITS[split]
