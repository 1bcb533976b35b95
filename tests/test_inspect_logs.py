"""Tests of the reader of Inspect's logs, on logs that Inspect writes here with its mock model."""

from __future__ import annotations

import gc
import importlib.util
import json
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from trace_gym.cli.entry import app
from trace_gym.errors import ConfigError, MissingExtra, ReadError
from trace_gym.targets.results import read_results, stream_results
from trace_gym.targets.source import SkippedRecord

needs_inspect = pytest.mark.skipif(
    importlib.util.find_spec("inspect_ai") is None, reason="Inspect is not installed: pip install 'trace-gym[inspect]'"
)
pytestmark = pytest.mark.filterwarnings("default")  # Inspect causes warnings, which would be errors


def run(folder: Path, form: Any, *, several: bool = False) -> Path:
    """Run a task with two samples and two epochs, and return the path of the log."""
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import includes, match
    from inspect_ai.solver import generate, use_tools
    from inspect_ai.tool import Tool, ToolError, tool

    @tool
    def order_status() -> Tool:
        async def execute(order: str) -> str:
            """Return the status of an order.

            Args:
                order: Id of the order.
            """
            if order == "B2":
                raise ToolError("there is no order B2")
            return "shipped " + "x" * 500  # long enough to become an attachment

        return execute

    def call(order: str) -> ModelOutput:
        return used(ModelOutput.for_tool_call("mockllm/model", "order_status", {"order": order}))

    def say(text: str) -> ModelOutput:
        return used(ModelOutput.from_content("mockllm/model", text))

    def used(output: ModelOutput) -> ModelOutput:
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # else, it loads a tokenizer
        return output

    outputs = [call("A1"), say("It is shipped."), call("B2"), say("I do not know.")] * 4
    outputs[6:8] = [call("A1")] * 5  # reaches the message limit
    samples = [Sample(id=n, input="Where is A1?", target="shipped") for n in ("first", "second")]
    task = Task(
        name="orders",
        dataset=samples,
        solver=[use_tools(order_status()), generate()],
        scorer=[includes(), match()] if several else includes(),
        epochs=2,
        message_limit=7,
    )
    model = get_model("mockllm/model", custom_outputs=outputs)
    [log] = eval(
        task, model=model, log_dir=str(folder), log_format=form, max_samples=1, display="none", temperature=0.5
    )
    assert log.status == "success", log.error and log.error.message
    gc.collect()  # Inspect leaves streams open, of which the garbage collector warns
    return Path(log.location.removeprefix("file://"))


