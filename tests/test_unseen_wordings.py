"""Wordings of authors and players who had not seen the code, each with a false message of the same shape."""

from __future__ import annotations

import pytest

from trace_gym.statements import find_values, states_status
from trace_gym.targets.dialogue import acts
from trace_gym.targets.tau2.methods import by_id
from trace_gym.world import asserted

METHODS = {
    "gift_card_11": {"source": "gift_card", "amount": 100},
    "credit_card_22": {"source": "credit_card", "brand": "visa", "last_four": "5732"},
    "credit_card_33": {"source": "credit_card", "brand": "mastercard", "last_four": "1234"},
}


def test_last_digits_of_a_card_share_no_unit_with_an_amount_behind_them() -> None:
    said = "238 dollars were charged to your mastercard ending in 5732 and 672 dollars to your visa ending in 3411."
    assert [v.value for v in find_values(said) if v.unit == "money"] == [238, 672]
    assert [v.unit for v in find_values("It takes 5 and at most 7 days, 3 or 4 bags")] == [
        "",
        "duration",
        "count",
        "count",
    ]


@pytest.mark.parametrize(
    "said",
    [
        "No flight stands in the way, as none has been flown yet.", "No flight of it was cancelled or has been flown.",
        "No flight has been flown.", "None of its flights was flown.", "No part of the trip was flown yet.",
        "Nothing has been flown.", "Neither flight has been flown.", "No leg of it is already flown.",
    ],
)  # fmt: skip
def test_subject_that_denies_denies_the_status(said: str) -> None:
    assert not states_status("landed", [said])


@pytest.mark.parametrize(
    "said",
    [
        "No, HAT123 has been flown.", "There is no doubt that it has been flown.", "No refund: it has been flown.",
        "Not insured, and the first flight was flown.", "Part of it was flown already.",
    ],
)  # fmt: skip
def test_denial_of_something_else_leaves_the_status(said: str) -> None:
    assert states_status("landed", [said])


def test_before_an_event_is_no_earlier_value() -> None:
    assert asserted(132, (), ["You have 132 days to go before Independence Day."])
    assert not asserted(50, (), ["It was 50 dollars before, and 60 now."])
    assert not asserted(50, (), ["It was 50 dollars before and is 60 now."])


def test_refund_to_what_was_paid_with_is_told() -> None:
    said = ["It's off the books now; $1,389 is returning to whatever you paid with."]
    assert asserted(1389, (), said, "refund")
    assert not asserted(1389, (), ["It stays; $1,389 is what you paid with your card."], "refund")


def test_processed_order_is_told_by_whoever_processed_it() -> None:
    assert states_status("processed", ["We've processed it already and $46.75 was paid."])
    assert not states_status("processed", ["We've processed your refund already."])


def test_names_of_methods_become_ids_where_only_one_has_the_name() -> None:
    assert by_id("140 go to the gift card and 267 to your Visa ending in 5732", METHODS) == (
        "140 go to gift_card_11 and 267 to credit_card_22"
    )
    assert by_id("your credit card gets 5", METHODS) == "your credit card gets 5"
    assert by_id("the gift card (gift_card_11) gets 5", METHODS) == "the gift card (gift_card_11) gets 5"


@pytest.mark.parametrize(
    "rest",
    [
        "The remaining step is R5YUC8, which I'll turn to now.", "That leaves R5YUC8.", "I still have R5YUC8 to do.",
        "Only R5YUC8 is left to do.", "The last thing on the list is R5YUC8.", "I'm about to process R5YUC8.",
    ],
)  # fmt: skip
def test_announced_rest_is_progress(rest: str) -> None:
    kinds = {act.kind for act in acts(f"I have updated FZ6780. {rest}")}
    assert "progress" in kinds
    assert "completion" not in kinds


@pytest.mark.parametrize(
    "rest",
    [
        "There is nothing left to do.",
        "That leaves nothing open.",
        "The final step is complete.",
        "The last item is done.",
    ],
)
def test_nothing_left_is_a_completion(rest: str) -> None:
    assert "progress" not in {act.kind for act in acts(f"I have updated FZ6780. {rest}")}
