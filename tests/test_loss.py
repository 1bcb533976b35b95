"""The clipped surrogate against numbers worked by hand, one trait a test."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from trace_gym.trainers.loss import LossStats, policy_loss, trajectory_weights

OLD = math.log(0.5)


def log(*ratios: float) -> Tensor:
    """One row of log-probabilities that stand in these ratios to a rollout probability of 0.5."""
    return torch.tensor([[OLD + math.log(r) for r in ratios]], dtype=torch.float64, requires_grad=True)


def slope(loss: Tensor, new: Tensor) -> Tensor:
    """The gradient of the loss."""
    return torch.autograd.grad(loss, new)[0]


def loss_of(
    new: Tensor,
    advantage: float,
    *,
    low: float = 0.2,
    high: float = 0.2,
    mask: list[bool] | None = None,
    objective: str = "grpo",
) -> tuple[Tensor, LossStats]:
    mask_BT = torch.tensor([mask or [True] * new.shape[1]])
    return policy_loss(
        new,
        torch.full_like(new, OLD),
        mask_BT,
        torch.tensor([advantage], dtype=torch.float64),
        trajectory_weights(mask_BT.sum(1)).double(),
        objective=objective,
        clip_low=low,
        clip_high=high,
    )


@pytest.mark.parametrize(
    ("ratio", "advantage", "loss", "gradient"),
    [
        (1.0, 2.0, -2.0, -2.0),  # on policy: the gradient of -A log p
        (1.1, 2.0, -2.2, -2.2),  # inside the band: the ratio weighs the gradient
        (1.5, 2.0, -2.4, 0.0),  # better and already more likely: clipped at 1.2
        (0.5, 2.0, -1.0, -1.0),  # better and less likely: never clipped
        (0.5, -2.0, 1.6, 0.0),  # worse and already less likely: clipped at 0.8
        (1.5, -2.0, 3.0, 3.0),  # worse and more likely: never clipped
    ],
)
def test_one_token(ratio: float, advantage: float, loss: float, gradient: float) -> None:
    new = log(ratio)
    got, stats = loss_of(new, advantage)
    assert got.item() == pytest.approx(loss)
    assert slope(got, new).item() == pytest.approx(gradient)
    assert stats.means()["clip_fraction"] == (gradient == 0.0)
    assert stats.ratio_max == pytest.approx(ratio)


def test_the_band_may_be_wider_above_than_below() -> None:
    assert loss_of(log(1.5), 1.0, low=0.2, high=0.3)[0].item() == pytest.approx(-1.3)
    assert loss_of(log(0.5), -1.0, low=0.1, high=0.3)[0].item() == pytest.approx(0.9)


def test_the_ratio_is_per_token() -> None:
    # Per token: (1.2 + 0.5) / 2; of the whole sequence it would be 2 * 0.5 = 1.
    got, stats = loss_of(log(2.0, 0.5), 1.0)
    assert got.item() == pytest.approx(-0.85)
    assert stats.means()["clip_fraction"] == 0.5


def test_descent_makes_good_tokens_likelier_and_bad_ones_less() -> None:
    for advantage in (1.0, -1.0):
        new = log(1.0, 1.0)
        descent = -slope(loss_of(new, advantage)[0], new)
        assert torch.equal(torch.sign(descent), torch.full_like(new, advantage))


@pytest.mark.parametrize("junk", [0.0, -50.0, float("-inf"), float("nan")])
def test_what_the_model_did_not_write_changes_nothing(junk: float) -> None:
    alone = log(1.1, 0.9)
    want, seen = loss_of(alone, 2.0)
    padded = torch.cat([alone.detach()[:, :1], torch.tensor([[junk]]).double(), alone.detach()[:, 1:]], 1)
    padded.requires_grad_()
    got, stats = loss_of(padded, 2.0, mask=[True, False, True])
    assert got.item() == want.item()
    assert stats == seen
    first, second = slope(want, alone)[0].tolist()
    assert slope(got, padded)[0].tolist() == [first, 0.0, second]


def lengths_loss(average: str) -> tuple[float, Tensor]:
    """A good trajectory of one token beside a bad one of three, all on policy."""
    new = torch.full((2, 3), OLD, dtype=torch.float64, requires_grad=True)
    mask_BT = torch.tensor([[True, False, False], [True, True, True]])
    weights_B = trajectory_weights(mask_BT.sum(1), average).double()  # type: ignore[arg-type]
    advantages_B = torch.tensor([1.0, -1.0], dtype=torch.float64)
    loss, _ = policy_loss(new, new.detach(), mask_BT, advantages_B, weights_B)
    return loss.item(), slope(loss, new).abs().sum(1)


def test_long_and_short_trajectories_weigh_the_same() -> None:
    loss, pull_B = lengths_loss("trajectory")
    assert loss == pytest.approx(0.0, abs=1e-6)
    assert pull_B.tolist() == pytest.approx([0.5, 0.5])


def test_by_token_every_token_weighs_the_same() -> None:
    loss, pull_B = lengths_loss("token")
    assert loss == pytest.approx((-1 + 3) / 4)
    assert pull_B.tolist() == pytest.approx([0.25, 0.75])


@pytest.mark.parametrize("average", ["trajectory", "token"])
def test_weights_of_a_minibatch_sum_to_one(average: str) -> None:
    tokens_B = torch.tensor([1, 4, 7])
    weights_B = trajectory_weights(tokens_B, average)  # type: ignore[arg-type]
    assert (weights_B * tokens_B).sum().item() == pytest.approx(1.0)


def test_losses_of_micro_batches_add_up() -> None:
    torch.manual_seed(0)
    new, old = torch.randn(4, 5) - 3, torch.randn(4, 5) - 3
    mask, gains = torch.rand(4, 5) < 0.6, torch.randn(4)
    weights = trajectory_weights(mask.sum(1))
    whole, seen = policy_loss(new, old, mask, gains, weights)
    parts = [policy_loss(new[s], old[s], mask[s], gains[s], weights[s]) for s in (slice(0, 1), slice(1, 4))]
    assert sum(p[0].item() for p in parts) == pytest.approx(whole.item(), rel=1e-5)
    assert (parts[0][1] + parts[1][1]).means() == pytest.approx(seen.means(), rel=1e-5)


def test_kl_to_the_rollout_policy_is_schulmans_k3() -> None:
    _, stats = loss_of(log(2.0, 0.5), 1.0)
    by_hand = ((2.0 - 1 - math.log(2.0)) + (0.5 - 1 - math.log(0.5))) / 2
    assert stats.means()["kl_rollout"] == pytest.approx(by_hand)


def test_the_kl_penalty_pulls_towards_the_base() -> None:
    # The policy gives 0.5, the base 0.25: d = log(0.25 / 0.5), k3 = 0.5 - 1 + log 2; dk3/dlogp = 1 - e^d = 0.5.
    new = log(1.0)
    ones = torch.ones(1, dtype=torch.float64)
    base = torch.tensor([[math.log(0.25)]], dtype=torch.float64)
    loss, stats = policy_loss(new, new.detach(), torch.ones(1, 1), ones * 0, ones, base_logp_BT=base, kl_coef=0.1)
    assert stats.means()["kl_base"] == pytest.approx(math.log(2) - 0.5)
    assert loss.item() == pytest.approx(0.1 * (math.log(2) - 0.5))
    assert slope(loss, new).item() == pytest.approx(0.1 * 0.5)


def test_gspo_has_one_ratio_per_trajectory() -> None:
    # Ratios 1.1 and 1.1 ** 3: their geometric mean is 1.21, so the whole trajectory is clipped at 1.2.
    new = log(1.1, 1.1**3)
    got, stats = loss_of(new, 2.0, objective="gspo")
    assert got.item() == pytest.approx(-2.4)
    assert slope(got, new).tolist() == [[0.0, 0.0]]
    assert stats.means()["clip_fraction"] == 1.0
    got, stats = loss_of(new, 2.0, objective="gspo", high=0.3)
    assert got.item() == pytest.approx(-2 * 1.21)
    assert slope(got, new)[0].tolist() == pytest.approx([-1.21, -1.21])
    assert stats.means()["clip_fraction"] == 0.0


@pytest.mark.parametrize(("ratio", "weight"), [(0.1, 0.1), (1.1, 1.1), (3.0, 1.2)])
@pytest.mark.parametrize("advantage", [2.0, -2.0])
def test_cispo_limits_the_weight_but_keeps_the_gradient(ratio: float, weight: float, advantage: float) -> None:
    new = log(ratio)
    got, stats = loss_of(new, advantage, objective="cispo")
    assert slope(got, new).item() == pytest.approx(-weight * advantage)
    assert stats.means()["clip_fraction"] == 0.0


def test_a_constant_normalizer_does_not_depend_on_lengths() -> None:
    weights_B = trajectory_weights(torch.tensor([1, 4, 7]), "constant", 100)
    assert weights_B.tolist() == pytest.approx([1 / 300] * 3)


def test_no_token_at_all_is_no_loss() -> None:
    loss, stats = loss_of(log(3.0), 1.0, mask=[False])
    assert loss.item() == 0.0
    assert stats.means() == dict.fromkeys(["clip_fraction", "entropy", "kl_rollout", "kl_base", "ratio_max"], 0.0)
