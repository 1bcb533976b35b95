"""Refusals, choices, relative clauses and appeals for consent in the words of agents, and what looks like them."""

from __future__ import annotations

from typing import Any

import pytest

from trace_gym import registry
from trace_gym.targets.dialogue import acts, gist, refused, refuses
from trace_gym.targets.users.phrases import BEYOND, LACKS
from trace_gym.types import Scenario

REFUSALS = (
    "Order #W123 can no longer be changed.",
    "I can no longer change the delivery address of order #W6907133, because it is processed.",
    "Changes to this order are no longer possible.",
    "Your reservation ABC123 is no longer eligible for cancellation.",
    "Order #W123 has already been processed, so it can no longer be changed.",
    "Our system no longer lets me update this order.",
    "That item can't be exchanged any longer.",
    "Basic economy flights may not be changed.",
    "I won't cancel ABC123, since the policy excludes it.",
    "It is therefore not possible for me to change it.",
    "I can therefore not make any changes to it.",
    "We can currently not change that flight.",
    "The weather forecast isn't available 6 days ahead.",
    "Unfortunately, no forecast is available for that date.",
    "There is no weather information for that day.",
    "The result was empty.",
    "Solstead doesn't appear in the stock search.",
    "Solstead doesn't seem to be listed.",
    'The stock search has no match for "Solstead".',
    "Video calls aren't supported.",
    "None of my tools lets me video call Ann.",
    "The message was not sent, since neither of us has a number for Ann.",
    "Your request was not completed because wifi is off.",
    "Policy bars me from exchanging it.",
    "The request to cancel ABC123 is declined.",
)
NO_REFUSALS = (
    "I've cancelled ABC123. No other trips were changed.",
    "Your reservation has been cancelled. You won't be charged anything further.",
    "The trip has been cancelled and is no longer in your account.",
    "I've changed the flight; your other reservation will not be changed.",
    "Your bags have been added, and there's no fee for them.",
    "All done. There were no fees for that change.",
    "The refund has been issued. It does not include the fee.",
    "Your order #W1 has been cancelled because it was no longer needed.",
    "Your refund has already been processed.",
    "I have sent the message. I did not change any setting.",
)
CHOICES = (
    "Would you like me to text Ann Li or Ann Wu?",
    "Should I send it to Ann Li (neighbor) or Ann Wu (friend)?",
    "Do you want to text Ann Li or Ann Wu?",
    "Is it Ann Li or Ann Wu that you want to text?",
    "Shall I refund the gift card or the credit card?",
)
PROPOSALS = (
    "I'll cancel ABC123 and refund $100. Confirm?",
    "I can cancel it and refund $100. Let me know if you'd like that.",
    "I can move you to HAT010 for $50. Just say the word.",
    "The change costs $50. Give me the green light and I'll make it.",
    "May I have your go-ahead?",
    "Does this reflect what you want?",
    "Shall I go ahead with the cancellation, or is there something you want to change?",
    "Shall I cancel ABC123, or not?",
    "Do you want me to go ahead with the refund in 5 to 7 days?",
)
RELATIVE = (
    ("I can't switch it on in low battery mode, which you asked me not to touch.", "refusal"),
    ("Low battery mode (which you asked me to leave on) prevents this, so I can't do it.", "refusal"),
    ("I can't do that without changing low battery mode, which you want left alone.", "refusal"),
    ("I have cancelled ABC123, which you booked in May.", "completion"),
    ("$100 go back to credit_card_1, which you used for the booking.", "inform"),
)


@pytest.mark.parametrize("text", REFUSALS)
def test_refusals_of_current_agents_are_heard(text: str) -> None:
    assert gist(text) == "refusal" and refuses(text)


@pytest.mark.parametrize("text", NO_REFUSALS)
def test_reports_with_a_negation_are_no_refusals(text: str) -> None:
    assert gist(text) == "completion" and not refuses(text)


def test_a_reason_for_a_refusal_is_no_report() -> None:
    text = "Order #W123 has already been processed, so it can no longer be changed."
    assert "completion" not in {act.kind for act in acts(text)} and refused("#W123", [text], ["#W123"])
    assert not refused("#W123", ["Order #W123 has been cancelled, as it is no longer needed."], ["#W123"])


@pytest.mark.parametrize("text", CHOICES)
def test_questions_with_alternatives_are_choices(text: str) -> None:
    assert gist(text) == "choice"


@pytest.mark.parametrize("text", PROPOSALS)
def test_appeals_for_consent_are_proposals(text: str) -> None:
    assert gist(text) == "proposal"


@pytest.mark.parametrize(("text", "kind"), RELATIVE)
def test_relative_clauses_are_no_questions(text: str, kind: str) -> None:
    assert gist(text) == kind


@pytest.mark.parametrize(
    "text", ["Please tell me which you prefer.", "Let me know which you want, the first or the second."]
)
def test_indirect_questions_remain_questions(text: str) -> None:
    assert gist(text) in ("choice", "request")


def customer(env: str = "tau2_multi_step") -> Any:
    return registry.start_episode(Scenario(env=env, level=1, seed=0)).world.copy()


def test_customers_never_answer_alternatives_with_yes() -> None:
    assert customer().reply("Shall I cancel the first or the second trip?") == customer().restated()
    assert customer().reply("Economy or business? Please confirm so I can proceed.") in {
        *BEYOND["either"],
        *BEYOND["open"],
    }


def test_customers_say_yes_first_when_they_are_asked_for_a_fact_as_well() -> None:
    assert customer().reply("What is the reason, and may I go ahead?").startswith("Yes, please. ")
    assert not customer().reply("What is the reason?").startswith("Yes")


@pytest.mark.parametrize("text", ["What is your password?", "Could you tell me your phone number?"])
def test_customers_do_not_have_other_personal_facts_at_hand(text: str) -> None:
    assert customer().reply(text) == LACKS[0]


@pytest.mark.parametrize("text", ["How can I help you?", "What can I do for you?"])
def test_customers_tell_what_they_want_when_asked_for_it(text: str) -> None:
    assert customer().reply(text) == customer().restated()
