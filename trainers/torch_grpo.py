"""GRPO training (TRACE paper, appendix A) of a LoRA adapter for a Hugging Face model, in one process on one device.

Each iteration samples G scenarios, and K rollouts per scenario with the current adapter. A rollout consists of token
ids a_t, their log-probabilities under the rollout policy pi_old, and a reward r_gk. The advantages and the loss are

    A_gk  = (r_gk - mean_g) / (std_g + eps)              groups with equal rewards are dropped    (1)
    rho_t = pi(a_t | a_<t) / pi_old(a_t | a_<t)          for the token ids that were sampled
    L     = - 1/|B| sum_{(g,k) in B} 1/T_gk sum_t min(rho_t A_gk, clip(rho_t, 1 - low, 1 + high) A_gk)   (2)

AdamW takes one step for every minibatch B. T_gk is the number of tokens that the model sampled. The tokens of prompts,
user turns and tool results are not trained on. Rollouts and updates scale the logits by the same temperature.

Differences from other implementations of GRPO, with the reasons:
- There is no KL penalty unless `kl_coef` is set, because equation 2 has none. The base model stays available for all
  tasks that the router does not send to the adapter.
- The trainer does not recompute the probabilities of pi_old. The log-probabilities from sampling also account for
  differences between sampling and training (merged weights, rounding).
- Dropped groups are not replaced, unlike in DAPO's dynamic sampling, so that the number of rollouts that a capability
  requires stays visible.
- There are no rewards for single turns. The verifier checks the final state, so all tokens of a trajectory have the
  same advantage.
- The tokens of hints are not trained on. If a rollout was sampled with a hint (`GRPOConfig.hints`), the hint was in the
  prompt of pi_old but is not in the prompt of pi. The ratio in equation 2 corrects for this difference.
- There is no learning-rate schedule, no support for several devices, and no separate sampler.

Shapes: G groups, K rollouts per group, B rows of a batch, L tokens per row, T columns with a sampled token.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
from trace_gym.terminal import progress_bar
from trace_gym.trainers import base, checkpoint, stopping
from trace_gym.trainers.advantage import advantages
from trace_gym.trainers.checkpoint import Metrics, RunState
from trace_gym.trainers.config import GRPOConfig
from trace_gym.trainers.draws import draw, drawn_levels, weighted
from trace_gym.trainers.stopping import Ended
from trace_gym.trainers.update import mean, samples_of, update
from trace_gym.types import Scenario

if TYPE_CHECKING:
    from peft import PeftModel

    from trace_gym.policies.hf import HFPolicy
    from trace_gym.rollouts import TokenRollout

PROGRESS = "grpo reward {reward:.2f} success {success:.2f} signal {informative:.2f}"
"""Text of the progress bar after an iteration, formatted with its metrics."""


@dataclass(frozen=True, slots=True)
class Trained:
    """Outputs of a training run."""

    path: Path
    """Folder of the adapter in the format of peft."""
    base_model: str
    rank: int
    rollouts: int
    """Number of rollouts."""
    ended: Ended
    """Reason for the end of the run."""
    metrics: tuple[Metrics, ...]
    """Metrics of each iteration, as in ``metrics.jsonl``."""


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
    """Train a LoRA adapter with GRPO, and write ``adapter/``, ``checkpoint/`` and ``metrics.jsonl`` to `out_dir`.

    Args:
        config: Settings of the run.
        env: Name of an environment, or a sequence of pairs (name, sampling weight).
        model_dir: Folder of a Hugging Face causal model with its tokenizer and chat template.
        out_dir: Output folder. If it contains a run, the run is resumed. On the same machine, the result is
            bit-identical to that of an uninterrupted run.
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
        ReadError: The model or the checkpoint cannot be read.
        EnvBug: The rollouts of a group started from different states.
        InUse: Another process uses `out_dir`.
        WriteError: `out_dir` is a file, or cannot be created.
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
    """Run `train` while the caller holds the lock of the folder."""
    out, envs = Path(out_dir), weighted(env)
    opener = _opener(config, open_episode, out)
    levels = drawn_levels(config, [name for name, _ in envs], registered=open_episode is None)
    device = base.usable_device(config.device)
    # Initialization and dropout use torch's global generators, whose state is restored for the caller.
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        torch.manual_seed(_derive(config.seed, "init"))
        learner = Learner.build(config, model_dir)
        state = _begin(RunState(config, envs, base.fingerprint(model_dir)), learner, out, resume)
        ended = stopping.ended(config, state.history)
        with progress_bar("grpo", config.iterations, progress, len(state.history), transient=False) as update_bar:
            while not ended:
                scenarios = draw(config, envs, levels, state.iteration)
                entry = _iteration(learner, state, scenarios, opener)
                state.history.append(entry)
                checkpoint.append_metrics(out / "metrics.jsonl", entry)
                update_bar(advance=1, description=PROGRESS.format_map(entry))
                stop = on_iteration is not None and on_iteration(entry)
                ended = stopping.ended(config, state.history) or ("stopped" if stop else None)
                idle = "" if ended else stopping.idle(config, state.history)
                if ended or idle or state.iteration % config.checkpoint_every == 0:
                    checkpoint.save(out / "checkpoint", learner.model, learner.optimizer, state)
                if idle:
                    raise NoSignal(f"{idle} The run is stored in {out / 'checkpoint'}.")
        checkpoint.save_adapter(learner.model, out / "adapter")
    return Trained(out / "adapter", str(model_dir), config.lora_rank, state.rollouts, ended, tuple(state.history))


def _opener(
    config: GRPOConfig, given: Callable[[Scenario], Episode] | None, out: Path
) -> Callable[[Scenario], Episode]:
    """Return the function that creates episodes. Answers of a user model are stored in the folder of the run."""
    if not config.user:
        return given or registry.episode_starter()
    if given is not None:
        raise ConfigError("found both user and open_episode, expected at most one. Remove user, and pass it to Episode")
    from trace_gym.user_model import LanguageUser

    return registry.episode_starter(user=LanguageUser(config.user, folder=out / "user"))


@dataclass(frozen=True, slots=True)
class Learner:
    """The model with its adapter, the optimizer, and the sampling policy."""

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
    """Return the new state, or the state of the run in `out` after loading its tensors into the learner."""
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
            f"{out} contains a run with different settings: {', '.join(changed)}; "
            "choose another out_dir, restore them, or train with resume=False"
        )


def _iteration(
    learner: Learner, state: RunState, scenarios: list[Scenario], open_episode: Callable[[Scenario], Episode]
) -> Metrics:
    """Sample K rollouts per scenario, update the adapter, and return the metrics."""
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
    """Check that all rollouts of a group start from the same state.

    Args:
        rollouts: Rollouts of all groups, in order.
        samples: Number of rollouts per group.

    Raises:
        EnvBug: The rollouts of a group start from different states.
    """
    for g in range(0, len(rollouts), samples):
        group = rollouts[g : g + samples]
        if len({(str(r.scenario), r.start_hash) for r in group}) > 1:
            raise EnvBug(
                f"{group[0].scenario}: {samples} rollouts of one scenario start from different states; "
                f"generate must depend on its rng only. Check the environment with trace-gym validate "
                f"{group[0].scenario.env}"
            )


def _derive(*parts: object) -> int:
    """Return a torch seed derived from the parts, such as (seed, iteration, use)."""
    return Random("/".join(map(str, parts))).getrandbits(63)
