"""Tests of checks for third-party environments: each defect is detected under its property code."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import foreign_desks
import foreign_envs
import pytest
from black_boxes import ask, log, of, run
from rich.console import Console
from typer.testing import CliRunner

from trace_gym.cli.entry import app
from trace_gym.errors import ConfigError, EnvNotFound, MissingExtra, ReadError
from trace_gym.types import Report
from trace_gym.validation import PROPERTIES, Passed, ValidationInputs, render, validate
from trace_gym.validation.context import PROFILES
from trace_gym.validation.third_party import (
    BLACK_BOX_CHECKS,
    SCHEMES,
    is_third_party,
    open_box,
    probe_process,
)
from trace_gym.validation.third_party.black_box_context import BlackBoxContext, python_source
from trace_gym.validation.third_party.checks import NEEDS
from trace_gym.validation.third_party.uri import parse_uri


@pytest.mark.parametrize("made", foreign_envs.HEALTHY, ids=lambda made: made.__name__)
def test_valid_environment_passes_all_checks(made: type) -> None:
    found = ask(of(made))
    assert {c for c, f in found.items() if f.verdict == "failed"} == set(), [f.message for f in found.values()]
    assert found.keys() == PROPERTIES.keys()
    held = {c for c, f in found.items() if f.verdict == "passed"}
    assert held >= BLACK_BOX_CHECKS.keys() - {"TG203", "TG502", "TG703"}
    assert (found["TG203"].verdict == "passed") == (made is foreign_envs.Locker)
    for code in PROPERTIES.keys() - BLACK_BOX_CHECKS.keys():
        assert found[code].message.startswith("requires ") and found[code].message.endswith(
            "a Gymnasium environment does not provide"
        )


@pytest.mark.parametrize("made", foreign_envs.FAULTS, ids=lambda made: f"{made.rejected_by}-{made.__name__}")
def test_each_defect_is_detected(made: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_process, "PATIENCE", 1)
    code = made.rejected_by  # type: ignore[attr-defined]
    found = ask(of(made), code, seeds_per_level=30)
    assert [f.code for f in found.values() if f.verdict == "failed"] == [code], found
    snippet = found[code].counterexample
    assert "foreign_envs:strangers/" in snippet
    if made is not foreign_envs.Hangs:
        run(snippet)


def test_every_check_detects_a_defect() -> None:
    elsewhere = {"TG502", "TG703", "TG803"}  # below, or measured only
    assert BLACK_BOX_CHECKS.keys() - elsewhere <= {m.rejected_by for m in foreign_envs.FAULTS}


def test_check_codes_are_property_codes() -> None:
    assert BLACK_BOX_CHECKS.keys() <= PROPERTIES.keys()
    assert NEEDS.keys() <= PROPERTIES.keys() - BLACK_BOX_CHECKS.keys()


def test_snippet_and_command_replay_counterexample(tmp_path: Path) -> None:
    made = ask(of(foreign_envs.PaysIdlers), "TG301")
    found = made["TG301"]
    assert "'...' 0.05" in found.message and found.replay is not None and found.replay.actions == ("...",)
    assert "0.05" in run(found.counterexample)
    report = Report(env=of(foreign_envs.PaysIdlers), passed=False, findings=tuple(made.values()), scenarios=12)
    (tmp_path / "report.json").write_text(report.model_dump_json())
    told = CliRunner().invoke(app, ["replay", str(tmp_path / "report.json"), "TG301"])
    assert told.exit_code == 0 and "reward 0.05, end of the rollout" in told.output


def test_verdict_is_equal_in_processes() -> None:
    codes = ("TG101", "TG301", "TG601")
    address = of(foreign_envs.PaysIdlers)
    assert ask(address, *codes) == ask(address, *codes, engine="processes", workers=2)


def test_echo_of_program_is_not_execution(capsys: pytest.CaptureFixture[str]) -> None:
    assert probe_process.PRINTS not in probe_process.PROGRAM
    exec(probe_process.PROGRAM)
    assert capsys.readouterr().out.strip() == probe_process.PRINTS


def test_finding_contains_turn_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_process, "PATIENCE", 1)
    found, taken = probe_process.try_turns(of(foreign_envs.Hangs), [5], [("a",), ("9**9",), ("b",)])
    assert found is not None and (found.seed, found.turns, taken) == (5, ("9**9",), 2)
    assert found.message.startswith("gets no response within 1 seconds")
    assert probe_process.try_turns(of(foreign_envs.Hangs), [5], [("a",), ("b",)]) == (None, 2)


def test_native_environments_can_be_black_boxes() -> None:
    found = ask(
        "gym:trace/tau2-precondition-v0?level=1", "TG101", "TG201", "TG203", "TG301", "TG601", seeds_per_level=4
    )
    assert {f.verdict for f in found.values()} == {"passed"}, [f.message for f in found.values()]


class TestAddresses:
    def test_options_are_json_or_text(self) -> None:
        made = parse_uri("gym:my_module:name-v0?level=1&mode=fast&deep=true")
        assert (made.scheme, made.name) == ("gym", "my_module:name-v0")
        assert made.options == {"level": 1, "mode": "fast", "deep": True}

    def test_what_is_third_party(self) -> None:
        assert all(is_third_party(f"{scheme}:x") for scheme in SCHEMES)
        assert not any(
            map(is_third_party, ("tau2_precondition", "trace_gym:trace/x-v0", "my_module:World", "gym", None))
        )

    @pytest.mark.parametrize(
        ("address", "error", "message"),
        [
            ("gym:", ConfigError, "is not a valid environment URI: expected one of gym:NAME"),
            ("gym:x-v0?level", ConfigError, "expected key=value"),
            ("gym:nowhere:x-v0", EnvNotFound, "module:id"),
            ("gym:foreign_envs:strangers/Nobody-v0", EnvNotFound, "Nobody"),
            (f"{of(foreign_envs.Backwards)}?low=0.5", ConfigError, "expected low <= 0 < high"),
            (
                f"{of(foreign_envs.Backwards)}?high=much",
                ConfigError,
                "invalid option 'high' in .* found 'much', expected a number",
            ),
            ("rollouts:nowhere.jsonl", ReadError, "the file nowhere.jsonl does not exist"),
        ],
    )
    def test_a_wrong_one_is_told(self, address: str, error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=message):
            validate(address, progress=False)

    def test_what_cannot_be_made_is_a_finding(self) -> None:
        report = validate(f"{of(foreign_envs.Backwards)}?level=3", progress=False)
        [found] = report.findings
        assert (found.code, found.verdict) == ("TG001", "failed") and "level" in found.message

    def test_levels_are_ours_alone(self) -> None:
        with pytest.raises(ConfigError, match="has no levels"):
            validate(of(foreign_envs.Backwards), levels=[0], progress=False)

    def test_a_range_may_be_named(self) -> None:
        assert ask(of(foreign_envs.PaysThrice), "TG303")["TG303"].verdict == "failed"
        assert ask(of(foreign_envs.PaysThrice) + "?high=3", "TG303", "TG201")["TG303"].verdict == "passed"

    @pytest.mark.parametrize(
        ("scheme", "module", "extra"),
        [("reasoning-gym", "reasoning_gym", "reasoning-gym"), ("skyrl", "skyrl_gym", "skyrl-gym")],
    )
    def test_a_missing_library_is_named(
        self, scheme: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(MissingExtra, match=rf"pip install 'trace-gym\[{extra}\]'"):
            open_box(f"{scheme}:x")


def test_check_can_be_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BLACK_BOX_CHECKS, "TG208", lambda asked: Passed("asked again"))
    assert ask(of(foreign_envs.Backwards), "TG208")["TG208"].message == "asked again"


@pytest.mark.parametrize("made", foreign_desks.FAULTS, ids=lambda made: made.__name__)
def test_faults_of_environments_with_commands_are_found(made: type[foreign_desks.Desk]) -> None:
    """The last turn is a command without a value, so the numbers of the other turns are changed."""
    code = made.rejected_by  # type: ignore[attr-defined]
    address = f"gym:foreign_desks:desks/{made.__name__}-v0"
    assert ask(address, code)[code].verdict == "failed"


def test_healthy_environment_with_commands_passes() -> None:
    found = ask("gym:foreign_desks:desks/Desk-v0")
    assert not [f"{f.code}: {f.message}" for f in found.values() if f.verdict == "failed"]
    assert "number in a turn" in str(found["TG304"]) and found["TG304"].verdict == "passed"


def test_binary_reward_passes_with_note() -> None:
    found = ask(of(foreign_envs.Locker), "TG303")["TG303"]
    assert (
        found.verdict == "passed"
        and "the reward is binary: half of the groups of 8 are informative if" in found.message
    )


def test_only_white_space_variants_are_evaluated() -> None:
    found = ask(of(foreign_envs.Backwards), "TG207")["TG207"]
    assert found.verdict == "passed" and "capitals 0.00" in found.message


def test_test_tasks_are_detected(tmp_path: Path) -> None:
    (tmp_path / "clean.txt").write_text("Spell this word backwards, and say nothing else: hello")
    box = open_box(of(foreign_envs.Backwards))
    (tmp_path / "stolen.json").write_text(json.dumps([box.begin(3)]))
    clean = ask(box.name, "TG703", given=ValidationInputs(against=(str(tmp_path / "clean.txt"),)))["TG703"]
    stolen = ask(box.name, "TG703", given=ValidationInputs(against=(str(tmp_path / "stolen.json"),)))["TG703"]
    assert (clean.verdict, stolen.verdict) == ("passed", "failed")
    assert stolen.message.startswith("seed 3: the words")


def test_repetitive_text_has_short_source() -> None:
    assert python_source("ab" * 400) == "'ab' * 400" and eval(python_source("ab" * 400)) == "ab" * 400
    assert eval(python_source("\ud800'")) == "\ud800'"


def test_recorded_rollouts_are_evaluated_by_variance(tmp_path: Path) -> None:
    mixed = ask(log(tmp_path / "a.jsonl", [[0, 1, 0, 1], [0, 0, 1, 0]] * 8))
    assert mixed["TG502"].verdict == "passed" and mixed["TG502"].metrics["informative"] == 1
    assert {f.verdict for c, f in mixed.items() if c != "TG502"} == {"skipped"}
    hopeless = ask(log(tmp_path / "b.jsonl", [[0, 0, 0, 0]] * 9 + [[0, 1, 0, 0]]))["TG502"]
    assert hopeless.verdict == "failed" and "all-zero 0.90 is above 0.2" in hopeless.message
    signed = ask(log(tmp_path / "c.jsonl", [[-1, 1, -1, 1], [-1, 1, 1, -1]] * 8) + "@-1..1")["TG502"]
    assert signed.verdict == "passed" and signed.metrics["mean"] == 0.5


def test_recorded_rollouts_can_be_policy_of_environment(tmp_path: Path) -> None:
    given = ValidationInputs(policy=log(tmp_path / "log.jsonl", [[0, 0, 0, 0]] * 10))
    assert ask(of(foreign_envs.Backwards), "TG502", given=given)["TG502"].verdict == "failed"


def test_policy_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    class Half:
        """Right in half of its attempts."""

        name, count = "half", 0

        def act(self, talk: Any) -> dict[str, str]:
            self.count += 1
            word = talk.messages[0]["content"].split()[-1]
            return {"role": "assistant", "content": word[::-1] if self.count % 2 else word}

    monkeypatch.setattr("trace_gym.validation.third_party.policy_rollouts.open_policy_or_groups", lambda name: Half())
    monkeypatch.setattr("trace_gym.validation.runner.check_policy", lambda name: None)
    found = ask(of(foreign_envs.Backwards), "TG502", given=ValidationInputs(policy="half"))["TG502"]
    assert found.verdict == "passed" and found.metrics["mean"] == 0.5


def test_hugging_face_policy_runs_sequentially(tmp_path: Path) -> None:
    from tiny_model import save_tiny  # imports torch

    from trace_gym.validation.third_party import reward_checks

    given = ValidationInputs(policy=f"hf:{save_tiny(tmp_path / 'tiny')}")
    asked = BlackBoxContext(of(foreign_envs.Backwards), range(1), PROFILES["quick"], given)
    [group] = reward_checks.policy_groups(asked, given.policy)
    assert len(group.rewards) == 8 and [group] == reward_checks.policy_groups(
        asked, given.policy
    )  # at most 64 tokens each


def test_command_accepts_uris() -> None:
    name = f"foreign_envs:strangers/{foreign_envs.PaysIdlers.__name__}-v0"
    rest = ["--profile", "quick", "--engine", "here", "--only", "TG3"]
    made = CliRunner().invoke(app, ["validate", "--make", name, *rest, "--json"])
    assert made.exit_code == 1
    report = Report.model_validate_json(made.output)
    assert report.env == f"gym:{name}" and not report.passed
    assert CliRunner().invoke(app, ["validate", f"gym:{name}", *rest, "--json"]).output == made.output
    both = CliRunner().invoke(app, ["validate", "tau2_precondition", "--make", name])
    assert both.exit_code != 0


def test_report_is_rendered() -> None:
    out = io.StringIO()
    Console(file=out, width=160).print(
        render(validate(of(foreign_envs.PaysIdlers), profile="quick", only=["TG3"], progress=False))
    )
    assert (
        "the reward is 0.05 for '...'" in out.getvalue()
        and "open_box('gym:foreign_envs:strangers/PaysIdlers-v0')" in out.getvalue()
    )
