"""Training with rollouts from vLLM servers: adapters, the difference of log-probabilities, failures and resumption."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import log
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("peft", reason="training needs the lab extra")

import torch
from llm_server import Server, fails
from test_torch_grpo import SMALL, Vowels
from tiny_model import save_tiny
from toy_world import open_toy, toys
from vllm_server import Vllm, serve

from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, Unavailable
from trace_gym.models import ModelSettings, load_policy
from trace_gym.pipeline.jobs import TrainJob
from trace_gym.policies.hf import HFPolicy
from trace_gym.sampling import vllm
from trace_gym.settings import RunConfig
from trace_gym.trainers import base, sft
from trace_gym.trainers.config import GRPOConfig, SFTConfig
from trace_gym.trainers.mismatch import RATIO_CAP, correct
from trace_gym.trainers.torch_grpo import Trained, train
from trace_gym.types import Scenario


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("models") / "model")


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vllm, "PAUSES", {"first": 0.01, "longest": 0.05, "longest_wait": 1.0})
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def servers(folder: Path) -> Iterator[list[tuple[Vllm, Server]]]:
    models = [Vllm(folder), Vllm(folder)]
    made = [(model, serve(model)) for model in models]
    yield made
    for _, server in made:
        server.close()


def settings(folder: Path, *servers: Server) -> ModelSettings:
    endpoints = tuple(f"openai:base@{server.url}" for server in servers)
    return ModelSettings(name=str(folder), engine="vllm", endpoint=endpoints)


def run(model: ModelSettings | Path, out: Path, config: GRPOConfig = SMALL, **options: Any) -> Trained:
    def opened(scenario: Scenario) -> Episode:
        return Episode(Vowels, scenario)

    return train(config, env="vowels", model=model, out_dir=out, open_episode=opened, progress=False, **options)


def test_each_iteration_samples_from_its_adapter_at_all_servers(
    folder: Path, servers: list[tuple[Vllm, Server]], tmp_path: Path
) -> None:
    trained = run(settings(folder, *(server for _, server in servers)), tmp_path / "run")
    for model, _ in servers:
        loaded = [line[1:] for line in model.log if line[0] == "+"]
        assert [name.rpartition("-")[0] for name in loaded] == ["run-0", "run-1", "run-2", "run-3"]
        order = ["+0", "+1", "-0", "+2", "-1", "+3", "-2", "-3"]
        assert model.log == [f"{step[0]}{loaded[int(step[1])]}" for step in order]
        assert {body["model"] for body, _, _ in model.completions} == set(loaded) and not model.adapters
    for line in trained.metrics:
        difference = line["logp_difference"]
        assert difference is None or difference < 1e-4, "the server had the weights of the trainer"
        assert line["ratios_truncated"] in (None, 0.0)
    assert any(line["steps"] for line in trained.metrics) and trained.rollouts == 32
    assert any(line["ratio_max"] and line["ratio_max"] < 1.5 for line in trained.metrics)
    assert not (tmp_path / "run" / "serving").exists() and (tmp_path / "run" / "adapter").exists()


def test_a_server_that_fails_does_not_count_an_iteration(
    folder: Path, servers: list[tuple[Vllm, Server]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run stops without a score for the lost rollouts, and the same call continues with the same iteration."""
    monkeypatch.setattr(vllm.VLLMServer.__init__, "__kwdefaults__", {"timeout": 5.0, "patience": 0.3})
    (_, first), (model, server) = servers
    expected = run(settings(folder, first), tmp_path / "whole")

    asked: list[str] = []

    def before(body: Any) -> None:
        asked.append(body["model"])
        if "-1-" in body["model"] and asked.count(body["model"]) > 4:  # the probe and three rollouts are answered
            model.acts = [fails(500, "engine died")] * 1000

    model.before = before
    with pytest.raises(Unavailable, match="engine died"):
        run(settings(folder, server), tmp_path / "stopped")
    saved = [json.loads(line) for line in (tmp_path / "stopped" / "metrics.jsonl").read_text().splitlines()]
    assert [line["rollouts"] for line in saved] == [8]
    assert json.loads((tmp_path / "stopped" / "checkpoint" / "state.json").read_text())["history"] == saved

    model.before, model.acts = (lambda body: None), []
    model.restart()
    done = run(settings(folder, server), tmp_path / "stopped")
    assert [line["iteration"] for line in done.metrics] == [0, 1, 2, 3] and done.rollouts == 32
    for name in ("reward", "success", "tokens", "rollouts"):
        assert [line[name] for line in done.metrics] == [line[name] for line in expected.metrics]


