"""Nucleus and top-k sampling: the tokens that are drawn, requests to servers, and trainers that do not support it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("peft", reason="models need the lab extra")

import torch
from llm_server import Server, fails, message
from tiny_model import save_tiny, tiny_model, tiny_tokenizer
from toy_world import open_toy, toys
from typer.testing import CliRunner
from vllm_server import Vllm, serve

from trace_gym.cli.entry import app
from trace_gym.errors import ConfigError
from trace_gym.models import ModelSettings, load_policy
from trace_gym.models.unused import used_by
from trace_gym.pipeline import common
from trace_gym.pipeline.jobs import TrainJob
from trace_gym.pipeline.ledger import Run
from trace_gym.policies.hf import HFPolicy
from trace_gym.policies.openai import OpenAIPolicy
from trace_gym.policies.vllm import VLLMPolicy
from trace_gym.rollouts import rollout
from trace_gym.sampling.truncation import ALL_TOKENS, Truncation
from trace_gym.settings import RunConfig
from trace_gym.trainers import registered
from trace_gym.trainers.model_support import use_of
from trace_gym.trajectories import TokenRollout

TOKENIZER = tiny_tokenizer()
SHARES = torch.tensor([0.08, 0.3, 0.02, 0.4, 0.2])
"""A known distribution. Token 3 and token 1 are the nucleus for top_p = 0.5."""
DRAWS = 20_000
LIMITS: dict[str, Any] = {"max_tokens": 420, "max_turn_tokens": 8}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("models") / "model")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    made = Server(message("One moment."))
    yield made
    made.close()


@pytest.fixture
def vllm(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Vllm, str]]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    state = Vllm(folder)
    made = serve(state)
    yield state, made.url
    made.close()


def policy(truncation: Truncation = ALL_TOKENS) -> HFPolicy:
    return HFPolicy(tiny_model(len(TOKENIZER)), TOKENIZER, truncation=truncation, **LIMITS)


def drawn(truncation: Truncation, temperature: float = 1.0) -> tuple[list[float], list[int], list[float]]:
    """The share of each token in many draws, the tokens, and their log-probabilities."""
    logits = SHARES.log().expand(DRAWS, -1)
    tokens, logprobs = policy(truncation).draw(logits, [], temperature, torch.Generator().manual_seed(0))
    return [tokens.count(n) / DRAWS for n in range(len(SHARES))], tokens, logprobs


def run(player: Any, temperature: float = 1.0, seed: int = 5) -> list[TokenRollout]:
    generator = torch.Generator().manual_seed(seed)
    found: list[TokenRollout] = player.rollout(
        [open_toy(s) for s in toys(3)], temperature=temperature, generator=generator
    )
    return found


@pytest.mark.parametrize(
    ("truncation", "kept"),
    [
        (Truncation(top_p=0.5), {3, 1}),
        (Truncation(top_p=0.3), {3}),
        (Truncation(top_p=0.71), {3, 1, 4}),
        (Truncation(top_p=1e-9), {3}),
        (Truncation(top_k=3), {3, 1, 4}),
        (Truncation(top_k=99), {0, 1, 2, 3, 4}),
        (Truncation(top_p=0.5, top_k=2), {3}),  # 0.4 / 0.7 of the two tokens
        (Truncation(top_p=0.8, top_k=2), {3, 1}),
        (ALL_TOKENS, {0, 1, 2, 3, 4}),
    ],
)
def test_tokens_are_drawn_from_the_nucleus_in_proportion(truncation: Truncation, kept: set[int]) -> None:
    shares, tokens, logprobs = drawn(truncation)
    whole = float(sum(SHARES[n] for n in kept))
    expected = [float(SHARES[n]) / whole if n in kept else 0.0 for n in range(len(SHARES))]
    assert {*tokens} == kept
    assert shares == pytest.approx(expected, abs=0.015)
    for token, logprob in zip(tokens[:200], logprobs[:200], strict=True):
        assert logprob == pytest.approx(math.log(expected[token]), abs=1e-5), "log-probabilities of what was sampled"


def test_the_nucleus_is_that_at_the_temperature() -> None:
    """At a high temperature, the distribution is almost uniform, so the nucleus contains more tokens."""
    assert {*drawn(Truncation(top_p=0.5), temperature=100.0)[1]} == {3, 1, 4}
    _, tokens, logprobs = drawn(Truncation(top_p=0.5), temperature=0)
    assert {*tokens} == {3} and logprobs[0] == pytest.approx(math.log(0.4), abs=1e-5), "no effect on greedy decoding"


def test_each_row_has_its_own_nucleus_and_ties_are_those_of_greedy_decoding() -> None:
    logp = torch.tensor([[0.1, 0.7, 0.2], [0.6, 0.3, 0.1], [0.4, 0.2, 0.4]]).log()
    assert Truncation(top_p=0.65).apply(logp).isfinite().tolist() == [[False, True, False], [True, True, False],
                                                                    [True, False, True]]  # fmt: skip
    assert Truncation(top_k=1).apply(logp).argmax(-1).tolist() == logp.argmax(-1).tolist()
    assert ALL_TOKENS.apply(logp) is logp and not ALL_TOKENS and Truncation(top_k=1)


@pytest.mark.parametrize("truncation", [Truncation(top_k=1), Truncation(top_p=1e-6)])
def test_one_token_is_greedy_decoding(truncation: Truncation) -> None:
    greedy = run(policy(), temperature=0)
    for found in (run(policy(truncation)), run(policy(truncation), temperature=0)):
        assert [r.ids for r in found] == [r.ids for r in greedy]
    one = run(policy(truncation))[0]
    assert [p for p, m in zip(one.logprobs, one.mask, strict=True) if m] == [0.0] * sum(one.mask)
    assert run(policy(truncation), temperature=0)[0].logprobs == greedy[0].logprobs


def test_the_default_changes_no_rollout() -> None:
    assert [r.ids for r in run(policy(Truncation(top_p=1.0, top_k=0)))] == [r.ids for r in run(policy())]


@pytest.mark.parametrize("values", [{"top_p": 0.0}, {"top_p": 1.5}, {"top_p": float("nan")}, {"top_k": -1}])
def test_values_out_of_range_are_errors(values: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=f"invalid {next(iter(values))}: found {next(iter(values.values()))}"):
        Truncation(**values)


def test_settings_reach_the_model_in_process(folder: Path) -> None:
    greedy, one = (load_policy(ModelSettings(name=str(folder), top_k=k, **LIMITS)) for k in (0, 1))
    assert isinstance(one, HFPolicy) and one.truncation == Truncation(top_k=1)
    assert [r.ids for r in run(one)] == [r.ids for r in run(greedy, temperature=0)]


@pytest.mark.parametrize("weights", [True, False])
def test_settings_reach_the_request_of_an_endpoint(weights: bool, folder: Path, server: Server) -> None:
    served = f"openai:m@{server.url}"
    where: dict[str, Any] = {"name": str(folder), "endpoint": served} if weights else {"name": served}
    for given in ({"top_p": 0.9, "top_k": 20, "template": {"mode": "silent"}}, {"top_k": 5}, {}):
        player = load_policy(ModelSettings.parse(where | given))
        assert isinstance(player, OpenAIPolicy)
        player.act(open_toy(toys(1)[0]))
        player.client.close()
        sent = server.requests[-1]
        assert {key: sent[key] for key in ("top_p", "top_k") if key in sent} == {
            key: value for key, value in given.items() if key != "template"
        }
        assert sent.get("chat_template_kwargs") == given.get("template")


@pytest.mark.parametrize(
    "name", ["openai:m", "openai:m@https://api.openai.com/v1", "openai:m@https://eu.api.openai.com/v1"]
)
def test_top_k_needs_another_endpoint_than_that_of_openai(
    name: str, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    with pytest.raises(
        ConfigError,
        match="does not support top_k, because the endpoint of OpenAI .*: found top_k: 20. Remove top_k, or",
    ):
        load_policy(ModelSettings(name=name, top_k=20))
    player: Any = load_policy(ModelSettings(name=name, top_p=0.9))
    assert player.options["top_p"] == 0.9
    player.client.close()
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    player = load_policy(ModelSettings(name="openai:m", top_k=20))
    player.act(open_toy(toys(1)[0]))
    player.client.close()
    assert server.requests[-1]["top_k"] == 20


def test_an_endpoint_that_rejects_a_field_stops_the_run(server: Server) -> None:
    server.acts = [fails(400, "Unsupported parameter: 'top_p' is not supported with this model.")]
    player: Any = load_policy(ModelSettings(name=f"openai:m@{server.url}", top_p=0.9))
    with pytest.raises(ConfigError, match="rejects the request: .*'top_p' is not supported.*Remove top_p from"):
        rollout(player, toys(1), open_episode=open_toy)
    player.client.close()


def test_settings_reach_vllm(folder: Path, vllm: tuple[Vllm, str]) -> None:
    state, url = vllm
    where: dict[str, Any] = {"name": str(folder), "engine": "vllm", "endpoint": f"openai:base@{url}", **LIMITS}
    player = load_policy(ModelSettings(**where, top_p=0.9, top_k=1))
    assert isinstance(player, VLLMPolicy)
    found, greedy = run(player), run(load_policy(ModelSettings(**where)), temperature=0)
    assert [r.ids for r in found] == [r.ids for r in greedy]
    bodies = [body for body, _, _ in state.completions if "stop_token_ids" in body]
    assert {(body["top_p"], body["top_k"]) for body in bodies} == {(0.9, 1), (1.0, -1)}
    state.completions.clear()
    assert [r.ids for r in run(player, temperature=0)] == [r.ids for r in greedy]
    assert {(body["top_p"], body["top_k"]) for body, _, _ in state.completions} == {(1.0, -1)}


def test_log_probabilities_of_vllm_must_be_those_of_the_truncated_distribution(
    folder: Path, vllm: tuple[Vllm, str]
) -> None:
    state, url = vllm
    state.scaled = False
    player = load_policy(
        ModelSettings(name=str(folder), engine="vllm", endpoint=f"openai:base@{url}", top_p=0.9, **LIMITS)
    )
    with pytest.raises(ConfigError, match="at the sampling temperature 1.0 with top_p: 0.9. .*processed_logprobs"):
        run(player)
    run(player, temperature=0)


@pytest.mark.parametrize("trainer", ["torch_grpo", "distill", "trl_grpo", "skyrl_grpo", "sft"])
def test_training_is_an_error(trainer: str, folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("trl" if trainer == "trl_grpo" else "peft")
    given = {"torch_grpo": {}, "distill": {"teachers": tmp_path}}.get(trainer, {"groups": 2, "minibatches": 1})
    (tmp_path / "adapter_config.json").write_text("{}")
    config = registered.parse({"trainer": trainer, **given})
    fault = "does not support top_p and top_k, because its gradient assumes .*: found top_p: 0.9, top_k: 20. Remove"
    if trainer == "sft":
        fault = "have no effect on the trainer sft, because no rollouts are sampled: found top_p: 0.9, top_k: 20"
    model = ModelSettings(name=str(folder), top_p=0.9, top_k=20, **LIMITS)
    with pytest.raises(ConfigError, match=fault):
        registered.trainer(trainer).train(config, env="tau2_precondition", model=model, out_dir=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_command_for_training_rejects_the_settings(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "train.yaml").write_text(f"model: {{name: {folder}, top_p: 0.9}}\n")
    given = ["train", "tau2_precondition", "--config", str(tmp_path / "train.yaml"), "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, given)
    assert "the trainer torch_grpo does not support top_p, because" in str(result.exception), result.output


def test_a_run_can_sample_from_the_nucleus_in_other_stages_than_fine_tuning(folder: Path, tmp_path: Path) -> None:
    keys = []
    for given in ({}, {"top_p": 0.9}, {"top_k": 20}):
        settings = {"model": {"name": str(folder), **given}, "train": {"trainer": "sft", "groups": 1, "iterations": 1}}
        run = Run(RunConfig.parse(settings, "run.yaml"), tmp_path / "run")
        keys.append(common.model_key(run))
        assert used_by(run.config.model, use_of(run.config.train)) == ModelSettings(name=str(folder))
    assert len({str(key) for key in keys}) == 3, "other rollouts"


@pytest.mark.slow
def test_a_training_job_of_a_run_removes_the_settings_for_fine_tuning(tmp_path: Path) -> None:
    config = {"trainer": "sft", "groups": 1, "iterations": 1}
    job = TrainJob("skill", (("tau2_precondition", 1.0),), ModelSettings(top_p=0.9), config, tmp_path / "out")
    assert job()["rollouts"] == 1
