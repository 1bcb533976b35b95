"""Update step of a GRPO iteration: optimizer steps on the loss for rollouts and their advantages.

By default, the loss is equation 2 in the docstring of `trace_gym.trainers.torch_grpo`.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from trace_gym.trainers.advantage import Advantages
from trace_gym.trainers.batch import TrainingBatch, TrainingSample, batches
from trace_gym.trainers.config import GRPOConfig
from trace_gym.trainers.logps import token_logps
from trace_gym.trainers.loss import LossStats, policy_loss
from trace_gym.trainers.ranks import ALONE, Ranks
from trace_gym.trainers.steps import mean, optimizer_steps

if TYPE_CHECKING:
    from peft import PeftModel

    from trace_gym.trainers.sampling import Outcome


def samples_of(outcomes: Sequence[Outcome], gains: Advantages, overlong: str = "score") -> list[TrainingSample]:
    """Return the trajectories to train on. They belong to informative groups and contain at least one sampled token.

    Args:
        outcomes: Rollouts of all groups, in order.
        gains: Advantages of the rollouts.
        overlong: ``mask`` to leave out trajectories that reached the token limit, ``score`` to keep them.
    """
    values = gains.values_GK.ravel()
    kept = np.repeat(gains.kept_G, gains.values_GK.shape[1])
    return [
        TrainingSample(r.ids, r.mask, r.logprobs, float(a))
        for r, a, keep in zip(outcomes, values, kept, strict=True)
        if keep and any(r.mask) and not (r.overflow and overlong == "mask")
    ]


def update(
    model: PeftModel,
    optimizer: torch.optim.Optimizer,
    samples: Sequence[TrainingSample],
    config: GRPOConfig,
    rng: Random,
    ranks: Ranks = ALONE,
) -> dict[str, float | int | None]:
    """Take up to epochs x minibatches optimizer steps on the GRPO loss, and return the metrics.

    If there are no samples, no step is taken.

    Args:
        model: Hugging Face causal model with the adapter.
        optimizer: Optimizer of the adapter's weights.
        samples: Trajectories to train on.
        config: Settings of the run.
        rng: Source of randomness for the split of the samples into minibatches.
        ranks: Processes that compute the gradient together. All other arguments must be equal in all processes.

    Raises:
        ConfigError: The gradient is not finite. The weights are not changed by this step.
    """
    stats = LossStats()

    def backward(minibatch: Sequence[TrainingSample]) -> None:
        nonlocal stats
        for batch in ranks.share(list(batches(minibatch, config, model))):
            loss, seen = batch_loss(model, batch, config)
            torch.autograd.backward(loss)
            stats += seen

    norms = optimizer_steps(optimizer, samples, config, rng, backward, ranks)
    stats = sum(ranks.gather([stats]), LossStats())
    if not norms:
        return dict.fromkeys([*stats.means(), "grad_norm"]) | {"steps": 0}
    means: dict[str, float | int | None] = {**stats.means(), "grad_norm": mean(norms), "steps": len(norms)}
    return means if config.kl_coef else means | {"kl_base": None}


def batch_loss(model: PeftModel, batch: TrainingBatch, config: GRPOConfig) -> tuple[Tensor, LossStats]:
    """Return the GRPO loss of one batch, and its statistics."""
    base_logp_BT = None
    if config.kl_coef:
        with torch.no_grad(), model.disable_adapter():
            base_logp_BT, _ = token_logps(model, batch, config.temperature)
    logp_BT, entropy = token_logps(model, batch, config.temperature)
    loss, stats = policy_loss(
        logp_BT,
        batch.rollout_logp_BT,
        batch.mask_BT,
        batch.advantages_B,
        batch.weights_B,
        objective=config.objective,
        clip_low=config.clip_low,
        clip_high=config.clip_high,
        base_logp_BT=base_logp_BT,
        kl_coef=config.kl_coef,
    )
    return loss, stats + LossStats(entropy=entropy.total, entropy_tokens=entropy.tokens)
