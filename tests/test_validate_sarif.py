"""Tests of SARIF output: the structure that the specification requires, locations in the code, and the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

from trace_gym.cli.entry import app
from trace_gym.types import Finding, Report
from trace_gym.validation import PROPERTIES
from trace_gym.validation.sarif import to_sarif

TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
RULE = {
    "type": "object",
    "required": ["id", "name", "shortDescription", "fullDescription", "help", "defaultConfiguration"],
    "properties": {
        "id": {"type": "string", "pattern": "^TG[0-9]{3}$"},
        "name": {"type": "string", "pattern": "^[A-Z][A-Za-z]+$"},
        "shortDescription": TEXT,
        "fullDescription": TEXT,
        "help": TEXT | {"required": ["text", "markdown"]},
        "defaultConfiguration": {"properties": {"level": {"enum": ["none", "note", "warning", "error"]}}},
        "properties": {"type": "object"},
    },
    "additionalProperties": False,
}
PHYSICAL = {
    "type": "object",
    "required": ["artifactLocation"],
    "properties": {
        "artifactLocation": {
            "required": ["uri"],
            "properties": {"uri": {"type": "string", "pattern": "^[^ \\\\]+$"}, "uriBaseId": {"type": "string"}},
            "additionalProperties": False,
        },
        "region": {
            "required": ["startLine"],
            "properties": {"startLine": {"type": "integer", "minimum": 1}},
            "additionalProperties": False,
        },
    },
    "additionalProperties": False,
}
RESULT = {
    "type": "object",
    "required": ["ruleId", "ruleIndex", "kind", "level", "message", "locations", "partialFingerprints"],
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": 0},
        "kind": {"const": "fail"},  # section 3.27.10: only this kind may have a level other than none
        "level": {"enum": ["warning", "error"]},
        "message": TEXT,
        "locations": {
            "type": "array",
            "minItems": 1,
            "items": {"properties": {"physicalLocation": PHYSICAL}, "additionalProperties": False},
        },
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
        "properties": {"type": "object"},
    },
    "additionalProperties": False,
}
RUN = {
    "type": "object",
    "required": ["tool", "results", "invocations", "automationDetails"],
    "properties": {
        "tool": {
            "required": ["driver"],
            "properties": {
                "driver": {
                    "required": ["name", "version", "rules"],
                    "properties": {"rules": {"type": "array", "items": RULE, "uniqueItems": True}},
                }
            },
        },
        "automationDetails": {"required": ["id"]},
        "invocations": {
            "minItems": 1,
            "items": {"required": ["executionSuccessful"], "properties": {"executionSuccessful": {"type": "boolean"}}},
        },
        "results": {"type": "array", "items": RESULT},
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        "properties": {"type": "object"},
    },
    "additionalProperties": False,
}
SCHEMA = {
    "type": "object",
    "required": ["version", "runs"],
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "minItems": 1, "items": RUN},
    },
    "additionalProperties": False,
}
"""The part of the SARIF 2.1.0 schema that the files of trace_gym use. It is stricter than the official schema."""


def finding(code: str, verdict: Any = "failed", **fields: Any) -> Finding:
    known = PROPERTIES[code]
    return Finding(code=code, property=known.name, verdict=verdict, message=f"{code} is wrong", **fields)


def log_of(env: str, *findings: Finding) -> dict[str, Any]:
    log = to_sarif(Report(env=env, passed=False, findings=findings, scenarios=3))
    jsonschema.validate(log, SCHEMA)
    return log


def location(log: dict[str, Any], number: int = 0) -> tuple[str, int | None]:
    found = log["runs"][0]["results"][number]["locations"][0]["physicalLocation"]
    return found["artifactLocation"]["uri"], found.get("region", {}).get("startLine")


MODULE = '''"""A module."""

class Library(World):
    def generate(self): ...

    def oracle(self):
        yield

    async def ablated(self): ...

def oracle(): ...
'''


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs" / "my library.py").write_text(MODULE)
    return "envs/my library.py"


def test_failed_properties_are_results_with_rule_fix_and_counterexample(module: str) -> None:
    passed, failed = finding("TG101", "passed"), finding("TG103", counterexample="print(1)\n")
    run = log_of(module, passed, failed)["runs"][0]
    [result] = run["results"]
    rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert rule["id"] == result["ruleId"] == "TG103" and PROPERTIES["TG103"].fix in rule["help"]["markdown"]
    assert result["message"]["text"] == f"TG103 is wrong\n{PROPERTIES['TG103'].fix}"
    assert result["properties"]["counterexample"] == "print(1)\n"
    assert run["invocations"][0] == {"executionSuccessful": True, "toolExecutionNotifications": []}


def test_result_is_located_at_the_method_that_the_fix_names(module: str) -> None:
    # The fix of TG101 names `generate`, the fix of TG205 `ablated`, and the fix of TG404 no method.
    log = log_of(module, finding("TG101"), finding("TG205"), finding("TG404"))
    assert [location(log, n) for n in range(3)] == [("envs/my%20library.py", n) for n in (4, 9, 3)]


def test_location_of_a_class_on_the_import_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sarif_module.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert location(log_of("sarif_module:Library", finding("TG101"))) == ("sarif_module.py", 4)
    assert location(log_of("gym:sarif_module:id-v0", finding("TG001"))) == ("sarif_module.py", 3)


def test_environment_without_a_module_is_located_by_its_uri() -> None:
    assert location(log_of("reasoning-gym:chain_sum?min_terms=3", finding("TG301"))) == (
        "reasoning-gym:chain_sum?min_terms=3",
        None,
    )
    assert location(log_of("no_such_module:id", finding("TG001"))) == ("no_such_module:id", None)


@pytest.mark.parametrize("text", ["def broken(:", "\x00", ""])
def test_module_that_cannot_be_parsed_has_line_1(module: str, text: str) -> None:
    Path(module).write_text(text)
    assert location(log_of(module, finding("TG001")))[1] == 1


def test_unfinished_property_is_a_notification(module: str) -> None:
    run = log_of(module, finding("TG601", "unfinished"))["runs"][0]
    assert run["results"] == [] and run["invocations"][0]["executionSuccessful"] is False
    [notification] = run["invocations"][0]["toolExecutionNotifications"]
    assert notification["associatedRule"] == {"id": "TG601"} and "TG601 is wrong" in notification["message"]["text"]


def test_fingerprint_depends_on_environment_and_property_only(module: str) -> None:
    def fingerprint(env: str, code: str, **fields: Any) -> Any:
        return log_of(env, finding(code, **fields))["runs"][0]["results"][0]["partialFingerprints"]

    assert fingerprint(module, "TG101") == fingerprint(module, "TG101", counterexample="other")
    assert fingerprint(module, "TG101") != fingerprint(module, "TG103")
    assert fingerprint(module, "TG101") != fingerprint("other_module:Library", "TG101")


def test_command_writes_the_file(tmp_path: Path) -> None:
    out = tmp_path / "report.sarif"
    arguments = ["--only", "TG304", "--profile", "quick", "--engine", "here", "--sarif", str(out)]
    result = CliRunner().invoke(app, ["validate", "mutants.faults:ForgottenGuard", *arguments])
    assert result.exit_code == 1
    log = json.loads(out.read_text())
    jsonschema.validate(log, SCHEMA)
    assert [r["ruleId"] for r in log["runs"][0]["results"]] == ["TG304"]
    uri, line = location(log)
    assert uri.endswith("faults.py") and line is not None


def test_two_options_for_one_file_are_an_error(tmp_path: Path) -> None:
    out = str(tmp_path / "report.json")
    result = CliRunner().invoke(app, ["validate", "tau2_multi_step", "--out", out, "--sarif", out])
    assert result.exit_code != 0 and "--out and --sarif specify the same file" in str(result.exception or result.output)
    assert not Path(out).exists()
