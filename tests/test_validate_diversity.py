"""Tests of TG8: seeds differ in structure, and no constant answer solves most problems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import comb
from pathlib import Path

import pytest
from mutants.diversity import (
    MUTANTS,
    FirstFlightIsRight,
    LargestFlightNumberIsRight,
    MostlyRefused,
    NeverTheOneThatPaid,
)
from mutants.hotel import Hotel
from toy_world import ToyBoxes

from trace_gym import registry
from trace_gym.types import Bars, Finding, Scenario
from trace_gym.validation import Context, choice, constant_answers, diversity
from trace_gym.validation.context import PROFILES
from trace_gym.validation.properties import PROPERTIES
from trace_gym.validation.selection import sample
from trace_gym.validation.source import load
from trace_gym.world import World

CODES = ("TG801", "TG802", "TG803", "TG804")
ENVS = ("tau2_airline_desk", "tau2_precondition")


def check(target: type[World] | Path, code: str, profile: str = "quick") -> Finding:
    world, reference = load(target)
    context = Context(world, reference, PROFILES[profile])
    return PROPERTIES[code](world, sample(world, PROFILES[profile].seeds_per_level), context)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: f"{m.rejected_by}-{m.__name__}")
def test_each_mutant_fails_its_property(mutant: type[World]) -> None:
    found = check(mutant, mutant.rejected_by)  # type: ignore[attr-defined]
    assert found.verdict == "failed" and found.counterexample and found.exhibits, found.message
    exec(compile(found.counterexample, "counterexample", "exec"), {})


def test_every_property_rejects_two_mutants() -> None:
    codes = [m.rejected_by for m in MUTANTS]
    wanted = (*CODES, "TG705")
    assert {c: codes.count(c) >= 2 for c in wanted} == dict.fromkeys(wanted, True)


@pytest.mark.parametrize("name", ENVS)
def test_shipped_environments_pass_diversity_properties(name: str) -> None:
    world, reference = load(registry.module_path(name))
    context = Context(world, reference, PROFILES["gate"])
    for code in CODES:
        found = PROPERTIES[code](world, sample(world, 25), context)
        assert found.verdict == "passed", found.message
        assert all(isinstance(e, Bars) and e.bars for e in found.exhibits) and found.exhibits


@pytest.mark.parametrize("name", ["tau2_structured_data", "tau2_tool_precision"])
def test_shipped_environments_pass_choice_property(name: str) -> None:
    found = check(registry.module_path(name), "TG705", "gate")
    assert found.verdict == "passed" and "the nearest" in found.message, found.message


def test_choice_property_is_skipped_without_choices() -> None:
    assert check(registry.module_path("tau2_precondition"), "TG705").verdict == "skipped"


def test_finding_names_matching_heuristic() -> None:
    paid, largest = check(NeverTheOneThatPaid, "TG705"), check(LargestFlightNumberIsRight, "TG705")
    assert "the first except the ablated expert's" in paid.message and "in 100% of" in paid.message
    assert "'the largest', applied to search_direct_flight" in largest.message
    for found, control in ((paid, 96), (largest, 32)):
        assert (
            f"succeeds in 192 of 192 cases; an agent that chooses at random instead succeeds in {control}"
            in found.message
        )


@pytest.mark.parametrize(("blind", "verdict"), [(False, "passed"), (True, "failed")])
def test_chance_does_not_reject_choices(monkeypatch: pytest.MonkeyPatch, blind: bool, verdict: str) -> None:
    """A choice that fails on a small sample is evaluated on four times as many scenarios of its level."""
    asked: list[tuple[set[int], int]] = []

    def drawn(scenarios: Sequence[Scenario], context: Context, factor: int = 8) -> Iterator[choice.ArgumentChoice]:
        levels = {s.level for s in scenarios}
        asked.append((levels, factor))
        for level in levels:
            right = level == 1 and (blind or factor == 8)
            seen = [Scenario(env="tau2_structured_data", level=level, seed=seed) for seed in range(4 * factor)]
            cases = [choice.ChoiceCase(s, ("a", "b"), "a" if right or s.seed % 2 else "b", "b") for s in seen]
            yield choice.ArgumentChoice((level, "book", ("flight",)), ("opening",), tuple(cases))

    monkeypatch.setattr(choice, "argument_choices", drawn)
    found = check(registry.module_path("tau2_structured_data"), "TG705")
    assert found.verdict == verdict and asked == [({0, 1, 2, 3}, 8), ({1}, 32)], found.message


def test_levels_in_alike_are_not_evaluated() -> None:
    for code in CODES:
        found = check(Hotel, code)
        assert found.verdict == "skipped" and "alike" in found.message


def test_toy_environment_findings() -> None:
    verdicts = {code: check(ToyBoxes, code, "gate").verdict for code in CODES}  # one wording, and boxes alone
    assert verdicts == {"TG801": "failed", "TG802": "passed", "TG803": "failed", "TG804": "passed"}


def test_finding_describes_best_recipe() -> None:
    first = check(FirstFlightIsRight, "TG804")
    assert "search_direct_flight #0.flight_number" in first.message and first.metrics["best"] == 1.0
    assert check(MostlyRefused, "TG804").message.startswith("the recipe 'write nothing' solves")


def test_entropy_uses_observed_shares() -> None:
    assert diversity._bits(Counter("aabb")) == 1.0
    assert diversity._bits(Counter("aaaa")) == 0.0
    assert diversity._bits(Counter("abcd")) == 2.0


def test_near_duplicates_are_counted_as_pairs() -> None:
    one = diversity._wording("I am Ada and I want the key of room 12 please", {"Ada"})
    same = diversity._wording("I am Bo and I want the key of room 999 please", {"Bo"})
    other = diversity._wording("Could you let me into my room", set())
    assert one == same and not one & other
    assert diversity._near([one, same]) == 1.0
    assert diversity._near([one, same, other]) == pytest.approx(1 / 3)
    assert diversity._near([one]) == 0.0


def test_shapes_exclude_names_ids_and_order() -> None:
    def state(code: str, name: str, cabin: str, price: int) -> dict[str, object]:
        return {"bookings": {code: {"name": name, "cabin": cabin, "price": price}}, "flags": [True, None]}

    names = ("Ada", "Bo", "Cy", "Dee", "Eve", "Fay")
    many = [state(f"A{n}", name, ("low", "high")[n % 2], n) for n, name in enumerate(names, 1)]
    kinds = diversity._categories(many)
    assert kinds == {"cabin": {"low", "high"}}
    shapes = [diversity._shape(s, kinds) for s in many]
    assert shapes[0] == shapes[2] != shapes[1]
    assert diversity._shape(state("A9", "X", "low", 0), kinds) != shapes[0]  # nothing is not an amount
    assert diversity._shape([1, "a"], {}) == diversity._shape(["b", 2], {})


def rejection_rate(share: float, first: int) -> float:
    """Return the probability (binomial distribution) that TG804 rejects a recipe that solves this share of all
    problems.
    """
    open_cases, before, rejected = {0: 1.0}, 0, 0.0
    for count in (first, *(n for n in constant_answers.LOOKS if n > first)):
        step = count - before
        fresh = [comb(step, k) * share**k * (1 - share) ** (step - k) for k in range(step + 1)]
        reached: dict[int, float] = {}
        for solved, weight in open_cases.items():
            for k, chance in enumerate(fresh):
                reached[solved + k] = reached.get(solved + k, 0.0) + weight * chance
        verdicts = {solved: constant_answers.exceeds_max_share(solved, count) for solved in reached}
        rejected += sum(reached[solved] for solved, verdict in verdicts.items() if verdict)
        open_cases = {solved: reached[solved] for solved, verdict in verdicts.items() if verdict is None}
        before = count
    assert not open_cases, "the last look leaves no verdict open"
    return rejected


def test_constant_answer_error_rates_match_documentation() -> None:
    rates = [rejection_rate(share, 100) for share in (0.6, 0.67, 0.7, 0.75, 0.78)]
    assert rates == [pytest.approx(r, abs=0.0006) for r in (0.0001, 0.0089, 0.083, 0.9484, 0.9998)]
    once = sum(comb(100, k) * 0.67**k * 0.33 ** (100 - k) for k in range(71, 101))
    assert once == pytest.approx(0.23, abs=0.005)  # a single look at 100 problems
    assert max(rejection_rate(0.67, first) for first in (24, 72, 75, 96)) < 0.02  # as many as other profiles begin with


@pytest.mark.parametrize("share", [0.5, 0.67, 0.8])
def test_constant_answer_extends_sample_only_while_undecided(monkeypatch: pytest.MonkeyPatch, share: float) -> None:
    counts: list[int] = []

    def verdict(solved: int, count: int) -> bool | None:
        counts.append(count)
        return real(round(share * count), count)

    real = constant_answers.exceeds_max_share
    monkeypatch.setattr(constant_answers, "exceeds_max_share", verdict)
    found = check(ToyBoxes, "TG804")
    assert found.verdict == ("failed" if share > constant_answers.MAX_SHARE else "passed")
    assert counts == sorted(set(counts)) and (len(counts) > 3) is (share == 0.67)
