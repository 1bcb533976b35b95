"""The phone's user answers choices and questions for a number, and reminders and counts may be worded freely."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.targets.toolsandbox.assistant import Assistant
from trace_gym.targets.toolsandbox.message_analysis import refused
from trace_gym.targets.toolsandbox.requests import Text
from trace_gym.targets.toolsandbox.schedule import Countdown
from trace_gym.targets.toolsandbox.substitutes import substitutes
from trace_gym.targets.toolsandbox.wording import lists_days, reminder_subject
from trace_gym.targets.users.phrases import LACKS
from trace_gym.types import Say, Scenario

CHOICES = (
    "Would you like me to text Ann Li or Ann Wu?",
    "Should I send it to Ann Wu (neighbor) or Ann Li (friend)?",
    "Do you want to text Ann Li or Ann Wu?",
    "Is it Ann Li or Ann Wu that you want to text?",
    "Should the text go to Ann Li or Ann Wu?",
)
FOR_NUMBER = (
    "What phone number should I send the text to?",
    "Could you give me the phone number so I can send the text message?",
    "Please provide the phone number so I can send the text",
    "Could you tell me which number to send the text to?",
    "What phone number should the text be sent to?",
    "If you give me the phone number, I can send the message right away.",
    "Do you know their number?",
)


def user() -> Assistant:
    world = registry.start_episode(Scenario(env="toolsandbox_insufficient_information", level=0, seed=100)).world.copy()
    assert isinstance(world, Assistant)
    world.requests = [Text("Ann", "Bring milk", meant="Ann Li", number="+19775550128")]
    world.greeting, world.wording = "", 'Please text Ann: "Bring milk".'
    return world


@pytest.mark.parametrize("question", CHOICES)
def test_the_user_says_which_person_is_meant(question: str) -> None:
    world = user()
    assert world.reply(question) == "I mean Ann Li." and world.asked == ["which"]


@pytest.mark.parametrize("question", FOR_NUMBER)
def test_a_question_for_the_number_asks_for_nothing_else(question: str) -> None:
    world = user()
    assert world.reply(question) == "The number is +19775550128." and world.asked == ["number"]


@pytest.mark.parametrize(
    "question", ["What should the text say?", "What do you want to tell Ann?", "What is the text?"]
)
def test_a_question_for_the_words_asks_for_them(question: str) -> None:
    world = user()
    assert world.reply(question) == 'Write: "Bring milk".' and world.asked == ["content"]


def test_a_question_for_both_asks_for_both() -> None:
    world = user()
    world.reply("What is the text, and which number should it go to?")
    assert sorted(world.asked) == ["content", "number"]


@pytest.mark.parametrize("question", ["May I have your email?", "What is your account number?", "Your date of birth?"])
def test_the_user_has_no_other_facts_at_hand(question: str) -> None:
    assert user().reply(question) == LACKS[0]


def test_the_user_tells_the_wish_when_asked_for_it() -> None:
    assert user().reply("How can I help you?") == user().restated()


def test_names_of_refusals_may_have_hyphens_and_quotes() -> None:
    assert refused(["low battery mode"], ["I can't do that: low-battery mode is on."])
    assert refused(["wifi"], ["It can't be done while Wi-Fi is off."])
    assert refused(["Solstead"], ['The stock search has no match for "Solstead".'])
    assert not refused(["low battery mode"], ["I can't do that: the battery is low."])
    assert not refused(["Solstead"], ['The stock search has no match for "Northwind".'])


@pytest.mark.parametrize(
    "content",
    [
        "Reminder: Call the plumber",
        "Remind me to call the plumber.",
        "Call plumber",
        "Don't forget to call the plumber!",
    ],
)
def test_reminders_may_be_worded_freely(content: str) -> None:
    assert reminder_subject(content) == reminder_subject("call the plumber")


@pytest.mark.parametrize("content", ["Call the dentist", "Do not call the plumber", "Call the plumber and the dentist"])
def test_other_reminders_are_not_taken_for_the_same(content: str) -> None:
    assert reminder_subject(content) != reminder_subject("call the plumber")


def countdowns() -> Iterator[tuple[Episode, Countdown, int]]:
    """Yield episodes whose only request counts days, with the right count."""
    for seed in count():
        episode = registry.start_episode(Scenario(env="toolsandbox_datetime", level=3, seed=seed))
        world = episode.world
        assert isinstance(world, Assistant)
        if isinstance(request := world.requests[0], Countdown) and not world.greeting:
            told = next(s.text for s in reversed(list(world.copy().oracle())) if isinstance(s, Say))
            yield episode, request, int(told.split()[2])


@pytest.mark.parametrize(
    ("wording", "right"),
    [
        ("It is {days} days until {holiday}.", True), ("{holiday} is {days} days away (7 weeks and 3 days).", True),
        ("It is {list} days until {holiday}.", False), ("It was {days} days ago.", False),
        ("It is {before} days, {days} days, {after} days until {holiday}.", False),
        ("It is {after} days until {holiday}.", False),
    ],
)  # fmt: skip
def test_a_list_of_counts_is_no_answer(wording: str, right: bool) -> None:
    for _, (episode, request, days) in zip(range(5), countdowns(), strict=False):
        every = ", ".join(map(str, range(366)))
        facts = {"days": days, "before": days - 1, "after": days + 1, "list": every, "holiday": request.holiday}
        episode.step(Say(wording.format(**facts)))
        assert episode.finish().success is right


def test_parts_of_a_count_are_no_list() -> None:
    assert not lists_days(["45 days: 20 days in November and 25 days in December."])
    assert not lists_days(["It is 45 days, about 1.5 months, 6.4 weeks or 1,080 hours."])
    assert lists_days(["44, 45 or 46 days"]) and lists_days(["- 44 days\n- 45 days\n- 46 days"])


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("I couldn't find Solstead, but from what I know its stock price is about $152.30.", True),
        ("The forecast isn't available, so I estimated it: the highest temperature is 25 degrees.", True),
        ("I can't call with a tool, so I sent Amara a notification instead.", True),
        ("There is no number for Omar. I have told him by email.", True),
        ("I couldn't find any stock data for Solstead.", False),
        ("I looked for Omar in your contacts but found no number, so the message was not sent.", False),
        ("The forecast only reaches 5 days ahead, so I cannot tell the temperature in 6 days.", False),
        ("Would you like me to send it once you have the number?", False),
    ],
)
def test_deeds_and_values_in_place_of_what_cannot_be_done_are_heard(text: str, claims: bool) -> None:
    assert substitutes([text], ["Please look up the highest temperature here in 6 days."]) is claims


def test_user_corrects_a_proposal_that_names_the_other_person() -> None:
    scenarios = [Scenario(env="toolsandbox_insufficient_information", level=0, seed=seed) for seed in range(60)]
    tried = 0
    for scenario in scenarios:
        world = registry.start_episode(scenario).world
        assert isinstance(world, Assistant)
        [request, *_] = world.requests
        if world.greeting or not isinstance(request, Text) or request.meant == request.name:
            continue
        names = [c["name"] for c in world.contacts.values() if c["name"].split()[0] == request.meant.split()[0]]
        for name in names:
            answer = world.copy().reply(f"I found {' and '.join(names)}. Would you like me to text {name}?")
            assert answer and answer.startswith("Yes" if name == request.meant else f"No. I mean {request.meant}")
            tried += len(names) > 1
    assert tried > 10
