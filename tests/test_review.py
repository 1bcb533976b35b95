"""The review by a language model executes every claim, and only a reader without the code decides what is reported."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from trace_gym import registry
from trace_gym.cli.entry import app
from trace_gym.errors import ConfigError, ModelError
from trace_gym.llm import Completion, ModelRequest
from trace_gym.review import Checkers, add_model_checks, review
from trace_gym.types import Finding, Report
from trace_gym.validation.model_review import REVIEW

NAME = "tau2_precondition"
MEASURE = "def measure(world, opening, plan):\n    return len(plan) > 2\n"
REFUSED = {"scenario": f"{NAME}/0/0", "steps": [{"say": "I cannot do that."}], "should_succeed": True, "reason": "R1"}
"""Claim that an agent that does nothing must succeed. The environment decides otherwise, so the claim is supported."""


class Scripted:
    """Model that answers by the first word of the purpose, and keeps the requests."""

    name = "scripted"

    def __init__(self, claims: dict[str, Any], verdicts: dict[str, Any] | None = None) -> None:
        self.answers = {"review": claims, "judge": verdicts or {}}
        self.requests: list[ModelRequest] = []

    def complete(self, request: ModelRequest) -> Completion:
        self.requests.append(request)
        return Completion(text=json.dumps(self.answers[request.purpose.partition(" ")[0]]), model=self.name)

    def prompts(self, kind: str) -> list[str]:
        return [str(r.messages[-1]["content"]) for r in self.requests if r.purpose.startswith(kind)]


@pytest.fixture(scope="module")
def reviewed() -> Callable[..., tuple[Finding, Scripted]]:
    def run(claims: dict[str, Any], verdicts: dict[str, Any] | None = None) -> tuple[Finding, Scripted]:
        model = Scripted(claims, verdicts)
        return review(registry.module_path(NAME), model), model

    return run


def test_confirmed_episode_fails_with_its_replay(reviewed: Any) -> None:
    verdict = {"episodes": [{"item": "E1", "success": "yes", "reason": "R2"}]}
    found, model = reviewed({"episodes": [REFUSED]}, verdict)
    assert found.verdict == "failed"
    assert found.code == REVIEW
    assert found.replay.actions == ({"say": "I cannot do that."},)
    assert "R1" in found.message
    assert "R2" in found.message
    assert "I cannot do that." in found.counterexample
    [prompt] = model.prompts("judge")
    assert "I cannot do that." in prompt


@pytest.mark.parametrize("decision", ["no", "unclear"])
def test_reader_who_disagrees_rejects_the_claim(reviewed: Any, decision: str) -> None:
    verdict = {"episodes": [{"item": "E1", "success": decision, "reason": "R2"}]}
    found, _ = reviewed({"episodes": [REFUSED]}, verdict)
    assert found.verdict == "passed"
    assert found.metrics == {"claims": 1, "confirmed": 0}


def test_claim_that_the_execution_refutes_is_not_judged(reviewed: Any) -> None:
    found, model = reviewed({"episodes": [{**REFUSED, "should_succeed": False}]})
    assert found.verdict == "passed"
    assert model.prompts("judge") == []
    assert "does not support" in model.prompts("review")[1]


def test_reader_sees_neither_the_code_nor_the_reward(reviewed: Any) -> None:
    _, model = reviewed({"episodes": [{**REFUSED, "lookups": [{"tool": "get_user_details", "arguments": {}}]}]})
    [prompt] = model.prompts("judge")
    source = registry.module_path(NAME).read_text()
    assert not any(
        line.strip() in prompt for line in source.splitlines() if line.strip().startswith(("def ", "yield "))
    )
    assert "R1" not in prompt
    assert "Facts from the records" in prompt


@pytest.mark.parametrize(("severity", "verdict"), [("ruins", "failed"), ("weakens", "failed"), ("harmless", "passed")])
def test_measurement_is_made_on_every_level(reviewed: Any, severity: str, verdict: str) -> None:
    verdicts = {"measurements": [{"item": "M1", "severity": severity, "reason": "R2"}]}
    found, model = reviewed({"measurements": [{"code": MEASURE, "reason": "R1"}]}, verdicts)
    assert found.verdict == verdict
    [prompt] = model.prompts("judge")
    for level in range(registry.manifest(NAME).levels):
        assert f"level {level}, 40 scenarios: " in prompt


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("def measure(world, opening, plan):\n    return 1 +\n", "cannot be parsed"),
        ("def measure(world, opening, plan):\n    return missing\n", "NameError"),
        ("def other():\n    return 1\n", "measure"),
        ("def measure(world, opening, plan):\n    import os\n    return os.listdir('/')\n", "It failed"),
        ("def measure(world, opening, plan):\n    return open('/tmp/escaped', 'w')\n", "It failed"),
    ],
)
def test_measurement_that_fails_is_reported_to_the_reviewer(reviewed: Any, code: str, error: str) -> None:
    found, model = reviewed({"measurements": [{"code": code, "reason": "R1"}]})
    assert found.verdict == "passed"
    assert error in model.prompts("review")[1]
    assert model.prompts("judge") == []
    assert not Path("/tmp/escaped").exists()


def test_no_claims_need_one_request(reviewed: Any) -> None:
    found, model = reviewed({})
    assert found.verdict == "passed"
    assert len(model.requests) == 1


def test_answer_that_is_not_valid_is_an_error_of_the_model(reviewed: Any) -> None:
    with pytest.raises(ModelError, match="no valid answer"):
        reviewed({"episodes": "all"})


def test_failed_environment_is_not_reviewed() -> None:
    report = Report(
        env=NAME,
        passed=False,
        findings=(
            Finding(code="TG001", property="loads", verdict="failed", message="no"),
            Finding(code=REVIEW, property="review", verdict="skipped", message="no language model was passed"),
        ),
        scenarios=1,
        profile="quick",
    )
    model = Scripted({})
    checked = add_model_checks(report, registry.module_path(NAME), Checkers(reviewer=model))
    assert "another property failed" in checked.findings[1].message
    assert model.requests == []


def test_failed_review_of_an_interrupted_run_is_repeated() -> None:
    verdict = {"episodes": [{"item": "E1", "success": "yes", "reason": "R2"}]}
    checkers = Checkers(reviewer=Scripted({"episodes": [REFUSED]}, verdict))
    finding = Finding(code=REVIEW, property="review", verdict="skipped", message="no language model was passed")
    first = Report(env=NAME, passed=True, findings=(finding,), scenarios=1, profile="quick")
    path = registry.module_path(NAME)
    failed = add_model_checks(first, path, checkers)
    assert not failed.passed
    assert not add_model_checks(failed, path, checkers).passed


def test_command_line_reviews_with_answers_in_files(tmp_path: Path) -> None:
    (tmp_path / f"review-{NAME}.answer.json").write_text("{}")
    done = CliRunner().invoke(app, ["validate", NAME, "--only", REVIEW, "--reviewer", f"files:{tmp_path}"])
    assert done.exit_code == 0, done.output
    assert "0 claims" in done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reasoning-gym:chain_sum", "--reviewer", "files:x"], "requires the module file"),
        ([NAME, "--only", "TG1", "--reviewer", "files:x"], "is not selected"),
        ([NAME, "--only", REVIEW, "--reviewer", "gpt"], "not a valid model URI"),
    ],
)
def test_reviewer_without_effect_is_an_error(arguments: list[str], message: str) -> None:
    done = CliRunner().invoke(app, ["validate", *arguments])
    assert isinstance(done.exception, ConfigError)
    assert message in str(done.exception)
