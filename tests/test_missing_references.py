"""Tests of the report for environments without a reference solution, and of the texts of the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import foreign_envs
import gymnasium
import pytest
from black_boxes import ask
from gymnasium.spaces import Text
from rich.console import Console

from trace_gym.types import Report
from trace_gym.validation import PROPERTIES, listing, render
from trace_gym.validation.testing import failure_text
from trace_gym.validation.third_party import BLACK_BOX_CHECKS
from trace_gym.validation.third_party.checks import statement_for
from trace_gym.validation.third_party.uri import open_box

NEED_A_REFERENCE = ("TG201", "TG203", "TG207", "TG304", "TG501", "TG701", "TG804")
NO_METHOD = "this environment has no method `solution(seed)`; add one that returns a text or a list of texts"


class NoReference(foreign_envs.Backwards):
    """Environment without the method `solution`."""

    solution = None  # type: ignore[assignment]


class NeverRewards(NoReference):
    def paid(self, action: str) -> float:
        return 0.0


class RewardsTheWord(NoReference):
    def paid(self, action: str) -> float:
        return float(self.word in action)


class ReturnsNone(foreign_envs.Backwards):
    def solution(self, seed: int) -> Any:
        return None


class EmptyObservation(foreign_envs.Backwards):
    """Environment whose last observation is empty, which the default `min_length` of the space excludes."""

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Text(600, charset=frozenset(map(chr, range(32, 127))))


for made in (NoReference, NeverRewards, RewardsTheWord, ReturnsNone, EmptyObservation):
    gymnasium.register(f"missing/{made.__name__}-v0", entry_point=f"{__name__}:{made.__name__}", max_episode_steps=3)


def of(made: type) -> str:
    return f"gym:{__name__}:missing/{made.__name__}-v0"


def printed(env: str, findings: dict[str, Any]) -> str:
    passed = all(finding.passed for finding in findings.values())
    console = Console(width=10_000)
    with console.capture() as shown:
        console.print(render(Report(env=env, passed=passed, findings=tuple(findings.values()), scenarios=12)))
    return shown.get()


def test_environment_that_never_gives_a_reward_is_a_warning() -> None:
    found = ask(of(NeverRewards), "TG303")
    assert found["TG303"].verdict == "warning" and found["TG303"].passed
    assert found["TG303"].message.startswith("not evaluated: none of ") and NO_METHOD in found["TG303"].message
    title = printed(of(NeverRewards), found).partition("\n")[0]
    assert "no correct answer was tested: add `solution(seed)`" in title


@pytest.mark.parametrize("made", [RewardsTheWord, foreign_envs.Backwards])
def test_environment_that_gives_a_reward_is_evaluated(made: type) -> None:
    uri = of(made) if made is RewardsTheWord else f"gym:foreign_envs:strangers/{made.__name__}-v0"
    found = ask(uri, "TG303")
    assert found["TG303"].verdict == "passed"
    assert "no correct answer was tested" not in printed(uri, found)


@pytest.mark.parametrize(("made", "message"), [(NoReference, NO_METHOD), (ReturnsNone, "returns None; let it return")])
def test_skipped_properties_state_how_to_add_a_reference(made: type, message: str) -> None:
    found = ask(of(made), *NEED_A_REFERENCE)
    assert all(message in found[code].message and found[code].verdict == "skipped" for code in NEED_A_REFERENCE)


def test_reward_function_without_references_names_the_column(tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text(json.dumps({"prompt": "What is 2 + 3?"}) + "\n")
    box = open_box(f"function:{__name__}:no_reward@{tmp_path}/cases.jsonl")
    assert "add a column `reference`" in box.missing_reference
    assert "add a column `reference`" in ask(box.name, "TG201")["TG201"].message


def no_reward(completion: str) -> float:
    return 0.0


def test_observation_outside_its_space_is_reported_once_with_its_length() -> None:
    found = ask(of(EmptyObservation), "TG901", "TG903")
    assert found["TG903"].verdict == "failed" and "its length is 0, and the space has min_length=1" in str(
        found["TG903"]
    )
    assert found["TG901"].verdict == "skipped" and "TG903 reports" in found["TG901"].message
    assert "`min_length=0`" in printed(of(EmptyObservation), found)


def test_message_of_the_checker_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trace_gym.validation.third_party.gymnasium_checks._fails", lambda check, context: False)
    found = ask(of(EmptyObservation), "TG901")["TG901"]
    assert found.verdict == "failed" and found.message.count("not within the observation space") == 1


def test_fix_is_marked_in_every_text_output() -> None:
    found = ask("gym:foreign_envs:strangers/PaysIdlers-v0", "TG301")
    assert "Fix: Return 0 from" in printed("gym:foreign_envs:strangers/PaysIdlers-v0", found)
    assert "\nFix: Return 0 from" in failure_text(found["TG301"], "gym:foreign_envs:strangers/PaysIdlers-v0")


def test_list_contains_the_statements_for_other_libraries() -> None:
    console = Console(width=10_000)
    with console.capture() as shown:
        console.print(listing())
    for code in PROPERTIES:
        assert PROPERTIES[code].statement in shown.get()
        assert (code not in BLACK_BOX_CHECKS) or f"Other libraries: {statement_for(code)}" in shown.get()
