"""The embedded agent's base: the code that is here makes it, twice the same, and its lessons tell the truth."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("transformers", reason="the embedded agent needs the lab extra")

from trace_gym import registry
from trace_gym.lab import BASE, demos, lessons, pretrain, tokenizer

TINY = pretrain.Size(
    hidden=16, layers=1, heads=2, ffn=16, phases=(pretrain.Phase(80), pretrain.Phase(80, routes=10, quizzes=40))
)


def test_the_same_command_makes_the_same_base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pretrain, "make_tokenizer", partial(pretrain.make_tokenizer, 60))
    monkeypatch.setattr(pretrain, "CHUNK", 40)
    for name in ("one", "two"):
        pretrain.train(TINY, tmp_path / name)
    for file in ("model.safetensors", "tokenizer.json", "lab.json", "config.json"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes(), file


def test_the_shipped_base_has_the_size_that_the_code_names() -> None:
    written = json.loads((BASE / "lab.json").read_text())
    assert written["size"] == json.loads(json.dumps(asdict(pretrain.SIZES["small"])))
    assert written["competence"] == demos.COMPETENCE
    assert sum(f.stat().st_size for f in BASE.iterdir()) < 8_000_000


def test_the_shipped_base_was_trained_on_the_environments_that_are_here() -> None:
    shipped = pretrain._tokenizer(str(BASE))
    assert tokenizer.digest(shipped) == tokenizer.digest(pretrain.make_tokenizer())


@pytest.mark.parametrize("kind", lessons.KINDS)
def test_the_answers_of_lessons_are_right(kind: str) -> None:
    asked = 0
    for chat in lessons.questions(0, 20, (kind,)):
        for n, turn in enumerate(chat):
            if turn["role"] == "assistant":
                record = chat[n - 1]["content"] if chat[n - 1]["role"] == "tool" else ""
                question = chat[n - 2 if record else n - 1]["content"]
                assert turn["content"] in answers(question, json.loads(record) if record else None)
                asked += 1
    assert asked >= 20


def answers(question: str, record: object) -> set[str]:
    """The right answers to a lesson's question, worked out anew."""
    if prices := re.fullmatch(r"Which is lower, (\d+) or (\d+)\?", question):
        return {str(min(map(int, prices.groups())))}
    if owner := re.search(r"Which trip has (\w+)\?$", question):
        return {re.findall(rf"{owner[1]} has trip (\w+)", question)[0]}
    if done := re.search(r"(\w+) is done\. Which trip is next\?$", question):
        trips = re.findall(r"\w+", question.partition(".")[0].replace(" and ", ", "))
        return {trips[trips.index(done[1]) + 1]}
    if question.endswith("Which is the cheapest?"):
        return _cheapest({flight: int(price) for flight, price in re.findall(r"(\w+) at (\d+)", question)})
    if cabin := re.fullmatch(r"Which flight is the cheapest in (\w+)\?", question):
        assert isinstance(record, list)
        return _cheapest({f["flight_number"]: f["prices"][cabin[1]] for f in record})
    assert isinstance(record, dict)
    kind = question.removeprefix("What is the id of the ").removesuffix("?").replace(" ", "_")
    return {m["id"] for m in record["payment_methods"].values() if m["source"] == kind}


def _cheapest(prices: dict[str, int]) -> set[str]:
    return {flight for flight, price in prices.items() if price == min(prices.values())}


def test_lessons_and_demonstrations_use_seeds_of_their_own() -> None:
    used = {e.scenario.seed for e in demos.demonstrations(0, 40)}
    assert all(seed in registry.SPLITS["pretrain"] for seed in used) and len(used) == 40


def test_routing_exercises_name_an_option_that_is_offered() -> None:
    for chat in lessons.routing_exercises(0, 6):
        letters = re.findall(r"^([A-H])\. ", chat[1]["content"], flags=re.M) or re.findall(r"\b[A-H]\b", str(chat[:2]))
        assert {t["content"] for t in chat if t["role"] == "assistant"} <= set(letters)
