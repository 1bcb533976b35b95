"""Supervised fine-tuning (SFT) of a LoRA adapter on demonstrations of the oracle, or on recorded successful episodes.

The loss is the mean negative log-likelihood of the assistant's tokens. The tokens of prompts, user turns and tool
results are not trained on. In every iteration, the trainer makes demonstrations of `SFTConfig.groups` scenarios of the
training split, or draws as many recorded episodes. It uses the same loop, checkpoints and metrics as
`trace_gym.trainers.torch_grpo`, so that an adapter of SFT is a baseline for GRPO on the same scenarios.

The TRACE paper compares GRPO with this baseline. For a model that never succeeds in an environment, GRPO has no signal;
SFT shows it the format of successful episodes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random

import torch

from trace_gym import registry
from trace_gym.errors import ConfigError
from trace_gym.models import LAB, ModelSettings
from trace_gym.policies.base import Policy
from trace_gym.policies.scripted import Oracle
from trace_gym.trainers import loop
from trace_gym.trainers.batch import TrainingSample, batches
from trace_gym.trainers.checkpoint import Metrics, RunState
from trace_gym.trainers.config import SFTConfig
from trace_gym.trainers.demonstrations import RecordedPolicy, demonstrate, successful
from trace_gym.trainers.logps import token_logps
from trace_gym.trainers.loop import Learner, Method, OpenEpisode, Trained
from trace_gym.trainers.steps import mean, optimizer_steps
from trace_gym.types import Scenario

Config = SFTConfig


def train(
    config: SFTConfig,
    *,
    env: str | Sequence[tuple[str, float]],
    model: ModelSettings | str | Path = LAB,
    out_dir: str | Path,
    open_episode: OpenEpisode | None = None,
    progress: bool = True,
    resume: bool = True,
    on_iteration: Callable[[Metrics], bool | None] | None = None,
) -> Trained:
    """Train a LoRA adapter on demonstrations. The arguments are those of `trace_gym.trainers.torch_grpo.train`.

    Raises:
        ConfigError: The settings do not fit the model, the environment or the existing run, or there is no
            demonstration that fits into the token limit.
        ReadError: The model, the checkpoint or the recorded episodes cannot be read.
        UserUnavailable: The language model that rewords the user failed. The same call resumes the run.
        InUse: Another process uses `out_dir`.
        WriteError: `out_dir` is a file, or cannot be created.
    """
    names = [env] if isinstance(env, str) else [name for name, _ in env]
    parts = names if open_episode else [part for name in names for part in registry.environment(name).worlds]
    records = successful(config.rollouts, parts) if config.rollouts else []

    def step(learner: Learner, state: RunState, draws: Iterator[list[Scenario]], opener: OpenEpisode) -> Metrics:
        began, i = time.monotonic(), state.iteration
        torch.manual_seed(loop.derive(config.seed, i, "torch"))
        drawn: list[tuple[Scenario, Policy]] = [(s, Oracle()) for s in next(draws)]
        if records:
            chosen = Random(f"{config.seed}/{i}/records").choices(records, k=config.groups)
            drawn = [(Scenario.parse(record.task), RecordedPolicy(record)) for record in chosen]
        policy = learner.policy
        made = [demonstrate(policy.chat, opener(s), player, policy.max_tokens) for s, player in drawn]
        samples = [sample for sample in made if sample is not None]
        if not samples:
            raise ConfigError(
                f"all {len(made)} demonstrations are longer than the limit of {policy.max_tokens} tokens (max_tokens). "
                "Increase max_tokens"
            )
        fit = _update(learner, samples, config, Random(f"{config.seed}/{i}/order"))
        return {
            "iteration": i,
            **fit,
            "overflow": 1 - len(samples) / len(made),
            "trained_tokens": sum(sum(sample.mask) for sample in samples),
            "rollouts": state.rollouts + len(made),
            "seconds": round(time.monotonic() - began, 3),
        }

    return loop.run(
        Method("sft", "sft loss {loss:.3f}", step),
        config,
        env=env,
        model=model,
        out_dir=out_dir,
        open_episode=open_episode,
        progress=progress,
        resume=resume,
        on_iteration=on_iteration,
    )


def _update(learner: Learner, samples: Sequence[TrainingSample], config: SFTConfig, rng: Random) -> Metrics:
    """Take optimizer steps, and return their mean loss, mean gradient norm, and number."""
    losses: list[float] = []

    def backward(minibatch: Sequence[TrainingSample]) -> None:
        total = 0.0
        for batch in batches(minibatch, config, learner.model):
            logp_BT, _ = token_logps(learner.model, batch, 1.0)
            loss = -(batch.weights_B[:, None] * logp_BT.masked_fill(~batch.mask_BT, 0.0)).sum()
            torch.autograd.backward(loss)
            total += loss.item()
        losses.append(total)

    norms = optimizer_steps(learner.optimizer, samples, config, rng, backward)
    return {"loss": mean(losses), "grad_norm": mean(norms), "steps": len(norms)}
