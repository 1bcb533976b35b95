"""The vLLM server that trace_gym starts: its start, its end, and training that survives its death."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("peft", reason="training needs the lab extra")

from snippets import ROOT, blocks, process, python
from test_lifeline import alive, soon
from test_torch_grpo import SMALL, Vowels
from tiny_model import save_tiny

from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, ReadError, Unavailable
from trace_gym.models import LAB, ModelSettings, load_policy, server
from trace_gym.models.server import ModelServer, last_lines
from trace_gym.models.server_command import rank_of, server_command
from trace_gym.pipeline import common
from trace_gym.pipeline.ledger import Run
from trace_gym.sampling import vllm
from trace_gym.sampling.vllm import VLLMServer
from trace_gym.settings import RunConfig
from trace_gym.trainers.config import GRPOConfig
from trace_gym.trainers.torch_grpo import Trained, train
from trace_gym.types import Scenario

FAKE = str(Path(__file__).parent / "fake_vllm")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="vLLM runs on Linux and macOS")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("models") / "model")


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vllm, "PAUSES", {"first": 0.02, "longest": 0.1, "longest_wait": 1.0})
    monkeypatch.setattr(server, "PERIOD", 0.02)
    monkeypatch.setenv("VLLM_PYTHON", sys.executable)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")  # requests to this machine use no proxy
    monkeypatch.delenv("NO_PROXY", raising=False)


def settings(
    name: Path | str, home: Path, *, seconds: float = 60.0, arguments: tuple[str, ...] = (), **mode: Any
) -> Any:
    """Settings of a model whose server is the stand-in for vLLM. Its records are written to `home`."""
    home.mkdir(exist_ok=True)
    environment = {"PYTHONPATH": FAKE, "FAKE_VLLM": json.dumps({"folder": str(home), **mode})}
    own = {"environment": environment, "start_seconds": seconds, "arguments": arguments}
    limits = {} if name == LAB else {"max_tokens": 400}
    return ModelSettings.parse({"name": str(name), "engine": "vllm", "server": own, **limits})


def starts(home: Path) -> list[dict[str, Any]]:
    path = home / "starts.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def ended(home: Path) -> bool:
    """Whether all servers that were started, and their engines, end soon."""
    return soon(lambda: not any(alive(start[name]) for start in starts(home) for name in ("pid", "engine")))


def run(model: ModelSettings, out: Path, config: GRPOConfig = SMALL, **options: Any) -> Trained:
    def opened(scenario: Scenario) -> Episode:
        return Episode(Vowels, scenario)

    return train(config, env="vowels", model=model, out_dir=out, open_episode=opened, progress=False, **options)


def test_training_starts_and_stops_its_server(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = settings(folder, tmp_path / "home", arguments=("--enforce-eager",))
    trained = train(
        SMALL, env="vowels", model=model, out_dir=tmp_path / "run", open_episode=lambda s: Episode(Vowels, s)
    )
    assert trained.rollouts == 32 and trained.path.exists()
    [start] = starts(tmp_path / "home")
    words = start["arguments"]
    flags = dict(pairwise(words))
    assert flags["--model"] == str(folder) and flags["--dtype"] == "float32" and flags["--max-model-len"] == "400"
    assert flags["--max-lora-rank"] == "8" and flags["--max-loras"] == "3" and words[-1] == "--enforce-eager"
    assert "--no-enable-chunked-prefill" in words, "chunks of requests with seeds end vLLM on the CPU"
    assert start["environment"]["VLLM_ALLOW_RUNTIME_LORA_UPDATING"] == "True"
    assert ended(tmp_path / "home")
    log = tmp_path / "run" / "vllm.log"
    shown = capsys.readouterr().err
    assert f"(log: {log})" in shown and "vLLM is ready after" in shown and "startup complete" in log.read_text()


def test_training_continues_after_the_death_of_its_server(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The server is killed in the middle of two iterations. Its engine outlives it, and is killed too."""
    expected = run(settings(folder, tmp_path / "calm"), tmp_path / "whole")
    found = run(settings(folder, tmp_path / "home", die_at=[5, 21]), tmp_path / "run")
    assert len(starts(tmp_path / "home")) == 3 and len(starts(tmp_path / "calm")) == 1
    assert found.rollouts == expected.rollouts == 32
    for name in ("iteration", "reward", "success", "tokens", "rollouts"):
        assert [line[name] for line in found.metrics] == [line[name] for line in expected.metrics]
    assert ended(tmp_path / "home")
    assert sum("vLLM ended with exit status 137. It is restarted" in line for line in caplog.messages) == 2


