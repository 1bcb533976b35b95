"""Tests of readers that read a file in parts, and of the memory that they need."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from trace_gym import streams
from trace_gym.errors import ReadError
from trace_gym.streams import json_parts, text_lines
from trace_gym.targets.results import read_results, stream_results
from trace_gym.targets.source import SkippedRecord

DATA = Path(__file__).parent / "data"
TAU_BENCH, TAU2 = DATA / "tau_bench_airline.json", DATA / "tau2_retail.json"
VALUES: list[Any] = [1, -2.5e3, "é\n\u2028", None, True, [], {}, [[1, 2], {"a": ["b", 12345]}], "x" * 50, 10**18]


@pytest.fixture(params=[1, 7, 2**16])
def chunk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "CHUNK", request.param)
    monkeypatch.setattr(streams, "WINDOW", request.param)


@pytest.mark.usefixtures("chunk")
@pytest.mark.parametrize("indent", [None, 2])
def test_parts_are_those_of_the_json_module(indent: int | None, tmp_path: Path) -> None:
    data = {"a": 1, "records": VALUES, "b": VALUES, "records2": 12}
    path = tmp_path / "a.json"
    path.write_text(json.dumps(data, indent=indent, ensure_ascii=False) + "\n", encoding="utf-8-sig")
    parts = list(json_parts(path, "a", {"records", "records2"}))
    assert {key: value for key, index, value in parts if index is None} == data | {"records": []}
    assert [value for key, index, value in parts if index is not None] == VALUES
    path.write_bytes(gzip.compress(json.dumps(VALUES, indent=indent).encode()))
    assert [value for _, index, value in json_parts(path, "a", set()) if index is not None] == VALUES


@pytest.mark.usefixtures("chunk")
def test_every_truncation_is_called_truncated(tmp_path: Path) -> None:
    values = [value for value in VALUES if not isinstance(value, float)]  # 1.5 is valid without the digits after 1
    text, path = json.dumps({"a": 1, "records": values}), tmp_path / "a.json"
    for cut in range(1, len(text)):
        path.write_text(text[:cut])
        with pytest.raises(ReadError, match="truncated"):
            list(json_parts(path, "a", {"records"}))


@pytest.mark.usefixtures("chunk")
@pytest.mark.parametrize("text", ['["a" "b"]', '{"a" 1}', "{1: 2}", '[1, "a\nb"]', "[1,, 2]", "nonsense"])
def test_invalid_json_is_an_error(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(text + " " * 100)
    with pytest.raises(ReadError, match="is not valid JSON"):
        list(json_parts(path, "a", set()))


@pytest.mark.usefixtures("chunk")
def test_lines_have_the_numbers_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("a\u2028b\n\n  \nc\r\nd", newline="")
    assert [(number, line.strip()) for number, line in text_lines(path)] == [(1, "a\u2028b"), (4, "c"), (5, "d")]


def results(path: Path, count: int) -> Path:
    """Write tau2 results with one simulation repeated under different trial numbers."""
    data = json.loads(TAU2.read_text())
    runs = [run | {"trial": n} for n, run in enumerate(data["simulations"][:1] * count)]
    path.write_text(json.dumps(data | {"simulations": runs}))
    return path


def test_memory_of_a_stream_does_not_grow_with_the_file(tmp_path: Path) -> None:
    def peak(count: int) -> int:
        path = results(tmp_path / f"{count}.json", count)
        tracemalloc.start()
        try:
            assert sum(1 for _ in stream_results(path)) == count
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(20)  # imports
    assert peak(2000) < 2 * peak(500)


def test_the_first_trajectories_need_no_complete_list(tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    path.write_text(json.dumps(json.loads(TAU_BENCH.read_text()) * 5)[:-20])
    assert [t.id for t in islice(stream_results(path), 3)] == ["airline/0/0", "airline/0/1", "airline/1/0"]
    with pytest.raises(ReadError, match="truncated"):
        read_results(path)


@pytest.mark.parametrize("path", [TAU_BENCH, TAU2], ids=lambda p: p.stem)
def test_good_records_of_benchmarks_remain_usable(path: Path, tmp_path: Path) -> None:
    data, good = json.loads(path.read_text()), read_results(path)
    runs = data if isinstance(data, list) else data["simulations"]
    runs[1:1] = [7, runs[0], {"task_id": "0", "reward": "much"}]
    text = json.dumps(data)
    copy = tmp_path / "copy.json"
    copy.write_text(text)
    with pytest.raises(ReadError, match=r"\b1: "):
        read_results(copy)
    faults: list[SkippedRecord] = []
    assert read_results(copy, on_invalid=faults.append) == good
    assert [fault.reason for fault in faults] == ["unreadable", "duplicate", "unreadable"]
    assert all(str(copy) in fault.message for fault in faults)
    copy.write_text(text[:-20])
    faults.clear()
    assert read_results(copy, on_invalid=faults.append) == good[:-1]
    assert [fault.reason for fault in faults] == ["unreadable", "duplicate", "unreadable", "unreadable"]
    assert "truncated" in faults[-1].message