@pytest.fixture(scope="module", params=["eval", "json"])
def log(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(tmp_path_factory.mktemp("log"), request.param)


@needs_inspect
def test_each_epoch_of_a_sample_is_a_trajectory_of_one_task(log: Path, tmp_path: Path) -> None:
    found = {t.id: t for t in read_results(log)}
    assert sorted(found) == [f"orders/{sample}/{epoch}" for sample in ("first", "second") for epoch in (1, 2)]
    assert {t.task for t in found.values()} == {"orders/first", "orders/second"}
    assert {(t.source, t.model, t.temperature) for t in found.values()} == {("Inspect orders", "mockllm/model", 0.5)}
    outcomes = sorted((t.success, t.reward) for t in found.values() if t.success is not None)
    assert outcomes == [(False, 0.0), (True, 1.0), (True, 1.0)]
    assert {t.model for t in read_results(log, model="other")} == {"other"}
    copy = tmp_path / "log.txt"  # the format is detected by the content
    shutil.copy(log, copy)
    assert read_results(copy) == list(found.values())


@needs_inspect
def test_calls_results_and_refusals_are_read(log: Path) -> None:
    [refused] = [t for t in read_results(log) if t.success is False]
    assert [(call.tool, call.arguments, failed) for call, failed in refused.calls] == [
        ("order_status", {"order": "B2"}, True)
    ]
    assert [m["role"] for m in refused.messages] == ["user", "assistant", "tool", "assistant"]
    assert refused.messages[2]["content"] == "Error: there is no order B2"
    done = next(t for t in read_results(log) if t.success)
    assert done.messages[2]["content"] == "shipped " + "x" * 500


@needs_inspect
def test_samples_at_a_limit_are_not_scored(log: Path) -> None:
    [limited] = [t for t in read_results(log) if t.success is None]
    assert (limited.reward, limited.ended, limited.note) == (None, "turn_limit", "message limit of 7")


def changed(log: Path, folder: Path, **fields: Any) -> Path:
    """Copy a ``.json`` log, and replace fields of its first sample."""
    data = json.loads(log.read_text())
    data["samples"][0] |= fields
    path = folder / "changed.json"
    path.write_text(json.dumps(data))
    return path


@pytest.fixture(scope="module")
def json_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(tmp_path_factory.mktemp("log"), "json", several=True)


@needs_inspect
def test_several_scorers_require_a_choice(json_log: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"contains several scores \(includes, match\).*--scorer includes"):
        read_results(json_log)
    with pytest.raises(ConfigError, match="includes, match"):
        read_results(json_log, on_invalid=lambda record: None)
    assert [t.success for t in read_results(json_log, scorer="includes")][:2] == [True, False]
    with pytest.raises(ConfigError, match="unknown scorer: found 'other', expected one of includes, match"):
        read_results(json_log, scorer="other")
    path = changed(json_log, tmp_path, scores={"judge": {"value": {"polite": 0.5, "right": "C"}}})
    assert next(stream_results(path, scorer="judge.right")).reward == 1.0
    data = json.loads(json_log.read_text())
    del data["results"], data["samples"][0]["scores"]["includes"]
    path.write_text(json.dumps(data))
    with pytest.raises(ReadError, match="sample .* has no score 'includes': found match"):
        read_results(path, scorer="includes")
    assert len(read_results(path, scorer="includes", on_invalid=lambda record: None)) == len(data["samples"]) - 1
    done = CliRunner().invoke(app, ["diagnose", str(json_log), "--scorer", "includes"])
    assert (done.exit_code, "1 failed, 2 passed, 1 not scored" in " ".join(done.output.split())) == (0, True)


@needs_inspect
@pytest.mark.parametrize(
    ("value", "reward"),
    [("P", 0.5), ("N", 0.0), (True, 1.0), (0.25, 0.25), (float("nan"), None), ("B+", ...), (7, ...)],
)
def test_score_values_become_rewards(value: Any, reward: Any, json_log: Path, tmp_path: Path) -> None:
    path = changed(json_log, tmp_path, scores={"includes": {"value": value}})
    if reward is ...:
        with pytest.raises(ReadError, match=r"the score includes is not a valid reward: found ('B\+'|7)"):
            read_results(path, scorer="includes")
        return
    found = read_results(path, scorer="includes")[0]
    assert (found.reward, found.success) == (reward, None if reward is None else reward == 1)


@needs_inspect
def test_samples_with_an_error_are_not_scored(json_log: Path, tmp_path: Path) -> None:
    error = {"message": "the endpoint is gone", "traceback": "", "traceback_ansi": ""}
    found = read_results(changed(json_log, tmp_path, error=error), scorer="includes")[0]
    assert (found.success, found.ended, found.note) == (None, "error", "the endpoint is gone")


@needs_inspect
def test_invalid_samples_are_skipped(log: Path, tmp_path: Path) -> None:
    copy = tmp_path / log.name
    if log.suffix == ".json":
        copy = changed(log, tmp_path, messages=7)
    else:
        shutil.copy(log, copy)
        with zipfile.ZipFile(copy, "a") as archive:
            archive.writestr("samples/third_epoch_1.json", "{}")
    with pytest.raises(ReadError, match=r"samples.* is not a valid sample of Inspect: ValidationError"):
        read_results(copy)
    faults: list[SkippedRecord] = []
    assert len(read_results(copy, on_invalid=faults.append)) == (3 if log.suffix == ".json" else 4)
    assert [fault.reason for fault in faults] == ["unreadable"]


@needs_inspect
def test_damaged_archives_are_refused(log: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.eval"
    path.write_bytes(b"PK\x03\x04" + b"garbage")
    with pytest.raises(ReadError, match="is not a valid log of Inspect"):
        read_results(path)


@pytest.mark.parametrize("content", [b"PK\x03\x04", b'{"version": 2, "status": "success", "eval": {}, "samples": []}'])
def test_missing_package_is_named_with_the_command(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    path = tmp_path / "a.log"
    path.write_bytes(content)
    with pytest.raises(MissingExtra, match=r"a log of Inspect, .*Run pip install 'trace-gym\[inspect\]'"):
        read_results(path)


def test_a_scorer_for_another_format_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"messages": [{"role": "user", "content": "Hi"}], "success": true}\n')
    with pytest.raises(ConfigError, match="scorer 'match' has no effect"):
        read_results(path, scorer="match")
