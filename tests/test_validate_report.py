"""The JSON of a report is what its page says, and a file of another version is answered clearly."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from trace_gym.errors import ReadError
from trace_gym.types import Bars, Curves, Finding, Record, Replay, Report, Talk
from trace_gym.validate import read
from trace_gym.validate.report import VERSION

PAGE = (Path(__file__).parents[1] / "docs" / "report.md").read_text()
MODELS: tuple[type[Record], ...] = (Report, Finding, Replay, Curves, Bars, Talk)
FIELDS = {
    "Report": "version env passed findings scenarios profile",
    "Finding": "code property verdict says counterexample replay figures exhibits",
    "Replay": "scenario actions",
    "Curves": "kind title x y series band",
    "Bars": "kind title unit bars bound",
    "Talk": "kind title messages",
}
"""Of version 1. Readers are strict, so a change here is a change of `Report.version`, and of this test."""
SOME = Report(
    env="hotel",
    passed=False,
    scenarios=6,
    findings=(
        Finding(
            code="TG304",
            property="damage-costs-success",
            verdict="failed",
            says="a write costs nothing",
            replay=Replay(scenario="hotel/0/0", actions=({"say": "Hello."}, "text", None)),
            figures={"share": 0.5},
            exhibits=(
                Curves(title="t", x="x", y="y", series={"a": ((0.0, 1.0),)}, band=(0.0, 1.0)),
                Bars(title="t", unit="u", bars={"a": 1.0}),
                Talk(title="t", messages=({"role": "user", "content": "Hello."},)),
            ),
        ),
    ),
)


def words(schema: dict[str, Any]) -> str:
    """A JSON Schema as the page writes it."""
    match schema:
        case {"$ref": str(name)}:
            return name.rpartition("/")[2]
        case {"enum": list(values)}:
            return ", ".join(values)
        case {"const": str(value)}:
            return value
        case {"oneOf": list(parts)}:
            return ", ".join(map(words, parts))
        case {"anyOf": list(parts)}:
            return " or ".join(map(words, parts))
        case {"prefixItems": [first, *_]}:
            return f"array of {words(first)}"
        case {"type": "array", "items": dict(items)}:
            return f"array of {words(items)}"
        case {"type": "object", "additionalProperties": part}:
            return f"object of {words(part) if isinstance(part, dict) else 'anything'}"
    return str(schema.get("type", "anything"))


def documented(model: type[Record]) -> list[tuple[str, str, str]]:
    """The rows of a model's table: field, type and default."""
    [section] = re.findall(rf"^## {model.__name__}\n\n(\|.*?)(?:\n\n|\Z)", PAGE, re.S | re.M)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines()[2:]]
    return [(name.strip("`"), kind, default) for name, kind, default, _ in rows]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_the_page_lists_the_fields_of_the_model(model: type[Record]) -> None:
    schemas = Report.model_json_schema()
    own = schemas if model is Report else schemas["$defs"][model.__name__]
    expected = []
    for name, field in model.model_fields.items():
        default = field.get_default(call_default_factory=True)
        told = "" if field.is_required() else json.dumps(list(default) if isinstance(default, tuple) else default)
        expected.append((name, words(own["properties"][name]), told))
    assert documented(model) == expected


def test_a_version_has_its_fields_for_ever() -> None:
    assert VERSION == 1 and f"**version {VERSION}**" in PAGE
    assert {m.__name__: " ".join(m.model_fields) for m in MODELS} == FIELDS
    assert Report.model_json_schema()["$defs"].keys() == FIELDS.keys() - {"Report"}


def test_every_verdict_is_explained() -> None:
    named = Report.model_json_schema()["$defs"]["Finding"]["properties"]["verdict"]["enum"]
    assert re.findall(r"^\| `(\w+)` \| [A-Z]", PAGE[PAGE.index("| Verdict |") : PAGE.index("## Replay")], re.M) == named


def test_a_report_is_read_from_its_file_and_from_a_manifest(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(SOME.model_dump_json(indent=1))
    assert read(tmp_path / "report.json") == SOME
    (tmp_path / "manifest.json").write_text(json.dumps({"id": "hotel", "report": json.loads(SOME.model_dump_json())}))
    assert read(str(tmp_path / "manifest.json")) == SOME


def test_the_example_of_the_page_is_a_report(tmp_path: Path) -> None:
    [example] = re.findall(r"```json\n(.*?)```", PAGE, re.S)
    (tmp_path / "report.json").write_text(example)
    assert [f.code for f in read(tmp_path / "report.json").findings] == ["TG304"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            {"version": VERSION + 1},
            f"is a report of version {VERSION + 1}, and trace-gym .* reads version {VERSION}; pip",
        ),
        (
            {"version": 0},
            f"is a report of version 0, and {VERSION} is read; write one with trace-gym validate ENV --out",
        ),
        ({"version": "1"}, "is a report of version '1'"),
        ({"version": True}, "is a report of version True"),
        ({"version": None}, "is a report of no version"),
        ({"more": 1}, r"is no report of version 1 \(more: Extra inputs"),
        ({"findings": [{"code": "TG304"}]}, r"is no report of version 1 \(findings.0.property: Field required\)"),
        ({"findings": 3}, r"is no report of version 1 \(findings: "),
    ],
)
def test_what_is_another_version_or_none_is_told_of(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps({**json.loads(SOME.model_dump_json()), **change}))
    with pytest.raises(ReadError, match=says):
        read(path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "is no report"),
        ("[1]", "has no findings"),
        ('{"report": 3}', "has no findings"),
        ("\udcff", "is no report"),
    ],
)
def test_what_is_no_report_is_told_of(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(ReadError, match=says):
        read(path)
    with pytest.raises(ReadError, match="there is no file"):
        read(tmp_path / "missing.json")
