"""GRPO training (TRACE paper, appendix A) of a LoRA adapter for a Hugging Face model, with one device per process.

Each iteration samples G scenarios, and K rollouts per scenario with the current adapter. A rollout consists of token
ids a_t, their log-probabilities under the rollout policy pi_old, and a reward r_gk. The advantages and the loss are

    A_gk  = (r_gk - mean_g) / (std_g + eps)              groups with equal rewards are dropped    (1)
    rho_t = pi(a_t | a_<t) / pi_old(a_t | a_<t)          for the token ids that were sampled
    L     = - 1/|B| sum_{(g,k) in B} 1/T_gk sum_t min(rho_t A_gk, clip(rho_t, 1 - low, 1 + high) A_gk)   (2)

AdamW takes one step for every minibatch B. T_gk is the number of tokens that the model sampled. The tokens of prompts,
user turns and tool results are not trained on. Rollouts and updates scale the logits by the same temperature.

Differences from other implementations of GRPO, with the reasons:

- There is no KL penalty unless `kl_coef` is set, because equation 2 has none. The base model also stays available for
  all tasks that the router does not send to the adapter.
- The trainer does not recompute the probabilities of pi_old. The log-probabilities from sampling also account for
  differences between sampling and training (merged weights, rounding). With rollouts from vLLM servers (the setting
  ``engine: vllm`` of the model), these differences are larger, so the initial ratios are truncated, and the metrics
  contain the mean absolute difference (`trace_gym.trainers.mismatch`).
- Dropped groups are not replaced unless `max_resamples` is set (DAPO's dynamic sampling), so that the number of
  rollouts per iteration is constant. The metric ``rollouts`` counts all rollouts.
- There are no rewards for single turns. The verifier checks the final state, so all tokens of a trajectory have the
  same advantage.
- The tokens of hints are not trained on. If a rollout was sampled with a hint (`GRPOConfig.hints`), the hint was in the
  prompt of pi_old but is not in the prompt of pi. The ratio in equation 2 corrects for this difference.
- Several processes, started by ``accelerate launch``, sample and compute gradients together, but every process has the
  whole model (`trace_gym.trainers.ranks`).

Shapes: G groups, K rollouts per group, B rows of a batch, L tokens per row, T columns with a sampled token.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random

import numpy as np
import torch

from trace_gym.models import LAB, ModelSettings
from trace_gym.trainers import loop, stopping
from trace_gym.trainers.advantage import advantages
from trace_gym.trainers.checkpoint import Metrics, RunState
from trace_gym.trainers.config import GRPOConfig
from trace_gym.trainers.loop import Learner, Method, OpenEpisode, Trained, derive
from trace_gym.trainers.mismatch import correct
from trace_gym.trainers.sampling import rewards, sample
from trace_gym.trainers.steps import mean
from trace_gym.trainers.update import samples_of, update
from trace_gym.types import Scenario

PROGRESS = "grpo reward {reward:.2f} success {success:.2f} signal {informative:.2f}"
"""Format string for the text of the progress bar, which is filled with the metrics of an iteration."""


def train(
    config: GRPOConfig,
    *,
    env: str | Sequence[tuple[str, float]],
    model: ModelSettings | str | Path = LAB,
    out_dir: str | Path,
    open_episode: OpenEpisode | None = None,
    progress: bool = True,
    resume: bool = True,
    on_iteration: Callable[[Metrics], bool | None] | None = None,
) -> Trained:
    """Train a LoRA adapter with GRPO, and write ``adapter/``, ``checkpoint/`` and ``metrics.jsonl`` to `out_dir`.

    Args:
        config: Settings of the run.
        env: Name of an environment, or a sequence of pairs (name, sampling weight).
        model: Settings of the model, or its name: ``lab`` (the toy model), or a Hugging Face folder or name.
        out_dir: Output folder. If it contains a run, the run is resumed. On the same machine, the result is
            bit-identical to that of an uninterrupted run, except with ``engine: vllm``.
        open_episode: Function that creates the episode of a scenario. By default,
            `trace_gym.registry.start_episode` is called with the user model of the settings.
        progress: Show a progress line on stderr.
        resume: If False, start a new run and replace an existing run in `out_dir`.
        on_iteration: Function that is called with the metrics of each iteration. If it returns True, the run stops
            and can be resumed later.

    Raises:
        NoSignal: The rewards did not vary within any group for too many consecutive iterations.
        ConfigError: The settings do not fit the model, the environment, or the existing run.
        UserUnavailable: The language model that rewords the user failed. The same call resumes the run.
        Unavailable: A vLLM server failed, even after retries (only with ``engine: vllm``). The iteration is not
            counted, and the same call resumes the run.
        ReadError: The model or the checkpoint cannot be read.
        EnvBug: The rollouts of a group started from different states.
        InUse: Another process uses `out_dir`.
        WriteError: `out_dir` is a file, or cannot be created.
    """
    return loop.run(
        METHOD,
        config,
        env=env,
        model=model,
        out_dir=out_dir,
        open_episode=open_episode,
        progress=progress,
        resume=resume,
        on_iteration=on_iteration,
    )


def _iteration(
    learner: Learner, state: RunState, draws: Iterator[list[Scenario]], open_episode: OpenEpisode
) -> Metrics:
    """Sample K rollouts per scenario, update the adapter, and return the metrics."""
    config, began, i = state.config, time.monotonic(), state.iteration
    assert isinstance(config, GRPOConfig)
    torch.manual_seed(derive(config.seed, i, "torch"))
    outcomes = sample(learner, config, i, draws, open_episode)
    rewards_GK = rewards(outcomes, config)
    gains = advantages(rewards_GK, config.advantage, best=config.best_reward)
    sampled = time.monotonic()
    kept = [r for r, keep in zip(outcomes, np.repeat(gains.kept_G, config.samples), strict=True) if keep]
    difference = correct(learner.model, kept, config) if learner.served is not None else {}
    samples = samples_of(outcomes, gains, config.overlong)
    fit = update(learner.model, learner.optimizer, samples, config, Random(f"{config.seed}/{i}/order"), learner.ranks)
    return {
        "iteration": i,
        "reward": float(rewards_GK.mean()),
        "reward_std": float(rewards_GK.std()),
        "success": mean(o.success for o in outcomes),
        "informative": float(gains.kept_G.mean()),
        "groups": len(rewards_GK),
        "all_zero": gains.all_zero,
        "all_best": gains.all_best,
        "turns": mean(o.turns for o in outcomes),
        "wellformed": mean(o.wellformed for o in outcomes),
        "overflow": mean(o.overflow for o in outcomes),
        "tokens": sum(sum(o.mask) for o in outcomes),
        "trained_tokens": sum(sum(s.mask) for s in samples),
        **fit,
        **difference,
        "rollouts": state.rollouts + len(outcomes),
        "seconds": round(time.monotonic() - began, 3),
        "rollout_seconds": round(sampled - began, 3),
    }


def _ended(state: RunState) -> str | None:
    assert isinstance(state.config, GRPOConfig)
    return stopping.ended(state.config, state.history)


def _idle(state: RunState) -> str:
    assert isinstance(state.config, GRPOConfig)
    return stopping.idle(state.config, state.history)


METHOD = Method("grpo", PROGRESS, _iteration, _ended, _idle, parallel=True)
