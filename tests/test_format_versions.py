"""Files of format version 1 are read, and rewritten as version 2."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from trace_gym import registry
from trace_gym.migrate import main
from trace_gym.modules import file_sha256
from trace_gym.registration import folders
from trace_gym.types import FORMAT_VERSION, Finding, Manifest, NamedCheck, Report, Trajectory

OLD_FINDING = {"code": "TG304", "property": "p", "verdict": "inapplicable", "says": "no writes", "figures": {"n": 1.0}}
OLD_REPORT: dict[str, Any] = {"version": 1, "passed": True, "scenarios": 6, "findings": [OLD_FINDING]}


def old_manifest() -> dict[str, Any]:
    """Return a shipped manifest in format version 1."""
    new = registry.manifest("tau2_precondition").model_dump(mode="json")
    del new["format"], new["level_weights"]
    return {**new, "mix": [0.5, 0.5, 0.0, 0.0], "report": OLD_REPORT}


def test_fields_of_version_1_are_renamed() -> None:
    finding = Finding.model_validate(OLD_FINDING)
    assert (finding.verdict, finding.message, finding.metrics) == ("skipped", "no writes", {"n": 1.0})
    check = NamedCheck.model_validate({"kind": "goal", "says": "It is done.", "holds": True, "at_start": False})
    assert (check.description, check.passed) == ("It is done.", True)


def test_conversation_of_version_1_is_a_transcript() -> None:
    old = {**OLD_FINDING, "exhibits": [{"kind": "talk", "title": "t", "messages": []}]}
    assert Finding.model_validate_json(json.dumps(old)).exhibits[0].kind == "transcript"


def test_unknown_fields_are_still_refused() -> None:
    with pytest.raises(ValueError, match="Extra inputs"):
        Finding.model_validate({**OLD_FINDING, "more": 1})


@pytest.mark.parametrize("version", [0, FORMAT_VERSION + 1])
def test_unsupported_versions_are_refused(version: int) -> None:
    with pytest.raises(ValueError, match=f"format version {version} is not supported"):
        Report.model_validate({**OLD_REPORT, "version": version})
    with pytest.raises(ValueError, match=f"format version {version} is not supported"):
        Manifest.model_validate({**old_manifest(), "format": version})


def test_migration_rewrites_manifests_reports_and_rollouts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps(old_manifest()))
    (tmp_path / "report.json").write_text(json.dumps(OLD_REPORT))
    check = {"kind": "goal", "says": "Done.", "holds": True, "at_start": False}
    score = {"wellformed": 1.0, "progress": 1.0, "success": True, "checks": [check]}
    old = {"id": "1", "task": "tau2_precondition/0/1", "messages": [], "success": True, "score": score}
    (tmp_path / "rollouts.jsonl").write_text(json.dumps(old) + "\n" + json.dumps(old) + "\n")
    (tmp_path / "other.json").write_text('{"name": "x"}')
    assert main([str(tmp_path)]) == 0
    assert re.findall(r"^(\w+) .*?(\w+\.\w+)$", capsys.readouterr().out, re.M) == [
        ("migrated", "manifest.json"),
        ("unchanged", "other.json"),
        ("migrated", "report.json"),
        ("migrated", "rollouts.jsonl"),
    ]
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["format"] == manifest["report"]["version"] == FORMAT_VERSION
    assert manifest["level_weights"] == [0.5, 0.5, 0.0, 0.0] and "mix" not in manifest
    lines = (tmp_path / "rollouts.jsonl").read_text().splitlines()
    assert len(lines) == 2 and "says" not in lines[0] and Trajectory.model_validate_json(lines[1]).success
    before = (tmp_path / "manifest.json").read_bytes()
    assert main([str(tmp_path)]) == 0 and (tmp_path / "manifest.json").read_bytes() == before


def test_migration_reports_damaged_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps({**OLD_REPORT, "scenarios": "many"}))
    assert main([str(path)]) == 1 and "is not a valid report (scenarios" in capsys.readouterr().err
    assert main([str(tmp_path / "missing")]) == 1 and "does not exist" in capsys.readouterr().err
    assert json.loads(path.read_text())["scenarios"] == "many"


def test_shipped_manifests_have_the_current_format_and_their_hashes_verify() -> None:
    for name in registry.list_environments():
        stored = json.loads((folders()[0] / f"{name}.json").read_text())
        assert stored["format"] == stored["report"]["version"] == FORMAT_VERSION, name
        assert stored["module_sha256"] == file_sha256(registry.module_path(name)), name
