"""Statements that a verifier counts as given, and those that a scripted user treats as refused."""

import pytest

from trace_gym.targets.dialogue import refuses
from trace_gym.world import asserted


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (50, "That is $50 in all."),
        (50, "That is $50.00 in all."),
        (1250, "It costs 1,250.00 dollars."),
        ("50.00", "It costs 50 dollars."),
        ("Gold", "You are a GOLD member."),
        (50, "It costs 50."),
    ],
)
def test_a_value_is_told_however_it_is_spelt(value: str | int, said: str) -> None:
    assert asserted(value, [value, "60", "silver"], [said])


@pytest.mark.parametrize("said", ["It costs 150.", "It costs 50.25.", "It costs 50 or 60.", "Nothing.", "50 or 60.00"])
def test_another_value_or_two_of_them_is_not_told(said: str) -> None:
    assert not asserted(50, [50, 60], [said])


@pytest.mark.parametrize("why", ["not allowed", "not possible", "not permitted", "not eligible", "No exception"])
def test_a_refusal_is_heard_in_these_words(why: str) -> None:
    assert refuses(f"That is {why}.") and not refuses("That is allowed.")
