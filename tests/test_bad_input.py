"""Bad input is reported in one message that names the file or the tool, and costs nothing else."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from trace_gym import registry
from trace_gym.cli import main
from trace_gym.diagnosis import diagnose, markdown
from trace_gym.episode import interface_of
from trace_gym.evaluation import Evaluation
from trace_gym.evaluation import markdown as evaluation_page
from trace_gym.evaluation.from_files import compare_files
from trace_gym.prompts.template import read_spec
from trace_gym.report.page import _results
from trace_gym.types import Call, Say, Trajectory, to_jsonl
from trace_gym.validation import ValidationInputs, input_files, validate
from trace_gym.world import Check, World, tool

PYDANTIC = ("pydantic", "validation error", "input_value", "For further information")
"""Words of the messages that pydantic prints."""


def command(monkeypatch: pytest.MonkeyPatch, *line: str) -> int:
    """Run a command and return its exit code."""
    monkeypatch.setattr(sys, "argv", ["trace-gym", *line])
    try:
        main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "7",
        '{"id": "twin_loans"}',
        '{"id": "library_loans"}',
        "\udc80",
        '{"id": "twin_loans", "x": ' * 5000,
    ],
    ids=range(8),
)
@pytest.mark.parametrize("as_json", [False, True])
def test_list_shows_other_environments_next_to_a_broken_manifest(
    content: str,
    as_json: bool,
    user_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    card = user_folder / "twin_loans.json"
    card.write_text(content, encoding="utf-8", errors="surrogateescape")
    registry.refresh()
    assert command(monkeypatch, "list", *(["--json"] if as_json else [])) == 1
    out, err = capsys.readouterr()
    assert "trace/library-loans-v0" in out and "trace/tau2-precondition-v0" in out and "twin-loans" not in out
    assert not as_json or json.loads(out)
    assert str(card) in err and "trace-gym validate" in err
    assert not any(word in out + err for word in PYDANTIC)


def test_manifests_leave_out_one_that_cannot_be_read(user_folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    (user_folder / "twin_loans.json").write_text("{}")
    assert "library_loans" in {card.id for card in registry.manifests()}
    assert "twin_loans is left out" in caplog.text


DEEP = '{"a": ' * 50_000 + "1" + "}" * 50_000


@pytest.mark.parametrize("name", ["deep.json", "deep.jsonl", "deep.txt"])
@pytest.mark.parametrize("text", [DEEP, "[" * 300 + '"ABC123"' + "]" * 300, '{"id": "A1"}\n' + "[" * 100_000])
def test_deeply_nested_test_tasks_are_an_error(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(input_files.ReadError, match=rf"{name} contains JSON that is nested too deeply"):
        input_files.check_readable(ValidationInputs(against=(str(tmp_path / name),)))


@pytest.mark.parametrize("name", ["tasks.json", "tasks.jsonl"])
def test_truncated_test_tasks_are_an_error(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text('{"id": "A1"}\n{"id": "B2", "no')
    with pytest.raises(input_files.ReadError, match=name):
        input_files.check_readable(ValidationInputs(against=(str(tmp_path / name),)))


def test_test_tasks_are_read_as_json_lines_or_text(tmp_path: Path) -> None:
    for name, text, expected in (
        ("a.jsonl", '{"id": "A1"}\n\n{"id": "B2"}\n', ("id", "A1", "id", "B2")),
        ("a.json", '["A1", ["B2"]]', ("A1", "B2")),
        ("a.json", "[NaN]", ("nan",)),
        ("a.md", "[see A1", ("[see A1",)),
    ):
        (tmp_path / name).write_text(text)
        assert input_files.read_texts(str(tmp_path / name)) == expected


CAPABILITIES = {
    "a text": "find refunds",
    "a number": "7",
    "nothing": "# nothing\n",
    "a list of texts": "- find_refunds\n- count_items\n",
    "a name without a description": "- name: find_refunds\n",
    "a description that is no text": "- {name: find_refunds, description: [1, 2]}\n",
    "a name that is no text": "- {name: 2026-01-01, description: x}\n",
    "an unknown field": "- {name: find_refunds, description: x, colour: red}\n",
    "another object": "name: find_refunds\n",
    "a date in an object": "{found: 2026-01-01}\n",
    "a list of lists": "- [name, find_refunds]\n",
}


@pytest.mark.parametrize("case", CAPABILITIES)
def test_invalid_capabilities_are_reported_without_words_of_pydantic(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "capabilities.yaml"
    path.write_text(CAPABILITIES[case])
    assert command(monkeypatch, "synthesize", "--from", str(path), "--out", str(tmp_path / "out")) == 1
    err = capsys.readouterr().err
    assert str(path) in err and "{name: find_refunds, description:" in err
    assert not any(word in err for word in PYDANTIC)
    assert len(err.splitlines()) == 1


def test_invalid_spec_is_reported_without_words_of_pydantic(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="is not a valid spec") as failure:
        read_spec("id: x\n", "spec.yaml")
    assert not any(word in str(failure.value) for word in PYDANTIC)


def trajectory(number: int, success: bool | None) -> Trajectory:
    task = f"tau2_precondition/0/{number}"
    reward = None if success is None else float(success)
    return Trajectory(id=f"{task}#0", task=task, messages=(), success=success, reward=reward)


def test_diagnosis_of_unscored_trajectories_does_not_claim_that_none_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    unscored = [trajectory(n, None) for n in range(3)]
    assert "No trajectory failed" not in markdown(diagnose(unscored))
    assert "None of 3 trajectories has an outcome" in markdown(diagnose(unscored))
    assert "No trajectory failed" in markdown(diagnose([*unscored, trajectory(3, True)]))
    (tmp_path / "a.jsonl").write_text(to_jsonl(unscored))
    assert command(monkeypatch, "diagnose", str(tmp_path / "a.jsonl")) == 1
    assert "has an outcome" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("name", ["mine", "base", "routed", "precondition_verification"])
def test_files_are_called_by_their_name_in_an_evaluation(name: str, tmp_path: Path) -> None:
    paths = []
    for stem, outcomes in (("first", (True, False, None)), (name, (True, True, True))):
        paths.append(tmp_path / f"{stem}.jsonl")
        paths[-1].write_text(to_jsonl(trajectory(n, o) for n, o in enumerate(outcomes)))
    made = compare_files(paths)
    page = evaluation_page(made)
    assert f"| {name} |" in page and "| first |" in page and "adapter" not in page and "base model" not in page
    assert name in [change[0] for change in _results(made)["changes"]]
    assert Evaluation.model_validate_json(made.model_dump_json()) == made


class Open(World):
    """A world with one tool, whose parameters are the tests'."""

    id, capability = "open_world", "none"

    def opening(self) -> str:
        return "Hi."

    def verify(self, start: Any, said: list[str]) -> Iterator[Check]:
        yield Check.goal("it is said", bool(said))

    def oracle(self) -> Iterator[Call | Say]:
        yield Call("look_up", {})


