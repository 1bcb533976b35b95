"""Tests of the reader of traces of OpenAI's Agents SDK."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trace_gym.errors import ReadError
from trace_gym.targets.results import read_results
from trace_gym.targets.source import SkippedRecord

CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"order": "A1"}'}}
USER = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where is A1?"}]
ASKED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "shipped"}
SAID = {"role": "assistant", "content": "It is shipped."}


def head(number: int, **metadata: Any) -> dict[str, Any]:
    trace = {"object": "trace", "id": f"trace_{number}", "workflow_name": "Orders", "group_id": None}
    return trace | {"metadata": metadata or None}


def span(number: int, second: int, error: str = "", **data: Any) -> dict[str, Any]:
    return {
        "object": "trace.span",
        "id": f"span_{number}_{second}",
        "trace_id": f"trace_{number}",
        "parent_id": None,
        "started_at": f"2026-01-01T00:00:{second:02d}+00:00",
        "ended_at": f"2026-01-01T00:01:{second:02d}+00:00",
        "span_data": data,
        "error": {"message": error, "data": None} if error else None,
    }


def generation(number: int, second: int, before: list[Any], after: Any, error: str = "") -> dict[str, Any]:
    return span(number, second, error, type="generation", input=before, output=[after] if after else None, model="m")


def trace(number: int, **metadata: Any) -> list[dict[str, Any]]:
    """Return the items of a trace with a call of a function. A span is exported when it ends."""
    return [
        head(number, **metadata),
        generation(number, 2, USER, ASKED),
        span(number, 3, type="function", name="find", input='{"order": "A1"}', output="shipped", mcp_data=None),
        generation(number, 4, [*USER, ASKED, RESULT], SAID),
        span(number, 1, type="agent", name="clerk", handoffs=[], tools=["find"], output_type="str"),
    ]


def write(path: Path, form: str, items: list[Any]) -> Path:
    half = len(items) // 2
    batches = [{"data": items[:half]}, {"data": items[half:]}]
    rows = {"lines": items, "lines of batches": batches}.get(form)
    data = {"list": items, "batch": {"data": items}, "list of batches": batches}.get(form)
    path.write_text(json.dumps(data) if rows is None else "".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("form", ["list", "batch", "list of batches", "lines", "lines of batches"])
def test_traces_are_recognized_by_content_and_may_alternate(form: str, tmp_path: Path) -> None:
    first, second = trace(1, success="true", task="a1"), trace(2, reward=0.5)
    items = [item for pair in zip(first, second, strict=True) for item in pair]
    found = read_results(write(tmp_path / "export.txt", form, items))
    assert [(t.id, t.task, t.success, t.reward) for t in found] == [
        ("trace_1", "a1", True, None),
        ("trace_2", "trace_2", False, 0.5),
    ]
    for t in found:
        assert [m["role"] for m in t.messages] == ["system", "user", "assistant", "tool", "assistant"]
        assert [(c.tool, c.arguments, refused) for c, refused in t.calls] == [("find", {"order": "A1"}, False)]
        assert (t.model, t.source, t.messages[-1]["content"]) == ("m", "OpenAI trace Orders", "It is shipped.")
    assert {t.model for t in read_results(tmp_path / "export.txt", model="other")} == {"other"}


def test_traces_without_an_outcome_are_not_scored(tmp_path: Path) -> None:
    [found] = read_results(write(tmp_path / "a.jsonl", "lines", trace(1)))
    assert (found.success, found.reward, found.ended) == (None, None, "unknown")
    failed = [*trace(1, success=False), generation(1, 9, USER, None, "the endpoint is gone")]
    [found] = read_results(write(tmp_path / "a.jsonl", "lines", failed))
    assert (found.success, found.ended, found.note) == (None, "error", "the endpoint is gone")


@pytest.mark.parametrize("metadata", [{"success": "maybe"}, {"reward": "much"}, {"reward": float("inf")}])
def test_invalid_outcomes_are_an_error(metadata: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(
        ReadError,
        match=r"trace_1 has no valid outcome: .*\(expected true or false\) and reward .*\(expected a number\)",
    ):
        read_results(write(tmp_path / "a.json", "list", trace(1, **metadata)))


def test_errors_of_functions_are_refusals(tmp_path: Path) -> None:
    items = trace(1, success=False)
    items[2] = span(1, 3, "Error running tool", type="function", name="find", input="{}", output="shipped")
    [found] = read_results(write(tmp_path / "a.json", "list", items))
    assert [refused for _, refused in found.calls] == [True]
    # The agent stopped after the call, so that only the span contains the result.
    [found] = read_results(write(tmp_path / "b.json", "list", items[:3]))
    assert [(m["role"], m["content"]) for m in found.messages[2:]] == [
        ("assistant", None),
        ("tool", "Error: shipped"),
    ]


@pytest.mark.parametrize("complete", [True, False])
def test_items_of_responses_are_read(complete: bool, tmp_path: Path) -> None:
    """A later request contains the conversation before it, or only the new items (`previous_response_id`)."""
    reasoning = {"type": "reasoning", "id": "r1", "summary": []}
    call = {"type": "function_call", "call_id": "c1", "name": "find", "arguments": "{}", "id": "f1"}
    result = {"type": "function_call_output", "call_id": "c1", "output": "shipped"}
    text = {"type": "message", "role": "assistant", "id": "m1", "content": [{"type": "output_text", "text": "Done."}]}
    asked = [{"role": "user", "content": "Where?"}]
    first = {
        "type": "response",
        "input": "Where?",
        "response": {"model": "m2", "instructions": "Be brief.", "output": [reasoning, call]},
    }
    later = [*asked, reasoning, call, result] if complete else [result]
    second = {"type": "response", "_input": later, "_response": {"output": [text]}}
    items = [head(1, success=True), span(1, 1, **first), span(1, 2, **second)]
    [found] = read_results(write(tmp_path / "a.json", "list", items))
    assert [(m["role"], m["content"]) for m in found.messages] == [
        ("system", "Be brief."),
        ("user", "Where?"),
        ("assistant", None),
        ("tool", "shipped"),
        ("assistant", "Done."),
    ]
    assert ([c.tool for c, _ in found.calls], found.model) == (["find"], "m2")


def test_responses_without_items_are_an_error_that_names_the_fix(tmp_path: Path) -> None:
    items = [head(1), span(1, 1, type="response", response_id="resp_1", usage=None)]
    with pytest.raises(ReadError, match="trace_1 contains no messages: .*includes the items of each response"):
        read_results(write(tmp_path / "a.json", "list", items))


@pytest.mark.parametrize("form", ["list", "lines"])
def test_invalid_items_are_skipped(form: str, tmp_path: Path) -> None:
    items = [*trace(1, success=True), {"object": "trace.span", "span_data": 3}, *trace(2), head(3)]
    path = write(tmp_path / "a.export", form, items)
    with pytest.raises(ReadError, match="(5|line 6) is not a valid item of a trace: id"):
        read_results(path)
    faults: list[SkippedRecord] = []
    assert [t.id for t in read_results(path, on_invalid=faults.append)] == ["trace_1", "trace_2"]
    assert [fault.reason for fault in faults] == ["unreadable", "unreadable"]
    if form == "lines":
        path.write_text(path.read_text() + "{oops\n")
        read_results(path, on_invalid=faults.append)
        assert len(faults) == 5
