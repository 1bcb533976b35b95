"""Surrogate losses of GRPO (equation 2 of the TRACE paper) and its variants, for rows of token log-probabilities.

Shapes: B trajectories, T token positions. All sampled tokens of a trajectory have the same advantage.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from torch import Tensor

Average = Literal["trajectory", "token", "constant"]


class Surrogate(NamedTuple):
    """Surrogate objective of each token, and a mask of the tokens whose gradient is zero because of clipping."""

    values_BT: Tensor
    clipped_BT: Tensor


def grpo(log_ratio_BT: Tensor, gain_B1: Tensor, mask_BT: Tensor, low: float, high: float) -> Surrogate:
    """Return min(rho A, clip(rho, 1 - low, 1 + high) A) with the policy ratio rho of each token (equation 2)."""
    ratio_BT = log_ratio_BT.exp()
    values_BT = torch.minimum(ratio_BT * gain_B1, ratio_BT.clamp(1 - low, 1 + high) * gain_B1)
    # A token counts as clipped only if clipping makes its gradient zero, not whenever its ratio is out of range.
    return Surrogate(values_BT, ((gain_B1 > 0) & (ratio_BT > 1 + high)) | ((gain_B1 < 0) & (ratio_BT < 1 - low)))


def gspo(log_ratio_BT: Tensor, gain_B1: Tensor, mask_BT: Tensor, low: float, high: float) -> Surrogate:
    """Return the objective of `grpo` with one ratio per trajectory, the geometric mean of the ratios of its tokens.

    This is equation 5 of GSPO (Zheng et al. 2025, arXiv 2507.18071).
    """
    mean_B1 = log_ratio_BT.sum(1, keepdim=True) / mask_BT.sum(1, keepdim=True).clamp(min=1)
    return grpo(mean_B1.expand_as(log_ratio_BT), gain_B1, mask_BT, low, high)


def cispo(log_ratio_BT: Tensor, gain_B1: Tensor, mask_BT: Tensor, low: float, high: float) -> Surrogate:
    """Return min(rho, 1 + high) A log pi, with no gradient through the ratio rho, so that clipping drops no token.

    This is equation 4 of CISPO (MiniMax 2025, arXiv 2506.13585). It has no lower limit of the ratio. The
    log-probabilities when the token was sampled are subtracted from log pi, which does not change the gradient.
    """
    weight_BT = log_ratio_BT.detach().exp().clamp(max=1 + high)
    return Surrogate(weight_BT * gain_B1 * log_ratio_BT, torch.zeros_like(mask_BT))


OBJECTIVES: dict[str, Callable[[Tensor, Tensor, Tensor, float, float], Surrogate]] = {
    "grpo": grpo,
    "gspo": gspo,
    "cispo": cispo,
}
"""Mapping of name to surrogate objective.

