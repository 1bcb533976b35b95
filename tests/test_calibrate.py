"""The levels of an environment are weighed until the rewards of an agent spread."""

from __future__ import annotations

from typing import Any

import pytest

from trace_gym import registry
from trace_gym.errors import ConfigError
from trace_gym.synthesize.calibrate import by_experts, by_policy, weigh
from trace_gym.types import Finding, Report

GOOD = {"mean": 0.4, "success": 0.4, "informative": 0.9, "all_zero": 0.05, "all_one": 0.05}
EASY = {"mean": 0.95, "success": 0.95, "informative": 0.2, "all_zero": 0.0, "all_one": 0.8}
HARD = {"mean": 0.02, "success": 0.0, "informative": 0.2, "all_zero": 0.8, "all_one": 0.0}


def ranges(*found: tuple[float, float]) -> Report:
    figures = {f"{end}_{n}": r[i] for n, r in enumerate(found) for i, end in enumerate(("from", "to"))}
    finding = Finding(code="TG501", property="reward-spreads", verdict="passed", says="", figures=figures)
    return Report(passed=True, findings=(finding,), scenarios=1)


def test_levels_that_all_fit_are_drawn_alike() -> None:
    found = weigh({0: GOOD, 1: GOOD, 2: GOOD}, 3)
    assert found.fits and found.mix == pytest.approx((1 / 3,) * 3) and not found.direction


@pytest.mark.parametrize(("other", "direction"), [(EASY, "easy"), (HARD, "hard")])
def test_a_level_that_does_not_fit_is_drawn_less(other: dict[Any, float], direction: str) -> None:
    found = weigh({0: other, 1: GOOD}, 2)
    assert found.fits and 0 < found.mix[0] < found.mix[1]
    alone = weigh({0: other}, 1)
    assert not alone.fits and alone.direction == direction and alone.distance > 1
    assert "all-" in alone.says and "should lie in" in alone.says


def test_two_extremes_do_not_make_a_middle() -> None:
    """Their mean reward lies in the band, and yet most groups are constant."""
    found = weigh({0: EASY, 1: HARD}, 2)
    assert not found.fits and "informative" in found.says


def test_a_level_that_was_not_measured_is_not_drawn() -> None:
    assert weigh({1: GOOD}, 3).mix == (0.0, 1.0, 0.0)


def test_without_a_policy_the_levels_that_share_a_competence_are_drawn() -> None:
    assert by_experts(ranges((0.2, 0.5), (0.3, 0.6)), 2).mix == (0.5, 0.5)
    found = by_experts(ranges((0.1, 0.3), (0.2, 0.5), (0.6, 0.8)), 3)
    assert found.mix == (0.5, 0.5, 0.0) and "levels 0 to 1" in found.says and "0.20 to 0.30" in found.says


def test_an_agent_is_played_on_every_level() -> None:
    world = registry.load("tau2_multi_step")
    fitting = by_policy(world, "mixture:0.4")
    assert fitting.fits and sum(fitting.mix) == pytest.approx(1)
    assert by_policy(world, "oracle").direction == "easy"
    assert by_policy(world, "ablated").direction == "hard"
    with pytest.raises(ConfigError, match="no policy"):
        by_policy(world, "telepathy")
