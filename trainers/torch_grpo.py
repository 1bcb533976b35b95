"""GRPO (TRACE, appendix A) for a LoRA on a Hugging Face model: one process, one device.

Each iteration draws G scenarios and attempts each K times with the current adapter, which gives token ids
a_t, their log-probabilities under the rollout policy pi_old, and one reward r_gk a trajectory. Then

    A_gk  = (r_gk - mean_g) / (std_g + eps)              groups of equal rewards are dropped      (1)
    rho_t = pi(a_t | a_<t) / pi_old(a_t | a_<t)          from the very ids that were sampled
    L     = - 1/|B| sum_{(g,k) in B} 1/T_gk sum_t min(rho_t A_gk, clip(rho_t, 1 - low, 1 + high) A_gk)   (2)

and AdamW takes one step for every minibatch B. T_gk counts the tokens that the model wrote; prompts, user turns
and tool results are read and never trained on. Rollouts and updates scale the logits by the same temperature.

Left out of GRPO, and why:
- A KL penalty towards the base is off unless `kl_coef` is set: equation 2 has none, and the base keeps serving
  whatever the router does not send to the adapter.
- pi_old is not evaluated again by the trainer: the sampler's own log-probabilities also correct for what differs
  between sampler and trainer (merged weights, rounding).
- Dropped groups are not drawn again (DAPO's dynamic sampling): it would hide what a capability costs in rollouts.
- Rewards of single turns: the verifier judges the final state, so all tokens of a trajectory share one advantage.
- Hints are not trained on: where a rollout was sampled with one (`GRPOConfig.hints`), pi_old had it in its prompt and
  pi does not, and the ratio of equation 2 weighs the tokens accordingly.
- A learning-rate schedule, several devices and a separate sampler: see the other trainers.

Shapes: G groups, K rollouts of a group, B rows of a batch, L tokens of a row, T columns with a model token.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Self

import numpy as np
import torch

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, EnvBug, NoSignal
from trace_gym.files import working_in
from trace_gym.score import reward
from trace_gym.trainers import base, checkpoint, stopping
from trace_gym.trainers.advantage import advantages
from trace_gym.trainers.checkpoint import Metrics, RunState
from trace_gym.trainers.config import GRPOConfig
from trace_gym.trainers.draws import draw, drawn_levels, weighted
from trace_gym.trainers.progress import ProgressLine
from trace_gym.trainers.stopping import Ended
from trace_gym.trainers.update import mean, samples_of, update
from trace_gym.types import Scenario

if TYPE_CHECKING:
    from peft import PeftModel

    from trace_gym.policies.hf import HFPolicy
    from trace_gym.rollout import TokenRollout


@dataclass(frozen=True, slots=True)
class Trained:
    """What a run left behind."""

    path: Path
    """The adapter, a peft folder."""
    base_model: str
    rank: int
    rollouts: int
    ended: Ended
    metrics: tuple[Metrics, ...]
    """One entry an iteration, as in ``metrics.jsonl``."""


def train(
    config: GRPOConfig,
    *,
    env: str | Sequence[tuple[str, float]],
    model_dir: str | Path,
    out_dir: str | Path,
    open_episode: Callable[[Scenario], Episode] | None = None,
    progress: bool = True,
    resume: bool = True,
    on_iteration: Callable[[Metrics], bool | None] | None = None,
) -> Trained:
    """Train a LoRA with GRPO; leaves ``adapter/``, ``checkpoint/`` and ``metrics.jsonl`` in `out_dir`.

    Args:
        env: Name of an environment, or a mixture of (name, weight).
        model_dir: Folder of a Hugging Face causal model with its tokenizer and chat template.
        out_dir: Where the run is kept. A run found there is continued, bit for bit on the same machine.
        open_episode: Opens the episode of a scenario; by default the registry does, with the user of the settings.
        progress: Show a progress line on stderr.
        resume: False starts over and replaces a run found in `out_dir`.
        on_iteration: Called with the metrics of every iteration; the run stops, resumably, when it returns True.

    Raises:
        NoSignal: Too many iterations in a row had no group with different rewards.
        ConfigError: The settings contradict the model, the environment, or the run to be continued.
        UserUnavailable: The language model behind the user failed; the same call continues from the last checkpoint.
        ReadError: The model or the checkpoint cannot be read.
        EnvBug: The rollouts of a group did not start from one state.
        InUse: Another process trains into `out_dir`.
        WriteError: `out_dir` is a file, or cannot be made.
    """
    with working_in(Path(out_dir)):
        return _train(
            config,
            env=env,
            model_dir=model_dir,
            out_dir=out_dir,
            open_episode=open_episode,
            progress=progress,
            resume=resume,
            on_iteration=on_iteration,
        )


def _train(
    config: GRPOConfig,
    *,
    env: str | Sequence[tuple[str, float]],
    model_dir: str | Path,
    out_dir: str | Path,
    open_episode: Callable[[Scenario], Episode] | None,
    progress: bool,
    resume: bool,
    on_iteration: Callable[[Metrics], bool | None] | None,
) -> Trained:
    """Do the work of `train`, which holds the lock of the folder."""
    out, envs = Path(out_dir), weighted(env)
    opener = _opener(config, open_episode, out)
    levels = drawn_levels(config, [name for name, _ in envs], registered=open_episode is None)
    device = base.usable_device(config.device)
    # Initialisation and dropout draw from torch's global generators; the caller gets them back as they were.
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        torch.manual_seed(_derive(config.seed, "init"))
        learner = Learner.build(config, model_dir)
        state = _begin(RunState(config, envs, base.fingerprint(model_dir)), learner, out, resume)
        ended = stopping.ended(config, state.history)
        with ProgressLine(config, state.history, progress) as line:
            while not ended:
                scenarios = draw(config, envs, levels, state.iteration)
                entry = _iteration(learner, state, scenarios, opener)
                state.history.append(entry)
                checkpoint.append_metrics(out / "metrics.jsonl", entry)
                line.show(entry)
                stop = on_iteration is not None and on_iteration(entry)
                ended = stopping.ended(config, state.history) or ("stopped" if stop else None)
                idle = "" if ended else stopping.idle(config, state.history)
                if ended or idle or state.iteration % config.checkpoint_every == 0:
                    checkpoint.save(out / "checkpoint", learner.model, learner.optimizer, state)
                if idle:
                    raise NoSignal(f"{idle} The run so far is in {out / 'checkpoint'}.")
        checkpoint.save_adapter(learner.model, out / "adapter")
    return Trained(out / "adapter", str(model_dir), config.lora_rank, state.rollouts, ended, tuple(state.history))


def _opener(
    config: GRPOConfig, given: Callable[[Scenario], Episode] | None, out: Path
) -> Callable[[Scenario], Episode]:
    """Return what opens the episode of a scenario; the answers of a user's model are kept in the folder of the run."""
    if not config.user:
        return given or registry.episode
    if given is not None:
        raise ConfigError("found the setting user and open_episode, expected one of them. Pass user to Episode instead")
    from trace_gym.user_model import LanguageUser

    return partial(registry.episode, user=LanguageUser(config.user, folder=out / "user"))


