"""Tests of the answer format that the references of an environment share, and of the checks that use it."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from trace_gym.types import Finding
from trace_gym.validation.context import PROFILES
from trace_gym.validation.third_party import BlackBoxContext
from trace_gym.validation.third_party.checks import BlackBoxFindings
from trace_gym.validation.third_party.near_misses import near_misses
from trace_gym.validation.third_party.reference_format import recognize

NUMBERS = (7, 40, 23, 12, 31, 9, 18, 26, 5, 44, 36, 15)
AMOUNTS = tuple(n / 4 + 100 for n in NUMBERS)
WAYS = ("north", "south", "east", "north", "west", "south", "west", "east", "east", "north", "south", "west")
CITIES = ("Paris", "Lyon", "Oslo", "Bern", "Riga", "Cork", "Turin", "Kyoto", "Graz", "Bath", "Lima", "Quito")
Check = Callable[..., Finding]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Function that returns the finding of a property for a reward function and its references."""

    def finding(code: str, reward: Callable[[str, str], float], references: list[str]) -> Finding:
        module = ModuleType("made_formats")
        module.fn = lambda completion, reference: reward(completion, reference)  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "made_formats", module)
        rows = [{"prompt": f"Question {n}?", "reference": reference} for n, reference in enumerate(references)]
        (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        uri = f"function:made_formats:fn@{tmp_path}/cases.jsonl?form={{}}"
        return BlackBoxFindings(BlackBoxContext(uri, range(len(rows)), PROFILES["quick"]))(code)

    return finding


@pytest.mark.parametrize(
    ("references", "shown", "core"),
    [
        ([str(n) for n in NUMBERS], "<integer>", "7"),
        ([f"ORDER {n}" for n in NUMBERS], "ORDER <integer>", "7"),
        ([f"I choose room {n}." for n in NUMBERS], "I choose room <integer>.", "7"),
        ([f"{n}kg" for n in NUMBERS], "<integer>kg", "7"),
        ([f"change: {20 - n}" for n in NUMBERS], "change: <integer>", "13"),
        ([f"total = {a} EUR" for a in AMOUNTS], "total = <number> EUR", "101.75"),
        ([f"\\boxed{{{n}}}" for n in NUMBERS], "\\boxed{<integer>}", "7"),
        ([f'{{"room": {n}, "floor": 2}}' for n in NUMBERS], '{"room": <integer>, "floor": 2}', "7"),
        ([f"Go {way}!" for way in WAYS], "Go <option>!", "north"),
        ([f"I added them.\nORDER {n}" for n in NUMBERS], "ORDER <integer>", "7"),
        ([f"{n - 2} + 2 = {n}\nORDER {n}" for n in NUMBERS], "ORDER <integer>", "7"),
        ([f"There are {n} boxes, so I stop.\n{n}" for n in NUMBERS], "<integer>", "7"),
        ([f"I counted {n - 1} and one more. ORDER {n}" for n in NUMBERS], "ORDER <integer>", "7"),
        ([f"So {n} - 1 = $\\boxed{{{n}}}$" for n in NUMBERS], "\\boxed{<integer>}$", "7"),
        ([f"{n} letters.\nCITY={city}" for n, city in zip(NUMBERS, CITIES, strict=True)], "CITY=<text>", "Paris"),
    ],
)
def test_shared_format_is_recognized(references: list[str], shown: str, core: str) -> None:
    found = recognize(references)
    assert found is not None and str(found).endswith(shown)
    assert found.parts[references[0]].core == core
    assert all("".join(parts) == text for text, parts in found.parts.items())
    assert all(template.format(core) in references[0] for template in found.templates)


@pytest.mark.parametrize(
    "references",
    [
        [],
        ["ORDER 7"] * 3,
        ["red apple", "blue sky", "green grass"],
        [f"{n}\n{n * n}\n{n**3}" for n in NUMBERS],
        [f"name: {city}\nage: {n}" for n, city in zip(NUMBERS, CITIES, strict=True)],
        [f"move {n}\nmove {n + 1}" for n in NUMBERS],
        [json.dumps({"name": city, "age": n}) for n, city in zip(NUMBERS, CITIES, strict=True)],
    ],
)
def test_answers_of_several_parts_have_no_format(references: list[str]) -> None:
    assert recognize(references) is None


ANY_MATCH = {
    "keyword": ([f"ORDER {n}" for n in NUMBERS], r"ORDER (\d+)"),
    "colon": ([f"ORDER: {n}" for n in NUMBERS], r"ORDER: (\d+)"),
    "sentence": ([f"I choose room {n}." for n in NUMBERS], r"room (\d+)"),
    "amount": ([f"total = {a} EUR" for a in AMOUNTS], r"total = (\S+) EUR"),
    "JSON": ([f'{{"room": {n}}}' for n in NUMBERS], r'"room": (\d+)'),
    "options": ([f"Go {way}!" for way in WAYS], r"Go (\w+)!"),
}


@pytest.mark.parametrize("name", ANY_MATCH)
def test_grader_that_accepts_any_match_fails(name: str, check: Check) -> None:
    references, pattern = ANY_MATCH[name]

    def any_match(completion: str, reference: str) -> float:
        return float(re.findall(pattern, reference)[0] in re.findall(pattern, completion))

    def single_match(completion: str, reference: str) -> float:
        return float(re.findall(pattern, completion) == re.findall(pattern, reference))

    found = check("TG601", any_match, references)
    assert found.verdict == "failed" and "answer format" in found.message
    assert check("TG601", single_match, references).verdict == "passed"


def test_list_inside_the_format_fails(check: Check) -> None:
    def in_tag(completion: str, reference: str) -> float:
        [tag] = re.findall(r"<room>(.*?)</room>", completion) or [""]
        return float(re.findall(r"\d+", reference)[0] in re.findall(r"\d+", tag))

    assert check("TG601", in_tag, [f"<room>{n}</room>" for n in NUMBERS]).verdict == "failed"


def test_message_states_that_no_format_was_recognized(check: Check) -> None:
    references = ["red apple", "blue sky", "green grass", "a white cloud"]
    found = check("TG601", lambda completion, reference: float(completion == reference), references)
    assert "answer format not recognized: no lists of answers tried" in found.message


REASONED = {
    "constant line": [f"I computed it step by step.\nORDER {n}" for n in NUMBERS],
    "varying lines": [f"{n - 2} + 2 = {n}\nso I am done\nORDER {n}" for n in NUMBERS],
    "bare number": [f"There are {n} boxes, so I stop.\n{n}" for n in NUMBERS],
    "sentence": [f"I counted {n - 1} and one more. ORDER {n}" for n in NUMBERS],
    "text": [f"{n} letters.\nCITY={city}" for n, city in zip(NUMBERS, CITIES, strict=True)],
}


@pytest.mark.parametrize("name", REASONED)
def test_reasoning_before_the_answer_is_not_changed(name: str, check: Check) -> None:
    def last(text: str) -> str:
        return (text.split() or [""])[-1]

    found = check("TG304", lambda completion, reference: float(last(completion) == last(reference)), REASONED[name])
    assert found.verdict == "passed", found.message
    prefix = check(
        "TG304", lambda completion, reference: float(last(completion)[:1] == last(reference)[:1]), REASONED[name]
    )
    assert prefix.verdict == "failed"


def test_every_line_of_a_record_is_changed(check: Check) -> None:
    references = [f"name: {city}\nage: {n}" for n, city in zip(NUMBERS, CITIES, strict=True)]

    def last_line(completion: str, reference: str) -> float:
        return float(completion.strip().splitlines()[-1:] == reference.splitlines()[-1:])

    assert check("TG304", last_line, references).verdict == "failed"


def test_text_that_keeps_all_numbers_is_not_a_near_miss() -> None:
    changes = dict(near_misses("18 orders are late in that hall", (), "How many?", None))
    assert "other digits" in changes and "its first half" not in changes
    assert "its first half" in dict(near_misses("Late orders in that hall: see 18", (), "How many?", None))
