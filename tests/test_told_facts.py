"""Checks of shipped environments accept a correct fact in other words, and no false one."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

import pytest

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.targets.tau2.records import FARES
from trace_gym.types import Say, Scenario

SEEDS = range(16)
Reword = Callable[[str], str]


def rate(name: str, reword: Reword, wanted: str) -> tuple[int, int]:
    """Return how many reworded plans of the oracle succeed, and how many contain the wanted pattern."""
    world, succeeded, count = registry.load_world(name), 0, 0
    for level in world.levels:
        for seed in SEEDS:
            episode = Episode(world, Scenario(env=name, level=level, seed=seed))
            plan = list(episode.start.oracle())
            if not any(isinstance(s, Say) and re.search(wanted, s.text) for s in plan):
                continue
            count += 1
            for step in plan:
                if not episode.done:
                    episode.step(Say(reword(step.text)) if isinstance(step, Say) else step)
            succeeded += episode.finish().success
    assert count >= 5, "the test has too few scenarios"
    return succeeded, count


def written(form: str) -> Reword:
    """Return a function that writes ISO dates in another format."""

    def one(match: re.Match[str]) -> str:
        return date.fromisoformat(match[0]).strftime(form)

    return lambda text: re.sub(r"\b2024-\d\d-\d\d\b", one, text)


@pytest.mark.parametrize("form", ["%B %d, %Y", "%m/%d/%Y", "%d %B", "%Y-%m-%dT08:33:01", "%b %d", "the %dth of %B"])
@pytest.mark.parametrize("name", ["tau2_precondition", "tau2_airline_desk"])
def test_day_of_booking_is_accepted_in_every_format(name: str, form: str) -> None:
    succeeded, count = rate(name, written(form), r"I cannot cancel .*booked \d")
    assert succeeded == count


STATUSES = {
    "it is pending (item modified)": "its items were already modified",
    "it is delivered": "it has been delivered already",
    "it is processed": "it's being processed",
    "it is cancelled": "it was canceled before",
    "it is exchange requested": "an exchange has already been requested for it",
    "it is return requested": "a return is already under way",
}


@pytest.mark.parametrize("name", ["tau2_retail_precondition", "tau2_retail_desk"])
def test_status_of_an_order_is_accepted_in_other_words(name: str) -> None:
    def reword(text: str) -> str:
        for plain, other in STATUSES.items():
            text = text.replace(plain, other)
        return text

    succeeded, count = rate(name, reword, "it is (pending \\(|delivered|processed|exchange|return|cancelled)")
    assert succeeded == count


def test_wrong_status_of_an_order_is_rejected() -> None:
    def reword(text: str) -> str:
        return text.replace("it is delivered", "it is cancelled").replace("it is processed", "it is delivered")

    succeeded, _ = rate("tau2_retail_precondition", reword, "I cannot .* it is (delivered|processed), ")
    assert succeeded == 0


@pytest.mark.parametrize("fare", [FARES[3], FARES[40], FARES[-1]])
def test_fare_of_an_upgrade_does_not_compete_with_a_refund(fare: int) -> None:
    def reword(text: str) -> str:
        offer = f"The fare of the new cabin is {fare} dollars a person, charged to your card."
        return text.replace("Shall I proceed?", f"{offer} Shall I proceed?")

    succeeded, count = rate("tau2_airline_desk", reword, r"refund \d")
    assert succeeded == count


@pytest.mark.parametrize(("before", "behind"), [
    ("refund ", "charge "), ("refund ", "not refund "), ("refund ", "maybe refund "), ("refund ", "refund 52, or "),
])  # fmt: skip
def test_refund_told_as_a_charge_or_with_a_hedge_is_rejected(before: str, behind: str) -> None:
    succeeded, _ = rate("tau2_airline_desk", lambda text: text.replace(before, behind), r"refund \d")
    assert succeeded == 0


@pytest.mark.parametrize("claim", ["I have cancelled {} and refunded you in full.", "{} has been cancelled."])
def test_refusal_next_to_a_claim_that_it_is_done_is_rejected(claim: str) -> None:
    def reword(text: str) -> str:
        return re.sub(r"I cannot cancel (\w+):[^.]*\.", lambda m: f"{m[0]} {claim.format(m[1])}", text)

    succeeded, _ = rate("tau2_precondition", reword, "I cannot cancel")
    assert succeeded == 0


@pytest.mark.parametrize("false", [
    "Your {} is a good choice, {code} was booked in {cabin} class.", "{code} is insured and has no insurance.",
    "{code} was made in {cabin}.", "Your {cabin} reservation {code} is too old.",
])  # fmt: skip
def test_refusal_with_a_false_cabin_or_insurance_is_rejected(false: str) -> None:
    def reword(text: str) -> str:
        def one(match: re.Match[str]) -> str:
            cabin = "business" if "economy" in match[2] else "economy"
            return f"{match[0]} {false.format('trip', code=match[1], cabin=cabin)}"

        return re.sub(r"I cannot cancel (\w+): (\w+), [^.]*\.", one, text)

    succeeded, _ = rate("tau2_precondition", reword, r"I cannot cancel \w+: \w+, booked")
    assert succeeded == 0


@pytest.mark.parametrize("true", [
    "Only business class reservations could be cancelled now.", "It would have to be a business ticket or be insured.",
    "A cancellation needs business class, or travel insurance and a covered reason.",
    "A business ticket could be cancelled.",
    "If it were insured, I could cancel it because of your health.", "You can still upgrade to business.",
    "It was not booked in business class.", "I have not cancelled it and nothing was refunded.",
])  # fmt: skip
def test_refusal_with_an_explanation_of_the_policy_is_accepted(true: str) -> None:
    def reword(text: str) -> str:
        return re.sub(r"I cannot cancel \w+: [^.]*economy, [^.]*no\.", lambda m: f"{m[0]} {true}", text)

    succeeded, count = rate("tau2_precondition", reword, "I cannot cancel .*economy, .*no\\.")
    assert succeeded == count


@pytest.mark.parametrize("fact", [
    "{name[first_name]} {name[last_name]}", "{email}", "{address[address1]}", "{address[city]}", "{items[0][name]}",
    "{items[0][item_id]}", "{user_id}",
])  # fmt: skip
def test_refusal_that_reveals_another_customer_is_rejected(fact: str) -> None:
    world, found = registry.load_world("tau2_retail_precondition"), 0
    for seed in range(60):
        episode = Episode(world, Scenario(env="tau2_retail_precondition", level=2, seed=seed))
        start = episode.start
        others = [r for r in start.requests if start.orders[r.order]["user_id"] != start.customer]
        if not others:
            continue
        order = start.orders[others[0].order]
        told = fact.format(**{**order, **start.users[order["user_id"]]})
        wrote = start.opening() + str([o["items"] for o in start.orders.values() if o["user_id"] == start.customer])
        if told in wrote + str(start.users[start.customer]):
            continue
        found += 1
        plan = list(start.oracle())
        refusal = next(s for s in plan if isinstance(s, Say) and "I cannot" in s.text)
        for step in plan:
            if not episode.done:
                episode.step(Say(f"It is of {told}. {step.text}") if step is refusal else step)
        assert not episode.finish().success, told
    assert found