@dataclass(frozen=True, slots=True)
class Learner:
    """The model with its adapter, what moves it, and how it acts."""

    model: PeftModel
    optimizer: torch.optim.Optimizer
    policy: HFPolicy

    @classmethod
    def build(cls, config: GRPOConfig, model_dir: str | Path) -> Self:
        from trace_gym.policies.hf import HFPolicy

        model, tokenizer = base.load_with_lora(config, model_dir)
        weights = [p for p in model.parameters() if p.requires_grad]
        optimizer = torch.optim.AdamW(weights, lr=config.lr, weight_decay=config.weight_decay)
        policy = HFPolicy(
            model,
            tokenizer,
            device=config.device,
            max_turn_tokens=config.max_turn_tokens,
            max_tokens=config.max_tokens,
        )
        return cls(model, optimizer, policy)


def _begin(fresh: RunState, learner: Learner, out: Path, resume: bool) -> RunState:
    """A fresh state, or that of the run found in `out`, whose tensors go into the learner."""
    if not resume:
        checkpoint.clear(out)
    elif (found := checkpoint.read_state(out / "checkpoint")) is not None:
        _assert_same_run(fresh, found, out)
        checkpoint.read_tensors(out / "checkpoint", learner.model, learner.optimizer)
        fresh.history = found.history
    checkpoint.write_metrics(out / "metrics.jsonl", fresh.history)
    return fresh


