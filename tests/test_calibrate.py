"""Tests of the calibration of level weights."""

from __future__ import annotations

from typing import Any

import pytest

from trace_gym import registry
from trace_gym.errors import ConfigError
from trace_gym.synthesis.calibrate import calibrate_for_policy, calibrate_from_report, fit_level_weights
from trace_gym.types import Finding, Report

pytestmark = pytest.mark.slow

GOOD = {"mean": 0.4, "success": 0.4, "informative": 0.9, "all_zero": 0.05, "all_one": 0.05}
EASY = {"mean": 0.95, "success": 0.95, "informative": 0.2, "all_zero": 0.0, "all_one": 0.8}
HARD = {"mean": 0.02, "success": 0.0, "informative": 0.2, "all_zero": 0.8, "all_one": 0.0}


def ranges(*found: tuple[float, float]) -> Report:
    metrics = {f"{end}_{n}": r[i] for n, r in enumerate(found) for i, end in enumerate(("from", "to"))}
    finding = Finding(
        code="TG501", property="reward-varies-within-groups", verdict="passed", message="", metrics=metrics
    )
    return Report(passed=True, findings=(finding,), scenarios=1)


def test_levels_that_all_fit_are_drawn_alike() -> None:
    found = fit_level_weights({0: GOOD, 1: GOOD, 2: GOOD}, 3)
    assert found.fits and found.level_weights == pytest.approx((1 / 3,) * 3) and not found.direction


@pytest.mark.parametrize(("other", "direction"), [(EASY, "easy"), (HARD, "hard")])
def test_unsuitable_level_gets_lower_weight(other: dict[Any, float], direction: str) -> None:
    found = fit_level_weights({0: other, 1: GOOD}, 2)
    assert found.fits and 0 < found.level_weights[0] < found.level_weights[1]
    alone = fit_level_weights({0: other}, 1)
    assert not alone.fits and alone.direction == direction and alone.distance > 1
    assert "all-" in alone.message and "should lie in" in alone.message


def test_two_extremes_do_not_make_a_middle() -> None:
    """The mean reward is in its target range, but most groups have equal rewards."""
    found = fit_level_weights({0: EASY, 1: HARD}, 2)
    assert not found.fits and "informative" in found.message


def test_unmeasured_level_gets_weight_zero() -> None:
    assert fit_level_weights({1: GOOD}, 3).level_weights == (0.0, 1.0, 0.0)


def test_without_a_policy_the_levels_that_share_a_competence_are_drawn() -> None:
    assert calibrate_from_report(ranges((0.2, 0.5), (0.3, 0.6)), 2).level_weights == (0.5, 0.5)
    found = calibrate_from_report(ranges((0.1, 0.3), (0.2, 0.5), (0.6, 0.8)), 3)
    assert (
        found.level_weights == (0.5, 0.5, 0.0) and "levels 0 to 1" in found.message and "0.20 to 0.30" in found.message
    )


def test_an_agent_is_played_on_every_level() -> None:
    world = registry.load_world("tau2_multi_step")
    fitting = calibrate_for_policy(world, "mixture:0.4")
    assert fitting.fits and sum(fitting.level_weights) == pytest.approx(1)
    assert calibrate_for_policy(world, "oracle").direction == "easy"
    assert calibrate_for_policy(world, "ablated").direction == "hard"
    with pytest.raises(ConfigError, match="unknown policy"):
        calibrate_for_policy(world, "telepathy")