The arguments are the logarithms of the policy ratios (0 at positions that were not sampled), the advantages, the mask
of the sampled tokens, and the clipping range.
"""


@dataclass(frozen=True, slots=True)
class LossStats:
    """Sums of statistics over the sampled tokens.

    The statistics of several micro-batches are added. `means` divides the sums by the number of tokens.
    """

    tokens: int = 0
    clipped: float = 0.0
    entropy: float = 0.0
    """Sum over `entropy_tokens` tokens."""
    entropy_tokens: int = 0
    kl_rollout: float = 0.0
    kl_base: float = 0.0
    ratio_max: float = 0.0

    def __add__(self, other: LossStats) -> LossStats:
        return LossStats(
            self.tokens + other.tokens,
            self.clipped + other.clipped,
            self.entropy + other.entropy,
            self.entropy_tokens + other.entropy_tokens,
            self.kl_rollout + other.kl_rollout,
            self.kl_base + other.kl_base,
            max(self.ratio_max, other.ratio_max),
        )

    def means(self) -> dict[str, float]:
        """Return the means over sampled tokens, and the largest ratio."""
        n = max(self.tokens, 1)
        return {
            "clip_fraction": self.clipped / n,
            "entropy": self.entropy / max(self.entropy_tokens, 1),
            "kl_rollout": self.kl_rollout / n,
            "kl_base": self.kl_base / n,
            "ratio_max": self.ratio_max,
        }


def trajectory_weights(tokens_B: Tensor, average: Average = "trajectory", limit: int | None = None) -> Tensor:
    """Return the weight of one token of each trajectory, with shape [B].

    Args:
        tokens_B: Number of sampled tokens of each trajectory in the minibatch.
        average: ``trajectory`` for 1 / (B * T_b), so that all trajectories have the same total weight (equation 2);
            ``token`` for 1 / (sum of T), so that all tokens have the same weight (DAPO); ``constant`` for
            1 / (B * limit), which does not depend on the lengths (Dr. GRPO, Liu et al. 2025, arXiv 2503.20783). The
            weights of all tokens sum to 1 except for ``constant``.
        limit: Maximum number of tokens of a trajectory. Required for ``constant``.
    """
    tokens_B = tokens_B.float()
    if average == "constant":
        assert limit is not None
        return torch.ones_like(tokens_B) / (len(tokens_B) * limit)
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
    objective: str = "grpo",
    clip_low: float = 0.2,
    clip_high: float = 0.2,
    base_logp_BT: Tensor | None = None,
    kl_coef: float = 0.0,
) -> tuple[Tensor, LossStats]:
    """Return the surrogate loss and its statistics.

    The loss is -sum_b w_b sum_t [surrogate(rho, A) - kl_coef * KL(policy || base)].

    Args:
        logp_BT: Log-probabilities of the sampled tokens under the current policy. The gradient is computed only for
            this argument.
        rollout_logp_BT: Log-probabilities of the tokens when they were sampled.
        mask_BT: True for sampled tokens. Values at other positions have no effect, even if they are NaN.
        advantages_B: Advantage of each trajectory.
        weights_B: Result of `trajectory_weights` for the whole minibatch, so that the losses of its micro-batches can
            be added.
        objective: A key of `OBJECTIVES`.
        clip_low: The policy ratio rho is clipped below 1 - `clip_low`.
        clip_high: The policy ratio rho is clipped above 1 + `clip_high`.
        base_logp_BT: Log-probabilities under the base model for the KL penalty, which uses the k3 estimator.
        kl_coef: Weight of the KL penalty.
    """
    mask_BT = mask_BT.bool()

    def on_mask(values_BT: Tensor) -> Tensor:
        return values_BT.masked_fill(~mask_BT, 0.0)

    log_ratio_BT = on_mask(logp_BT - rollout_logp_BT)
    surrogate_BT, clipped_BT = OBJECTIVES[objective](log_ratio_BT, advantages_B[:, None], mask_BT, clip_low, clip_high)
    kl_base_BT = torch.zeros_like(log_ratio_BT)
    if base_logp_BT is not None:
        kl_base_BT = _k3(on_mask(base_logp_BT - logp_BT))
    loss = -(weights_B[:, None] * on_mask(surrogate_BT - kl_coef * kl_base_BT)).sum()

    with torch.no_grad():
        stats = LossStats(
            tokens=int(mask_BT.sum()),
            clipped=float((clipped_BT & mask_BT).sum()),
            kl_rollout=float(on_mask(_k3(log_ratio_BT)).sum()),
            kl_base=float(on_mask(kl_base_BT).sum()),
            ratio_max=float(on_mask(log_ratio_BT.exp()).max()) if mask_BT.any() else 0.0,
        )
    return loss, stats


def _k3(log_ratio: Tensor) -> Tensor:
    """Return exp(d) - 1 - d with d = log q/p at samples of p, a nonnegative estimator of KL(p || q) (Schulman 2020)."""
    return log_ratio.exp() - 1 - log_ratio
