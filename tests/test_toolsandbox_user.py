"""Tests of the scripted user of the ToolSandbox target."""

from __future__ import annotations

import pytest
from phones import ADA, phone, played

from trace_gym.targets.dialogue import acts, gist
from trace_gym.targets.toolsandbox.assistant import SKILLS
from trace_gym.targets.toolsandbox.lookups import StockPrice
from trace_gym.targets.toolsandbox.message_analysis import numbers, refused, stated
from trace_gym.targets.toolsandbox.requests import Text
from trace_gym.targets.toolsandbox.schedule import Remind, When
from trace_gym.targets.users.phrases import BEYOND

# The user


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("What is the number?", "request"),
        ("Shall I switch low battery mode off?", "proposal"),
        ("Do you want me to do that?", "proposal"),
        ("I found the number. Should I send the message?", "proposal"),
        ("When should I remind you?", "request"),
        ("What is the number? Please confirm.", "request"),
        ("May I have the number?", "request"),
        ("I need the number of Zora.", "request"),
        ("I need to know the number of Zora.", "request"),
        ("What do you want me to write?", "request"),
        ("Please tell me the number, and I will send it.", "request"),
        ("Shall I send the message to the number +12125550101?", "proposal"),
        ("I can\u2019t do that.", "refusal"),
        ("I cannot do that: wifi is off.", "refusal"),
        ("I'm UNABLE to help.", "refusal"),
        ("I will switch wifi on, since it is off.", "hold"),
        ("Let me see.", "hold"),
        ("I found two of that name. Please tell me which.", "request"),
        ("I cannot find Zora. What is the number?", "request"),
        ("Done. Is there anything else that I can do?", "completion"),
        ("It is sent. Let me know if you need something else, or another number.", "completion"),
        ("Done.", "completion"),
        ('I sent this: "I will be late, cannot stop?".', "completion"),
        ("Blorp.", "other"),
        ("", "other"),
    ],
)
def test_the_user_understands_messages_by_their_acts(text: str, kind: str) -> None:
    assert gist(text) == kind


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Which Amara do you mean?", ["which"]),
        ("What is her phone number, and what shall I write?", ["number", "content"]),
        ("What number should I send the message to?", ["number"]),
        ("At what time?", ["time"]),
        ("When is it due?", ["time"]),
        ('What about "number"?', []),
    ],
)
def test_questions_have_topics(text: str, asked: list[str]) -> None:
    assert phone(Text(ADA, "x", meant=ADA)).topics(acts(text)) == asked


def test_the_user_tells_what_is_asked_and_no_more() -> None:
    world = phone(Text("Amara", "See you soon", meant=ADA, number="+12125550155"))
    assert world.reply("Hello.") == 'Please text Amara: "See you soon".'
    assert world.reply("What is your favourite color?") in {*BEYOND["fact"], *BEYOND["private"]}
    assert world.reply("WHICH one?") == f"I mean {ADA}."
    assert world.reply("What is the number?") == "The number is +12125550155."
    assert world.reply("What shall it say, and to which one?") == f'I mean {ADA}. Write: "See you soon".'
    assert world.asked == ["which", "number", "content"]
    assert phone(Text("Zora", "x", meant="Zora")).reply("What is the number?") == "I do not have any number."
    at = When(9, 30, on="2026-05-01")
    assert phone(Remind("x", at, withheld=True)).reply("When?") == "I want to be reminded on 2026-05-01 at 09:30."


def test_the_user_may_greet_before_asking() -> None:
    world = phone(Text(ADA, "See you soon", meant=ADA))
    world.greeting = "Are you there?"
    assert world.copy().reply("I cannot help you.") == world.wording  # nothing was asked for yet
    made = played(world, world.serve(SKILLS))
    assert [m["content"] for m in made.messages if m["role"] == "user"] == ["Are you there?", world.wording]
    assert made.finish().success and made.said[0] == "What can I do for you?"


def test_the_user_agrees_waits_and_hangs_up() -> None:
    world = phone(StockPrice("Northwind"))
    assert world.copy().reply("May I switch wifi on?") == "Yes, if what I asked for needs it."
    world.keep = ("low_battery_mode",)
    assert world.reply("May I switch it off?") == "Yes, if what I asked for needs it. Leave low battery mode alone."
    assert all(world.reply("One moment.") for _ in range(9))
    assert phone().reply("It is done.") is None and phone().reply("I cannot do that.") is None


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (["It is 42.57."], True),
        (["It is 42.6 dollars."], True),
        (["1,042.57"], False),
        (["It is 42.57 or 99.9."], False),
        (["42.57", "99.9"], False),
        (["42.57, up by 3"], True),
        (["42.4"], False),
        ([], False),
    ],
)
def test_a_number_is_told_without_its_rivals(said: list[str], told: bool) -> None:
    assert stated(42.57, [42.57, 99.9], said) is told


def test_numbers_are_read_as_people_write_them() -> None:
    assert numbers(["-3.5 and 1,234.5 on 2026-03-04, 7."]) == [-3.5, 1234.5, 2026, 3, 4, 7] or numbers(["x"]) == []
    assert numbers(["from -97.74 to 30"]) == [-97.74, 30]


def test_a_refusal_names_its_reason_in_the_same_sentence_or_next_to_it() -> None:
    low = ("low battery mode",)
    assert refused(low, ["I cannot do it: LOW BATTERY MODE is on."])
    assert refused(low, ["I cannot do it. Low battery mode is on."])
    assert not refused(low, ["I cannot do it. That is a pity. It is raining. Low battery mode is on."])
    assert not refused(low, ["Low battery mode is on."]) and not refused((), ["I cannot do it."])


@pytest.mark.parametrize(
    "said",
    [
        "I cannot email Ada.",
        "There is no tool for emails.",
        "I\u2019m sorry, Ada\u2019s mail is not supported.",
        "The phone does not offer email.",
        "I found nothing about Ada.",
    ],
)
def test_a_refusal_has_many_forms(said: str) -> None:
    assert refused(("email", "ada"), [said])
    assert not refused(("email", "ada"), ["No problem, I wrote the email to Ada."])
