"""The benchmarks of rollouts and updates: small runs, and counts that can be computed by hand."""

from __future__ import annotations

import json
import re
import sys
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("peft", reason="the benchmarks need the lab extra")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

import bench_engines
import bench_trainers
import bench_update
import torch
from transformers import Qwen2Config

from trace_gym.episode import Episode

SMALL = "--size tiny --device cpu --groups 2 --samples 2 --prompt 30 --turns 2 --turn-tokens 5 --result-tokens 7"


@pytest.mark.parametrize("name", ["oracle", "process"])
def test_environments_take_a_part_of_the_cpu_time(name: str) -> None:
    step = Episode.step
    chosen = bench_engines.scenarios(Namespace(env="tau2_precondition", level=0), 4)
    with bench_engines.opened(name) as (engine, server):
        rate, tokens, cpu, environments, share = bench_engines.run(engine, chosen, server)
    assert rate > 0 and (tokens > 0) == (name == "process")
    assert 0 < environments < cpu and share == pytest.approx(environments / cpu)
    assert Episode.step is step, "the measured methods are restored"


@pytest.mark.parametrize(("sharing", "tokens"), [([], 2 * (30 + 2 * 17)), (["--no-prefix-sharing"], 4 * 47)])
def test_update_is_measured_with_everything_it_depends_on(
    sharing: list[str], tokens: int, capsys: pytest.CaptureFixture[str]
) -> None:
    bench_update.main([*SMALL.split(), "--repeat", "1", "--peak-tflops", "0.5", *sharing])
    found = json.loads(capsys.readouterr().out)
    assert found["measured_on"].startswith("CPU") and "random weights" in found["note"]
    assert found["tokens_computed"] == tokens, "a common prompt counts once with prefix sharing"
    assert found["tokens_of_trajectories"] == 4 * 47 and found["tokens_sampled"] == 4 * 10
    assert found["mfu"] == pytest.approx(found["model_tflops_per_second"] / 0.5)
    assert found["peak_memory_gib"] > 0 and found["peak_memory_of"].startswith("process")


def test_model_flops_of_one_layer() -> None:
    config = Qwen2Config(
        hidden_size=8,
        intermediate_size=3,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        vocab_size=5,
    )
    weights = 8 * 8 + 8 * 8 + 2 * 8 * 4 + 3 * 8 * 3  # queries and output, keys and values, the feed-forward layer
    found = bench_update.model_flops(config, tokens=3, pairs=6, sampled=2)
    assert found == 4 * weights * 3 + 4 * 8 * 5 * 2 + 12 * 8 * 6


@pytest.mark.parametrize(
    ("size", "parameters"), [("0.5b", 494_032_768), ("1.5b", 1_543_714_304), ("4b", 4_022_468_096)]
)
def test_random_models_have_the_number_of_weights_of_the_published_models(size: str, parameters: int) -> None:
    with torch.device("meta"):
        model = bench_update.base_model(bench_update.SIZES[size])
    assert sum(p.numel() for p in model.parameters()) == parameters
    layers = parameters - model.get_input_embeddings().weight.numel()
    flops = bench_update.model_flops(model.config, tokens=1, pairs=0, sampled=0)
    assert flops == pytest.approx(4 * layers, rel=1e-3), "all weights except biases and norms"


def test_trainers_are_compared_and_their_tokens_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    small = "--env tau2_precondition --rounds 1 --iterations 3 --groups 4 --samples 4 --trainers torch_grpo"
    bench_trainers.main(small.split())
    title, header, row, tokens, shares = capsys.readouterr().out.strip().splitlines()
    assert title == "tau2_precondition, toy model"
    assert header.split() == [
        "trainer",
        "s/iteration",
        "relative",
        "rollouts",
        "rollouts/s",
        "trained",
        "tokens/s",
        "peak",
        "MB",
    ]
    name, seconds, relative, share, rollouts, trained, memory = row.split()
    assert 0 < float(share.rstrip("%")) < 100
    assert name == "torch_grpo" and float(relative) == 1 and float(memory) > 100
    assert float(rollouts) * float(seconds) == pytest.approx(4 * 4, rel=0.1) and float(trained) > 0
    trees, rows, turns = (int(n.replace(",", "")) for n in re.findall(r" ([\d,]+) \(", tokens))
    assert trees <= rows and turns >= 3 * trees
    assert shares.startswith("prefix trees: ")


def test_trainers_are_compared_with_the_given_limit_and_clock(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs: list[dict[str, Any]] = []

    def run(command: list[str], **_: Any) -> SimpleNamespace:
        jobs.append(json.loads(command[-1]))
        trl = jobs[-1].get("trainer") == "trl_grpo"
        measured = {"seconds": 6.0 if trl else 2.0, "rollout_share": 0.25, "rollouts_per_s": 1, "tokens_per_s": 1}
        return SimpleNamespace(returncode=0, stdout=json.dumps(measured | {"peak_mb": 1}), stderr="")

    monkeypatch.setattr(bench_trainers.subprocess, "run", run)
    monkeypatch.setattr(bench_trainers, "count_tokens", lambda env, model, limit: print(env, model, limit))
    options = "--env tau2_multi_step --rounds 2 --trainers torch_grpo trl_grpo --micro-batch-tokens 4096 --cpu-time"
    monkeypatch.setattr(sys, "argv", ["bench_trainers.py", *options.split()])
    bench_trainers.main()
    assert [(job["micro_batch_tokens"], job["cpu_time"]) for job in jobs] == [(4096, True)] * 4
    shown = capsys.readouterr().out.splitlines()
    assert shown[-2].split()[:4] == ["trl_grpo", "6.00", "3.00", "25%"]
    assert shown[-1] == "tau2_multi_step lab {'micro_batch_tokens': 4096}"
