"""Tests of checklists: the mapping of items to properties, and the verdicts of the items for an environment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest
from mutants.faults import ForgottenGuard
from typer.testing import CliRunner

from trace_gym.cli.entry import app
from trace_gym.errors import ConfigError
from trace_gym.types import Finding, FindingVerdict, Report
from trace_gym.validation import PROPERTIES, validate
from trace_gym.validation.checklists import CHECKLISTS, checklist_markdown, evaluate_checklist

ROOT = Path(__file__).resolve().parents[1]
SIZES = {"a": 2, "b": 3, "c": 2, "d": 2, "e": 3, "f": 2, "g": 3, "h": 2, "i": 1}
"""Number of items of the checklist by method of outcome validity, as in arXiv:2507.02825."""
IDS = (
    [f"T.{n}" for n in range(1, 11)]
    + [f"O.{letter}.{n}" for letter, size in SIZES.items() for n in range(1, size + 1)]
    + [f"R.{n}" for n in range(1, 14)]
)


def report_of(**verdicts: FindingVerdict) -> Report:
    findings = tuple(Finding(code=c, property="x", verdict=v, message="m") for c, v in sorted(verdicts.items()))
    return Report(env="x", passed=False, findings=findings, scenarios=1)


def verdict_of(item: str, report: Report) -> tuple[str, str]:
    [found] = [r for r in evaluate_checklist(report) if r.item.id == item]
    return found.verdict, found.detail


def test_checklist_contains_every_item_once_in_order() -> None:
    assert [item.id for item in CHECKLISTS["abc"]] == IDS


def test_every_item_names_existing_properties_or_a_reason() -> None:
    for item in CHECKLISTS["abc"]:
        assert set(item.codes) <= PROPERTIES.keys() and len(set(item.codes)) == len(item.codes), item.id
        assert item.codes or item.review, item.id
        assert item.statement[0].isupper() and item.statement.endswith(".") and "|" not in item.review, item.id


@pytest.mark.parametrize("code", sorted(code for code in PROPERTIES if code.startswith(("TG2", "TG7"))))
def test_properties_of_solutions_and_leaks_are_in_the_checklist(code: str) -> None:
    assert any(code in item.codes for item in CHECKLISTS["abc"])


@pytest.mark.parametrize("code", sorted({code for item in CHECKLISTS["abc"] for code in item.codes}))
def test_failed_property_fails_exactly_its_items(code: str) -> None:
    everything: dict[str, FindingVerdict] = dict.fromkeys(PROPERTIES, "passed")
    results = evaluate_checklist(report_of(**everything | {code: "failed"}))
    assert [r.item.id for r in results if r.verdict == "failed"] == [i.id for i in CHECKLISTS["abc"] if code in i.codes]
    assert all(f"failed: {code}" in r.detail for r in results if r.verdict == "failed")


@pytest.mark.parametrize("verdict", get_args(FindingVerdict))
def test_item_has_the_verdict_of_its_only_property(verdict: FindingVerdict) -> None:
    expected = "manual" if verdict in ("skipped", "warning") else verdict
    assert verdict_of("T.9", report_of(TG201=verdict))[0] == expected


def test_item_passes_if_its_other_properties_do_not_apply() -> None:
    assert verdict_of("T.8", report_of(TG201="passed", TG202="skipped", TG211="passed")) == (
        "passed",
        "passed: TG201, TG211; not applicable: TG202",
    )


def test_item_is_unfinished_if_a_property_was_not_checked() -> None:
    assert verdict_of("T.8", report_of(TG201="passed", TG211="passed")) == (
        "unfinished",
        "not checked: TG202; passed: TG201, TG211",
    )


def test_verdicts_of_an_environment_with_a_defect() -> None:
    report = validate(ForgottenGuard, profile="quick", only=("TG304", "TG306"))
    verdict, detail = verdict_of("O.g.2", report)
    assert verdict == "failed" and "failed: TG304" in detail


def test_documentation_contains_the_table() -> None:
    page = (ROOT / "docs" / "reference" / "checklist.md").read_text()
    assert checklist_markdown() in page, "docs/reference/checklist.md: paste the output of the command in the comment"


def test_command_prints_the_items_without_an_environment() -> None:
    result = CliRunner().invoke(app, ["validate", "--checklist", "abc"], env={"COLUMNS": "120"})
    assert result.exit_code == 0
    assert all(f"\n{item} " in result.output for item in IDS)


def test_command_prints_the_verdict_of_every_item() -> None:
    only = [part for code in ("TG201", "TG202", "TG211") for part in ("--only", code)]
    arguments = [*only, "--profile", "quick", "--engine", "here", "--checklist", "abc"]
    result = CliRunner().invoke(app, ["validate", "tau2_multi_step", *arguments], env={"COLUMNS": "120"})
    assert result.exit_code == 0
    lines = {line.split()[0]: line.split()[1] for line in result.output.splitlines() if line[:2] in ("T.", "O.", "R.")}
    assert list(lines) == IDS
    assert lines["T.8"] == "ok" and lines["T.10"] == "open" and lines["R.1"] == "review"


def test_unknown_checklist_is_an_error() -> None:
    with pytest.raises(ConfigError, match="checklist: found 'xyz', expected one of abc"):
        evaluate_checklist(report_of(), "xyz")
    result = CliRunner().invoke(app, ["validate", "tau2_multi_step", "--checklist", "xyz"])
    assert result.exit_code != 0 and isinstance(result.exception, ConfigError | SystemExit)


def test_checklist_is_not_combined_with_json_output() -> None:
    result = CliRunner().invoke(app, ["validate", "tau2_multi_step", "--checklist", "abc", "--json"])
    assert result.exit_code != 0 and not result.output.startswith("{")
    with pytest.raises(json.JSONDecodeError):
        json.loads(result.output)
