"""Hand-worked figures, published examples, and the edges of every estimator."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trace_gym.statistics import mcnemar, newcombe, paired_bootstrap, pass_at_k, pass_hat_k, wilson


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (54, 164, 0.262, 0.404),
        (62, 164, 0.307, 0.454),
        (77, 164, 0.395, 0.546),
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
    ],
)
def test_wilson_gives_the_published_intervals(successes: int, n: int, low: float, high: float) -> None:
    assert wilson(successes, n) == pytest.approx((low, high), abs=5e-4)


def test_wilson_of_nothing_is_missing_and_of_a_quarter_is_the_hand_worked_one() -> None:
    assert wilson(0, 0) is None
    # z = 1 at 68.27 %: (0.25 + 1/8 -+ sqrt(0.1875/4 + 1/64)) / 1.25
    assert wilson(1, 4, confidence=0.6826894921370859) == pytest.approx((0.1, 0.5))


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_proportion_inside_the_unit_interval(counts: tuple[int, int]) -> None:
    interval = wilson(*counts)
    assert interval is not None
    assert 0 <= interval.low <= counts[0] / counts[1] + 1e-12
    assert counts[0] / counts[1] - 1e-12 <= interval.high <= 1


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    [  # Newcombe (1998), table II, method 10
        ((56, 70, 48, 80), 0.0524, 0.3339),
        ((9, 10, 3, 10), 0.1705, 0.8090),
        ((10, 10, 0, 20), 0.6791, 1.0000),
        ((10, 10, 0, 10), 0.6075, 1.0000),
    ],
)
def test_newcombe_gives_the_published_intervals(counts: tuple[int, int, int, int], low: float, high: float) -> None:
    assert newcombe(*counts) == pytest.approx((low, high), abs=5e-5)


def test_newcombe_without_a_denominator_is_missing() -> None:
    assert newcombe(3, 4, 0, 0) is None
    assert newcombe(0, 0, 3, 4) is None


def test_mcnemar_by_hand() -> None:
    before, after = [True] * 2 + [False] * 8 + [True], [False] * 2 + [True] * 8 + [True]
    # 10 units changed, 2 of them for the worse: 2 (1 + 10 + 45) / 1024
    assert [*mcnemar(before, after)] == [8, 2, pytest.approx(112 / 1024)]
    assert [*mcnemar(after, before)] == [2, 8, pytest.approx(112 / 1024)]
    assert mcnemar([True, False], [True, False]) == (0, 0, 1.0)
    assert mcnemar([True, False], [False, True]).p == 1.0


def test_bootstrap_finds_the_mean_and_is_the_same_for_a_seed() -> None:
    before, after = [0.0] * 40, [1.0] * 10 + [0.0] * 30
    found = paired_bootstrap(before, after, np.random.default_rng(3), samples=2000)
    assert found == paired_bootstrap(before, after, np.random.default_rng(3), samples=2000)
    assert found.mean == 0.25
    # A binomial(40, 1/4) mean has standard deviation 0.0685, so 1.96 of them reach 0.134 either side.
    assert (found.low, found.high) == pytest.approx((0.116, 0.384), abs=0.03)
    assert paired_bootstrap([0, 1], [1, 2], np.random.default_rng(0)) == (1, 1, 1)


@pytest.mark.parametrize(("n", "correct"), [(1, 0), (5, 2), (8, 8), (9, 1)])
def test_pass_rates_count_every_subset(n: int, correct: int) -> None:
    attempts = [i < correct for i in range(n)]
    for k in range(1, n + 1):
        subsets = list(combinations(attempts, k))
        assert pass_at_k(n, correct, k) == pytest.approx(sum(map(any, subsets)) / comb(n, k))
        assert pass_hat_k(n, correct, k) == pytest.approx(sum(map(all, subsets)) / comb(n, k))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: wilson(3, 2),
        lambda: wilson(-1, 2),
        lambda: wilson(1, 2, confidence=1.0),
        lambda: newcombe(3, 2, 1, 2),
        lambda: mcnemar([True], []),
        lambda: paired_bootstrap([], [], np.random.default_rng(0)),
        lambda: paired_bootstrap([1], [1, 2], np.random.default_rng(0)),
        lambda: paired_bootstrap([1], [1], np.random.default_rng(0), samples=0),
        lambda: paired_bootstrap([1], [1], np.random.default_rng(0), confidence=2),
        lambda: pass_at_k(3, 4, 1),
        lambda: pass_at_k(3, 1, 0),
        lambda: pass_hat_k(3, 1, 4),
    ],
)
def test_impossible_counts_are_refused(wrong: object) -> None:
    with pytest.raises(ValueError, match="found"):
        wrong()  # type: ignore[operator]
