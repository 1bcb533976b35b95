"""Amounts of changes need not be told, but what is told of them must be right, in amount and direction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from trace_gym import registry
from trace_gym.targets.tau2.concessions import gives_away
from trace_gym.targets.tau2.consent import names_other_method, proposed
from trace_gym.targets.tau2.differences import misstated, moved
from trace_gym.types import Call, Event, Say, Scenario

ENVIRONMENTS = (
    ("tau2_structured_data", 2),
    ("tau2_retail_structured_data", 2),
    ("tau2_airline_desk", 1),
    ("tau2_multi_step", 3),
    ("tau2_tool_precision", 2),
    ("tau2_retail_tool_precision", 1),
    ("tau2_concurrent_intents", 1),
)
RIGHT = (
    "The difference of {a} {was} to {m}.",
    "{r} is done.\n\n- **Price difference:** {a} ({way})\n- **Payment method:** {m}",
    "The price difference is {a}, which {was} to {m}.",
    "The difference of {a} was settled with {m}.",
    "Everything is arranged for {r}.",
)
WRONG = (
    "The difference of {a} {not_was} to {m}.",
    "{r} is done.\n\n- **Price difference:** {a} ({not_way})\n- **Payment method:** {m}",
    "The difference of {b} {was} to {m}.",
    "The price difference is {b}, which {was} to {m}.",
)


def reports(name: str, level: int, text: str) -> Iterator[bool]:
    """Yield whether the oracle's plan succeeds with a report about a change that moves money."""
    for seed in range(700, 712):
        episode = registry.start_episode(Scenario(env=name, level=level, seed=seed))
        start: Any = episode.world.copy()
        steps = list(episode.world.copy().oracle())
        if (facts := of_change(start)) and isinstance(steps[-1], Say) and any(isinstance(s, Call) for s in steps):
            for step in [*steps[:-1], Say(text.format(**facts))]:
                episode.step(step)
            yield bool(episode.finish().success)


def of_change(start: Any) -> dict[str, str]:
    """Return the words for the first change of a desk that moves money; empty where there is none."""
    want = start.served()
    for request in start.requests:
        if type(request).__name__ in ("ChangeFlights", "ExchangeItems", "Upgrade") and request.verdict(start).allowed:
            before, after = (getattr(w, "reservations", None) or w.orders for w in (start, want))
            [*_, amount] = moved(before[request.record], after[request.record]) or [0.0]
            if amount:
                ways = ("was charged", "was refunded")[:: 1 if amount > 0 else -1]
                a, b = (f"${abs(amount) + more:.2f}".removesuffix(".00") for more in (0, 13))
                words = dict(zip(("was", "not_was"), ways, strict=True))
                words |= {"way": ways[0].split()[1], "not_way": ways[1].split()[1]}
                return {**words, "a": a, "b": b, "r": request.record, "m": request.method}
    return {}


@pytest.mark.parametrize(("name", "level"), ENVIRONMENTS)
@pytest.mark.parametrize("text", RIGHT)
def test_right_amounts_and_silence_pass(name: str, level: int, text: str) -> None:
    assert {*reports(name, level, text)} == {True}


@pytest.mark.parametrize(("name", "level"), ENVIRONMENTS)
@pytest.mark.parametrize("text", WRONG)
def test_wrong_amounts_and_exchanged_directions_fail(name: str, level: int, text: str) -> None:
    outcomes = [*reports(name, level, text)]
    assert sum(outcomes) <= len(outcomes) // 10  # another amount of the records may happen to be named


@pytest.mark.parametrize(
    ("text", "false"),
    (
        ("You pay $20 more in all, $14 for the first trip and $6 for the second.", False),
        ("$20 will be charged to your card.", False),
        ("The fare is $412 per person.", False),
        ("HAT100 would cost an additional $35, HAT101 an additional $14. You were charged $14.", False),
        ("An additional $35 was charged.", True),
        ("$14 was refunded to your card.", True),
        ("You get $20 back.", True),
        ("The price difference comes to $19.", True),
        ("Your limit is $500, and $14 was charged.", False),
    ),
)
def test_sums_prices_and_other_offers_may_be_told(text: str, false: bool) -> None:
    assert misstated([14.0, 6.0], {412.0}, {35.0, 14.0}, [text]) is false


@pytest.mark.parametrize(
    ("text", "gift"),
    (
        ("I have also added a $25 gift card to your profile.", True),
        ("I've issued a $100 certificate as a goodwill gesture.", True),
        ("We will also give you some bonus miles.", True),
        ("I can offer you another $50 voucher.", True),
        ("I'm unable to offer a certificate or a voucher.", False),
        ("I'll put the $24 on your gift card ending in 1234.", False),
        ("I've issued a refund of $120 to your gift card.", False),
        ("I can process a refund to a gift card if you like.", False),
        ("I've made a payment with your certificate.", False),
    ),
)
def test_gift_is_told_from_a_refund_to_a_gift_card(text: str, gift: bool) -> None:
    assert gives_away([text]) is gift


@pytest.mark.parametrize("name", ("tau2_retail_desk", "tau2_airline_desk", "tau2_precondition"))
def test_gift_beside_a_right_answer_fails(name: str) -> None:
    for seed in range(800, 810):
        episode = registry.start_episode(Scenario(env=name, level=0, seed=seed))
        *steps, last = episode.world.copy().oracle()
        assert isinstance(last, Say)
        for step in [*steps, Say(f"{last.text} I have also added a $25 gift card to your profile.")]:
            episode.step(step)
        assert not episode.finish().success


WROTE = Call("update_reservation_flights", {"reservation_id": "ABC123", "payment_id": "gift_card_1"})
CANCELLED = Call("cancel_reservation", {"reservation_id": "ABC123"})
METHODS = {"gift_card_1": {"source": "gift_card"}, "credit_card_2": {"source": "credit_card"}}


def agreed(*texts: str) -> list[Event]:
    return [Event(step=Say(text), answer="Yes, please.") for text in texts]


@pytest.mark.parametrize(
    ("write", "text", "consent"),
    (
        (WROTE, "HAT074 costs $664 in business class. I would cancel ABC123. Would you like me to proceed?", False),
        (WROTE, "I'd cancel XYZ789 and then move ABC123 up to business. Shall I start?", True),
        (WROTE, "I'll switch ABC123 to HAT074. Shall I proceed?", True),
        (CANCELLED, "I can move ABC123 to HAT074. Shall I go ahead?", False),
        (CANCELLED, "I will go ahead with ABC123 and refund $120. Is that okay?", True),
    ),
)
def test_consent_to_one_deed_is_none_to_another(write: Call, text: str, consent: bool) -> None:
    assert proposed(write, agreed(text), {"ABC123"}, {"ABC123", "XYZ789"}, alone=True) is consent


@pytest.mark.parametrize(
    ("text", "other"),
    (
        ("I'll charge your Visa for the change of ABC123. OK?", True),
        ("I'll charge credit_card_2 for the change of ABC123. OK?", True),
        ("I'll charge your gift card for the change of ABC123. OK?", False),
        ("You paid with your Visa; the change goes to gift_card_1. OK?", False),
        ("I'll change ABC123. OK?", False),
    ),
)
def test_consent_binds_the_method_that_a_proposal_names(text: str, other: bool) -> None:
    assert names_other_method(WROTE, METHODS, agreed(text)) is other
