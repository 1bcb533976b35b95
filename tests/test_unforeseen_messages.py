"""Classes of agent messages that scripted users must answer fittingly in every wording; see benchmarks/reviews."""

from __future__ import annotations

from typing import Any

import pytest

from trace_gym import registry
from trace_gym.targets.dialogue import acts
from trace_gym.targets.dialogue.changes import without_old_values
from trace_gym.targets.dialogue.clarification import clarified
from trace_gym.targets.dialogue.patterns import RECORD_ID, split_sentences
from trace_gym.targets.users.patterns import is_same_thing, only_not_found, rules_out_others
from trace_gym.targets.users.phrases import (
    BEYOND,
    CHECKED,
    GOES_ON,
    NOT_FOUND,
    NOTES,
    NOTHING_ELSE,
    THATS_ALL,
    TRANSFERRED,
    WAITS,
)

NOTED = {*WAITS, *GOES_ON, *NOTES, *TRANSFERRED}
UNKNOWN = {*BEYOND["fact"], *BEYOND["polar"], *BEYOND["unrelated"], *BEYOND["private"]}


def user(env: str = "tau2_precondition", level: int = 1, seed: int = 901) -> Any:
    world = registry.start_episode(f"{env}/{level}/{seed}").world.copy()
    world.greeting = ""
    return world


@pytest.mark.parametrize(
    "said",
    [
        "Let me pull up your account.", "Let me have a look at what the system shows.",
        "I need to check a few things first.",
        "All right, I have what I need from you.", "I need your location for that, so I'll switch location service on.",
        "I'd like to make sure I have the right record in front of me, so I'll look it up.",
    ],
)  # fmt: skip
@pytest.mark.parametrize("env", ["tau2_precondition", "tau2_retail_desk", "toolsandbox_state_dependency"])
def test_announcement_gets_no_answer_to_a_question(env: str, said: str) -> None:
    assert user(env, 0).reply(said) in NOTED


@pytest.mark.parametrize("said", ["On which day did you fall ill?", "Who is your doctor?", "What does the mail say"])
def test_unknown_fact_is_not_referred_to_the_records(said: str) -> None:
    assert user().reply(said) in UNKNOWN


@pytest.mark.parametrize("said", ["Which exchange should I use?", "What is the symbol?", "Which language is it in?"])
def test_detail_of_a_look_up_is_not_called_unrelated(said: str) -> None:
    answer = user("toolsandbox_permission_recovery", 0, 900).reply(said)
    assert answer in {*UNKNOWN, *BEYOND["preference"], *BEYOND["open"]}


@pytest.mark.parametrize(
    "said",
    [
        "Let me know whether you'd like it today or tomorrow.", "Tell me if I should take the first or the second one.",
        "Shall I ignore the rest, or does that still count?", "Do you want all of it, or is a part enough?",
    ],
)  # fmt: skip
def test_two_alternatives_are_no_proposal(said: str) -> None:
    assert [act.kind for act in clarified(acts(said))] == ["choice"]
    assert not str(user().reply(said)).startswith("Yes")


def test_refund_or_charge_are_no_alternatives() -> None:
    said = "Should I change it and charge or refund the gift card?"
    assert [act.kind for act in clarified(acts(said))] == ["proposal"]


@pytest.mark.parametrize("said", ["Are the bags oversized?", "Was the item damaged?", "Does the ticket have a stamp?"])
def test_yes_no_question_about_a_fact_is_no_proposal(said: str) -> None:
    assert not str(user().reply(said)).startswith("Yes")


@pytest.mark.parametrize(
    "said",
    [
        "I can't cancel it, and a colleague couldn't either.", "This can't be done by me or by any of my colleagues.",
        "I have to decline, and transferring you wouldn't change that.", "No human agent can cancel it.",
    ],
)  # fmt: skip
def test_user_asks_for_nobody_else_if_nobody_can_help(said: str) -> None:
    assert rules_out_others(said)
    assert "colleague" not in str(user("tau2_handover_judgement", 0, 900).reply(said))


