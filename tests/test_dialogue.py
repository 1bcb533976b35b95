"""Agents may put things as they like: users and verifiers react to what a message does, not to its wording."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from malformed import FILES

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.errors import ReadError
from trace_gym.targets.dialogue import acts, claims_done, gist, refused
from trace_gym.targets.dialogue.train import main, read, train
from trace_gym.targets.tau2.desk import Desk
from trace_gym.targets.toolsandbox.assistant import Assistant
from trace_gym.targets.users import ScriptedUser
from trace_gym.targets.users.phrases import BEYOND, PATIENCE
from trace_gym.types import Call, Say, Scenario
from trace_gym.world import World

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT / "benchmarks" / "dialogue_corpus.jsonl"
STATEMENTS = ROOT / "benchmarks" / "dialogue_statements.jsonl"
CORPORA = sorted((ROOT / "benchmarks").glob("dialogue_*.jsonl"))
SEEDS = range(2)
ENVS = registry.list_environments()

Rewrite = Callable[[list[Call | Say], Episode], Iterator[Call | Say]]

CONSENT = re.compile(r"(?:Shall I (?:proceed|go ahead)|Do you agree)\?")
CONSENTS = (
    "Would you like me to do this?",
    "Is that okay?",
    "Does that sound good to you?",
    "Please let me know if I may go ahead.",
    "Would that be all right with you?",
    "Are you happy for me to make this change?",
    "Please confirm (yes/no).",
    "Please confirm if you would like to proceed.",
)
EMPATHY = ("I'm sorry to hear that. ", "Thank you for your patience. ", "I understand. ")
REFUSAL = re.compile(r"I cannot ([^:.]+):")
REFUSALS = (
    "I can\N{RIGHT SINGLE QUOTATION MARK}t {}:",
    "I'm not able to {}:",
    "Unfortunately, I won't be able to {}:",
    "I have to decline your request to {}:",
    "It isn't possible for me to {}:",
)
TRANSFERS = ("I'm going to transfer you to a human colleague now.", "Let me connect you with one of our agents.")


def plans(rewrite: Rewrite, seeds: range = SEEDS) -> Iterator[tuple[str, bool]]:
    """Play the rewritten plan of the oracle in every environment whose user is the one of its base world."""
    for env in ENVS:
        world = registry.load_world(env)
        if not issubclass(world, ScriptedUser) or world.reply is not ScriptedUser.reply:
            continue
        for level in world.levels:
            for seed in seeds:
                scenario = Scenario(env=env, level=level, seed=seed)
                episode: Episode = registry.start_episode(scenario)
                plan = list(episode.world.copy().oracle())
                for step in rewrite(plan, episode):
                    if not episode.done:
                        episode.step(step)
                yield str(scenario), episode.finish().success


def check(rewrite: Rewrite) -> None:
    results = dict(plans(rewrite))
    assert len(results) > 60 and [name for name, success in results.items() if not success] == []


def said(pattern: re.Pattern[str], wordings: tuple[str, ...]) -> Rewrite:
    """Rewrite what fits a pattern, with another wording in each scenario."""

    def rewrite(plan: list[Call | Say], episode: Episode) -> Iterator[Call | Say]:
        wording = wordings[sum(map(ord, str(episode.scenario))) % len(wordings)]
        for step in plan:
            yield Say(pattern.sub(lambda m: wording.format(*m.groups()), step.text)) if isinstance(step, Say) else step

    return rewrite


def test_consent_may_be_asked_for_in_any_words() -> None:
    check(said(CONSENT, CONSENTS))


def test_empathy_before_every_message_changes_nothing() -> None:
    check(said(re.compile("^"), EMPATHY))


def test_refusals_may_be_worded_in_any_way() -> None:
    check(said(REFUSAL, REFUSALS))


def test_users_listen_to_progress_reports() -> None:
    def rewrite(plan: list[Call | Say], episode: Episode) -> Iterator[Call | Say]:
        writes = [n for n, s in enumerate(plan) if isinstance(s, Call) and episode.interface.kinds[s.tool] == "write"]
        for n, step in enumerate(plan):
            yield step
            if n in writes[:-1] and not isinstance(episode.world, Assistant):
                yield Say("That part has been updated. Next comes the other one. Would you like that?")

    check(rewrite)


def test_users_wait_for_a_transfer_that_is_announced() -> None:
    def rewrite(plan: list[Call | Say], episode: Episode) -> Iterator[Call | Say]:
        for step in plan:
            if isinstance(step, Call) and step.tool == "transfer_to_human_agents":
                yield Say(TRANSFERS[episode.scenario.seed % 2])
            yield step

    check(rewrite)


@pytest.mark.parametrize(
    "question",
    [
        "May I have your email?", "Could you tell me who you are?", "Please provide your email.", "And your name, "
        "please?",
        "I\N{RIGHT SINGLE QUOTATION MARK}ll need your email address to look you up.", "Who am I speaking with?",
    ],
)  # fmt: skip
def test_shoppers_identify_themselves_however_they_are_asked(question: str) -> None:
    answers = {str(reply) for reply in replies("tau2_retail_precondition", 2, "identity", question)}
    assert answers and all(re.search(r"\bMy email is|\bI am \w+ \w+, zip", answer) for answer in answers)


@pytest.mark.parametrize(
    "question",
    [
        "Could you tell me why?", "May I ask why you want to cancel", "Please let me know the reason.", "What "
        "happened?",
        "Mind telling me what\N{RIGHT SINGLE QUOTATION MARK}s behind this?", "I still need the reason for the "
        "cancellation.",
    ],
)  # fmt: skip
def test_travelers_tell_the_reason_however_they_are_asked(question: str) -> None:
    answers = {str(reply) for reply in replies("tau2_precondition", 2, "reason", question)}
    assert answers and answers <= {
        "My plans have changed.", "I am ill.", "The weather is too bad.", "The airline cancelled the flight.",
    }  # fmt: skip


def replies(env: str, level: int, fact: str, question: str) -> Iterator[str | None]:
    """The answers of users who withhold a fact in the opening."""
    for seed in range(40):
        world: Any = registry.start_episode(Scenario(env=env, level=level, seed=seed)).world
        if fact in world.withheld:
            yield world.reply(question)


def desk(level: int = 1) -> Any:
    return registry.start_episode(Scenario(env="tau2_multi_step", level=level, seed=0)).world


UNKNOWN = ("Blorp gnarf.", "Zzz qux vim", "?", "", "\N{PILE OF POO}" * 9)
CHOICES = ("Economy or business?", "Would you rather have the first or the second flight?", "Which one do you want?")
LONG = ("a" * 9000, "a " * 5000, '"' * 9000, "or or " * 900, "1" * 9000, "., " * 3000, "**" * 4000)


def test_users_never_end_the_conversation_because_of_words_that_they_do_not_know() -> None:
    for text in ("Blorp gnarf.", "Zzz qux vim", "?", "", "\N{PILE OF POO}" * 9):
        world = desk()
        answers = [world.reply(text) for _ in "abc"]
        assert all(answers) and all(one != other for one, other in pairwise(answers))


def test_users_never_answer_a_choice_with_yes() -> None:
    for text in ("Would you rather have the first or the second flight?", "Which one do you want?"):
        answer = desk().reply(text)
        assert answer and not answer.startswith("Yes")
    assert desk().reply("Economy or business?") in {*BEYOND["either"], *BEYOND["open"]}


def test_users_with_several_wishes_wait_until_all_were_reported() -> None:
    world = desk()
    first, *others = [request.record for request in world.requests]
    assert others and world.reply(f"I've cancelled {first}.") == "Thank you."
    assert world.reply(f"And {' and '.join(others)} have been cancelled.") is None
    assert desk().reply("Everything has been taken care of. Anything else?") is None


def test_users_tell_all_that_was_asked_in_one_message() -> None:
    world: Any = registry.start_episode(Scenario(env="tau2_precondition", level=0, seed=3)).world
    answer = world.reply("Could you please give me:\n- your customer ID\n- the reason for the cancellation?")
    assert world.customer in answer and len(answer.split(".")) > 2


def test_a_user_may_be_given_other_manners() -> None:
    class Haggler(ScriptedUser):
        id, capability = "haggler", "patience"

        def agrees(self, text: str) -> str:
            return "No, that is too expensive."

        def outstanding(self) -> str:
            return "Is everything settled now?"

    user = Haggler(wording="A new hat, please.")
    assert user.reply("Shall I order it for 90 dollars?") == "No, that is too expensive."
    assert user.reply("Which color would you like?") in BEYOND["open"]
    assert user.reply("What would you like to have?") == "A new hat, please."
    assert user.reply("It has been ordered.") == "Is everything settled now?"
    assert user.reply("Yes, all done.") is None


RECORDS = ("ABC123", "XYZ789")


@pytest.mark.parametrize(
    "text",
    [
        "I can\N{RIGHT SINGLE QUOTATION MARK}t cancel ABC123.", "I'm not able to cancel abc123.", "ABC123 isn't "
        "eligible.",
        "I won't be able to cancel ABC123.", "ABC123 does not qualify.", "Cancelling ABC123 is not possible.",
        "Unfortunately, only business class can be cancelled, so ABC123 has to stay.", "ABC123 has to remain as it is.",
        "ABC123 was booked in economy. It can't be cancelled.", "I'm afraid that's not possible. ABC123 is in economy.",
        "XYZ789 can be cancelled. As for ABC123, our rules do not allow it.", "Cancelling ABC123 is against our "
        "policy.",
        "I have cancelled XYZ789 and refunded 90 dollars. ABC123, however, must stay: I have to decline that one.",
        "I cannot cancel either ABC123 or XYZ789.", "**ABC123**: not eligible, booked 05/12/2024 in economy.",
    ],
)  # fmt: skip
def test_refusals_of_a_record_are_recognized(text: str) -> None:
    assert refused("ABC123", [text], RECORDS)


@pytest.mark.parametrize(
    "text",
    [
        "I have cancelled ABC123 and refunded you in full.", "I'm sorry to hear that. Shall I cancel ABC123?",
        "I can cancel ABC123. This cannot be undone. Shall I proceed?", "I cannot cancel XYZ789. ABC123 is cancelled.",
        "I can't cancel ABC123. I have cancelled ABC123 and refunded 90 dollars.", "ABC123 was booked without "
        "insurance.",
        "I am sorry, I cannot do that; it is not allowed.", "", "ABC1234 cannot be cancelled.",
    ],
)  # fmt: skip
def test_what_is_no_refusal_of_a_record_does_not_count(text: str) -> None:
    assert not refused("ABC123", [text], RECORDS)


@pytest.mark.parametrize(
    ("text", "claimed"),
    [
        ("I have cancelled ABC123.", True), ("ABC123 has been successfully cancelled.", True),
        ("ABC123 has not been cancelled.", False), ("The flight of ABC123 has been cancelled by the airline.", False),
        ("Shall I cancel ABC123?", False), ("ABC123 was booked last week.", False), ("I've cancelled XYZ789.", False),
        ("Once I have cancelled ABC123, you get 90 dollars.", False),
    ],
)  # fmt: skip
def test_claims_of_success_are_recognized(text: str, claimed: bool) -> None:
    assert claims_done("ABC123", [text], RECORDS) is claimed


@pytest.mark.parametrize(
    "text", ["a" * 9000, "a " * 5000, '"' * 9000, "or or " * 900, "1" * 9000, "., " * 3000, "**" * 4000]
)
def test_long_messages_of_agents_take_no_time(text: str) -> None:
    start = time.process_time()
    acts(text)
    refused("ABC123", [text], RECORDS)
    assert time.process_time() - start < 0.5


def test_acts_of_the_corpus_are_found_with_weights_from_other_authors(monkeypatch: pytest.MonkeyPatch) -> None:
    from trace_gym.targets.dialogue import classifier, recognition

    rows = [json.loads(line) for line in CORPUS.read_text().splitlines()]
    weights = train(read("\n".join(json.dumps(row) for row in rows if row["author"] != 1)))
    monkeypatch.setattr(recognition, "trained", lambda: classifier.Classifier(weights))
    recognition.clear()
    kinds = {"propose": {"proposal"}, "refuse": {"refusal"}, "ask_reason": {"request", "choice"}, "hold": {"hold"}}
    held_out = [row for row in rows if row["author"] == 1 and row["intent"] in kinds]
    good = [gist(row["text"]) in kinds[row["intent"]] for row in held_out]
    recognition.clear()
    assert len(good) > 60 and sum(good) / len(good) > 0.93


def test_weights_are_those_that_the_documented_command_trains(tmp_path: Path) -> None:
    from trace_gym.targets.dialogue import classifier, statements

    main(*map(str, CORPORA), "--out", str(tmp_path))
    for weights in (classifier.WEIGHTS, statements.WEIGHTS):
        assert (tmp_path / weights.name).read_text() == weights.read_text()


@pytest.mark.parametrize("name", FILES)
def test_training_refuses_a_file_that_is_no_corpus_and_writes_nothing(name: str, tmp_path: Path) -> None:
    corpus, out = tmp_path / "corpus.jsonl", tmp_path / "out"
    FILES[name](corpus)
    with pytest.raises(ReadError):
        main(str(corpus), "--out", str(out))
    assert not out.exists()


def test_training_names_the_clauses_of_a_message_that_has_another_number_of_labels() -> None:
    row = {"text": "Let me check. One moment.", "labels": "H"}
    with pytest.raises(
        ReadError, match=r"the corpus:1 .*found 1 labels for the clauses \['Let me check.', 'One moment.'\]"
    ):
        read(json.dumps(row))


def test_kinds_of_statements_are_found_with_weights_from_other_authors(monkeypatch: pytest.MonkeyPatch) -> None:
    from trace_gym.targets.dialogue import clarification, classifier, statements
    from trace_gym.targets.dialogue.train import train_statements

    rows = [json.loads(line) for line in STATEMENTS.read_text().splitlines()]
    weights = train_statements(read("\n".join(json.dumps(row) for row in rows if row["author"] != 14)))
    few = read("\n".join(json.dumps(row) for row in rows[::40]))
    assert train_statements(few) == train_statements(few) != weights
    held_out = classifier.Classifier(weights, len(statements.KINDS))
    monkeypatch.setattr(statements, "trained", lambda: held_out)
    right = []
    for row in (row for row in rows if row["author"] == 14):
        statements.labels.cache_clear()
        clarification.clarified.cache_clear()
        kinds = [act.kind for act in clarification.clarified(acts(row["text"]))]
        kinds = ["inform" if kind == "greeting" else kind for kind in kinds]  # the corpus has no label for greetings
        right += [kind == statements.KINDS[letter] for kind, letter in zip(kinds, row["labels"], strict=True)]
    statements.labels.cache_clear()
    clarification.clarified.cache_clear()
    assert len(right) > 1000 and sum(right) / len(right) > 0.85


def test_no_act_depends_on_the_order_of_messages() -> None:
    code = "from trace_gym.targets.dialogue import acts; print([acts(t) for t in {0}])"
    texts = [json.loads(line)["text"] for line in CORPUS.read_text().splitlines()[::60]]
    outputs = [
        subprocess.run([sys.executable, "-c", code.format(order)], capture_output=True, text=True, check=True).stdout
        for order in (texts, texts[::-1])
    ]
    assert sorted(outputs[0]) == sorted(outputs[1]) and outputs[0] != outputs[1]


def test_worlds_of_targets_use_one_mechanism() -> None:
    assert issubclass(Desk, ScriptedUser) and issubclass(Assistant, ScriptedUser)
    assert Desk.reply is Assistant.reply is ScriptedUser.reply is not World.reply


def test_user_leaves_after_some_messages_in_a_row_that_lead_nowhere() -> None:
    episode = registry.start_episode(Scenario(env="tau2_precondition", level=0, seed=1))
    for n in range(PATIENCE):
        episode.step(Say(f"Blorp {'x' * n}."))
        assert not episode.done
    episode.step(Say("Let me check that for you."))
    for n in range(PATIENCE):
        episode.step(Say(f"Blorp {'y' * n}."))
    assert not episode.done
    episode.step(Say("Blorp."))
    assert episode.done
