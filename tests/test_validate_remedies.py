"""Tests that failures of third-party environments are explained in terms of the code of these environments."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import foreign_envs
import pytest
from rich.console import Console
from typer.testing import CliRunner

from trace_gym.cli.entry import app
from trace_gym.report.validation import render_report
from trace_gym.types import Finding, Report
from trace_gym.validation import PROPERTIES, render
from trace_gym.validation.remedies import RAISED, remedy
from trace_gym.validation.third_party import BLACK_BOX_CHECKS, SCHEMES
from trace_gym.validation.third_party.checks import statement_for
from trace_gym.validation.third_party.remedies import REMEDIES, markdown, remedy_for
from trace_gym.world import World

ROOT = Path(__file__).resolve().parents[1]
PLAYED = sorted(SCHEMES.keys() - {"rollouts"})
NATIVE = {n for n in dir(World) if not n.startswith("_")} | {"alike", "harmless", "violations", "rng", "said", "start"}
"""Names that occur only in native worlds."""
TALK_OF_WORLDS = re.compile(
    r"\b(world|oracle|ablated|experts?|ToolError|guards?|verif(y|ier)|levels?)\b", re.IGNORECASE
)


def failed(code: str, message: str = "seed 3: something is wrong") -> Finding:
    name = PROPERTIES[code].name
    return Finding(code=code, property=name, verdict="failed", message=message, counterexample="print(1)\n")


def test_every_property_of_third_party_environments_has_a_third_party_text() -> None:
    assert REMEDIES.keys() == BLACK_BOX_CHECKS.keys()


@pytest.mark.parametrize("scheme", PLAYED)
def test_third_party_texts_do_not_mention_worlds(scheme: str) -> None:
    for code in BLACK_BOX_CHECKS:
        text = remedy(failed(code), f"{scheme}:x")
        assert text == remedy_for(code, f"{scheme}:x") != PROPERTIES[code].fix
        assert text[0].isupper() and text.endswith(".") and "{" not in text
        assert not TALK_OF_WORLDS.search(text), code
        named = {name for quoted in re.findall(r"`([^`]*)`", text) for name in re.findall(r"\w+", quoted)}
        assert not named & NATIVE, code
        assert not TALK_OF_WORLDS.search(statement_for(code)), code


def test_reports_of_third_party_environments_show_only_third_party_texts() -> None:
    findings = tuple(failed(code) for code in BLACK_BOX_CHECKS)
    report = Report(env="gym:my_module:my-env-v0", passed=False, findings=findings, scenarios=1)
    console = Console(width=10_000)
    with console.capture() as shown:
        console.print(render(report))
    page = unescape(re.sub("<[^>]*>", "", render_report(report)))
    for code in BLACK_BOX_CHECKS:
        assert remedy_for(code, report.env) in shown.get()
        assert PROPERTIES[code].fix not in shown.get()
        assert PROPERTIES[code].fix.replace("`", "") not in page and PROPERTIES[code].statement not in page
        assert remedy_for(code, report.env).replace("`", "") in page


def test_native_environments_keep_their_texts() -> None:
    for code in PROPERTIES:
        assert remedy(failed(code), "tau2_precondition") == remedy(failed(code)) == PROPERTIES[code].fix


def test_exception_of_a_third_party_environment_is_explained_by_its_traceback() -> None:
    assert remedy(failed("TG101", "seed 3: raised KeyError: 'x'"), "gym:a:b") == RAISED
    assert remedy(failed("TG402", "seed 3: raised KeyError: 'x'"), "gym:a:b") == remedy_for("TG402", "gym:a:b")


def test_command_prints_fix_for_gymnasium_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "2000")
    made = f"foreign_envs:strangers/{foreign_envs.PaysIdlers.__name__}-v0"
    options = ["--profile", "quick", "--seeds", "4", "--only", "TG301", "--engine", "here"]
    done = CliRunner().invoke(app, ["validate", "--make", made, *options])
    assert done.exit_code == 1
    assert "Return 0 from the code in `step` that computes the reward" in done.output
    assert "goal" not in done.output


def test_page_about_third_party_environments_lists_the_texts() -> None:
    page = (ROOT / "docs" / "guides" / "validate_others.md").read_text()
    assert markdown() in page, "docs/guides/validate_others.md: paste what the command above the table prints"
