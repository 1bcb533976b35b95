"""The update of the GRPO trainer: its arithmetic against a second implementation, and prefix trees against rows."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from test_torch_grpo import Vowels
from tiny_model import save_tiny
from torch import nn

from trace_gym.episode import Episode
from trace_gym.errors import ConfigError
from trace_gym.models import ModelSettings
from trace_gym.policies.hf import HFPolicy
from trace_gym.trainers import base, logps
from trace_gym.trainers.batch import TrainingSample, batches
from trace_gym.trainers.config import GRPOConfig
from trace_gym.trainers.logps import token_logps
from trace_gym.trainers.tree import plant
from trace_gym.trainers.update import update
from trace_gym.types import Scenario

SMALL = GRPOConfig(max_turn_tokens=2, max_tokens=400, lora_rank=2)


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("tiny"))


class Bigram(nn.Module):
    """A table of logits in the place of a language model, so that the gradient can be written down."""

    def __init__(self, table: np.ndarray[Any, Any]) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.tensor(table, dtype=torch.float32))

    def forward(self, input_ids: torch.Tensor, logits_to_keep: torch.Tensor, **_: Any) -> SimpleNamespace:
        return SimpleNamespace(logits=self.table[input_ids[:, logits_to_keep]])


def by_loops(table: np.ndarray[Any, Any], samples: list[TrainingSample], config: GRPOConfig) -> np.ndarray[Any, Any]:
    """The same update in numpy: loops over tokens, the gradient and AdamW written out, one minibatch an epoch."""
    table = table.copy()
    first, second = np.zeros_like(table), np.zeros_like(table)
    total = sum(sum(s.mask) for s in samples)
    for step in range(1, config.epochs + 1):
        gradient = np.zeros_like(table)
        for sample in samples:
            divisor = {"token": 1, "trajectory": sum(sample.mask), "constant": config.max_tokens}[config.average]
            weight = 1 / (total if config.average == "token" else len(samples) * divisor)
            for t in range(len(sample.ids)):
                if not sample.mask[t]:
                    continue
                row = table[sample.ids[t - 1]] / config.temperature
                p = np.exp(row - row.max()) / np.exp(row - row.max()).sum()
                ratio = p[sample.ids[t]] / math.exp(sample.logprobs[t])
                if sample.advantage > 0 and ratio > 1 + config.clip_high:
                    continue
                if sample.advantage < 0 and ratio < 1 - config.clip_low:
                    continue
                one_hot = np.eye(len(table))[sample.ids[t]]
                d_logits = -weight * sample.advantage * ratio * (one_hot - p) / config.temperature
                gradient[sample.ids[t - 1]] += d_logits
        gradient *= min(1.0, config.max_grad_norm / (np.sqrt((gradient**2).sum()) + 1e-6))
        table *= 1 - config.lr * config.weight_decay
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        root = np.sqrt(second / (1 - 0.999**step)) + 1e-8
        table -= config.lr * (first / (1 - 0.9**step)) / root
    return table


def some_samples(table: np.ndarray[Any, Any], temperature: float) -> list[TrainingSample]:
    """Trajectories of several lengths whose rollout log-probabilities are off by up to 40 %, so that clips act."""
    rng = np.random.default_rng(0)
    samples = []
    for length in (3, 9, 5, 12):
        ids = rng.integers(0, len(table), length).tolist()
        mask = [False, True, *(rng.random(length - 2) < 0.6).tolist()]
        logp = torch.log_softmax(torch.tensor(table / temperature), -1)
        off = rng.uniform(-0.35, 0.35, length)
        old = [float(logp[ids[t - 1], ids[t]]) + off[t] if mask[t] else 0.0 for t in range(length)]
        samples.append(TrainingSample(ids, mask, old, float(rng.choice([-1.5, 1.5]))))
    return samples


@pytest.mark.parametrize("sharing", [True, False])
@pytest.mark.parametrize("average", ["trajectory", "token", "constant"])
@pytest.mark.parametrize("micro_batch_tokens", [1, 20, 10_000])
def test_a_whole_update_equals_plain_loops(average: Any, micro_batch_tokens: int, sharing: bool) -> None:
    config = GRPOConfig(
        average=average,
        max_tokens=13,
        prefix_sharing=sharing,
        micro_batch_tokens=micro_batch_tokens,
        temperature=0.7,
        lr=0.1,
        weight_decay=0.1,
        max_grad_norm=0.05,
        epochs=3,
        minibatches=1,
        clip_low=0.2,
        clip_high=0.3,
    )
    table = np.random.default_rng(1).normal(size=(6, 6))
    samples = some_samples(table, config.temperature)
    model: Any = Bigram(table)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config.lr, weight_decay=config.weight_decay)
    fit = update(model, optimizer, samples, config, Random(0))
    want = by_loops(table, samples, config)
    assert np.abs(want - table).max() > 0.1
    assert model.table.detach().numpy() == pytest.approx(want, abs=2e-4)
    assert fit["steps"] == 3
    assert 0 < float(fit["clip_fraction"] or 0) < 1


def test_minibatches_take_one_step_each_and_use_every_sample_once() -> None:
    table = np.random.default_rng(1).normal(size=(6, 6))
    samples = [s for s in some_samples(table, 1.0) for _ in range(2)]
    model: Any = Bigram(table)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
    fit = update(model, optimizer, samples, GRPOConfig(minibatches=3, max_grad_norm=1e9), Random(0))
    one = update(model, optimizer, samples, GRPOConfig(minibatches=1, max_grad_norm=1e9), Random(0))
    assert (fit["steps"], one["steps"]) == (3, 1)
    # Steps too small to matter: every token was seen once, or the means would differ.
    for key in ("kl_rollout", "clip_fraction", "ratio_max"):
        assert fit[key] == pytest.approx(one[key], rel=1e-5)


def test_more_minibatches_than_samples_are_as_many_as_samples() -> None:
    table = np.random.default_rng(1).normal(size=(6, 6))
    model: Any = Bigram(table)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    assert update(model, optimizer, some_samples(table, 1.0), GRPOConfig(minibatches=50), Random(0))["steps"] == 4


def test_without_samples_nothing_moves() -> None:
    model: Any = Bigram(np.zeros((6, 6)))
    fit = update(model, torch.optim.SGD(model.parameters(), lr=1.0), [], GRPOConfig(), Random(0))
    assert fit["steps"] == 0 and fit["entropy"] is None
    assert not model.table.any()


def test_a_gradient_that_is_not_finite_stops_before_the_step() -> None:
    model: Any = Bigram(np.zeros((6, 6)))
    poisoned = TrainingSample([0, 1], [False, True], [0.0, -1e9], -1.0)
    with pytest.raises(ConfigError, match="not finite"):
        update(model, torch.optim.SGD(model.parameters(), lr=1.0), [poisoned], GRPOConfig(), Random(0))
    assert not model.table.any()


def lively(config: GRPOConfig, model_dir: Path) -> Any:
    """Model, tokenizer, with an adapter that does something (a fresh one is the identity)."""
    torch.manual_seed(0)
    model, tokenizer = base.load_with_lora(config, ModelSettings(name=str(model_dir)))
    for weight in model.parameters():
        if weight.requires_grad:
            nn.init.normal_(weight, std=0.1)
    return model, tokenizer


def ragged_groups(vocabulary: int = 300) -> list[TrainingSample]:
    """Trajectories of three groups: each group has a prompt, and its members share some of their turns."""
    rng = np.random.default_rng(0)
    samples = []
    for _ in range(3):
        prompt = rng.integers(3, vocabulary, rng.integers(5, 12)).tolist()
        turns = [rng.integers(3, vocabulary, rng.integers(1, 9)).tolist() for _ in range(4)]
        for member in range(5):
            kept = turns[: rng.integers(0, 5)]
            own = [rng.integers(3, vocabulary, rng.integers(1, 6)).tolist()] if member else []
            parts = [prompt, *kept, *own]
            mask = [n % 2 == 1 for n, part in enumerate(parts) for _ in part]
            ids = [token for part in parts for token in part]
            samples.append(TrainingSample(ids, mask, rng.uniform(-7, -4, len(ids)).tolist(), float(rng.normal())))
    return samples


def logps_alone(model: Any, sample: TrainingSample, temperature: float) -> torch.Tensor:
    """Log-probabilities of all tokens of one trajectory, [token - 1, vocabulary], in a forward pass of its own."""
    return (model(input_ids=torch.tensor([sample.ids])).logits[0].float() / temperature).log_softmax(-1)[:-1]


@pytest.mark.parametrize("sharing", [True, False])
@pytest.mark.parametrize("tokens", [1, 60, 10_000])
def test_batching_does_not_change_log_probabilities(tokens: int, sharing: bool, model_dir: Path) -> None:
    model, _ = lively(SMALL, model_dir)
    samples = ragged_groups()
    config = SMALL.model_copy(update={"prefix_sharing": sharing, "micro_batch_tokens": tokens})
    want = sorted(
        logp
        for s in samples
        for logp in logps_alone(model, s, 0.8)[range(len(s.ids) - 1), s.ids[1:]][s.mask[1:]].tolist()
    )
    got = []
    for batch in batches(samples, config, model):
        logp_BT, _ = token_logps(model, batch, 0.8)
        got += logp_BT[batch.mask_BT].tolist()
    assert sorted(got) == pytest.approx(want, abs=1e-4)


def gradients(config: GRPOConfig, model: Any, samples: list[TrainingSample]) -> tuple[torch.Tensor, dict[str, Any]]:
    """The gradient of one optimizer step, as one vector, and the metrics of the update."""
    weights = [p for p in model.parameters() if p.requires_grad]
    before = [w.detach().clone() for w in weights]
    fit = update(model, torch.optim.SGD(weights, lr=1.0), samples, config, Random(0))
    moved = torch.cat([(old - w.detach()).flatten() for old, w in zip(before, weights, strict=True)])
    with torch.no_grad():
        for weight, old in zip(weights, before, strict=True):
            weight.copy_(old)
    return moved, fit


@pytest.mark.parametrize("kl_coef", [0.0, 0.1])
@pytest.mark.parametrize("objective", ["grpo", "gspo", "cispo"])
def test_prefix_trees_have_the_gradient_of_padded_rows(objective: Any, kl_coef: float, model_dir: Path) -> None:
    model, _ = lively(SMALL, model_dir)
    config = GRPOConfig(minibatches=1, max_grad_norm=1e9, objective=objective, kl_coef=kl_coef)
    plain, seen = gradients(config.model_copy(update={"prefix_sharing": False}), model, ragged_groups())
    assert plain.norm() > 0.1
    for tokens in (40, 10_000):
        tree, fit = gradients(config.model_copy(update={"micro_batch_tokens": tokens}), model, ragged_groups())
        assert ((tree - plain).norm() / plain.norm()).item() < 1e-5
        for key in ("kl_rollout", "kl_base", "clip_fraction", "ratio_max"):
            assert (fit[key] or 0.0) == pytest.approx(seen[key] or 0.0, rel=1e-4)


def test_prefix_trees_compute_each_prefix_once() -> None:
    samples = ragged_groups()
    whole = list(batches(samples, SMALL, Bigram(np.zeros((300, 300)))))
    nodes = sum(int((b.attention.diagonal(dim1=-2, dim2=-1) == 0).sum()) for b in whole)
    assert nodes == len({tuple(s.ids[: n + 1]) for s in samples for n in range(len(s.ids))})
    assert nodes < sum(len(s.ids) for s in samples) / 2
    config = SMALL.model_copy(update={"micro_batch_tokens": 50})
    assert max(b.ids_RL.numel() for b in batches(samples, config, Bigram(np.zeros((300, 300))))) <= 50


def test_a_trajectory_joins_a_tree_only_if_this_is_cheaper() -> None:
    rows = [np.array([1] * 100 + [n] * 10) for n in range(2, 12)]
    # All ten trajectories together have 200 nodes. If attention costs nothing, they are one tree.
    assert [len(tree.ids_N) for tree, _ in plant(rows, 10_000, 1e9)] == [200]
    assert [len(tree.ids_N) for tree, _ in plant(rows, 150, 1e9)] == [150, 150]
    # Trajectories with little in common: a tree of both saves 10 tokens, but computes more pairs.
    apart = [np.array([1] * 10 + [n] * 100) for n in (2, 3)]
    assert [len(tree.ids_N) for tree, _ in plant(apart, 10_000, 1e9)] == [210]
    assert [len(tree.ids_N) for tree, _ in plant(apart, 10_000, 0.0)] == [110, 110]


def test_chunks_of_the_output_layer_change_nothing(model_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, _ = lively(SMALL, model_dir)
    config = GRPOConfig(minibatches=1, max_grad_norm=1e9)
    whole, seen = gradients(config, model, ragged_groups())
    largest = []

    class Noted(nn.Linear):
        def forward(self, states: torch.Tensor) -> torch.Tensor:
            largest.append(len(states))
            return super().forward(states)

    head = model.get_output_embeddings()
    monkeypatch.setattr(logps, "CHUNK_ELEMENTS", 7 * head.out_features)
    monkeypatch.setattr(head, "__class__", Noted)
    chunked, fit = gradients(config, model, ragged_groups())
    assert max(largest) == 7
    torch.testing.assert_close(chunked, whole, rtol=1e-4, atol=1e-6)
    assert fit["kl_rollout"] == pytest.approx(seen["kl_rollout"], rel=1e-4)


class Scaled(nn.Module):
    """A causal model that scales its logits, like Granite: the output layer alone does not give them."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner, self.base_model_prefix, self.model = inner, "model", inner.get_base_model().model

    def get_output_embeddings(self) -> Any:
        return self.inner.get_base_model().lm_head

    def forward(self, **inputs: Any) -> Any:
        out = self.inner(**inputs)
        out.logits = out.logits * 0.5
        return out


