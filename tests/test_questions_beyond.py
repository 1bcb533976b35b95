"""Questions that a scripted user was told nothing about, informal questions, and conversations that go on."""

from __future__ import annotations

from typing import Any

import pytest

from trace_gym import registry
from trace_gym.targets.dialogue import gist
from trace_gym.targets.dialogue.question_forms import question_form
from trace_gym.targets.toolsandbox.assistant import Assistant
from trace_gym.targets.toolsandbox.lookups import Exchange
from trace_gym.targets.toolsandbox.phone_user import LEFT
from trace_gym.targets.toolsandbox.requests import Switch, Text
from trace_gym.targets.toolsandbox.schedule import Remind, When
from trace_gym.targets.users.phrases import BEYOND, MEANT
from trace_gym.types import Say, Scenario

UPGRADE = "I want you to upgrade FXVP8H to business. Use my credit card ending in 8939 for it."


def customer(env: str = "tau2_multi_step", level: int = 1, seed: int = 0) -> Any:
    return registry.start_episode(Scenario(env=env, level=level, seed=seed)).world.copy()


def phone(*requests: Any, greeting: str = "") -> Any:
    class Caller(Assistant):
        id = "caller"

    return Caller(requests=[*requests], wording="Please do something.", greeting=greeting)


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        ("how many bags will you have with you", "fact"),
        ("what is the latest time that suits you?", "preference"),
        ("celsius or fahrenheit?", "either"),
        ("business or economy?", "wish"),
        ("have you checked in already?", "polar"),
        ("which one shall i do first?", "first"),
        ("what are the last four digits of the card?", "details"),
        ('when you say "business", is that for one way or both?', "wording"),
        ("what would you like me to do?", "wish"),
        ("how can i help you?", "wish"),
        ("could you confirm before i process it?", "wish"),
        ("can i get started?", "wish"),
    ],
)
def test_questions_have_forms(asked: str, kind: str) -> None:
    assert question_form(asked, UPGRADE) == kind


def test_only_a_question_for_the_wish_gets_it_again() -> None:
    desk = customer()
    said = [desk.reply(text) for text in ("How many bags do you have?", "When did you book it?", "Who is your doctor?")]
    assert desk.restated() not in said and len({*said}) == 3
    assert customer().reply("What exactly would you like me to do?") == customer().restated()


def test_a_question_about_the_wording_is_answered_as_such() -> None:
    answer = customer().reply('When you say "cancel", do you mean one flight or the whole trip?')
    assert answer.startswith(MEANT) or answer in BEYOND["open"]


def test_an_extra_that_was_not_asked_for_is_declined() -> None:
    assert customer().reply("Would you like to add travel insurance?") in BEYOND["unwanted"]
    assert customer().reply("Would you like me to cancel the trips?").startswith("Yes")


def test_a_question_of_fact_is_no_proposal() -> None:
    assert customer().reply("Do you still have the receipt?") in {*BEYOND["polar"], *BEYOND["private"]}
    assert customer().reply("Do you want me to go ahead?").startswith("Yes")


def test_customers_know_their_own_profiles() -> None:
    desk = customer()
    me = desk.users[desk.customer]
    assert me["dob"] in desk.reply("What is your date of birth?")
    assert me["email"] in desk.reply("And which email address did you sign up with?")
    assert me["address"]["zip"] in desk.reply("Your zip code, please?")
    assert me["dob"] not in desk.reply("What is Yara Goto's date of birth?")


def test_a_shopper_who_is_known_by_name_has_no_email_at_hand() -> None:
    for seed in range(9):
        desk = customer("tau2_retail_multi_step", seed=seed)
        answer = desk.reply("What is your email?")
        email = desk.users[desk.customer]["email"]
        assert (email in answer) is (desk.known_by == "email") and desk.who() in answer
        assert answer.startswith("I do not have the email at hand.") is (desk.known_by != "email")


