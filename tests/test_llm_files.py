"""Tests of the file exchange: requests are Markdown files, and answers are read only when they are complete."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from trace_gym.errors import ConfigError, ModelError, ReadError
from trace_gym.llm import ModelRequest, Usage, ask, file_exchange, open_model_uri
from trace_gym.llm.file_exchange import FileExchange
from trace_gym.llm.ledger import Ledger
from trace_gym.llm.model_uri import Resolved
from trace_gym.llm.recordings import Recordings
from trace_gym.llm.request_store import RequestStore

PAGE, ANSWER = "001-plan-tau2_claims.md", "001-plan-tau2_claims.answer.md"


class Clock:
    """Replacement of the module `time` in which `sleep` returns at once and runs the scheduled actions."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.due: list[tuple[float, Callable[[], object]]] = []
        self.always: Callable[[], object] = lambda: None

    def at(self, seconds: float, happens: Callable[[], object]) -> None:
        self.due.append((1000.0 + seconds, happens))

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.always()
        while self.due and self.due[0][0] <= self.now:
            self.due.pop(0)[1]()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(file_exchange, "time", made)
    return made


def request(text: str = "Plan it.", purpose: str = "plan tau2_claims", **fields: Any) -> ModelRequest:
    system = {"role": "system", "content": "You write environments."}
    return ModelRequest(messages=(system, {"role": "user", "content": text}), purpose=purpose, **fields)


def handed(folder: Path, told: list[str] | None = None, limit: float | None = 3600.0) -> FileExchange:
    return FileExchange(folder, RequestStore(), (told if told is not None else []).append, limit=limit)


def test_request_file_and_answer_file(tmp_path: Path, clock: Clock) -> None:
    told: list[str] = []
    answer = tmp_path / "001-plan-tau2_claims.answer.json"
    clock.at(5, lambda: answer.write_text('\ufeff{"title": "Claims"}', encoding="utf-8"))
    done = handed(tmp_path, told).complete(request(answer={"type": "object", "title": "Plan"}))
    assert (done.text, done.model, done.cost, done.cached) == ('{"title": "Claims"}', "files", None, False)
    assert told == [f"waiting for {tmp_path / ANSWER}"]
    first, second = "```markdown\nYou write environments.\n```", "```markdown\nPlan it.\n```"
    messages = f"## system\n\n{first}\n\n---\n\n## user\n\n{second}\n"
    for part in ("# plan tau2_claims", messages, '"title": "Plan"', f"`{ANSWER}`"):
        assert part in (tmp_path / PAGE).read_text()


def test_incomplete_answer_file_is_not_read(tmp_path: Path, clock: Clock) -> None:
    answer, text = tmp_path / ANSWER, ""
    for number, letter in enumerate("slowly"):
        text += letter
        clock.at(10 + 1.9 * number, lambda text=text: answer.write_text(text))  # type: ignore[misc]
    assert handed(tmp_path).complete(request()).text == "slowly"
    assert clock.now == pytest.approx(1000 + 10 + 1.9 * 5 + 2, abs=0.6)


def test_an_answer_may_be_renamed_into_place(tmp_path: Path, clock: Clock) -> None:
    (half := tmp_path / "half").write_text("the whole answer")
    os.utime(half, (-100, -100))
    clock.at(7, lambda: os.replace(half, tmp_path / ANSWER))
    assert handed(tmp_path).complete(request()).text == "the whole answer"
    assert clock.now < 1008  # it was written long ago


def test_second_run_uses_existing_answer_files(tmp_path: Path, clock: Clock) -> None:
    for number in range(2):
        with pytest.raises(ModelError, match="'plan tau2_claims' was not answered within 30 s"):
            handed(tmp_path, limit=30).complete(request(str(number)))
    pages = sorted(p.name for p in tmp_path.iterdir())
    assert pages == [PAGE, "002-plan-tau2_claims.md"]
    for number, name in enumerate(pages):
        answer = tmp_path / name.replace(".md", ".answer.md")
        # Someone who copies the head of the page into the answer does no harm.
        answer.write_text((tmp_path / name).read_text().splitlines()[0] + f"\nAnswer {number}.")
        os.utime(answer, (-100, -100))
    began, again = clock.now, handed(tmp_path)
    assert again.complete(request("1")).text.endswith("Answer 1.")
    assert again.complete(request("0")).text.endswith("Answer 0.")
    assert clock.now == began
    with pytest.raises(ModelError):
        handed(tmp_path, limit=1).complete(request("0", purpose="write/../it", sample=1))
    assert "this is sample 1" in (tmp_path / "003-write-..-it.md").read_text()


@pytest.mark.parametrize("name", ["001-plan-tau2_claims", "017-plan-tau2_claims", "plan-tau2_claims"])
@pytest.mark.parametrize("suffix", file_exchange.SUFFIXES)
def test_answer_written_before_its_request_is_used(name: str, suffix: str, tmp_path: Path, clock: Clock) -> None:
    (tmp_path / f"{name}.answer{suffix}").write_text("Written early.")
    told: list[str] = []
    assert handed(tmp_path, told).complete(request()).text == "Written early."
    assert (tmp_path / f"{name}.md").is_file()
    assert len(told) == 2 and "was written before the request 'plan tau2_claims'" in told[0]  # the second one: it waits
    assert handed(tmp_path, limit=60).complete(request()).text == "Written early."
    with pytest.raises(ModelError, match="was not answered"):  # an answer serves one request
        handed(tmp_path, limit=60).complete(request("Plan it otherwise."))


def test_answers_of_a_page_that_was_deleted_are_found_again(tmp_path: Path, clock: Clock) -> None:
    clock.at(3, lambda: (tmp_path / ANSWER).write_text("Good."))
    handed(tmp_path).complete(request())
    (tmp_path / PAGE).unlink()
    assert handed(tmp_path, limit=60).complete(request()).text == "Good."


