"""Tests of TG210: paraphrases preserve the content of a message, and environments are evaluated with them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from mutants import phrases

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.types import Bars, Call, Finding, Interface, Say, Scenario
from trace_gym.validation import PROFILES, PROPERTIES, Context, load
from trace_gym.validation.notations import MONTHS, NUMBERS
from trace_gym.validation.paraphrase import ANNOUNCED, GROUPS, KINDS, Facts, rewrite, variants
from trace_gym.validation.phrasing import paraphrased_plans
from trace_gym.validation.selection import sample
from trace_gym.validation.sentences import FRAMES, function_of, functions, reframe, sentences

NAMES = [n for n in registry.list_environments() if "mix" not in n]
TURNS = range(16)
"""Numbers of variants that use every frame of a function at least once."""
SLOTS = frozenset(
    ("object", "clause", "act", "why", "record", "done", "did", "verb", "what", "rest", "subject", "is", "has", "who")
)


def messages() -> Iterator[tuple[str, Facts]]:
    """Yield messages of the experts of all registered environments, with the facts of their scenarios."""
    for name in NAMES:
        for level in {0, registry.level_count(name) - 1}:
            made = registry.start_episode(Scenario(env=name, level=level, seed=level))
            facts = Facts.of(made.start, made.interface)
            for expert in (made.start.copy().oracle(), made.start.copy().ablated()):
                yield from ((step.text, facts) for step in expert if isinstance(step, Say))


MESSAGES = list({re.sub(r"\S*\d\S*", "#", text): (text, facts) for text, facts in messages()}.values())
"""One message of each pattern."""


def values(text: str) -> Counter[str]:
    """Return the values that a reader finds in a text: dates, times and numbers in one notation, and ids."""
    month = "|".join(f"{m}|{m[:3]}" for m in MONTHS)
    day = r"(\d{1,2})(?:st|nd|rd|th)?"

    def iso(year: str, name: str, number: str) -> str:
        at = next(n for n, m in enumerate(MONTHS, 1) if m[:3] == name[:3])
        return f" {year}-{at:02}-{int(number):02} "

    text = re.sub(r"^(\d+\.|-) |\*\*", " ", text, flags=re.M)
    text = re.sub(r"(\d{4}-\d\d-\d\d)T[\d:]+", r"\1", text)
    text = re.sub(rf"\b({month}) {day}, (\d{{4}})", lambda m: iso(m[3], m[1], m[2]), text)
    text = re.sub(rf"(?:\bthe )?\b{day} (?:of )?({month}) (\d{{4}})", lambda m: iso(m[3], m[2], m[1]), text)
    text = re.sub(r"\b(\d\d)/(\d\d)/(\d{4})", r"\3-\1-\2", text)
    clock = r"\b(\d{1,2}:\d\d) ?([ap])\.?m\b\.?"
    text = re.sub(clock, lambda m: f"{datetime.strptime(f'{m[1]} {m[2]}m', '%I:%M %p'):%H:%M}", text, flags=re.I)
    found = re.findall(r"[\w@#:+-]*\d[\w@#:,.+-]*", text.replace("$", ""))
    numbers = [f"{float(w.replace(',', '')):g}" if re.fullmatch(r"[\d,]+(\.\d+)?", w) else w for w in map(bare, found)]
    return Counter(numbers)


def bare(word: str) -> str:
    return word.strip(".,:;-")


def in_digits(text: str) -> str:
    return re.sub(r"\b(" + "|".join(NUMBERS) + r")\b", lambda m: str(NUMBERS.index(m[0])), text)


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"[\w@#-]+", text.lower().replace("\u2019", "'")))


def test_each_function_has_twelve_frames_with_its_slots() -> None:
    for name, frames in FRAMES.items():
        assert len(set(frames)) >= 12, name
        slots = [frozenset(re.findall(r"\{(\w+)\}", frame)) for frame in frames]
        assert set().union(*slots) <= SLOTS
        if name not in ("reason", "record_refusal", "report", "deed"):
            assert len(set(slots)) == 1, name


@pytest.mark.parametrize("kind", KINDS)
def test_paraphrases_keep_every_value(kind: str) -> None:
    changed = 0
    for text, facts in MESSAGES:
        for n in TURNS if kind in ("frames", "dates", "amounts") else range(6):
            told = rewrite(text, kind, n, facts)
            changed += told != text
            assert told == rewrite(text, kind, n, facts)
            before, now = values(text), values(told)
            assert now <= before and before <= values(in_digits(told)), (text, told)
    assert changed or kind in ("progress", "transfer", "closing")


def test_frames_lose_no_sentence_and_no_part() -> None:
    names = [name for group in GROUPS.values() for name in group]
    for text, _ in MESSAGES:
        for sentence, found in functions(text):
            for n in TURNS if found and found.name in names else ():
                assert found is not None
                told = words(reframe(found, n))
                kept = {k: v for k, v in found.parts.items() if k not in ("is", "aux", "want", "object", "yes")}
                stems = {word[:6] for word in told}  # cancel, cancelled
                assert all(word[:6] in stems for part in kept.values() for word in words(part)), (sentence, told)
                if "object" in found.parts and "reason" not in found.parts["object"]:
                    assert words(found.parts["object"]) <= told
        told, gaps = sentences(text)
        assert "".join(a + b for a, b in zip(told, gaps, strict=True)) == text


FORMS = (
    ("can't", "cannot"), ("won't", "will not"), ("n't", " not"), ("'m", " am"), ("'ll", " will"), ("'d", " would"),
    ("'re", " are"), ("t's", "t is"), ("e's", "e is"),
)  # fmt: skip


@pytest.mark.parametrize("kind", ["order", "layout", "contractions", "please"])
def test_neutral_changes_keep_every_word(kind: str) -> None:
    def expanded(text: str) -> Counter[str]:
        text = text.lower().replace("\u2019", "'")
        for short, full in FORMS:
            text = text.replace(short, full)
        return words(re.sub(r"^(\d+\.|-) |\*\*|,? ?\bplease\b", "", text, flags=re.M))

    for text, facts in MESSAGES:
        assert all(expanded(rewrite(text, kind, n, facts)) == expanded(text) for n in range(6)), text


@pytest.mark.parametrize(
    ("sentence", "name"),
    [
        ("Shall I proceed?", "consent"), ("Would you like me to do that?", "consent"), ("Is that okay?", "consent"),
        ("What is your loan number?", "request"), ("Please tell me your card number.", "request"),
        ("Which book do you mean?", "question"), ("When should I remind you?", "question"),
        ("I can\u2019t renew loan 4711: it is reserved.", "refusal"), ("I am not able to do that.", "refusal"),
        ("To confirm: renew 4711; return 4712.", "plan"), ("All done.", "completion"), ("Goodbye.", "closing"),
        ("The loan is cancelled, and 3 dollars come back.", "report"), ("I sent it to Ada.", "deed"),
        ("I will transfer you to a human agent.", "transfer"), ("Next, I will renew 4711.", "progress"),
    ],
)  # fmt: skip
def test_functions_of_common_sentences_are_recognized(sentence: str, name: str) -> None:
    found = function_of(sentence)
    assert found is not None and found.name == name
    told = {reframe(found, n) for n in TURNS}
    assert len(told) >= 12 and not any(re.search(r"[{}]|  |\bNone\b|[.!?][.,;]", t) for t in told)


@pytest.mark.parametrize(
    "sentence",
    [
        "What is the problem?", "I cannot cancel A but I can cancel B.", "The loan was booked on 2024-05-12.",
        "I will be late.", "Is that your dog?", "You owed 45; here is the key.", "Done is better than perfect.", "",
        "I need the toilet and then", "Can I have it: the number of, well?",
    ],
)  # fmt: skip
def test_sentences_of_unknown_function_are_unchanged(sentence: str) -> None:
    assert function_of(sentence) is None
    assert rewrite(sentence, "frames", 3, Facts()) == sentence


def test_quotations_and_ids_are_unchanged() -> None:
    quoted = 'I sent this to Ada: "I cannot come on 2024-05-12. Shall I proceed? $5".'
    for kind in KINDS:
        assert all(
            '"I cannot come on 2024-05-12. Shall I proceed? $5"' in rewrite(quoted, kind, n, Facts()) for n in TURNS
        )
    ids = "room_12_b, credit_card_2345678, #W1234567, user@mail.com, green_lamp, D'Arcy, inv-2024-05-12-a, 555-2024"
    for kind in set(KINDS) - {"layout", "everything", "empathy", "greeting"}:
        assert all(rewrite(ids, kind, n, Facts()) == ids for n in TURNS)


@pytest.mark.parametrize(
    ("kind", "text", "told"),
    [
        ("dates", "Booked 2024-05-12.", {"Booked May 12, 2024.", "Booked 05/12/2024.", "Booked 12 May 2024.",
         "Booked 2024-05-12T07:15:00.", "Booked May 12th, 2024.", "Booked the 12th of May 2024."}),
        ("times", "It lands at 17:05.", {"It lands at 5:05 p.m.", "It lands at 5:05 PM.", "It lands at 5:05 pm.",
         "It lands at 5:05pm."}),
        ("amounts", "I refund 1234.5 dollars.", {"I refund $1,234.50.", "I refund 1234.5 dollars.",
         "I refund 1,234.50 USD.", "I refund $1234.50.", "I refund $1234.5."}),
        ("counts", "That is 2 bags.", {"That is two bags."}),
        ("labels", "It is basic_economy, insurance no.", {"It is basic economy, no insurance.",
         "It is basic economy, without insurance."}),
    ],
)  # fmt: skip
def test_values_are_written_in_all_common_notations(kind: str, text: str, told: set[str]) -> None:
    facts = Facts(("2024-05-12T07:15:00", "2023-05-12T07:15:00"), "A basic economy ticket cannot be changed.")
    assert {rewrite(text, kind, n, facts) for n in TURNS} == told


def test_requested_notation_is_kept() -> None:
    facts = Facts((), "Tell me the new date as YYYY-MM-DD, please.")
    assert all(rewrite("It is 2024-05-12.", "dates", n, facts) == "It is 2024-05-12." for n in TURNS)
    twice = Facts(("2024-05-12T07:15:00", "2024-05-12T09:00:00"))
    assert not any("T0" in rewrite("It is 2024-05-12.", "dates", n, twice) for n in TURNS)  # whose timestamp?


def test_sentences_that_refer_to_others_are_not_moved() -> None:
    chained = "Trip ABC123 was booked on Monday. It is insured, so I will cancel ABC123. Shall I proceed?"
    assert all(rewrite(chained, "order", n, Facts()) == chained for n in TURNS)
    free = "I cannot cancel ABC123: it is old. To confirm: cancel DEF456. Shall I proceed?"
    swapped = "To confirm: cancel DEF456. I cannot cancel ABC123: it is old. Shall I proceed?"
    assert rewrite(free, "order", 0, Facts()) == swapped


def test_transfer_is_announced_before_call() -> None:
    steps = [Call("look_up", {"room": "1"}), Call("transfer_to_human_agents", {"summary": "x"})]
    interface = Interface(name="desk", policy="", tools=(), kinds={})
    [(kind, plan)] = variants(steps, Facts(), 0, interface)
    assert kind == ANNOUNCED and plan == [steps[0], Say("I'll hand you over to a human agent."), steps[1]]


def check(world: Any, profile: str = "quick") -> Finding:
    made, reference = load(world)
    context = Context(made, reference, PROFILES[profile])
    return PROPERTIES["TG210"](made, sample(made, PROFILES[profile].seeds_per_level), context)


@pytest.mark.parametrize("profile", ["quick", "gate"])
def test_environment_that_compares_values_passes(profile: str) -> None:
    found = check(phrases.Reception, profile)
    assert found.passed and {*found.metrics.values()} == {1.0}
    assert {"consent", "request", "refusal", "proposal", "dates", "amounts", "everything"} <= found.metrics.keys()
    [bars] = found.exhibits
    assert isinstance(bars, Bars)


def test_finding_lists_differing_kinds_and_quotes_message() -> None:
    found = check(phrases.IsoDates)
    assert "(dates)" in found.message and "instead of" in found.message and "dates 6 of 6" in found.message
    assert found.metrics["dates"] == 0 and found.metrics["consent"] == 1


def test_consent_as_answer_to_request_is_a_difference() -> None:
    found = check(phrases.OnePhrasing)
    assert "'Yes, please.' instead of 'I am in room" in found.message and "(request)" in found.message


class Hurried(phrases.Reception):
    id = "hurried"

    def oracle(self) -> Iterator[Call | Say]:
        yield Say("All done.")
        yield Call("transfer_to_human_agents", {})


def test_variants_fit_in_the_turn_limit() -> None:
    scenario = Scenario(env="hurried", level=0, seed=0)
    for turns, fits in ((2, False), (3, True)):
        Hurried.max_turns = turns
        kinds = dict(paraphrased_plans(Context(Hurried, "", PROFILES["quick"]), scenario, "oracle", 0))
        assert "completion" in kinds and (ANNOUNCED in kinds) == fits


def test_unusual_texts_are_unchanged() -> None:
    for text in ("\ue000 All done.", "", " ", "\n\n", "?", '"', "a" * 20_000, "I cannot " * 3000, "1. " * 5000):
        for kind in KINDS:
            assert isinstance(rewrite(text, kind, 1, Facts()), str)
    assert rewrite("\ue000 All done.", "everything", 0, Facts()) == "\ue000 All done."


def test_facts_come_from_the_start_of_an_episode() -> None:
    made = Episode(phrases.Reception, Scenario(env="reception", level=0, seed=0))
    facts = Facts.of(made.start, made.interface)
    assert facts.stamps == () and "breakfast" in facts.prose
