"""Advantages against numbers worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trace_gym.errors import ConfigError
from trace_gym.trainers.advantage import ADVANTAGES, EPS, advantages

ONE_OF_FOUR = [[1.0, 0.0, 0.0, 0.0]]
"""Mean 1/4, population variance 3/16; the sample variance would be 1/4."""


def test_grpo_divides_by_the_population_std_of_the_group() -> None:
    std = math.sqrt(3) / 4
    got = advantages(ONE_OF_FOUR).values_GK[0]
    assert got == pytest.approx([0.75 / (std + EPS), *[-0.25 / (std + EPS)] * 3], rel=1e-12)
    assert got[0] == pytest.approx(math.sqrt(3), rel=1e-5)


def test_grpo_divides_each_group_by_its_own_std() -> None:
    # +-1/2 over 1/2, and +-1/8 over 1/8.
    got = advantages([[1.0, 0.0], [0.25, 0.0]]).values_GK
    assert got == pytest.approx(np.array([[1.0, -1.0], [1.0, -1.0]]), rel=1e-4)


def test_grpo_is_invariant_to_the_scale_of_rewards() -> None:
    small = advantages([[0.02, 0.01, 0.0, 0.0]]).values_GK
    assert small == pytest.approx(advantages([[1.0, 0.5, 0.0, 0.0]]).values_GK, rel=1e-3)


def test_dr_grpo_does_not_divide() -> None:
    assert advantages(ONE_OF_FOUR, "dr_grpo").values_GK[0] == pytest.approx([0.75, -0.25, -0.25, -0.25])


def test_rloo_leaves_the_rollout_itself_out_of_the_mean() -> None:
    # 1 - mean(0, 0, 0) and 0 - mean(1, 0, 0).
    assert advantages(ONE_OF_FOUR, "rloo").values_GK[0] == pytest.approx([1.0, -1 / 3, -1 / 3, -1 / 3])


def test_batch_std_divides_all_groups_by_one_number() -> None:
    # Centred: +-1/2 and +-1/4; their mean square is (1/4 + 1/16) / 2 = 5/32.
    got = advantages([[1.0, 0.0], [0.5, 0.0]], "batch_std").values_GK
    std = math.sqrt(5 / 32)
    assert got == pytest.approx(np.array([[0.5, -0.5], [0.25, -0.25]]) / std, rel=1e-5)


@pytest.mark.parametrize("method", ADVANTAGES)
def test_constant_groups_are_dropped_and_counted(method: str) -> None:
    rewards = [[0.0, 0.0, 0.0], [1.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.5, 0.5, 0.5], [0.0, 0.0, 0.0]]
    got = advantages(rewards, method)
    assert got.kept_G.tolist() == [False, True, False, False, False]
    assert (got.all_zero, got.all_best) == (2, 1)
    assert not got.values_GK[~got.kept_G].any()
    # Dropped groups take no part in what is left: the batch of one group alone gives the same.
    assert got.values_GK[1] == pytest.approx(advantages(rewards[1:2], method).values_GK[0])


def test_the_reward_of_a_perfect_rollout_may_be_below_one() -> None:
    assert advantages([[0.8, 0.8]], best=0.8).all_best == 1
    assert advantages([[0.8, 0.8]]).all_best == 0


def test_rounding_is_no_signal() -> None:
    assert not advantages([[0.1 + 0.2, 0.3]]).kept_G.any()


@given(
    st.integers(2, 6).flatmap(
        lambda k: st.lists(st.lists(st.floats(0, 1), min_size=k, max_size=k), min_size=1, max_size=5)
    )
)
def test_every_method_centres_each_group_and_keeps_the_order_of_rewards(rewards: list[list[float]]) -> None:
    for method in ADVANTAGES:
        got = advantages(rewards, method)
        assert np.isfinite(got.values_GK).all()
        for row, values, kept in zip(rewards, got.values_GK, got.kept_G, strict=True):
            assert abs(values.sum()) < 1e-6 * max(1, np.abs(values).max())
            if kept:
                assert values[np.argmax(row)] > 0 > values[np.argmin(row)]


@pytest.mark.parametrize(
    ("rewards", "method", "message"),
    [
        ([[1.0], [0.0]], "grpo", "at least 2 samples"),
        ([1.0, 0.0], "grpo", "groups, samples"),
        ([[float("nan"), 0.0]], "grpo", "1 rewards are not finite"),
        ([[1.0, 0.0]], "gae", "expected one of grpo, dr_grpo, rloo, batch_std"),
    ],
)
def test_invalid_input_raises_config_error(rewards: list[list[float]], method: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        advantages(rewards, method)
