"""An agent behind endpoints: the number of conversations at the same time, and the log of its requests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llm_server import Act, Body, Handler, Server, Together, drops, fails, raw
from typer.testing import CliRunner, Result

from trace_gym import registry
from trace_gym.cli.entry import app
from trace_gym.errors import ConfigError
from trace_gym.llm import Usage
from trace_gym.llm.ledger import read_ledger
from trace_gym.models import ModelSettings, policy_uri
from trace_gym.models.policy_uri import check_policy_uri
from trace_gym.pipeline import common, reporting
from trace_gym.pipeline.common import divide_concurrency
from trace_gym.pipeline.jobs import RolloutJob, TrainJob
from trace_gym.pipeline.ledger import Run
from trace_gym.report import ReportData, render_page
from trace_gym.rollouts import rollout
from trace_gym.settings import RunConfig

URL = "http://127.0.0.1:9/v1"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    made = Server(chat())
    yield made
    made.close()


def chat(text: str = "One moment.", **usage: Any) -> Act:
    """An answer with a text that calls no tool."""
    usage = usage or {"prompt_tokens": 100, "completion_tokens": 4, "total_tokens": 104}

    def act(handler: Handler, body: Body) -> None:
        message = {"role": "assistant", "content": text}
        answer = {"id": "c", "object": "chat.completion", "created": 0, "model": "tiny-1", "usage": usage}
        handler.reply(
            json.dumps(answer | {"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}).encode()
        )

    return act


def command(server: Server, out: Path, *more: str, model: str = "") -> Result:
    """Run `trace-gym rollout` on four scenarios with the model at the server."""
    agent = ["--model", model] if model else ["--policy", f"openai:tiny@{server.url}"]
    return CliRunner().invoke(app, ["rollout", "tau2_precondition", "-n", "4", "--out", str(out), *agent, *more])


def waiting(together: Together) -> Act:
    """Answers of requests that are counted."""

    def act(handler: Handler, body: Body) -> None:
        together(body)
        chat()(handler, body)

    return act


@pytest.mark.parametrize("concurrency", [1, 3])
def test_concurrency_is_the_number_of_conversations_at_the_same_time(
    concurrency: int, server: Server, tmp_path: Path
) -> None:
    settings = tmp_path / "agent.yaml"
    settings.write_text(f"{{name: 'openai:tiny@{server.url}', concurrency: {concurrency}}}")
    words: dict[str, list[str]] = {"": ["--concurrency", str(concurrency)], str(settings): []}
    for n, (model, options) in enumerate(words.items()):
        together = Together(concurrency)
        server.acts = [waiting(together)]
        done = command(server, tmp_path / f"{n}.jsonl", *options, model=model)
        assert done.exit_code == 0, f"{done.output} {done.exception}"
        assert together.most == concurrency


def test_eight_conversations_are_the_default() -> None:
    assert ModelSettings(name="openai:m").used_concurrency == 8
    assert ModelSettings(engine="vllm").used_concurrency == 256
    assert ModelSettings(engine="vllm", concurrency=3).used_concurrency == 3


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["--policy", "oracle", "--concurrency", "2"], "--concurrency has no effect on the policy oracle"),
        (["--policy", "oracle", "--price", "1/2"], "--price has no effect on the policy oracle"),
        (["--model", "lab", "--concurrency", "2"], "does not support --concurrency. Remove --concurrency"),
        (["--model", "lab", "--price", "1/2"], "the model lab runs in this process and does not support --price"),
        (["--policy", "openai:m", "--price", "cheap"], "invalid price: found 'cheap', expected PROMPT/COMPLETION"),
    ],
)
def test_options_without_an_effect_are_errors(words: list[str], fault: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["rollout", "tau2_precondition", "--out", str(tmp_path / "a.jsonl"), *words])
    assert isinstance(done.exception, ConfigError) and fault in str(done.exception)


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"concurrency": 4}, "concurrency has no effect, because cache_gib limits .*: found concurrency: 4"),
        ({"price": "1/2"}, "price has no effect, because only requests to an endpoint"),
        ({"price": "1/2", "engine": "vllm"}, "price has no effect, because only requests to an endpoint"),
        ({"price": "-1/2", "name": "openai:m"}, "invalid price: found '-1/2', expected PROMPT/COMPLETION"),
        ({"concurrency": 0, "name": "openai:m"}, "concurrency: Input should be greater than or equal to 1"),
    ],
)
def test_settings_without_an_effect_are_errors(settings: dict[str, Any], fault: str) -> None:
    with pytest.raises(ConfigError, match=fault):
        ModelSettings.parse(settings)


@pytest.mark.parametrize(
    ("concurrency", "workers", "jobs", "expected"),
    [(8, 2, 4, (2, 4)), (8, 3, 3, (3, 2)), (8, 4, 1, (1, 8)), (1, 2, 4, (1, 1))],
)
def test_worker_processes_share_the_conversations(
    concurrency: int, workers: int, jobs: int, expected: tuple[int, int]
) -> None:
    model = ModelSettings(endpoint=f"openai:m@{URL}", concurrency=concurrency)
    divided, processes = divide_concurrency([RolloutJob("base", model, None, ())] * jobs, workers)
    assert len(divided) == jobs
    assert {(processes, job.model.used_concurrency) for job in divided} == {expected}
    assert processes * expected[1] <= concurrency


def test_training_in_process_keeps_its_workers(tmp_path: Path) -> None:
    jobs = [TrainJob("a", (), ModelSettings(endpoint=f"openai:m@{URL}", concurrency=1), {}, tmp_path)] * 2
    assert divide_concurrency(jobs, 2) == (jobs, 2)


def test_each_attempt_is_a_line_of_the_ledger_and_the_total_is_printed(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    server.acts = [fails(503, "overloaded"), drops, raw(b"<html>"), chat()]
    done = command(server, tmp_path / "a.jsonl", "--price", "2/10", "--concurrency", "1")
    entries = read_ledger(tmp_path / "a.jsonl.agent" / "requests.jsonl")
    assert len(entries) == len(server.requests) > 4
    assert [(e.attempt, e.outcome) for e in entries[:5]] == [
        (1, "failed"), (2, "failed"), (3, "failed"), (4, "answered"), (1, "answered"),
    ]  # fmt: skip
    assert len({e.key for e in entries[:4]}) == 1 != len({e.key for e in entries[3:5]})
    for error, entry in zip(("overloaded", "Connection error", "<html>"), entries, strict=False):
        assert error in entry.error and entry.purpose == entries[3].purpose and entry.cost is None
    first = registry.scenarios("tau2_precondition", "select", 1)[0]
    assert [e.purpose for e in entries[3:5]] == [f"rollout {first}, turn 1", f"rollout {first}, turn 2"]
    answered = [e for e in entries if e.outcome == "answered"]
    assert {(e.model, e.served, e.prompt_tokens, e.completion_tokens) for e in answered} == {
        ("openai:tiny", "tiny-1", 100, 4)
    }
    assert all(e.cost == pytest.approx(0.00024) and e.seconds > 0 for e in answered)
    count = len(answered)
    total = f"{count} requests, 3 failed attempts, {100 * count:,} prompt tokens, {4 * count:,} completion tokens"
    assert f"agent: {total}, {0.00024 * count:.4f} dollars" in done.output


def test_ledger_contains_no_key_and_only_short_valid_text(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-123")
    server.acts = [fails(400, f"Bearer sk-secret-123 \ud800 {'x' * 9000}")]
    done = command(server, tmp_path / "a.jsonl")
    text = (tmp_path / "a.jsonl.agent" / "requests.jsonl").read_text()
    assert "Bearer ***" in text and "sk-secret-123" not in text
    assert "Bearer ***" in caplog.text and "sk-secret-123" not in caplog.text + done.output
    assert caplog.text.encode(), "the log contains only valid characters"
    assert all(len(entry.error) <= 500 for entry in read_ledger(tmp_path / "a.jsonl.agent" / "requests.jsonl"))


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ("device: 'cuda:3'", "device has no effect on the option --policy"),
        ("price: 1/2", "price has no effect on the option --policy, because the requests of this policy are not"),
    ],
)
def test_policy_uris_reject_settings_without_an_effect(fields: str, fault: str, tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(f"{{name: lab, endpoint: 'openai:tiny@{URL}', {fields}}}")
    with pytest.raises(ConfigError, match=fault):
        check_policy_uri(f"hf:{tmp_path / 'agent.yaml'}")


def test_policy_of_a_uri_has_the_concurrency_of_its_settings(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy_uri, "find_spec", lambda name: None)
    (tmp_path / "agent.yaml").write_text(f"{{name: 'openai:tiny@{server.url}', concurrency: 1}}")
    check_policy_uri(f"hf:{tmp_path / 'agent.yaml'}")
    together = Together(1)
    server.acts = [waiting(together)]
    rollout(policy_uri.open_policy(f"hf:{tmp_path / 'agent.yaml'}"), registry.scenarios("tau2_precondition", n=3))
    assert together.most == 1


def test_a_resumed_collection_appends_its_requests(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    command(server, path, "-n", "2")
    before = len(server.requests)
    done = command(server, path)
    used = Usage.read(tmp_path / "a.jsonl.agent" / "requests.jsonl")
    assert used.requests == len(server.requests) > before > 0
    assert f"agent: {used.requests} requests" in done.output and "cost unknown" in done.output
    again = command(server, path)
    assert len(server.requests) == used.requests and f"agent: {used.requests} requests" in again.output


@pytest.mark.parametrize("usage", [{"prompt_tokens": "many"}, {"prompt_tokens": None, "completion_tokens": -1}])
def test_an_invalid_token_count_is_unknown(usage: dict[str, Any], server: Server, tmp_path: Path) -> None:
    server.acts = [chat(**usage)]
    done = command(server, tmp_path / "a.jsonl", "--price", "1/1")
    entries = read_ledger(tmp_path / "a.jsonl.agent" / "requests.jsonl")
    assert {(e.prompt_tokens, e.completion_tokens, e.cost) for e in entries} == {(0, 0, None)}
    assert "cost unknown" in done.output


def test_a_run_prints_the_totals(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def collected(config: RunConfig, folder: Path) -> Run:
        made = Run(config, folder)
        common.sampling_job(made, "skill", registry.scenarios("tau2_precondition", "select", 1), folder / "a", 1.0, 1)()
        return made

    monkeypatch.setattr("trace_gym.pipeline.run", collected)
    (tmp_path / "run.yaml").write_text(f"model: {{endpoint: 'openai:m@{server.url}', price: 2/10}}")
    done = CliRunner().invoke(app, ["run", str(tmp_path / "run.yaml"), "--out", str(tmp_path / "run")])
    count = len(server.requests)
    assert count and f"agent: {count} requests, 0 failed attempts, {100 * count:,} prompt tokens" in done.output
    assert f"{0.00024 * count:.4f} dollars" in done.output


def test_the_stages_of_a_run_share_a_ledger_that_the_report_shows(server: Server, tmp_path: Path) -> None:
    made = Run(
        RunConfig.parse({"model": {"endpoint": f"openai:m@{server.url}", "price": "2/10"}}, "run.yaml"), tmp_path
    )
    scenarios = registry.scenarios("tau2_precondition", "select", 2)
    for stage in ("rollouts", "skill"):
        common.sampling_job(made, stage, scenarios, tmp_path / f"{stage}.jsonl", 1.0, 1)()
    totals = reporting.collect(made).run.requests
    assert list(totals) == ["rollouts", "skill", "total"]
    assert totals["rollouts"] == totals["skill"] and totals["total"].requests == len(server.requests) > 0
    page = render_page(reporting.collect(made))
    cost = f"{len(server.requests) * 0.00024:.4f}"
    assert "Requests of the agent" in page and cost in page
    assert "Requests of the agent" not in render_page(ReportData())
