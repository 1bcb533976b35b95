"""The clipped surrogate of GRPO (TRACE, equation 2), over padded rows of token log-probabilities.

Shapes: B trajectories, T token positions. A trajectory's advantage is shared by all its model tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

Average = Literal["trajectory", "token"]


@dataclass(frozen=True, slots=True)
class LossStats:
    """Sums over model tokens; they add up over micro-batches and are divided once, in `means`."""

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
        """Means over model tokens, and the largest ratio."""
        n = max(self.tokens, 1)
        return {
            "clip_fraction": self.clipped / n,
            "entropy": self.entropy / n,
            "kl_rollout": self.kl_rollout / n,
            "kl_base": self.kl_base / n,
            "ratio_max": self.ratio_max,
        }


def trajectory_weights(tokens_B: Tensor, average: Average = "trajectory") -> Tensor:
    """The weight of one token of each trajectory, [B], such that all weights of a minibatch sum to 1.

    Args:
        tokens_B: Number of model tokens of each trajectory of the minibatch.
        average: ``trajectory``: 1 / (B * T_b), long and short trajectories weigh the same (equation 2);
            ``token``: 1 / (sum of T), every token weighs the same (DAPO).
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
    """-sum_b w_b sum_t [min(rho A, clip(rho, 1 - low, 1 + high) A) - kl_coef * KL(policy || base)].

    Args:
        logp_BT: Log-probabilities of the sampled tokens now; the only argument with a gradient.
        rollout_logp_BT: The same as they were when the tokens were sampled.
        mask_BT: True on the model's own tokens; what stands elsewhere has no effect, not even NaN.
        advantages_B: One advantage a trajectory.
        weights_B: From `trajectory_weights` of the whole minibatch, so that losses of micro-batches add up.
        base_logp_BT: Log-probabilities under the base model, for the KL penalty (k3 estimator).
        entropy_BT: Entropies of the policy, for the statistics only.
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
        # Where the clip binds the gradient of the token is zero; being outside the band is not enough.
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
    """exp(d) - 1 - d with d = log q/p at samples of p: estimates KL(p || q), never negative (Schulman 2020)."""
    return log_ratio.exp() - 1 - log_ratio