@pytest.mark.parametrize("sharing", [True, False])
def test_a_model_that_scales_its_logits_is_called_as_a_whole(sharing: bool, model_dir: Path) -> None:
    model, _ = lively(SMALL, model_dir)
    for batch in batches(ragged_groups(), SMALL.model_copy(update={"prefix_sharing": sharing}), model):
        halved, _ = token_logps(Scaled(model), batch, 0.5)
        plain, _ = token_logps(model, batch, 1.0)
        torch.testing.assert_close(halved[batch.mask_BT], plain[batch.mask_BT])


def test_the_entropy_is_that_of_the_policy(model_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, _ = lively(SMALL, model_dir)
    samples = ragged_groups()
    rows = [logps_alone(model, s, 0.8)[torch.tensor(s.mask[1:])] for s in samples]
    by_hand = -torch.cat([(row.exp() * row).sum(-1) for row in rows]).mean().item()
    for every in (1, 8):
        monkeypatch.setattr(logps, "ENTROPY_EVERY", every)
        parts = [token_logps(model, batch, 0.8)[1] for batch in batches(samples, SMALL, model)]
        mean = sum(part.total for part in parts) / sum(part.tokens for part in parts)
        assert mean == pytest.approx(by_hand, rel=1e-4 if every == 1 else 0.1)


@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_the_ratio_is_one_on_the_rollouts_own_tokens(model_dir: Path, temperature: float) -> None:
    from trace_gym.policies.hf import merged

    config = SMALL.model_copy(update={"temperature": temperature})
    model, tokenizer = lively(config, model_dir)
    policy = HFPolicy(model, tokenizer, max_turn_tokens=6, max_tokens=400)
    episodes = [Episode(Vowels, Scenario(env="vowels", level=0, seed=s)) for s in range(3)]
    with merged(model):
        rollouts = policy.rollout(episodes, temperature=temperature, generator=torch.Generator().manual_seed(1))
    config = config.model_copy(update={"prefix_sharing": False})
    (batch,) = batches([TrainingSample(r.ids, r.mask, r.logprobs, 1.0) for r in rollouts], config, model)
    logp_BT, _ = token_logps(model, batch, temperature)
    assert batch.mask_BT.sum() > 3
    assert logp_BT[batch.mask_BT].tolist() == pytest.approx(batch.rollout_logp_BT[batch.mask_BT].tolist(), abs=1e-4)


def test_gradient_checkpointing_has_the_same_gradient(model_dir: Path) -> None:
    samples = [TrainingSample([5, 6, 7, 8], [False, False, True, True], [0.0, 0.0, -3.0, -3.0], 1.0)]
    moved = []
    for saving in (False, True):
        config = SMALL.model_copy(update={"gradient_checkpointing": saving, "minibatches": 1})
        model, _ = lively(config, model_dir)
        weights = [p for p in model.parameters() if p.requires_grad]
        update(model, torch.optim.SGD(weights, lr=1.0), samples, config, Random(0))
        moved.append([w.detach() for w in weights])
    for one, other in zip(*moved, strict=True):
        torch.testing.assert_close(one, other)


def test_the_kl_penalty_alone_leads_back_to_the_base(model_dir: Path) -> None:
    config = SMALL.model_copy(update={"kl_coef": 1.0})
    model, _ = lively(config, model_dir)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
    rng = np.random.default_rng(0)
    flat = [
        TrainingSample(rng.integers(3, 300, 12).tolist(), [False, *[True] * 11], [-5.0] * 12, 0.0) for _ in range(6)
    ]
    kl = [update(model, optimizer, flat, config, Random(n))["kl_base"] or 0.0 for n in range(12)]
    assert kl[0] > 0.1
    assert kl[-1] < kl[0] / 4
