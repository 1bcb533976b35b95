"""Tests of scripted users: announcements never end a conversation, and conditions and explanations refuse nothing.

Outside authors wrote most of the messages; see `benchmarks/reviews/users`.
"""

from __future__ import annotations

from typing import Any

import pytest

from trace_gym import registry
from trace_gym.targets.dialogue import acts
from trace_gym.targets.dialogue.clarification import clarified
from trace_gym.targets.users.phrases import (
    AT_ONCE,
    BEYOND,
    CHECKED,
    CONFIRMS,
    GOES_ON,
    NOTES,
    NOTHING_ELSE,
    STARTS,
    UNDECIDED,
    WAITS,
)

ENVIRONMENTS = ("tau2_precondition", "tau2_retail_desk", "toolsandbox_datetime")
WAITING = {*WAITS, *GOES_ON, *NOTES}


def user(env: str = "tau2_precondition", level: int = 1, seed: int = 901) -> Any:
    world = registry.start_episode(f"{env}/{level}/{seed}").world.copy()
    world.greeting = ""
    return world


def kinds(text: str) -> set[str]:
    return {act.kind for act in clarified(acts(text))}


@pytest.mark.parametrize("env", ENVIRONMENTS)
@pytest.mark.parametrize(
    "said",
    [
        "Very well, I go ahead with both now. As one flight has been flown, nothing else is booked.",
        "I'm putting the change through; please note that it can't be changed after that.",
        "Your request has been noted. I shall first retrieve the record. Please be aware that some trips cannot be "
        "changed if they are in basic economy.",
        "I understand that you are in a hurry. I need to open the record first. If it works, I'll tell you the amount "
        "and ask for your confirmation; if it can't be done, I'll tell you why.",
        "Will do!\n\nI'll tell you as soon as it's set.",
        "Sure! Here's the plan:\n1. Open the record\n2. Switch it over\n\nI'll give you the result when it's all done.",
        "Proceeding with that now. Everything else stays as it is.",
        "I'm checking now which of the entries differs and will only quote that one to you.",
        "One moment, I'm searching for it. If there are several, I'll ask you which one you mean.",
        "One moment please, I need the booking date first.",
        "How much it comes to depends on the cabin. I'm checking that now.",
        "I'm therefore proceeding with it, and I wish you all the best.",
        "Got it, taking care of that.",
        "The text goes out next; if a setting prevents it, I will deal with that.",
        "I can't quote an amount until I have seen the record, so please bear with me while I check.",
    ],
)
def test_announced_work_is_awaited(env: str, said: str) -> None:
    desk = user(env)
    assert desk.reply(said) in WAITING
    assert desk.reply("I am looking at it now.") is not None


@pytest.mark.parametrize(
    "said",
    [
        "No problem that you don't have the number, your id is enough.",
        "Keep the onward flight if you can still make it, otherwise take the cheapest one.",
        "You now fly at noon, because the flight that you had before could not be kept.",
        "If it is in basic economy, the flights can't be changed.",
    ],
)
def test_conditions_and_explanations_refuse_nothing(said: str) -> None:
    assert "refusal" not in kinds(said)


@pytest.mark.parametrize(
    "said",
    [
        "I can't cancel it, because the rules do not allow that.",
        "I'm sorry, the rules don't let me cancel it.",
        "The rules do not let me change that.",
        "I'm sorry, even if you are ill, I cannot cancel it.",
        "Because one flight was flown, I cannot change the trip.",
        "Unfortunately, that is not possible, since it is in basic economy.",
    ],
)
def test_refusals_with_a_reason_remain_refusals(said: str) -> None:
    assert "refusal" in kinds(said)


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("With your agreement I will make the change.", "proposal"),
        ("Just to confirm: you want the whole trip cancelled?", "proposal"),
        ("Please confirm that I should cancel the whole trip.", "proposal"),
        ("Is there any other item you'd like to change, or shall I proceed?", "proposal"),
        ("I will cancel it now if you agree.", "proposal"),
        ("Just tell me exactly what you want to say to him.", "request"),
        ("The only thing missing is why you'd like to give up this trip.", "request"),
        ("I've put the return through.", "completion"),
        ("Could you check the order number?", "request"),
        ("Please tell me if that's not so.", "proposal"),
        ("Please tell me whether I should change it.", "proposal"),
        ("Please tell me if you'd like to send back any other items.", "offer"),
        ("The change is made.", "completion"),
        ("I'll put the return through now.", "hold"),
        ("Could you give me a moment?", "hold"),
        ("I will put you through to a colleague.", "transfer"),
        ("There is no need to worry, I will transfer you to a colleague.", "transfer"),
    ],
)
def test_kinds_of_sentences_that_resemble_announcements(said: str, kind: str) -> None:
    assert kind in kinds(said)


def test_items_of_a_repeated_request_are_no_questions() -> None:
    said = "I've noted:\n1. Cancel the trip\n2. Name the flight number if one prevents it\n3. Transfer you otherwise"
    assert kinds(said) == {"inform"}


@pytest.mark.parametrize(
    ("said", "answers"),
    [
        ("May I move it as soon as I find one, or should I check with you first?", AT_ONCE),
        ("Is any time of the day fine with you?", BEYOND["any"]),
        ("Do you perhaps have another reservation number?", BEYOND["another"]),
        ("Would you like it worded differently?", BEYOND["unwanted"]),
        ("Let me know if any other trip should be cancelled too.", {*NOTHING_ELSE, *STARTS}),
        ("Just to be sure we mean the same trip: it is the one in May that you want cancelled?", {*CHECKED, *CONFIRMS}),
    ],
)
def test_questions_of_outside_authors_get_a_fitting_answer(said: str, answers: Any) -> None:
    assert user().reply(said) in answers


def test_what_the_request_leaves_open_is_left_to_the_agent() -> None:
    desk = user("tau2_retail_multi_step", 0, 901)
    answer = desk.reply("Should the change apply to this purchase only, or do you want it in your profile as well?")
    assert answer in BEYOND["extra"]
    answer = desk.reply("Should it be 95 Park Drive or 7 Mill Lane?")
    assert not any(answer.endswith(line) for line in UNDECIDED)


def test_a_refusal_after_consent_ends_the_conversation_only_if_it_is_clear() -> None:
    for said, ends in (("The rest stays as it is.", False), ("I am sorry, I cannot do that.", True)):
        desk = user("tau2_precondition", 0, 901)
        assert desk.reply("I will cancel it. Shall I proceed?").startswith("Yes")
        assert (desk.reply(said) is None) is ends
