"""Customers and verifiers of the environments about records: true explanations pass, false statements fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from trace_gym.types import Call, Say, Scenario
from trace_gym.validation import PROFILES, Context, load
from trace_gym.world import Step

Change = Callable[[str], str]
SEEDS = range(4000, 4004)


def results(name: str, change: Change, before: tuple[str, ...] = ()) -> Iterator[bool]:
    """Yield the success of the oracle's plan with changed messages, after some messages that come first."""
    world, reference = load(name)
    context = Context(world, reference, PROFILES["gate"])
    for level in world.levels:
        for seed in SEEDS:
            scenario = Scenario(env=name, level=level, seed=seed)
            plan: list[Step] = [Say(text) for text in before]
            plan += [Say(change(s.text)) if isinstance(s, Say) else s for s in context.plan(scenario, "oracle")]
            yield context.run(scenario, plan).finish().success


ACCEPTED: dict[str, tuple[str, Change]] = {
    "bags free of charge": (
        "tau2_baggage_allowance",
        lambda t: t.replace("That is 0 dollars in all", "They are free of charge").replace(
            "The added ones cost you 0 dollars in all.", "You pay nothing."
        ),
    ),
    "price of one bag": (
        "tau2_baggage_allowance",
        lambda t: t.replace("To confirm:", "Each bag beyond the allowance costs 50 dollars. To confirm:"),
    ),
    "old entry after a change": (
        "tau2_passenger_correction",
        lambda t: t.replace("The list has", "This is on file:"),
    ),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_true_facts_in_other_words_pass(case: str) -> None:
    name, change = ACCEPTED[case]
    assert all(results(name, change))


REJECTED: dict[str, tuple[str, Change]] = {
    "refund exchanged with a charge": (
        "tau2_record_identification",
        lambda t: t.replace("come back to the method that paid", "are charged to the method that paid"),
    ),
    "total comes back": (
        "tau2_numerical_payment_reasoning",
        lambda t: t.replace("comes to", "gives a refund of").replace("charged to", "refunded to"),
    ),
    "bags refunded": (
        "tau2_baggage_allowance",
        lambda t: (
            t.replace("That is", "You get back").replace("charged to", "refunded to").replace("cost you", "refund")
        ),
    ),
}


@pytest.mark.parametrize("case", REJECTED)
def test_exchanged_directions_fail(case: str) -> None:
    name, change = REJECTED[case]
    succeeded = list(results(name, change))
    assert sum(succeeded) <= len(succeeded) * 0.5 if "bags" in case else not any(succeeded)


QUESTIONS = ("Could you tell me your customer id?", "Why?", "Which reservation is it?", "One moment, please.")


@pytest.mark.parametrize(
    "name",
    [
        "tau2_aggregation", "tau2_baggage_allowance", "tau2_numerical_payment_reasoning", "tau2_passenger_correction",
        "tau2_record_identification",
    ],
)  # fmt: skip
def test_questions_before_the_proposal_change_nothing(name: str) -> None:
    assert all(results(name, str, QUESTIONS))


def test_customer_asks_for_refund_before_leaving() -> None:
    world, reference = load("tau2_record_identification")
    context = Context(world, reference, PROFILES["gate"])
    scenario = Scenario(env=world.id, level=0, seed=4000)
    *plan, last = context.plan(scenario, "oracle")
    assert isinstance(last, Say) and isinstance(plan[-1], Call)
    episode = context.run(scenario, [*plan, Say("The trip has been cancelled."), last])
    assert episode.finish().success
