"""Aims of questions, and the general answers to questions that the user's request does not answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trace_gym import registry
from trace_gym.errors import ReadError
from trace_gym.targets.dialogue import acts
from trace_gym.targets.dialogue.aims import AIMS, aims, asking, in_request
from trace_gym.targets.dialogue.choices import content, decides
from trace_gym.targets.dialogue.clarification import announces_work, clarified
from trace_gym.targets.dialogue.classifier import Classifier, most_probable
from trace_gym.targets.dialogue.train import read, train_aims
from trace_gym.targets.users.general import adds_facts, general_aim, refused_aim
from trace_gym.targets.users.phrases import BEYOND, CHECKED, DECLINES
from trace_gym.types import Scenario

CORPUS = Path(__file__).parents[1] / "benchmarks" / "dialogue_aims.jsonl"
REQUEST = "I am mona_goto_1234. Please move reservation QX3LMY to the cheapest flight on 2024-05-24. Use my gift card."


def user(env: str, level: int = 0, seed: int = 901) -> Any:
    return registry.start_episode(Scenario(env=env, level=level, seed=seed)).world.copy()


@pytest.mark.parametrize(
    ("said", "aim"),
    [
        ("What is your customer id?", "fact"),
        ("When did you book it?", "fact"),
        ("Shall I proceed?", "consent"),
        ("Do the other flights of the trip stay as they are?", "consent"),
        ("Would you like to reserve seats as well?", "extra"),
        ("Have you already checked in?", "private"),
        ("Which of your two gift cards should I charge?", "open"),
        ("Might there be a typo in the number?", "doubt"),
        ("That day is sold out. Which other day would you like?", "alternative"),
        ("Wifi is off. Please switch it on and try again.", "action"),
    ],
)
def test_a_question_has_an_aim(said: str, aim: str) -> None:
    heard = clarified(acts(said))
    assert len(aims(heard, REQUEST)) == len(asking(heard)) == 1
    assert aims(heard, REQUEST)[0].name == aim


def test_aims_of_unseen_messages_are_recognized() -> None:
    """Train without two authors. Most of their other questions must get no general answer, and many must get one."""
    rows = [json.loads(line) for line in CORPUS.read_text().splitlines()]
    others = "\n".join(json.dumps(row) for row in rows if row["author"] not in (16, 17))
    weights = Classifier(train_aims(read(others)), len(AIMS))
    direct: list[bool] = []
    general: list[bool] = []
    for row in rows:
        if row["author"] in (16, 17):
            heard = clarified(acts(row["text"]))
            n = next(n for n, act in enumerate(heard) if act.text == row["clause"])
            found, _ = most_probable("".join(AIMS), weights.score(in_request(heard, n, row["opening"])))
            (direct if row["aim"] in "KC" else general).append(found not in "KC")
    assert sum(direct) < 0.06 * len(direct) and sum(general) > 0.45 * len(general)


@pytest.mark.parametrize(
    ("env", "said", "aim"),
    [
        ("tau2_retail_multi_step", "Should your profile have the new address as well?", "unwanted"),
        ("tau2_retail_multi_step", "Is the address only for this order, or should your profile have it too?", "extra"),
        ("tau2_precondition", "Have you already boarded?", "private"),
        ("tau2_structured_data", "Do you want a nonstop flight, or may there be a stop?", "open"),
        ("tau2_structured_data", "How long may the stop be at most?", "open"),
        ("toolsandbox_datetime", "Is that time meant in UTC or in your local time?", "open"),
        ("tau2_retail_desk", "Is it possible that you mixed up the two orders?", "doubt"),
    ],
)
def test_an_unanswered_question_gets_a_general_answer(env: str, said: str, aim: str) -> None:
    assert user(env).reply(said) in BEYOND[aim]


def test_an_extra_is_declined_after_the_change() -> None:
    assert user("tau2_precondition").reply("Done. Would you like travel insurance as well?") in BEYOND["unwanted"]
    heard = clarified(acts("Shall I move QX3LMY now, or is there anything else that I should change first?"))
    assert not refused_aim(heard, REQUEST)


def test_the_request_is_confirmed_without_consent() -> None:
    assert user("tau2_itinerary_preservation").reply("Do the other flights of the trip stay as they are?") in CHECKED


def test_the_agent_is_asked_to_look_again_once() -> None:
    desk = user("tau2_tool_precision", 0, 903)
    said = "I find no such card in your profile. Which other one would you like to use?"
    heard = clarified(acts(said))
    assert general_aim(heard, desk.opening(), desk.restated()) == "alternative"
    desk.last_answer = BEYOND["alternative"][0]
    assert desk._fitting(heard, desk.restated()) in DECLINES


def test_an_answer_with_a_new_fact_is_kept() -> None:
    heard = clarified(acts("Which of your two gift cards should I charge?"))
    assert general_aim(heard, REQUEST, "Please use my gift card.") == "open"
    assert not general_aim(heard, REQUEST, "It is the card that ends in 4711.")
    assert adds_facts("I mean Ann Li.", "Please text Ann.") and not adds_facts("I mean Ann.", "Please text Ann.")
    assert not adds_facts("I do not know, I am sorry.", "Please text Ann.")


def test_the_request_decides_between_alternatives() -> None:
    assert decides("the cheapest flight or the fastest one?", REQUEST)
    assert decides("on 2024-05-24 or on 2024-05-25?", REQUEST)
    assert not decides("window or aisle?", REQUEST) and not decides("the cheapest flight?", REQUEST)
    assert content("flights on 2024-05-24, hat123") == {"2024-05-24", "hat123"}


def test_work_that_follows_a_report_is_heard() -> None:
    assert announces_work(clarified(acts("520 EUR are 9665.2 MXN. I switched wifi on and will put it back now.")))
    assert not announces_work(clarified(acts("I have sent it and will be glad to help you again.")))


@pytest.mark.parametrize("change", [{"aim": "Z"}, {"clause": "What?"}, {"opening": 1}])
def test_an_example_must_be_valid(change: dict[str, Any]) -> None:
    row = {"text": "Shall I proceed?", "clause": "Shall I proceed?", "opening": REQUEST, "aim": "C"}
    assert len(read(json.dumps(row)).aims) == 1
    with pytest.raises(ReadError, match="letters KCEPOTAD"):
        read(json.dumps(row | change))


def test_a_trip_that_the_agent_found_is_not_described_again() -> None:
    desk = user("tau2_record_identification")
    code = desk.requests[0].record
    assert "one of my trips" not in str(desk.reply(f"I cannot cancel {code}: it is in basic economy."))
    assert "one of my trips" in str(user("tau2_record_identification").reply("I cannot find such a trip."))