@pytest.mark.parametrize("pause", [0.0, 0.5])
def test_server_that_dies_again_and_again_ends_the_training(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pause: float
) -> None:
    """The error contains the log, and comes long before the time limit of a request.

    In the second case, rollouts end the restarted server before the training has found that it is ready.
    """
    found = server.is_ready
    monkeypatch.setattr(server, "is_ready", lambda port: bool(time.sleep(pause)) or found(port))
    model = settings(folder, tmp_path / "home", die_at=list(range(3, 1000)))
    with pytest.raises(Unavailable, match="(?s)exit status 137, 3 times in succession.*vllm.log:.*startup complete.*"):
        run(model, tmp_path / "run")
    assert len(starts(tmp_path / "home")) == 3 and ended(tmp_path / "home")
    assert not (tmp_path / "run" / "metrics.jsonl").read_text(), "no iteration was counted"
    calm = run(settings(folder, tmp_path / "calm"), tmp_path / "run")
    assert calm.rollouts == 32, "the same command continues"


@pytest.mark.parametrize(
    ("mode", "fault"),
    [
        (
            {"exit": "CUDA is broken"},
            "vLLM ended with exit status 3 before it was ready. .*vllm.log:\n  CUDA is broken",
        ),
        ({"exit": "No module named 'vllm'"}, "vLLM is not installed for .* set the environment variable VLLM_PYTHON"),
        ({"hang": True, "seconds": 0.5}, "not ready: .* expected one after at most 0.5 s .server.start_seconds.*none"),
    ],
)
def test_server_that_does_not_start_is_an_error(folder: Path, tmp_path: Path, mode: Any, fault: str) -> None:
    with pytest.raises(Unavailable, match=f"(?s){fault}"):
        run(settings(folder, tmp_path / "home", **mode), tmp_path / "run")
    assert ended(tmp_path / "home")