def _assert_same_run(now: RunState, found: RunState, out: Path) -> None:
    changed = [f"{k} (was {was}, now {is_})" for k, (is_, was) in now.config.same_learning(found.config).items()]
    changed += [f"env (was {found.env}, now {now.env})"] if now.env != found.env else []
    changed += ["the base model's weights"] if now.base != found.base else []
    if changed:
        raise ConfigError(
            f"{out} holds a run with other settings: {', '.join(changed)}; "
            "choose another out_dir, restore them, or train with resume=False"
        )


def _iteration(
    learner: Learner, state: RunState, scenarios: list[Scenario], open_episode: Callable[[Scenario], Episode]
) -> Metrics:
    """Roll out every scenario K times, update the adapter, and say what happened."""
    from trace_gym.policies.hf import merged
    from trace_gym.policies.hints import drawn

    config, began, i = state.config, time.monotonic(), state.iteration
    torch.manual_seed(_derive(config.seed, i, "torch"))
    episodes = [open_episode(s) for s in scenarios for _ in range(config.samples)]
    generator = torch.Generator().manual_seed(_derive(config.seed, i, "rollout"))
    with merged(learner.model):
        hints = drawn(episodes, config.hints, f"{config.seed}/{i}/hints") if config.hints else ()
        rollouts = learner.policy.rollout(episodes, temperature=config.temperature, generator=generator, hints=hints)
    assert_same_start(rollouts, config.samples)
    rewards_GK = np.array([reward(r.episode.finish(), config.reward) for r in rollouts]).reshape(-1, config.samples)
    gains = advantages(rewards_GK, config.advantage, best=config.best_reward)
    samples = samples_of(rollouts, gains)
    fit = update(learner.model, learner.optimizer, samples, config, Random(f"{config.seed}/{i}/order"))
    finished = [r.episode for r in rollouts]
    return {
        "iteration": i,
        "reward": float(rewards_GK.mean()),
        "reward_std": float(rewards_GK.std()),
        "success": mean(e.finish().success for e in finished),
        "informative": float(gains.kept_G.mean()),
        "all_zero": gains.all_zero,
        "all_best": gains.all_best,
        "turns": mean(e.turns for e in finished),
        "wellformed": mean(e.finish().wellformed for e in finished),
        "overflow": mean(r.overflow for r in rollouts),
        "tokens": sum(sum(r.mask) for r in rollouts),
        "trained_tokens": sum(sum(s.mask) for s in samples),
        **fit,
        "rollouts": state.rollouts + len(rollouts),
        "seconds": round(time.monotonic() - began, 3),
    }


def assert_same_start(rollouts: Sequence[TokenRollout], samples: int) -> None:
    """Raise EnvBug unless every run of `samples` rollouts attempts one scenario from one state."""
    for g in range(0, len(rollouts), samples):
        group = rollouts[g : g + samples]
        if len({(str(r.scenario), r.start_hash) for r in group}) > 1:
            raise EnvBug(
                f"{group[0].scenario}: {samples} rollouts of one scenario start from different states; "
                f"generate may draw from its rng only (`trace-gym validate {group[0].scenario.env}`)"
            )


def _derive(*parts: object) -> int:
    """A seed for torch from the parts, such as (seed, iteration, use)."""
    return Random("/".join(map(str, parts))).getrandbits(63)