@pytest.mark.parametrize(
    "text",
    [
        "whats your id with us", "ok and why do u want to cancel", "which trip are the bags for", "ur email pls",
        "so why are you cancelling these, if i may ask", "how come u wanna cancel", "what do u want the text to say",
        "I'm going to need your customer ID first.", "I have to ask for the reason.", "Mind telling me the reason?",
    ],
)  # fmt: skip
def test_questions_without_a_question_mark_are_heard(text: str) -> None:
    assert gist(text) == "request"


@pytest.mark.parametrize(
    "text",
    [
        "Which is why it stays.", "What is left is the second trip.", "What was paid for it adds up to 276 dollars.",
        "When it is done I write to you.", "What stands in the way is the cabin.", "What I see is one trip.",
    ],
)  # fmt: skip
def test_statements_that_begin_like_questions_are_none(text: str) -> None:
    assert gist(text) not in ("request", "choice", "proposal")


@pytest.mark.parametrize(
    "text",
    [
        "I'm now cancelling the other one.", "I shall add it right away.", "Okay, setting it up.", "On to the second.",
        "The second one follows now.", "The third is coming up.", "I will first convert the time and then create it.",
    ],
)  # fmt: skip
def test_work_that_is_announced_keeps_the_conversation_going(text: str) -> None:
    assert customer().reply(f"The first one has been cancelled. {text}") is not None
    assert phone(Remind("walk the dog", When(9))).reply(text) is not None


def test_customers_stay_while_the_agent_needs_something() -> None:
    desk = customer("tau2_retail_multi_step")
    assert desk.who() in desk.reply("I can't open the order without a customer profile.")
    assert desk.who() in desk.reply("I can only go on once I know who you are.") or desk.last_answer
    assert customer("tau2_precondition", 1, 3).reply("I cannot cancel it because it is not insured.") != desk.who()


def test_customers_agree_to_no_change_of_records_that_they_did_not_name() -> None:
    desk = customer()
    named = desk.requests[0].record
    assert desk.reply("Shall I cancel 9Z9Z9Z?").startswith("That is not what I asked for.")
    assert customer().reply(f"Shall I cancel {named}?").startswith("Yes")


def test_users_of_phones_tell_what_they_said_and_what_is_not_needed() -> None:
    world = phone(Remind("walk the dog", When(9, on="2026-05-01")))
    assert "walk the dog" in world.reply("What should the reminder say?")
    assert world.reply("Which contact is it for?") in BEYOND["unrelated"]
    assert world.asked == []
    assert phone(Text("Ada Holm", "Hi", meant="Ada Holm")).reply("When shall I send it?") == "Right away, please."


def test_users_of_phones_ask_once_whether_the_rest_is_done() -> None:
    world = phone(Switch("wifi", False), Exchange(20, "USD", "GBP"))
    assert world.reply("Sorry, no rate of USD to GBP was found.") == LEFT
    assert world.reply("Sorry, no rate of USD to GBP was found.") is None
    world = phone(Switch("wifi", False), Exchange(20, "USD", "GBP"))
    assert world.reply("I switched wifi off. 20 USD are 15.80 GBP.") is None
    assert phone(Switch("wifi", False)).reply("I cannot switch wifi off.") is None


def test_users_of_phones_never_leave_before_they_said_what_they_want() -> None:
    assert phone(Switch(), greeting="Hi!").reply("Sorry, I could not find it.") == "Please do something."


@pytest.mark.parametrize(
    "report",
    [
        "Your reservation has been cancelled, and the refund is on its way.",
        "I've cancelled it; the money will go back to your credit card.",
        "The first cancellation is complete.",
    ],
)
def test_report_about_one_of_several_trips_that_does_not_name_it_ends_nothing(report: str) -> None:
    episode = registry.start_episode(Scenario(env="tau2_multi_step", level=2, seed=3))
    episode.step(Say(report))
    assert not episode.done
    episode.step(Say("Everything that you asked for is done."))
    assert episode.done
