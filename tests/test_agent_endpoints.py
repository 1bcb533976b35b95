"""An agent behind endpoints: the number of conversations at the same time, and the log of its requests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llm_server import Act, Body, Handler, Server, Together
from typer.testing import CliRunner, Result

from trace_gym.cli.entry import app
from trace_gym.errors import ConfigError
from trace_gym.models import ModelSettings
from trace_gym.pipeline.common import divide_concurrency
from trace_gym.pipeline.jobs import RolloutJob, TrainJob

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
        (["--model", "lab", "--concurrency", "2"], "--concurrency has no effect on the model lab, which runs in this"),
    ],
)
def test_options_without_an_effect_are_errors(words: list[str], fault: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["rollout", "tau2_precondition", "--out", str(tmp_path / "a.jsonl"), *words])
    assert isinstance(done.exception, ConfigError) and fault in str(done.exception)


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"concurrency": 4}, "concurrency has no effect on a model in this process: found 4, but cache_gib"),
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