@pytest.mark.parametrize("said", ["I can't cancel it, but a colleague can.", "I cannot do it.", "I transfer you."])
def test_help_by_somebody_else_is_not_ruled_out(said: str) -> None:
    assert not rules_out_others(said)


def test_question_whether_that_is_all_consents_to_nothing() -> None:
    assert user().reply("Will that be all?") in THATS_ALL
    assert user().reply("It is cancelled. Was that everything?") is None


def test_offer_of_help_before_any_report_does_not_end_the_conversation() -> None:
    desk = user("tau2_retail_desk", 0, 900)
    assert desk.reply("Is there anything else in that order you'd like to change?") in NOTHING_ELSE
    assert user().reply("Your trip has been cancelled. Anything else I can help with?") is None


def test_failed_search_does_not_end_the_conversation_at_once() -> None:
    phone = user("toolsandbox_insufficient_information", 0, 900)
    assert phone.reply("I couldn't find Oscar in your contacts.") in NOT_FOUND
    assert not only_not_found("I cannot text Oscar, because there is no such contact.")


def test_refusal_before_further_work_is_not_taken_for_the_end() -> None:
    said = "It didn't work because cellular service is disabled. I'll turn it on."
    assert user("toolsandbox_permission_recovery", 1, 900).reply(said) in WAITS


@pytest.mark.parametrize(
    "said", ["How tall are you", "What has led to it", "Which reason applies", "It is yours, right"]
)
def test_question_without_a_question_mark_is_a_question(said: str) -> None:
    assert {act.kind for act in clarified(acts(said))} <= {"request", "choice", "proposal"}


@pytest.mark.parametrize("said", ["This is what you asked for, isn't it?", "Tell me if that's as you remember it."])
def test_question_whether_a_description_is_right_gets_a_confirmation(said: str) -> None:
    assert user().reply(said) in CHECKED


def test_two_names_of_the_same_card() -> None:
    assert is_same_thing("Is the card you mention the one ending in 1658?", "Use my card ending in 1658.")
    assert not is_same_thing("Is the card ending in 1658 insured?", "Use my card ending in 1658.")


def test_reason_is_known_in_every_wording() -> None:
    questions = (
        "What keeps you from going?",
        "What brought this on?",
        "Can I ask what's going on?",
        "On what grounds?",
    )
    assert {user().reply(asked) for asked in questions} == {"My plans have changed."}


def test_unanswered_part_of_two_questions_is_mentioned() -> None:
    answer = user("tau2_intent_revision", 0, 900).reply("What is your user id, and what is the name of your doctor?")
    assert "wanda_papp_6710" in answer and answer.endswith(BEYOND["rest"])


def test_dates_that_a_change_replaces_are_left_out() -> None:
    assert without_old_values("Move it from 2024-05-24 to 2024-05-25?").split() == ["Move", "it", "to", "2024-05-25?"]
    assert "27" not in without_old_values("Outbound: May 25\nReturn on May 27: unchanged\nOkay?")


def test_identifiers_are_no_common_words() -> None:
    assert RECORD_ID.findall("Please CANCEL YJDWVG on HAT123 and #W1234567") == ["YJDWVG", "#W1234567"]
    assert split_sentences("One. Two?\nThree!") == ["One.", "Two?", "Three!"]


def test_changes_of_mind_are_repeated_with_what_they_replace() -> None:
    desk = user("tau2_intent_revision", 1, 901)
    desk.reply("I will cancel all of them. Shall I proceed?")
    assert "only replaces what it names" in desk.reply("Do you mean all of them, or only the last one?")


@pytest.mark.parametrize("word", ["for", "i", "on the", "or", "anything else", "you", ",", "then", "not", "if i"])
@pytest.mark.parametrize("start", ["Is that all", "I", "Could you tell me", "Let me", "I will", "Sorry, I cannot"])
def test_repeated_words_do_not_block_the_recognition(start: str, word: str) -> None:
    """An agent that repeats words would block training if a pattern had exponential run time."""
    assert clarified(acts(f"{start}{f' {word}' * 80}, z?"))