class Star(Open):
    @tool
    def look_up(self, key: str, *rest: str) -> str:
        """Look it up."""
        return key


class Keywords(Open):
    @tool
    def look_up(self, **rest: str) -> str:
        """Look it up."""
        return ""


class PositionOnly(Open):
    @tool
    def look_up(self, key: str, /) -> str:
        """Look it up."""
        return key


@pytest.mark.parametrize(("world", "shown"), [(Star, r"\*rest"), (Keywords, r"\*\*rest"), (PositionOnly, "key")])
def test_tool_with_unnamed_parameters_is_named(world: type[World], shown: str) -> None:
    with pytest.raises(TypeError, match=f"tool 'look_up' has the .* parameter '{shown}', but a tool can only"):
        interface_of(world)


def test_malformed_turn_of_an_oracle_is_quoted(tmp_path: Path) -> None:
    source = Path(__file__).parent / "user_folder" / "library_loans.py"
    path = tmp_path / "library_loans.py"
    path.write_text(source.read_text().replace('Call("search", {"words": self.title})', 'Call("search", {"words": 7})'))
    (found,) = [f for f in validate(path, profile="quick", only=["TG201"], engine="here").findings if f.code == "TG201"]
    assert "search takes words" in found.message and "7 is not of type 'string'" in found.message


def test_prefix_of_a_message_counts_when_lines_are_wrapped(
    user_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for width in (20, 37, 60):
        monkeypatch.setenv("COLUMNS", str(width))
        assert command(monkeypatch, "show", "library_loans", "--seed", "3") == 0
        shown = capsys.readouterr().out
        assert "assistant> " in shown
        assert max(map(len, shown.splitlines())) <= width
