"""Tests that the JSON of a report matches its documentation, and that other versions raise clear errors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from format_pages import documented, fields_of

from trace_gym.errors import ReadError
from trace_gym.types import FORMAT_VERSION, Bars, Curves, Finding, Record, Replay, Report, Transcript
from trace_gym.validation import read

PAGE = (Path(__file__).parents[1] / "docs" / "reference" / "report.md").read_text()
MODELS: tuple[type[Record], ...] = (Report, Finding, Replay, Curves, Bars, Transcript)
FIELDS = {
    "Report": "version env passed findings scenarios profile",
    "Finding": "code property verdict message counterexample replay metrics exhibits",
    "Replay": "scenario actions",
    "Curves": "kind title x y series target_range",
    "Bars": "kind title unit bars bound",
    "Transcript": "kind title messages",
}
"""Fields of format version 2. Readers are strict, so a change here requires a change of `Report.version` and of this
test."""
SOME = Report(
    env="hotel",
    passed=False,
    scenarios=6,
    findings=(
        Finding(
            code="TG304",
            property="damage-revokes-success",
            verdict="failed",
            message="a write costs nothing",
            replay=Replay(scenario="hotel/0/0", actions=({"say": "Hello."}, "text", None)),
            metrics={"share": 0.5},
            exhibits=(
                Curves(title="t", x="x", y="y", series={"a": ((0.0, 1.0),)}, target_range=(0.0, 1.0)),
                Bars(title="t", unit="u", bars={"a": 1.0}),
                Transcript(title="t", messages=({"role": "user", "content": "Hello."},)),
            ),
        ),
    ),
)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_page_lists_fields_of_model(model: type[Record]) -> None:
    assert documented(PAGE, model) == fields_of(model, Report)


def test_fields_of_a_format_version_do_not_change() -> None:
    assert FORMAT_VERSION == 2 and f"**version {FORMAT_VERSION}**" in PAGE
    assert {m.__name__: " ".join(m.model_fields) for m in MODELS} == FIELDS
    assert Report.model_json_schema()["$defs"].keys() == FIELDS.keys() - {"Report"}


def test_page_explains_every_verdict() -> None:
    named = Report.model_json_schema()["$defs"]["Finding"]["properties"]["verdict"]["enum"]
    assert re.findall(r"^\| `(\w+)` \| [A-Z]", PAGE[PAGE.index("| Verdict |") : PAGE.index("## Replay")], re.M) == named


def test_report_is_read_from_file_and_manifest(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(SOME.model_dump_json(indent=1))
    assert read(tmp_path / "report.json") == SOME
    (tmp_path / "manifest.json").write_text(json.dumps({"id": "hotel", "report": json.loads(SOME.model_dump_json())}))
    assert read(str(tmp_path / "manifest.json")) == SOME


def test_example_on_page_is_valid_report(tmp_path: Path) -> None:
    [example] = re.findall(r"```json\n(.*?)```", PAGE, re.S)
    (tmp_path / "report.json").write_text(example)
    assert [f.code for f in read(tmp_path / "report.json").findings] == ["TG304"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"version": FORMAT_VERSION + 1},
            f"has format version {FORMAT_VERSION + 1}, but trace-gym .* supports only versions 1 to {FORMAT_VERSION}",
        ),
        (
            {"version": 0},
            f"has format version 0, expected a version from 1 to {FORMAT_VERSION}. To write one, run trace-gym",
        ),
        ({"version": "1"}, "has format version '1'"),
        ({"version": True}, "has format version True"),
        ({"version": None}, "has no format version"),
        ({"more": 1}, r"is not a valid report \(more: Extra inputs"),
        ({"findings": [{"code": "TG304"}]}, r"is not a valid report \(findings.0.property: Field required\)"),
        ({"findings": 3}, r"is not a valid report \(findings: "),
    ],
)
def test_unsupported_format_version_raises_read_error(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps({**json.loads(SOME.model_dump_json()), **change}))
    with pytest.raises(ReadError, match=message):
        read(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "the report cannot be read"),
        ("[1]", "has no findings"),
        ('{"report": 3}', "has no findings"),
        ("\udcff", "the report cannot be read"),
    ],
)
def test_file_without_report_raises_read_error(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(ReadError, match=message):
        read(path)
    with pytest.raises(ReadError, match="the file .* does not exist"):
        read(tmp_path / "missing.json")
