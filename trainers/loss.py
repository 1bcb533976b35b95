"""Clipped surrogate loss of GRPO (equation 2 of the TRACE paper) for padded rows of token log-probabilities.

Shapes: B trajectories, T token positions. All sampled tokens of a trajectory have the same advantage.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

Average = Literal["trajectory", "token"]


@dataclass(frozen=True, slots=True)
class LossStats:
    """Sums of statistics over the sampled tokens.

    The statistics of several micro-batches are added. `means` divides the sums by the number of tokens.
    """

    tokens: int = 0
    clipped: float = 0.0
    entropy: float = 0.0
    kl_rollout: float = 0.0
    kl_base: float = 0.0
    ratio_max: float = 0.0

    def __add__(self, other: LossStats) -> LossStats:
        return LossStats(
            self.tokens + other.tokens,
            self.clipped + other.clipped,
            self.entropy + other.entropy,
            self.kl_rollout + other.kl_rollout,
            self.kl_base + other.kl_base,
            max(self.ratio_max, other.ratio_max),
        )

    def means(self) -> dict[str, float]:
        """Return the means over sampled tokens, and the largest ratio."""
        n = max(self.tokens, 1)
        return {
            "clip_fraction": self.clipped / n,
            "entropy": self.entropy / n,
            "kl_rollout": self.kl_rollout / n,
            "kl_base": self.kl_base / n,
            "ratio_max": self.ratio_max,
        }


def trajectory_weights(tokens_B: Tensor, average: Average = "trajectory") -> Tensor:
    """Return the weight of one token of each trajectory, with shape [B]. The weights of all tokens sum to 1.

    Args:
        tokens_B: Number of sampled tokens of each trajectory in the minibatch.
        average: ``trajectory`` for 1 / (B * T_b), so that all trajectories have the same total weight (equation 2), or
            ``token`` for 1 / (sum of T), so that all tokens have the same weight (DAPO).
    """
    tokens_B = tokens_B.float()
    if average == "token":
        return torch.ones_like(tokens_B) / tokens_B.sum().clamp(min=1)
    return 1 / (tokens_B.clamp(min=1) * len(tokens_B))


def policy_loss(
    logp_BT: Tensor,
    rollout_logp_BT: Tensor,
    mask_BT: Tensor,
    advantages_B: Tensor,
    weights_B: Tensor,
    *,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
    base_logp_BT: Tensor | None = None,
    kl_coef: float = 0.0,
    entropy_BT: Tensor | None = None,
) -> tuple[Tensor, LossStats]:
    """Return the clipped surrogate loss and its statistics.

    The loss is -sum_b w_b sum_t [min(rho A, clip(rho, 1 - low, 1 + high) A) - kl_coef * KL(policy || base)].

    Args:
        logp_BT: Log-probabilities of the sampled tokens under the current policy. The gradient is computed only for
            this argument.
        rollout_logp_BT: Log-probabilities of the tokens when they were sampled.
        mask_BT: True for sampled tokens. Values at other positions have no effect, even if they are NaN.
        advantages_B: Advantage of each trajectory.
        weights_B: Result of `trajectory_weights` for the whole minibatch, so that the losses of its micro-batches can
            be added.
        clip_low: The policy ratio rho is clipped below 1 - `clip_low`.
        clip_high: The policy ratio rho is clipped above 1 + `clip_high`.
        base_logp_BT: Log-probabilities under the base model for the KL penalty, which uses the k3 estimator.
        kl_coef: Weight of the KL penalty.
        entropy_BT: Entropies of the policy. They are used only for the statistics.
    """
    mask_BT = mask_BT.bool()

    def on_mask(values_BT: Tensor) -> Tensor:
        return values_BT.masked_fill(~mask_BT, 0.0)

    log_ratio_BT = on_mask(logp_BT - rollout_logp_BT)
    ratio_BT = log_ratio_BT.exp()
    gain_B1 = advantages_B[:, None]
    surrogate_BT = torch.minimum(ratio_BT * gain_B1, ratio_BT.clamp(1 - clip_low, 1 + clip_high) * gain_B1)
    kl_base_BT = torch.zeros_like(ratio_BT)
    if base_logp_BT is not None:
        kl_base_BT = _k3(on_mask(base_logp_BT - logp_BT))
    loss = -(weights_B[:, None] * on_mask(surrogate_BT - kl_coef * kl_base_BT)).sum()

    with torch.no_grad():
        # A token counts as clipped only if clipping makes its gradient zero, not whenever its ratio is out of range.
        binds_BT = ((gain_B1 > 0) & (ratio_BT > 1 + clip_high)) | ((gain_B1 < 0) & (ratio_BT < 1 - clip_low))
        stats = LossStats(
            tokens=int(mask_BT.sum()),
            clipped=float((binds_BT & mask_BT).sum()),
            entropy=0.0 if entropy_BT is None else float(on_mask(entropy_BT).sum()),
            kl_rollout=float(on_mask(_k3(log_ratio_BT)).sum()),
            kl_base=float(on_mask(kl_base_BT).sum()),
            ratio_max=float(on_mask(ratio_BT).max()) if mask_BT.any() else 0.0,
        )
    return loss, stats


def _k3(log_ratio: Tensor) -> Tensor:
    """Return exp(d) - 1 - d with d = log q/p at samples of p, a nonnegative estimator of KL(p || q) (Schulman 2020)."""
    return log_ratio.exp() - 1 - log_ratio
