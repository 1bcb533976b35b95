"""Advantages: how much better a rollout did than the other rollouts of its group.

Shapes: G groups (one scenario each), K rollouts of a group. A group whose rewards are all equal says
nothing about which rollout to prefer; it is dropped and counted before any method sees it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trace_gym.errors import ConfigError

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

EPS = 1e-6
"""The small constant of the paper's equation 1; the paper does not state its value."""
SAME = 1e-9
"""Rewards closer than this are equal: rounding is no signal, and the division would blow it up."""


def grpo(rewards_GK: Floats) -> Floats:
    """(r - mean) / (population std + eps) within the group (TRACE, equation 1)."""
    std_G1: Floats = rewards_GK.std(axis=1, keepdims=True)
    return _centred(rewards_GK) / (std_G1 + EPS)


def dr_grpo(rewards_GK: Floats) -> Floats:
    """r - mean within the group, undivided: groups with a small spread weigh less (Liu et al. 2025)."""
    return _centred(rewards_GK)


def rloo(rewards_GK: Floats) -> Floats:
    """r minus the mean of the *other* rollouts of the group (Ahmadian et al. 2024)."""
    k = rewards_GK.shape[1]
    return _centred(rewards_GK) * float(k / (k - 1))


def batch_std(rewards_GK: Floats) -> Floats:
    """(r - group mean) / (population std of these differences over the whole batch + eps)."""
    centred_GK = _centred(rewards_GK)
    return centred_GK / (float(centred_GK.std()) + EPS)


ADVANTAGES: dict[str, Callable[[Floats], Floats]] = {
    "grpo": grpo,
    "dr_grpo": dr_grpo,
    "rloo": rloo,
    "batch_std": batch_std,
}
"""Name -> function from the rewards of the informative groups to their advantages, both [G, K]."""


@dataclass(frozen=True, slots=True)
class Advantages:
    """Advantages of all groups, and which groups carry a signal."""

    values_GK: Floats
    """Zero in dropped groups."""
    kept_G: Bools
    """False where all rewards of the group are equal."""
    all_zero: int
    """Dropped groups in which no rollout earned anything."""
    all_best: int
    """Dropped groups in which every rollout earned the most that is paid."""


def advantages(rewards_GK: ArrayLike, method: str = "grpo", *, best: float = 1.0) -> Advantages:
    """Drop constant groups, then apply `method` to the others.

    Args:
        rewards_GK: Rewards, one row a group, at least two columns.
        method: A key of `ADVANTAGES`.
        best: The reward of a perfect rollout.

    Raises:
        ConfigError: No such method, fewer than two rollouts a group, or a reward that is not finite.
    """
    if method not in ADVANTAGES:
        raise ConfigError(f"there is no advantage {method!r}; choose one of {', '.join(ADVANTAGES)}")
    rewards = np.asarray(rewards_GK, dtype=np.float64)
    if rewards.ndim != 2 or rewards.shape[1] < 2:
        raise ConfigError(f"rewards have shape {rewards.shape}; expected [groups, samples] with 2 samples or more")
    if not np.isfinite(rewards).all():
        raise ConfigError(f"{(~np.isfinite(rewards)).sum()} rewards are not finite; leave unscored rollouts out")
    kept_G = np.ptp(rewards, axis=1) > SAME
    values = np.zeros_like(rewards)
    if kept_G.any():
        values[kept_G] = ADVANTAGES[method](rewards[kept_G])
    constant_G = rewards[~kept_G, 0]
    return Advantages(values, kept_G, int((constant_G <= SAME).sum()), int((np.abs(constant_G - best) <= SAME).sum()))


def _centred(rewards_GK: Floats) -> Floats:
    mean_G1: Floats = rewards_GK.mean(axis=1, keepdims=True)
    return rewards_GK - mean_G1