def test_interpreter_that_does_not_exist_is_an_error(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_PYTHON", str(tmp_path / "python"))
    with pytest.raises(ConfigError, match="python cannot be executed"):
        run(settings(folder, tmp_path / "home"), tmp_path / "run")


@pytest.mark.parametrize(("number", "mode"), [(signal.SIGINT, {}), (signal.SIGKILL, {"hang": True})])
def test_server_ends_with_the_command(tmp_path: Path, number: signal.Signals, mode: Any) -> None:
    """Also its engine, which is not a child process of the command. In the second case, the server is not ready."""
    home = tmp_path / "home"
    model = settings(LAB, home, **mode)
    (tmp_path / "model.yaml").write_text(model.model_dump_json(exclude_unset=True))
    limits = ["--max-turn-tokens", "1", "-n", "200"]
    words = ["rollout", "tau2_precondition", "--model", "model.yaml", "--out", "o.jsonl", *limits]
    command = [sys.executable, "-c", "from trace_gym.cli.entry import main; main()", *words]
    silent: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with process(command, cwd=tmp_path, start_new_session=True, **silent) as caller:
        log = tmp_path / "o.jsonl.vllm.log"
        assert soon(lambda: bool(starts(home)) and (bool(mode) or "complete" in log.read_text()), 120)
        [started] = starts(home)
        assert alive(started["pid"]) and alive(started["engine"])
        caller.send_signal(number)
        caller.wait(60)
    assert ended(home), "the server outlives the command"


def test_server_starts_once_and_is_the_same_for_all(folder: Path, tmp_path: Path) -> None:
    model = settings(folder, tmp_path / "home")
    with pytest.raises(ConfigError, match="requires a server"):
        load_policy(model)
    with ModelServer(model, log=tmp_path / "log") as made:
        assert made.pid is None, "it starts only if it is needed"
        first, again = made.start(), made.start()
        assert first == again and first.endpoint.startswith("openai:base@http://127.0.0.1:")
        assert load_policy(first).name == folder.name
        assert "--enable-lora" not in starts(tmp_path / "home")[0]["arguments"]
        assert ModelServer(first, log=tmp_path / "other").start() == first, "a server with an endpoint is running"
        old = made.pid
        assert old is not None
        os.kill(old, signal.SIGKILL)  # the leader of the group
        assert soon(lambda: len(starts(tmp_path / "home")) == 2)
        assert VLLMServer(first.endpoint.partition("@")[2], "base").context_length() == 400
    assert len(starts(tmp_path / "home")) == 2 and ended(tmp_path / "home")


@pytest.mark.slow
def test_stages_of_a_run_share_a_server(tmp_path: Path) -> None:
    """Each stage samples in other worker processes. A stage that samples no rollouts does not start the server."""
    config = RunConfig.parse({"model": settings(LAB, tmp_path / "home").model_dump(), "workers": 1}, "run.yaml")
    with ModelServer(config.model, log=tmp_path / "log", progress=False) as made:
        run = Run(config, tmp_path / "run", server=made)
        common.run_with_progress(run, [], lambda: 0, 0, "episodes")
        assert not starts(tmp_path / "home")
        for name in ("one", "two"):
            files = ((("tau2_precondition/0/7", "tau2_precondition/0/8"), tmp_path / f"{name}.jsonl"),)
            job = common.rollout_job(run, "rollouts", name, None, files, temperature=1.0)
            common.run_with_progress(run, [job], lambda: 0, 2, "episodes")
    assert len(starts(tmp_path / "home")) == 1 and ended(tmp_path / "home")
    one, two = ((tmp_path / f"{name}.jsonl").read_text().splitlines() for name in ("one", "two"))
    assert [json.loads(line)["reward"] for line in one] == [json.loads(line)["reward"] for line in two]
    assert config.model.endpoint == "", "the ledger does not depend on the port"
    stored = RunConfig.parse(json.loads(config.model_dump_json()), "config.json")
    assert stored.model == config.model


def test_the_example_of_the_guide_runs(tmp_path: Path) -> None:
    [block] = blocks("docs/guides/vllm.md", "python")
    path = os.pathsep.join([str(ROOT), FAKE])
    more = {"VLLM_PYTHON": sys.executable, "PYTHONPATH": path, "FAKE_VLLM": json.dumps({"folder": str(tmp_path)})}
    assert python(block, tmp_path, **more).endswith("lab\n") and ended(tmp_path)
    assert "startup complete" in (tmp_path / "vllm.log").read_text()


def test_server_that_failed_is_not_started_silently(folder: Path, tmp_path: Path) -> None:
    model = settings(folder, tmp_path / "home", exit="broken")
    with ModelServer(model, log=tmp_path / "log", progress=False) as made:
        for _ in range(2):  # each call starts it again, and reports the error again
            with pytest.raises(Unavailable, match="broken"):
                made.start()
            assert made.pid is None and ended(tmp_path / "home")
    with ModelServer(settings(folder, tmp_path / "other", dies=True), log=tmp_path / "log", progress=False) as made:
        made.start()
        assert soon(lambda: made.pid is None), "it ends after each answer"
        with pytest.raises(Unavailable, match="exit status 137"):
            made.start()


def test_stop_while_the_server_is_restarted(folder: Path, tmp_path: Path) -> None:
    with ModelServer(settings(folder, tmp_path / "home"), log=tmp_path / "log", progress=False) as made:
        made.start()
        assert made.pid is not None
        os.kill(made.pid, signal.SIGKILL)
        time.sleep(0.1)
    time.sleep(0.2)
    assert ended(tmp_path / "home")


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"arguments": ["--max_model_len=9"]}, "found --max-model-len in arguments, but the setting max_tokens"),
        ({"start_seconds": 0}, "start_seconds: Input should be greater than 0"),
        ({"python": "x"}, "server.python: Extra inputs"),
    ],
)
def test_invalid_settings_of_the_server_are_errors(given: dict[str, Any], fault: str) -> None:
    with pytest.raises(ConfigError, match=fault):
        ModelSettings.parse({"engine": "vllm", "server": given})


@pytest.mark.parametrize("other", [{}, {"engine": "vllm", "endpoint": "openai:m@http://a:1/v1"}])
def test_settings_of_a_server_that_is_not_started_are_errors(other: dict[str, Any]) -> None:
    with pytest.raises(
        ConfigError,
        match="server has no effect, because trace_gym starts a server only if .*: found server: arguments. Remove",
    ):
        ModelSettings.parse({**other, "server": {"arguments": ["--seed", 1]}})


def test_ranks_are_those_that_vllm_supports(folder: Path, tmp_path: Path) -> None:
    model = settings(folder, tmp_path / "home")
    words = server_command(model, 1, lora_rank=33, adapters=3)
    assert words[words.index("--max-lora-rank") + 1] == "64" and words[words.index("--max-loras") + 1] == "3"
    with pytest.raises(ConfigError, match="rank 600: expected at most 512"):
        server_command(model, 1, lora_rank=600, adapters=1)
    (tmp_path / "adapter_config.json").write_text('{"r": 4, "rank_pattern": {"q_proj": 12}}')
    assert rank_of(tmp_path) == 12
    with pytest.raises(ReadError, match="is not an adapter folder"):
        rank_of(tmp_path / "nowhere")


def test_last_lines_of_a_log(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"x" * 100_000 + b"\n\none\n\xff\n" + b"y" * 500 + b"\n")
    found = last_lines(tmp_path / "log", 2)
    assert found == ["\N{REPLACEMENT CHARACTER}", "y" * 300]
    assert last_lines(tmp_path / "none", 3) == []