def test_ratios_are_truncated_and_the_difference_is_measured(folder: Path) -> None:
    player = load_policy(ModelSettings(name=str(folder), max_tokens=400, max_turn_tokens=4))
    assert isinstance(player, HFPolicy)
    model, _ = base.load_with_lora(SMALL, ModelSettings(name=str(folder)))
    hints = ["", "", "Look first."]
    generator = torch.Generator().manual_seed(1)
    rollouts = player.rollout([open_toy(s) for s in toys(2, 1) + toys(1)], generator=generator, hints=hints)
    exact = [list(r.logprobs) for r in rollouts]
    assert correct(model, rollouts, SMALL)["logp_difference"] == pytest.approx(0, abs=1e-5)

    places = [[n for n, sampled in enumerate(r.mask) if sampled] for r in rollouts]
    tokens = len(places[0]) + len(places[1])
    rollouts[0].logprobs[places[0][0]] -= 3.0  # the trainer gives the token a probability that is exp(3) times higher
    rollouts[1].logprobs[places[1][-1]] += 0.0 if exact[1][places[1][-1]] > -0.1 else 0.1
    rollouts[2].logprobs[places[2][0]] -= 5.0  # a hint explains it
    found = correct(model, rollouts, SMALL)
    assert found["ratios_truncated"] == pytest.approx(1 / tokens)
    assert found["logp_difference"] == pytest.approx(3.1 / tokens, abs=1e-3)
    assert rollouts[0].logprobs[places[0][0]] == pytest.approx(exact[0][places[0][0]] - log(RATIO_CAP), abs=1e-4)
    assert rollouts[0].logprobs[places[0][1]] == pytest.approx(exact[0][places[0][1]], abs=1e-9)
    assert rollouts[1].logprobs[places[1][-1]] == pytest.approx(exact[1][places[1][-1]] + 0.1), "lower ratios remain"
    assert rollouts[2].logprobs[places[2][0]] == pytest.approx(exact[2][places[2][0]] - 5)
    assert correct(model, [], SMALL) == {"logp_difference": None, "ratios_truncated": None}


def test_rollouts_in_process_are_not_corrected(folder: Path, tmp_path: Path) -> None:
    trained = run(folder, tmp_path / "run", SMALL.model_copy(update={"iterations": 1}))
    assert "logp_difference" not in trained.metrics[0] and not (tmp_path / "run" / "serving").exists()


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"engine": "vllm", "endpoint": "openai:m"}, "engine: vllm requires an endpoint with the URL of each server"),
        ({"engine": "vllm", "endpoint": ["openai:m@http://a:1/v1"] * 2}, "contains the same server twice"),
        ({"engine": "vllm", "endpoint": "openai:m@http://a:1/v1", "cache_gib": 2}, "cache_gib has no effect"),
        ({"endpoint": ["openai:m@http://a:1/v1"]}, "a list of endpoints requires engine: vllm"),
        (
            {"name": "openai:m@http://a:1/v1", "engine": "vllm"},
            "engine has no effect, because name is the endpoint openai:m",
        ),
        ({"engine": "sglang"}, "engine: Input should be 'process' or 'vllm'"),
    ],
)
def test_settings_without_an_effect_are_errors(given: dict[str, Any], fault: str) -> None:
    with pytest.raises(ConfigError, match=fault):
        ModelSettings.parse(given)


def test_settings_of_several_servers(tmp_path: Path) -> None:
    urls = ["openai:m@http://a:1/v1", "openai:m@http://b:1/v1"]
    found = RunConfig.parse({"model": {"engine": "vllm", "endpoint": urls}}, "run.yaml").model
    assert found.endpoints == tuple(urls) and found.served == ", ".join(urls)
    assert ModelSettings.parse({"endpoint": urls[0]}).endpoints == (urls[0],)
    with pytest.raises(ConfigError, match="engine and endpoint have no effect on the trainer sft"):
        sft.train(SFTConfig(), env="tau2_precondition", model=found, out_dir=tmp_path / "sft", progress=False)


def test_a_run_can_use_the_engine_for_other_stages_than_fine_tuning(tmp_path: Path) -> None:
    model = ModelSettings(engine="vllm", endpoint="openai:m@http://127.0.0.1:9/v1")
    config = {"trainer": "sft", "groups": 1, "iterations": 1}
    assert TrainJob("skill", (("tau2_precondition", 1.0),), model, config, tmp_path / "out")()["rollouts"] == 1