def test_early_answers_to_other_purposes_or_requests_are_not_used(tmp_path: Path, clock: Clock) -> None:
    for name, text in (
        ("001-plan-tau2_claim.answer.md", "Another purpose."),
        ("002-write-tau2_claims.answer.md", "Another purpose."),
        ("003-plan-tau2_claims.answer.md", ""),
        ("004-plan-tau2_claims.answer.md", f"<!-- trace_gym request {request('Else.').key} -->\nAnother request."),
        ("005-plan-tau2_claims.answer.md", f"<!-- trace_gym request {request().key} -->\nThis request."),
    ):
        (tmp_path / name).write_text(text)
    done = handed(tmp_path, limit=60).complete(request())
    assert done.text.endswith("This request.")
    assert handed(tmp_path, limit=60).complete(request("Else.")).text.endswith("Another request.")


def test_page_of_a_continued_conversation_holds_only_new_messages(tmp_path: Path, clock: Clock) -> None:
    long = "Plan it. " * 5000
    first = request(long)
    turns = ({"role": "assistant", "content": "A plan."}, {"role": "user", "content": "Make it shorter."})
    again = first.model_copy(update={"messages": (*first.messages, *turns), "purpose": "repair 1 tau2_claims"})
    for asked in (first, again):
        with pytest.raises(ModelError):
            handed(tmp_path, limit=10).complete(asked)
    page = (tmp_path / "002-repair-1-tau2_claims.md").read_text()
    assert len(page) < 2000 and f"`{PAGE}`" in page and "A plan." in page and "Make it shorter." in page
    (tmp_path / PAGE).unlink()
    with pytest.raises(ModelError):
        handed(tmp_path, limit=10).complete(again.model_copy(update={"sample": 1}))
    assert long.strip() in (tmp_path / "003-repair-1-tau2_claims.md").read_text()  # without the first page it is whole


def test_folder_that_is_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "desk").write_text("")
    with pytest.raises(ConfigError, match="cannot create the folder .*desk for the model files:DIR: File exists"):
        open_model_uri(f"files:{tmp_path / 'desk'}")


def test_an_empty_answer_is_none_yet_and_a_bad_one_is_named(tmp_path: Path, clock: Clock) -> None:
    answer = tmp_path / ANSWER
    clock.at(1, answer.touch)
    with pytest.raises(ModelError, match=f"write the answer to {answer}, and run the same command again"):
        handed(tmp_path, limit=60).complete(request())
    answer.write_bytes("größer".encode("utf-16"))
    with pytest.raises(ReadError, match=r"answer\.md is not UTF-8 text. Save the file as UTF-8"):
        handed(tmp_path).complete(request())


def test_closing_ends_the_waiting(tmp_path: Path, clock: Clock) -> None:
    exchange = handed(tmp_path, limit=None)
    clock.at(30, exchange.close)
    with pytest.raises(ModelError, match="was not answered before the command ended"):
        exchange.complete(request())


def test_waiting_is_told_now_and_then(tmp_path: Path, clock: Clock) -> None:
    told: list[str] = []
    with pytest.raises(ModelError):
        handed(tmp_path, told, limit=200).complete(request())
    assert [line.partition(".answer.md")[2] for line in told] == ["", " (1 min)", " (2 min)", " (3 min)"]


def test_several_requests_wait_at_once_and_none_shares_a_page(tmp_path: Path, clock: Clock) -> None:
    answered: list[bool] = []

    def answer_all() -> None:
        pages = [p for p in tmp_path.glob("*.md") if p.stat().st_size]
        if len(pages) == 6 and not answered:
            answered.append(True)
            for page in pages:
                page.with_suffix(".answer.txt").write_text(page.read_text().rpartition("```markdown\n")[2][:-4])

    clock.always = answer_all
    one = handed(tmp_path)
    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(lambda n: one.complete(request(f"Question {n}")).text.strip(), range(6)))
    assert done == [f"Question {n}" for n in range(6)]


class Plan(BaseModel):
    title: str


def test_invalid_answer_file_gets_second_request_file(tmp_path: Path, clock: Clock) -> None:
    folder = tmp_path / "hand over"
    second = folder / "002-plan-tau2_claims-attempt-2.md"
    clock.at(5, lambda: (folder / ANSWER).write_text("A fine plan."))
    clock.at(50, lambda: second.with_suffix(".answer.md").write_text('Now: {"title": "Claims"}'))
    store = RequestStore(Recordings(tmp_path / "cache"), Ledger(tmp_path / "ledger"))
    model = Resolved(FileExchange(folder, store, lambda line: None), store)
    plan, spent = ask(model, request(), Plan)
    assert plan.title == "Claims" and len(spent) == 2
    assert "does not contain a JSON object" in second.read_text()
    assert Usage.read(tmp_path / "ledger") == Usage(requests=2, cost=None)
    # A hand-over is a recording, too.
    assert ask(open_model_uri(f"replay:{tmp_path / 'cache'}"), request(), Plan)[0] == plan


def test_files_uri_selects_folder(tmp_path: Path, clock: Clock) -> None:
    clock.at(3, lambda: (tmp_path / ANSWER).write_text("Good."))
    signed = open_model_uri(f"files:{tmp_path}", answered_by="a friend", log=lambda line: None)
    assert signed.name == signed.complete(request()).model == "files:a friend"
    model = open_model_uri(f"files:{tmp_path / 'a' / 'b'}", wait=30, log=lambda line: None)
    assert model.name == "files"
    with pytest.raises(ModelError, match="within 30 s"):
        model.complete(request())
