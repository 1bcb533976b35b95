"""The update of a GRPO iteration: from rollouts and their advantages to optimizer steps on equation 2."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from trace_gym.errors import ConfigError
from trace_gym.trainers.advantage import Advantages
from trace_gym.trainers.batch import Batch, Sample, batches, token_logps
from trace_gym.trainers.config import GRPOConfig
from trace_gym.trainers.loss import LossStats, policy_loss

if TYPE_CHECKING:
    from peft import PeftModel

    from trace_gym.rollout import TokenRollout


def samples_of(rollouts: Sequence[TokenRollout], gains: Advantages) -> list[Sample]:
    """The trajectories of informative groups; one without a model token has nothing to learn from."""
    values = gains.values_GK.ravel()
    kept = np.repeat(gains.kept_G, gains.values_GK.shape[1])
    return [
        Sample(r.ids, r.mask, r.logprobs, float(a))
        for r, a, keep in zip(rollouts, values, kept, strict=True)
        if keep and any(r.mask)
    ]


def update(
    model: PeftModel, optimizer: torch.optim.Optimizer, samples: Sequence[Sample], config: GRPOConfig, rng: Random
) -> dict[str, float | int | None]:
    """Take epochs x minibatches steps on equation 2 and return the update's metrics; no samples, no step.

    Args:
        model: Called as a Hugging Face causal model.
        rng: Deals the samples into minibatches. Dealing them by length would save padding and bias every
            step: in many environments the short trajectories are the ones that gave up.

    Raises:
        ConfigError: The gradient is not finite; the weights are left as they were before that step.
    """
    weights = [p for group in optimizer.param_groups for p in group["params"]]
    stats, norms = LossStats(), []
    for _ in range(config.epochs if samples else 0):
        dealt = rng.sample(samples, len(samples))
        parts = min(config.minibatches, len(dealt))
        for n in range(parts):
            minibatch = dealt[n * len(dealt) // parts : (n + 1) * len(dealt) // parts]
            optimizer.zero_grad(set_to_none=True)
            for batch in batches(minibatch, config):
                loss, seen = batch_loss(model, batch, config)
                torch.autograd.backward(loss)
                stats += seen
            norm = float(nn.utils.clip_grad_norm_(weights, config.max_grad_norm))
            if not math.isfinite(norm):
                raise ConfigError(f"the gradient is not finite at lr={config.lr}; lower lr or max_grad_norm")
            optimizer.step()
            norms.append(norm)
    if not norms:
        return dict.fromkeys([*stats.means(), "grad_norm"]) | {"steps": 0}
    means: dict[str, float | int | None] = {**stats.means(), "grad_norm": mean(norms), "steps": len(norms)}
    return means if config.kl_coef else means | {"kl_base": None}


def batch_loss(model: PeftModel, batch: Batch, config: GRPOConfig) -> tuple[Tensor, LossStats]:
    """Equation 2 on one batch, and its statistics."""
    base_logp_BT = None
    if config.kl_coef:
        with torch.no_grad(), model.disable_adapter():
            base_logp_BT, _ = token_logps(model, batch, config.temperature)
    logp_BT, entropy_BT = token_logps(model, batch, config.temperature)
    return policy_loss(
        logp_BT,
        batch.rollout_logp_BT,
        batch.mask_BT,
        batch.advantages_B,
        batch.weights_B,
        clip_low=config.clip_low,
        clip_high=config.clip_high,
        base_logp_BT=base_logp_BT,
        kl_coef=config.kl_coef,
        entropy_BT=entropy_BT,
    )


def mean(values: Iterable[float]) -> float:
    """Return the mean of one or more values."""
    listed = list(values)
    return sum(listed) / len(listed)
