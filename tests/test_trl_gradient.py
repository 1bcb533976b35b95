"""Agreement of the losses of torch_grpo and trl_grpo: the same rollouts and advantages give the same gradient."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

pytest.importorskip("trl", reason="pip install 'trace-gym[trl]'")
pytest.importorskip("datasets", reason="pip install 'trace-gym[trl]'")

import torch
from tiny_model import save_tiny

from trace_gym.adapters.trl import RolloutFunction, dataset_of
from trace_gym.models import ModelSettings
from trace_gym.trainers.batch import TrainingSample, batches
from trace_gym.trainers.trl_build import build
from trace_gym.trainers.trl_config import TRLConfig
from trace_gym.trainers.trl_recorder import TRLRollouts
from trace_gym.trainers.trl_settings import grpo_arguments
from trace_gym.trainers.update import batch_loss
from trace_gym.types import Scenario

ROWS, PROMPT = 4, 6
"""Number of rollouts, and number of prompt tokens of each."""
BASE = TRLConfig(groups=2, samples=2, iterations=1, minibatches=1, max_tokens=256, max_turn_tokens=64)
CASES: list[dict[str, Any]] = [
    {"average": "trajectory"},
    {"average": "token"},
    {"average": "trajectory", "kl_coef": 0.3},
    {"average": "token", "kl_coef": 0.3, "temperature": 0.7},
    {"average": "trajectory", "clip_low": 0.05, "clip_high": 0.4},
    {"average": "trajectory", "micro_batch_tokens": 512},  # two rows per forward pass
    {"average": "token", "kl_coef": 0.1, "micro_batch_tokens": 512},
    {"average": "constant"},
    {"average": "constant", "micro_batch_tokens": 512},
    {"average": "trajectory", "objective": "gspo", "clip_low": 0.1, "clip_high": 0.1},
    {"average": "token", "objective": "cispo", "clip_high": 0.1},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("models") / "model")


def trainer_for(config: TRLConfig, folder: Path, out: Path) -> Any:
    """A trainer of TRL as trl_grpo builds it, with a LoRA adapter that changes the output."""
    settings = ModelSettings(name=str(folder)).limited(config.max_tokens, config.max_turn_tokens)
    rows = dataset_of([Scenario(env="tau2_precondition", level=0, seed=n) for n in (1, 2)])
    trainer = build(config, settings, rows, grpo_arguments(config, settings, out), TRLRollouts(RolloutFunction()))
    generator = torch.Generator().manual_seed(1)
    for name, weight in trainer.model.named_parameters():
        if "lora_B" in name:
            weight.data = 0.1 * torch.randn(weight.shape, generator=generator)
    # The training loop of transformers sets this attribute.
    trainer.current_gradient_accumulation_steps = trainer.args.gradient_accumulation_steps
    trainer.model.train()
    return trainer


def samples_for(model: Any) -> list[TrainingSample]:
    """Rollouts of different lengths with gaps in the mask, whose old log-probabilities are off by up to 0.5."""
    rng, samples = Random(0), []
    for n, length in enumerate((9, 14, 20, 11)):
        ids = [rng.randrange(3, 300) for _ in range(PROMPT + length)]
        mask = [False] * PROMPT + [rng.random() < 0.7 for _ in range(length)]
        with torch.no_grad():
            logp = model(input_ids=torch.tensor([ids])).logits.log_softmax(-1)[0]
        old = [float(logp[t - 1, ids[t]]) + rng.uniform(-0.5, 0.5) if mask[t] else 0.0 for t in range(len(ids))]
        samples.append(TrainingSample(ids, mask, old, (1.2, -0.7, 0.4, -0.9)[n]))
    return samples


def padded(rows: list[list[float]], dtype: torch.dtype = torch.long) -> torch.Tensor:
    length = max(map(len, rows))
    return torch.tensor([row + [0] * (length - len(row)) for row in rows], dtype=dtype)


def inputs_of(trainer: Any, samples: list[TrainingSample], total: int) -> dict[str, torch.Tensor]:
    """The rollouts in the format of TRL. `total` is the number of sampled tokens of the generation batch."""
    inputs = {
        "prompt_ids": torch.tensor([s.ids[:PROMPT] for s in samples]),
        "prompt_mask": torch.ones(len(samples), PROMPT, dtype=torch.long),
        "completion_ids": padded([list(s.ids[PROMPT:]) for s in samples]),
        "completion_mask": padded([[1] * len(s.ids[PROMPT:]) for s in samples]),
        "tool_mask": padded([list(map(int, s.mask[PROMPT:])) for s in samples]),
        "old_per_token_logps": padded([list(s.logprobs[PROMPT:]) for s in samples], torch.float),
        "advantages": torch.tensor([s.advantage for s in samples]),
        "num_items_in_batch": torch.tensor(total),
    }
    if trainer.beta:
        ids = torch.cat([inputs["prompt_ids"], inputs["completion_ids"]], 1)
        seen = torch.cat([inputs["prompt_mask"], inputs["completion_mask"]], 1)
        with torch.no_grad(), trainer.model.disable_adapter():
            length = inputs["completion_ids"].shape[1]
            inputs["ref_per_token_logps"] = trainer._get_per_token_logps_and_entropies(
                trainer.model, ids, seen, length
            )[0]
    return inputs


def gradient(model: Any) -> torch.Tensor:
    return torch.cat([p.grad.flatten() for p in model.parameters() if p.requires_grad])


def gradient_of_trl(trainer: Any, samples: list[TrainingSample], total: int) -> torch.Tensor:
    """The gradient of one optimizer step, accumulated over forward passes."""
    rows = trainer.args.per_device_train_batch_size
    trainer.model.zero_grad()
    for n in range(0, len(samples), rows):
        torch.autograd.backward(trainer._compute_loss(trainer.model, inputs_of(trainer, samples[n : n + rows], total)))
    return gradient(trainer.model)


def gradient_of_torch(model: Any, samples: list[TrainingSample], config: TRLConfig) -> torch.Tensor:
    model.zero_grad()
    for batch in batches(samples, config, model):
        loss, _ = batch_loss(model, batch, config)
        torch.autograd.backward(loss)
    return gradient(model)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_losses_have_equal_gradients(case: dict[str, Any], folder: Path, tmp_path: Path) -> None:
    config = TRLConfig.parse(BASE.model_dump() | case)
    trainer = trainer_for(config, folder, tmp_path)
    samples = samples_for(trainer.model)
    total = sum(sum(s.mask) for s in samples)
    assert trainer.args.gradient_accumulation_steps == (2 if "micro_batch_tokens" in case else 1)
    ours = gradient_of_torch(trainer.model, samples, config)
    theirs = gradient_of_trl(trainer, samples, total)
    assert float(ours.abs().max()) > 0.005
    assert float((ours - theirs).norm() / ours.norm()) < 1e-5


def test_token_average_of_trl_divides_by_the_mean_minibatch(folder: Path, tmp_path: Path) -> None:
    """With several minibatches, TRL divides by the mean number of tokens, and torch_grpo by that of the minibatch."""
    config = TRLConfig.parse(BASE.model_dump() | {"average": "token", "minibatches": 2})
    trainer = trainer_for(config, folder, tmp_path)
    samples = samples_for(trainer.model)
    total, minibatch = sum(sum(s.mask) for s in samples), samples[:2]
    tokens = sum(sum(s.mask) for s in minibatch)
    assert tokens != total / 2
    ours = gradient_of_torch(trainer.model, minibatch, config)
    theirs = gradient_of_trl(trainer, minibatch, total)
    assert float((ours * tokens / (total / 2) - theirs).abs().max()) < 1e-5
