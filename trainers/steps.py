"""Optimizer steps on minibatches, shared by all trainers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import TypeVar

import torch
from torch import nn

from trace_gym.errors import ConfigError
from trace_gym.trainers.config import TrainerConfig
from trace_gym.trainers.ranks import ALONE, Ranks

Item = TypeVar("Item")


def optimizer_steps(
    optimizer: torch.optim.Optimizer,
    items: Sequence[Item],
    config: TrainerConfig,
    rng: Random,
    backward: Callable[[Sequence[Item]], object],
    ranks: Ranks = ALONE,
) -> list[float]:
    """Take epochs x minibatches optimizer steps, and return the norm of the gradient of each step.

    Args:
        optimizer: Optimizer of the adapter's weights.
        items: Trajectories to train on. If there are none, no step is taken.
        config: Settings of the run.
        rng: Source of randomness for the split of the trajectories into minibatches. A split by length would reduce
            padding but bias the steps, because short trajectories are often failures.
        backward: Function that adds the gradient of the loss of a minibatch to the weights.
        ranks: Processes that compute the gradient together.

    Raises:
        ConfigError: The gradient is not finite. The weights are not changed by this step.
    """
    weights = [p for group in optimizer.param_groups for p in group["params"]]
    norms = []
    for _ in range(config.epochs if items else 0):
        dealt = rng.sample(items, len(items))
        parts = min(config.minibatches, len(dealt))
        for n in range(parts):
            optimizer.zero_grad(set_to_none=True)
            backward(dealt[n * len(dealt) // parts : (n + 1) * len(dealt) // parts])
            ranks.add_gradients(weights)
            norm = float(nn.utils.clip_grad_norm_(weights, config.max_grad_norm))
            if not math.isfinite(norm):
                raise ConfigError(f"the gradient is not finite at lr={config.lr}. Decrease lr or max_grad_norm")
            optimizer.step()
            norms.append(norm)
    return norms


def mean(values: Iterable[float]) -> float:
    """Return the mean of one or more values."""
    listed = list(values)
    return sum(listed) / len(listed)
