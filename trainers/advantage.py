"""Advantages: measures of the reward of a rollout relative to the other rollouts of its group.

Shapes: G groups (one scenario each), K rollouts per group. Groups in which all rewards are equal contain no training
signal. They are dropped and counted before the advantages are computed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trace_gym.errors import ConfigError, expect_choice

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

EPS = 1e-6
"""Epsilon in equation 1 of the TRACE paper. The paper does not state its value."""
SAME = 1e-9
"""Maximum difference between rewards that count as equal, so that normalization does not amplify rounding errors."""


def grpo(rewards_GK: Floats) -> Floats:
    """Return (r - mean) / (population std + eps) within the group (equation 1 of the TRACE paper)."""
    std_G1: Floats = rewards_GK.std(axis=1, keepdims=True)
    return _centred(rewards_GK) / (std_G1 + EPS)


def dr_grpo(rewards_GK: Floats) -> Floats:
    """Return r - mean within the group, without normalization by the standard deviation (Liu et al. 2025)."""
    return _centred(rewards_GK)


def rloo(rewards_GK: Floats) -> Floats:
    """Return r minus the mean of the *other* rollouts of the group (Ahmadian et al. 2024)."""
    k = rewards_GK.shape[1]
    return _centred(rewards_GK) * float(k / (k - 1))


def batch_std(rewards_GK: Floats) -> Floats:
    """Return (r - group mean) / (population std of these differences over the whole batch + eps)."""
    centred_GK = _centred(rewards_GK)
    return centred_GK / (float(centred_GK.std()) + EPS)


ADVANTAGES: dict[str, Callable[[Floats], Floats]] = {
    "grpo": grpo,
    "dr_grpo": dr_grpo,
    "rloo": rloo,
    "batch_std": batch_std,
}
"""Mapping of name to a function from the rewards of the informative groups to advantages, both of shape [G, K]."""


@dataclass(frozen=True, slots=True)
class Advantages:
    """Advantages of all groups, and a mask of the informative groups."""

    values_GK: Floats
    """Advantages with shape [G, K]; zero in dropped groups."""
    kept_G: Bools
    """Mask of the groups whose rewards are not all equal."""
    all_zero: int
    """Number of dropped groups in which every rollout has reward zero."""
    all_best: int
    """Number of dropped groups in which every rollout has the maximum reward."""


def advantages(rewards_GK: ArrayLike, method: str = "grpo", *, best: float = 1.0) -> Advantages:
    """Drop groups with equal rewards, and apply `method` to the other groups.

    Args:
        rewards_GK: Rewards with one row per group and at least two columns.
        method: A key of `ADVANTAGES`.
        best: Reward of a perfect rollout.

    Raises:
        ConfigError: The method does not exist, a group has fewer than two rollouts, or a reward is not finite.
    """
    expect_choice("advantage", method, ADVANTAGES)
    rewards = np.asarray(rewards_GK, dtype=np.float64)
    if rewards.ndim != 2 or rewards.shape[1] < 2:
        raise ConfigError(
            f"rewards have the wrong shape: found {rewards.shape}, expected (groups, samples) with at least 2 samples"
        )
    if not np.isfinite(rewards).all():
        raise ConfigError(
            f"{(~np.isfinite(rewards)).sum()} rewards are not finite numbers. Exclude rollouts without a score"
        )
    kept_G = np.ptp(rewards, axis=1) > SAME
    values = np.zeros_like(rewards)
    if kept_G.any():
        values[kept_G] = ADVANTAGES[method](rewards[kept_G])
    constant_G = rewards[~kept_G, 0]
    return Advantages(values, kept_G, int((constant_G <= SAME).sum()), int((np.abs(constant_G - best) <= SAME).sum()))


def _centred(rewards_GK: Floats) -> Floats:
    mean_G1: Floats = rewards_GK.mean(axis=1, keepdims=True)
    return rewards_GK - mean_G1
