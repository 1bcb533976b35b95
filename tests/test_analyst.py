"""Tests of the language-model analyst with a model that answers from a script."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from trace_gym.diagnosis import diagnose
from trace_gym.diagnosis.analyst import AnalystOptions, ModelAnalyst
from trace_gym.diagnosis.analyst.agreement import cohen_kappa
from trace_gym.errors import BudgetSpent, ModelError
from trace_gym.llm import Completion, ModelRequest, Resolved
from trace_gym.llm.budget import Amount
from trace_gym.llm.recordings import Recordings
from trace_gym.llm.request_store import RequestStore
from trace_gym.types import Trajectory, to_jsonl

CAPABILITY = {
    "name": "check_stock",
    "description": "Checks the stock.",
    "needed_when": "An item is ordered.",
    "present_when": "The stock was read.",
    "lacking_when": "The stock was not read.",
}


def trajectory(number: int, passed: bool) -> Trajectory:
    text = f"I {'checked' if passed else 'skipped'} the stock of item {number}."
    messages = ({"role": "user", "content": f"Order item {number}"}, {"role": "assistant", "content": text})
    return Trajectory(id=f"id{number}", task=f"task{number}", messages=messages, success=passed, reward=float(passed))


TRAJECTORIES = [trajectory(n, n % 2 == 0) for n in range(20)]


class Scripted:
    """Model that labels by the words in the prompt, and can fail or change answers."""

    name = "scripted"

    def __init__(self, change: Callable[[ModelRequest, dict[str, Any]], Any] = lambda request, answer: answer) -> None:
        self.requests: list[ModelRequest] = []
        self._change = change

    def complete(self, request: ModelRequest) -> Completion:
        self.requests.append(request)
        answer = self._change(request, _answer(request))
        return Completion(text=answer if isinstance(answer, str) else json.dumps(answer), model="scripted")


def _answer(request: ModelRequest) -> dict[str, Any]:
    prompt = request.messages[1]["content"]
    if request.purpose.startswith("match"):
        return {"matches": [{"capability": "C1", "registered": "R1", "reason": "same skill"}]}
    if not request.purpose.startswith("label"):
        return {"capabilities": [CAPABILITY]}
    labels = []
    for number, text in re.findall(r"## Episode (T\d+).*?BEGIN \w+\n(.*?)\nEND", prompt, re.DOTALL):
        quote = re.search(r"I (checked|skipped) the stock", text)
        assert quote is not None
        label = "PRESENT" if quote[1] == "checked" else "LACKING"
        labels.append({"trajectory": number, "capability": "C1", "label": label, "quote": quote[0]})
    return {"labels": labels}


def analyst(model: Any, **options: Any) -> ModelAnalyst:
    return ModelAnalyst(model, AnalystOptions(**{"runs": 2, **options}), registered={"stock": "Read the stock first."})


def test_finds_matches_and_selects_a_capability() -> None:
    made = analyst(Scripted())
    found = diagnose(TRAJECTORIES, analyst=made)
    assert [c.name for c in found.selected] == ["stock"]
    assert found.labels["id1"] == {"stock": "LACKING"}
    assert made.evidence("id1", "stock") == "[2] I skipped the stock"
    report = made.report()
    assert report.capabilities[0].matched
    assert report.kappa == 1.0
    assert not report.not_labeled


def test_unmatched_capability_with_a_registered_name_is_renamed() -> None:
    unmatched = Scripted(lambda r, a: {"matches": []} if r.purpose.startswith("match") else a)
    made = ModelAnalyst(unmatched, AnalystOptions(runs=1), registered={"check_stock": "Counts the shelves."})
    made.label(TRAJECTORIES)
    assert list(made.descriptions) == ["check_stock_new"]


@pytest.mark.parametrize("aware", [False, True])
def test_label_prompts_contain_outcomes_only_on_request(aware: bool) -> None:
    model = Scripted()
    analyst(model, outcome_aware=aware).label(TRAJECTORIES)
    prompts = [r.messages[1]["content"] for r in model.requests if r.purpose.startswith("label")]
    assert all((": failed" in p or ": succeeded" in p) is aware for p in prompts)
    assert not any("id1" in p or "task1" in p for p in prompts)


def test_runs_have_different_orders() -> None:
    model = Scripted()
    analyst(model, concurrency=1).label(TRAJECTORIES)
    first, second = ([r for r in model.requests if r.purpose.startswith(f"label run {n} ")] for n in (1, 2))
    assert [r.messages for r in first] != [r.messages for r in second]
    assert len({r.key for r in model.requests}) == len(model.requests)


def test_invented_quote_is_requested_once_more_and_then_dropped() -> None:
    def invent(request: ModelRequest, answer: dict[str, Any]) -> dict[str, Any]:
        return (
            {"labels": [e | {"quote": "I never said this"} for e in answer["labels"]]} if "labels" in answer else answer
        )

    def invent_once(request: ModelRequest, answer: dict[str, Any]) -> dict[str, Any]:
        return answer if "again" in request.purpose else invent(request, answer)

    once = analyst(Scripted(invent_once))
    assert len(once.label(TRAJECTORIES)[0]) == 20
    assert not once.report().not_labeled
    one = "id1"

    def invent_one(request: ModelRequest, answer: dict[str, Any]) -> dict[str, Any]:
        wrong = [e | ({"quote": "not said"} if e["label"] == "LACKING" else {}) for e in answer.get("labels", ())]
        return {"labels": wrong} if wrong else answer

    dropped = analyst(Scripted(invent_one))
    assert one not in dropped.label(TRAJECTORIES)[0]
    assert {n.trajectory for n in dropped.report().not_labeled} == {t.id for t in TRAJECTORIES if not t.success}


def test_malformed_answers_and_failed_requests_lose_no_label() -> None:
    seen: dict[str, int] = {}

    def fail(request: ModelRequest, answer: dict[str, Any]) -> Any:
        seen[request.purpose] = count = seen.get(request.purpose, 0) + 1
        if request.purpose == "label run 1 batch 1" and count == 1:
            raise ModelError("status 429")
        return '{"labels": [' if request.purpose == "label run 2 batch 2" else answer

    made = analyst(Scripted(fail))
    assert [len(run) for run in made.label(TRAJECTORIES)] == [20, 20]


def test_no_valid_label_and_a_spent_budget_are_errors() -> None:
    def refuse(error: Exception) -> Callable[[ModelRequest, dict[str, Any]], dict[str, Any]]:
        def change(request: ModelRequest, answer: dict[str, Any]) -> dict[str, Any]:
            if request.purpose.startswith("label"):
                raise error
            return answer

        return change

    with pytest.raises(ModelError, match="no valid label: status 500"):
        analyst(Scripted(refuse(ModelError("status 500")))).label(TRAJECTORIES)
    with pytest.raises(BudgetSpent):
        analyst(Scripted(refuse(BudgetSpent("spent")))).label(TRAJECTORIES)


def test_no_failure_needs_no_request() -> None:
    model = Scripted()
    assert analyst(model).label([t for t in TRAJECTORIES if t.success]) == [{}, {}]
    assert not model.requests


def test_estimate_counts_the_requests() -> None:
    model = Scripted()
    made = analyst(model)
    estimate = made.estimate(TRAJECTORIES)
    assert not model.requests
    made.label(TRAJECTORIES)
    assert estimate.discovery_requests + estimate.label_requests == len(model.requests)


def test_cohen_kappa() -> None:
    assert cohen_kappa([]) is None
    assert cohen_kappa([("NA", "NA")] * 3) == 1.0
    assert cohen_kappa([("A", "A"), ("B", "B"), ("A", "B"), ("B", "A")]) == 0.0


def test_command_prints_the_estimate_and_rejects_options_without_effect(tmp_path: Path) -> None:
    from trace_gym.cli.entry import app

    source = tmp_path / "episodes.jsonl"
    source.write_text(to_jsonl(TRAJECTORIES))
    given = ["diagnose", str(source)]
    result = CliRunner().invoke(app, [*given, "--analyst", "openai:m", "--dry-run", "--runs", "3"])
    assert result.exit_code == 0, result.output
    assert "15 for labels" in result.output
    for options in (["--runs", "3"], ["--analyst", "openai:m", "--runs", "3", "--keep", "4"]):
        assert CliRunner().invoke(app, [*given, *options]).exit_code != 0


class Stored(Scripted):
    """Scripted model that stores its answers, and is interrupted after a number of requests."""

    def __init__(self, store: RequestStore, limit: int) -> None:
        super().__init__()
        self._store, self._limit = store, limit

    def complete(self, request: ModelRequest) -> Completion:
        if len(self.requests) == self._limit:
            raise BudgetSpent("interrupted")
        answer = super().complete(request)
        self._store.answered(request, answer, 0.0, Amount())
        return answer


def test_interrupted_analysis_repeats_no_finished_request(tmp_path: Path) -> None:
    store = RequestStore(Recordings(tmp_path))
    first, second, whole = Stored(store, 6), Stored(store, 1000), Scripted()
    with pytest.raises(BudgetSpent):
        analyst(Resolved(first, store), concurrency=1).label(TRAJECTORIES)  # type: ignore[arg-type]
    resumed = analyst(Resolved(second, store), concurrency=1)  # type: ignore[arg-type]
    labels = resumed.label(TRAJECTORIES)
    assert labels == analyst(whole).label(TRAJECTORIES)
    assert len(first.requests) + len(second.requests) == len(whole.requests)
    assert resumed.report().cached == 6
