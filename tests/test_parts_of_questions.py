"""Answers of scripted users by the kind and the topic of each part of a question."""

from __future__ import annotations

from typing import Any

import pytest

from trace_gym import registry
from trace_gym.targets.dialogue import acts
from trace_gym.targets.dialogue.clarification import clarified
from trace_gym.targets.dialogue.question_parts import asks_for_others, head, is_past, parts
from trace_gym.targets.tau2.profile import pays
from trace_gym.targets.toolsandbox.assistant import Assistant
from trace_gym.targets.toolsandbox.phone_user import AGREED, AGREES
from trace_gym.targets.toolsandbox.requests import Switch, Text
from trace_gym.targets.toolsandbox.schedule import Remind, When
from trace_gym.targets.users.phrases import BEYOND, CHECKED, CONSENTS
from trace_gym.targets.users.recall import quoted, recalled, same_or_other
from trace_gym.types import Scenario

OPENING = (
    "I booked XKJZTP more than a day ago. I did not buy insurance for it. Please put XKJZTP in business class. "
    "It must not leave before 10:00. Tell me what the business fare is."
)


def customer(env: str = "tau2_precondition", level: int = 1, seed: int = 0) -> Any:
    return registry.start_episode(Scenario(env=env, level=level, seed=seed)).world.copy()


def phone(*requests: Any) -> Any:
    class Caller(Assistant):
        id = "caller"

    return Caller(requests=[*requests], wording=f"Please {requests[0].wish}.")


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        ("what is your id, and when did you book?", 2),
        ("i need the reason as well as the date of each booking", 2),
        ("could you tell me your email and tell me where you are flying?", 2),
        ("two things: your reason, and whether a flight has been flown", 2),
        ("which one is it?", 0),
        ("when the parcel comes back, where should the money go?", 1),
        ("could you confirm the reservation id, i'll check when it was booked", 1),
    ],
)
def test_questions_are_divided_into_parts(asked: str, count: int) -> None:
    assert len([*parts(asked)]) == count


@pytest.mark.parametrize(
    ("asked", "past"),
    [
        ("when did you book the trip?", True), ("which card did you pay with?", True),
        ("has any flight been flown already?", True), ("which card would you like to pay with?", False),
        ("when should it be delivered?", False), ("which day is the return flight booked for?", False),
    ],
)  # fmt: skip
def test_past_events_are_told_from_wishes(asked: str, past: bool) -> None:
    assert is_past(asked) is past


def test_facts_about_others_and_descriptions_are_told_apart() -> None:
    assert asks_for_others("what is yara goto's date of birth?") and not asks_for_others("what's your date of birth?")
    assert head("your full name as it's printed on the card") == "your full name"


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("when did you book xkjztp?", "I booked XKJZTP more than a day ago."),
        ("did you buy insurance?", "I did not buy insurance for it."),
        ("which cabin would you like for xkjztp?", "Please put XKJZTP in business class."),
        ("what time would you like to leave?", "It must not leave before 10:00."),
        ("what time would you like to arrive?", ""), ("what size would you like?", ""),
        ("what cabin are you booked in right now?", ""), ("what is the number of the insurance policy?", ""),
    ],
)  # fmt: skip
def test_users_recall_only_what_they_wrote(asked: str, answer: str) -> None:
    assert recalled(asked, OPENING) == answer


def test_one_of_the_same_or_another_is_the_one_that_was_named() -> None:
    assert same_or_other("Is it XKJZTP, or a different reservation?", OPENING) == "I mean XKJZTP."
    assert "on file" in same_or_other("Is that gift_card_1234567, or another one?", OPENING)
    assert not same_or_other("Is it ABC123, or a different reservation?", OPENING)
    assert not same_or_other("Would you like business or economy?", OPENING)
    assert quoted('By "before 10:00", do you mean sharp?', OPENING) == "It must not leave before 10:00."


def test_methods_are_told_with_their_records() -> None:
    assert pays([]) == pays([("A", "")]) == "Use what I paid with."
    assert pays([("A", "my visa"), ("B", "my visa")]) == "Please use my visa."
    assert pays([("A", "my visa"), ("B", "")]) == "For A, use my visa. For B, use what I paid with."


def test_customers_answer_each_part_and_do_not_know_the_rest() -> None:
    answer = customer().reply("What is your customer id, and how many people are travelling?")
    assert customer().customer in answer and any(line in answer for line in BEYOND["rest"])
    assert not any(line in customer().reply("What is your customer id?") for line in BEYOND["rest"])


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        ("When did you book it?", "fact"), ("Are any of your flights in the next 24 hours?", "polar"),
        ("Are you able to provide a doctor's note?", "proof"),
        ("Would you accept a voucher instead of a refund?", "unwanted"),
    ],
)  # fmt: skip
def test_unknown_topics_are_answered_by_the_kind_of_question(asked: str, kind: str) -> None:
    assert customer().reply(asked) in BEYOND[kind]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Please give me a moment so that I can check the details.", {"hold"}),
        ("Please tell me whether you agree.", {"proposal"}), ("Am I right that it is ABC123?", {"proposal"}),
        ("Let me know whether you want the red one.", {"request", "choice", "proposal"}),
        ("I need your email before I can look it up.", {"request"}), ("I have your order number.", {"inform"}),
    ],
)  # fmt: skip
def test_clauses_are_taken_for_what_they_are_meant_as(text: str, kinds: set[str]) -> None:
    assert {act.kind for act in clarified(acts(text))} & kinds


def test_users_of_phones_agree_plainly_to_what_they_asked_for() -> None:
    reminder = Remind("water the plants", When(17, 30, weekday=3))
    assert phone(reminder).reply('I will set a reminder "water the plants" for Wednesday, 17:30. OK?') in AGREED
    assert phone(reminder).reply("Shall I switch wifi on?") in AGREES
    assert phone(Text("Ada", "Hi", meant="Ada")).reply("Shall I delete her contact?") in AGREES
    assert phone(reminder).reply("Do you mean this Wednesday or Wednesday next week?") == (
        "The first Wednesday after today."
    )


def test_users_of_phones_miss_what_was_left_as_it_was() -> None:
    world = phone(Text("Ada Holm", "Hi", meant="Ada Holm"), Switch("cellular", False))
    assert world.reply("I did not find Ada Holm. Cellular service was left as it was.") is not None
    world = phone(Text("Ada Holm", "Hi", meant="Ada Holm"), Switch("cellular", False))
    assert world.reply("I sent it to Ada Holm. Cellular service is off now.") is None


def test_confirming_a_fact_is_no_consent_to_a_change() -> None:
    desk = customer("tau2_multi_step")
    record = desk.requests[0].record
    answer = desk.reply(f"{record} is in economy. Please let me know if that agrees with your papers.")
    assert answer in CHECKED and not answer.startswith("Yes") and "go ahead" not in answer
    assert customer("tau2_multi_step").reply(f"I will cancel {record}. Please tell me whether you agree.") in CONSENTS
    assert customer("tau2_multi_step").reply("Tell me whether 9Z9Z9Z is the correct one.") not in CHECKED
