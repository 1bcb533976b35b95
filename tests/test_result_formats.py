"""Tests of readers: conversations in OpenAI's format, runs of ToolSandbox, and files with invalid records."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from trace_gym.cli.entry import app
from trace_gym.diagnosis import RuleAnalyst, diagnose
from trace_gym.errors import ReadError
from trace_gym.pipeline import rollouts
from trace_gym.pipeline.ledger import Run
from trace_gym.settings import RunConfig
from trace_gym.targets.results import read_results, stream_results
from trace_gym.targets.source import SkippedRecord
from trace_gym.types import Trajectory

TALK = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]


def chats(path: Path, *rows: Any) -> Path:
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
    return path


def test_conversations_need_no_ids_and_may_be_unscored(tmp_path: Path) -> None:
    rows = [TALK, {"messages": TALK, "reward": 0.5, "task": "t"}, {"messages": TALK, "success": True, "id": "x"}]
    path = chats(tmp_path / "log.jsonl", *rows)
    found = read_results(path, model="m")
    assert [(t.id, t.task, t.success, t.reward, t.source, t.model) for t in found] == [
        ("log-1", "log-1", None, None, "log", "m"),
        ("log-2", "t", False, 0.5, "log", "m"),
        ("x", "x", True, None, "log", "m"),
    ]
    packed = tmp_path / "log.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_results(packed, model="m") == found


@pytest.mark.parametrize("more", [{}, {"id": "x"}, {"id": "x", "task": "t"}, {"id": "x", "task": "t", "model": "m"}])
def test_conversations_have_the_same_outcome_with_and_without_names(more: dict[str, str], tmp_path: Path) -> None:
    parts = [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]
    for first in ([], [TALK]):
        path = chats(tmp_path / "log.jsonl", *first, {"messages": parts, "reward": 1.0} | more)
        found = read_results(path)[-1]
        assert (found.success, found.reward, found.messages[0]["content"]) == (True, 1.0, "Hi")


def test_a_diagnosis_of_conversations_says_that_no_rule_applies(tmp_path: Path) -> None:
    path = chats(tmp_path / "log.jsonl", {"messages": TALK, "success": False}, {"messages": TALK, "success": True})
    found = diagnose(read_results(path))
    assert (found.failed, found.passed, len(found.unlabelled)) == (1, 1, 2)


@pytest.mark.parametrize("bad", ["{oops", '{"messages": [{"content": "x"}]}', '{"messages": [], "success": true}', "7"])
def test_invalid_lines_are_an_error_or_skipped(bad: str, tmp_path: Path) -> None:
    path = chats(tmp_path / "log.jsonl", {"messages": TALK, "success": False}, bad, {"messages": TALK, "reward": 1})
    with pytest.raises(ReadError, match="line 2"):
        read_results(path)
    faults: list[SkippedRecord] = []
    assert [t.id for t in read_results(path, on_invalid=faults.append)] == ["log-1", "log-3"]
    assert len(faults) == 1
    assert "line 2" in faults[0].message


def test_repeated_records_are_an_error_or_skipped(tmp_path: Path) -> None:
    record = Trajectory(id="a#0", task="a", messages=tuple(TALK), success=True).model_dump_json()
    path = chats(tmp_path / "own.jsonl", record, record, "{broken")
    with pytest.raises(ReadError, match="occurs twice"):
        read_results(path)
    faults: list[SkippedRecord] = []
    assert [t.id for t in read_results(path, on_invalid=faults.append)] == ["a#0"]
    assert [fault.reason for fault in faults] == ["duplicate", "unreadable"]


def test_the_command_counts_skipped_records(tmp_path: Path) -> None:
    path = chats(tmp_path / "log.jsonl", {"messages": TALK, "success": False}, "{oops", {"messages": TALK, "reward": 1})
    runner = CliRunner()
    assert runner.invoke(app, ["diagnose", str(path)]).exit_code != 0
    done = runner.invoke(app, ["diagnose", str(path), "--skip-invalid"])
    assert done.exit_code == 0
    assert "skipped: 1 unreadable, 0 duplicate; excluded: 0 not scored" in " ".join(done.output.split())
    assert "line 2" in done.output
    assert "1 failed, 1 passed" in done.output


# ---- ToolSandbox


def toolsandbox(folder: Path, **changed: Any) -> Path:
    """Write a run of two scenarios in the layout of ToolSandbox."""
    results = [
        {"name": "wifi_off", "similarity": 1.0, "exception_type": None, "categories": ["X"], "turn_count": 4},
        {"name": "crash", "similarity": 0.0, "exception_type": "RateLimitError", "traceback": "..."},
        {"name": "wrong", "similarity": 0.4, "milestone_mapping": {"0": [5, 0.4]}} | changed,
    ]
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "send_message_with_phone_number", "arguments": "{}"}}
    ]
    messages = [
        {"role": "system", "content": "Do not guess."},
        {"role": "user", "content": "Text Lucia."},
        {"role": "assistant", "content": "", "tool_calls": calls, "assistant_details": {"database_update": {}}},
        {"role": "tool", "tool_call_id": "c1", "name": "send", "content": "ConnectionError: Cellular is off"},
        {"role": "assistant", "content": "I cannot.", "assistant_details": {"milestone_matches": []}},
    ]
    for result in results:
        place = folder / "trajectories" / str(result["name"])
        place.mkdir(parents=True)
        (place / "conversation.json").write_text(json.dumps(messages))
    (folder / "result_summary.json").write_text(
        json.dumps({"per_scenario_results": results, "category_aggregated_results": {}, "git_sha": "x"})
    )
    return folder


def test_runs_of_toolsandbox_are_read_from_the_folder_and_from_the_summary(tmp_path: Path) -> None:
    folder = toolsandbox(tmp_path / "run")
    found = read_results(folder, model="m")
    assert found == read_results(folder / "result_summary.json", model="m")
    assert [(t.task, t.success, t.reward, t.ended) for t in found] == [
        ("wifi_off", True, 1.0, "unknown"),
        ("crash", None, None, "error"),
        ("wrong", False, 0.4, "unknown"),
    ]
    assert [(call.tool, refused) for call, refused in found[0].calls] == [("send_message_with_phone_number", True)]
    assert found[0].tools["set_wifi_status"] == "write"


def test_a_run_reads_a_changed_conversation_again(tmp_path: Path) -> None:
    folder = toolsandbox(tmp_path / "logs")

    def successes() -> str:
        made = Run(RunConfig(source=folder / "result_summary.json"), tmp_path / "run")
        rollouts.rollouts(made)
        return made.path("rollouts", "select.jsonl").read_text()

    before = successes()
    path = folder / "trajectories/wrong/conversation.json"
    path.write_text(path.read_text().replace("Lucia", "Bob"))
    assert successes() != before


def test_incomplete_runs_of_toolsandbox_are_refused(tmp_path: Path) -> None:
    folder = toolsandbox(tmp_path / "run")
    (folder / "trajectories/wrong/conversation.json").unlink()
    with pytest.raises(ReadError, match="1 of 3 are missing, for example wrong/conversation.json"):
        read_results(folder)
    with pytest.raises(ReadError, match=r"not a valid result_summary.json of ToolSandbox: .*similarity"):
        read_results(toolsandbox(tmp_path / "other", similarity=3))
    with pytest.raises(ReadError, match=r"not a valid result_summary.json of ToolSandbox: .*name"):
        read_results(toolsandbox(tmp_path / "third", name="../outside"))


# ---- recognition by content, and duplicates

CHAT = {"messages": [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hi."}], "success": True}


def test_the_format_does_not_depend_on_the_name_of_the_file(tmp_path: Path) -> None:
    tau_bench = (Path(__file__).parent / "data" / "tau_bench_airline.json").read_text()
    (tmp_path / "results.jsonl").write_text(json.dumps(json.loads(tau_bench)))
    assert [t.source for t in read_results(tmp_path / "results.jsonl")] == ["tau-bench airline"] * 4
    (tmp_path / "chats.json").write_text(json.dumps([CHAT, {**CHAT, "id": "two", "success": False}], indent=1))
    listed = read_results(tmp_path / "chats.json", model="m")
    assert [(t.id, t.success, t.model) for t in listed] == [("chats-1", True, "m"), ("two", False, "m")]
    (tmp_path / "one.json").write_text(json.dumps(CHAT, indent=1))
    assert [t.success for t in read_results(tmp_path / "one.json")] == [True]
    (tmp_path / "late.json").write_text(json.dumps([{"no": "chat"}, CHAT]))
    assert len(read_results(tmp_path / "late.json", on_invalid=lambda _: None)) == 1


def test_equal_records_are_skipped_in_every_format(tmp_path: Path) -> None:
    line = json.dumps(CHAT)
    (tmp_path / "chats.jsonl").write_text(f"{line}\n{line}\n{json.dumps({**CHAT, 'success': False})}\n")
    (tmp_path / "list.json").write_text(json.dumps([CHAT, CHAT, {**CHAT, "success": False}]))
    data = json.loads((Path(__file__).parent / "data" / "tau2_retail.json").read_text())
    folder = tmp_path / "tau2"
    (folder / "simulations").mkdir(parents=True)
    for name in ("a", "b"):
        (folder / "simulations" / f"{name}.json").write_text(json.dumps(data["simulations"][0]))
    (folder / "results.json").write_text(json.dumps({k: v for k, v in data.items() if k != "simulations"}))
    for source, count in ((tmp_path / "chats.jsonl", 2), (tmp_path / "list.json", 2), (folder, 1)):
        skipped: list[SkippedRecord] = []
        assert len(read_results(source, on_invalid=skipped.append)) == count, source
        assert [s.reason for s in skipped] == ["duplicate"], source
        equal: list[str] = []
        assert len(list(stream_results(source, on_equal=equal.append))) == count + 1
        assert len(equal) == 1, source
    done = CliRunner().invoke(app, ["diagnose", str(tmp_path / "chats.jsonl")])
    assert "equal to earlier records: 1, the first:" in " ".join(done.output.split())


def test_milestones_and_minefields_of_toolsandbox_label_the_episodes(tmp_path: Path) -> None:
    reached = {"0": [3, 1.0], "1": [4, 0.7], "2": [0, 0.0]}
    folder = toolsandbox(tmp_path / "run", milestone_mapping=reached, minefield_mapping={})
    [*_, wrong] = read_results(folder)
    assert wrong.score is not None
    assert [(c.kind, c.passed) for c in wrong.score.checks] == [("goal", True), ("goal", True), ("goal", False)]
    labels = RuleAnalyst().label([wrong])[0][wrong.id]
    assert (labels["multi_step_completion"], labels["insufficient_information"]) == ("LACKING", "NA")
    for likeness, expected in ((0.7, "LACKING"), (0.0, "PRESENT")):
        folder = toolsandbox(tmp_path / f"{likeness}", minefield_mapping={"0": [2, likeness]})
        [*_, wrong] = read_results(folder)
        assert wrong.score is not None and bool(wrong.score.broken) == bool(likeness)
        assert RuleAnalyst().label([wrong])[0][wrong.id]["insufficient_information"] == expected


def test_records_of_rollouts_are_read_from_a_list_and_from_one_object(tmp_path: Path) -> None:
    record = Trajectory(id="a/0/1#0", task="a/0/1", messages=tuple(CHAT["messages"]), success=True, gold=())
    row = json.loads(record.model_dump_json())
    (tmp_path / "mixed.json").write_text(json.dumps([row, CHAT]))
    assert [(t.id, t.gold) for t in read_results(tmp_path / "mixed.json")] == [("a/0/1#0", ()), ("mixed-2", None)]
    (tmp_path / "one.json").write_text(json.dumps(row, indent=1))
    assert read_results(tmp_path / "one.json") == [record]


def test_missing_simulations_of_a_tau2_folder_are_skipped(tmp_path: Path) -> None:
    data = json.loads((Path(__file__).parent / "data" / "tau2_retail.json").read_text())
    (tmp_path / "simulations").mkdir()
    (tmp_path / "simulations" / "a.json").write_text(json.dumps(data["simulations"][0]))
    index = {"simulation_index": [{"id": "a"}, {"id": "b"}]}
    (tmp_path / "results.json").write_text(json.dumps({k: v for k, v in data.items() if k != "simulations"} | index))
    with pytest.raises(ReadError, match="1 of 2 are missing"):
        read_results(tmp_path)
    skipped: list[SkippedRecord] = []
    assert len(read_results(tmp_path, on_invalid=skipped.append)) == 1
    assert [s.reason for s in skipped] == ["unreadable"] and "b.json" in skipped[0].message


def test_equal_scenarios_of_toolsandbox_have_different_ids(tmp_path: Path) -> None:
    folder = toolsandbox(tmp_path / "run")
    summary = json.loads((folder / "result_summary.json").read_text())
    summary["per_scenario_results"].append(summary["per_scenario_results"][0])
    (folder / "result_summary.json").write_text(json.dumps(summary))
    assert [t.id for t in read_results(folder)][::3] == ["toolsandbox/wifi_off", "toolsandbox/wifi_off#2"]
