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

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Self

import numpy as np
import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from torch import Tensor, nn

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, EnvBug, EnvNotFound, NoSignal
from trace_gym.files import working_in
from trace_gym.score import reward
from trace_gym.trainers import base, checkpoint, stopping
from trace_gym.trainers.advantage import Advantages, advantages
from trace_gym.trainers.batch import Batch, Sample, batches, token_logps
from trace_gym.trainers.checkpoint import Metrics, RunState
from trace_gym.trainers.config import GRPOConfig
from trace_gym.trainers.loss import LossStats, policy_loss
from trace_gym.trainers.stopping import Ended
from trace_gym.types import Scenario

if TYPE_CHECKING:
    from peft import PeftModel

    from trace_gym.policies.hf import HFPolicy
    from trace_gym.rollout import TokenRollout

Envs = list[tuple[str, float]]
"""Environments (or registered mixtures), and the weights with which they are drawn."""


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
        open_episode: Opens the episode of a scenario; by default the registry does.
        progress: Show a progress line on stderr.
        resume: False starts over and replaces a run found in `out_dir`.
        on_iteration: Called with the metrics of every iteration; the run stops, resumably, when it returns True.

    Raises:
        NoSignal: Too many iterations in a row had no group with different rewards.
        ConfigError: The settings contradict the model, the environment, or the run to be continued.
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
    out, envs = Path(out_dir), _envs(env)
    levels = _levels(config, [name for name, _ in envs], registered=open_episode is None)
    device = torch.device(config.device)
    # Initialisation and dropout draw from torch's global generators; the caller gets them back as they were.
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        torch.manual_seed(_derive(config.seed, "init"))
        learner = Learner.build(config, model_dir)
        state = _begin(RunState(config, envs, base.fingerprint(model_dir)), learner, out, resume)
        ended = stopping.ended(config, state.history)
        with _ProgressLine(config, state.history, progress) as line:
            while not ended:
                scenarios = draw(config, envs, levels, state.iteration)
                entry = _iteration(learner, state, scenarios, open_episode or registry.episode)
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


def draw(config: GRPOConfig, envs: Envs, levels: dict[str, dict[int, float]], iteration: int) -> list[Scenario]:
    """The G scenarios of an iteration, from the training split; a pure function of its arguments."""
    rng = Random(f"{config.seed}/{iteration}")
    scenarios = []
    for _ in range(config.groups):
        (name,) = rng.choices([n for n, _ in envs], [w for _, w in envs])
        (level,) = rng.choices(list(levels[name]), list(levels[name].values()))
        scenarios.append(Scenario(env=name, level=level, seed=rng.choice(registry.SPLITS["train"])))
    return scenarios


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
        "success": _mean(e.finish().success for e in finished),
        "informative": float(gains.kept_G.mean()),
        "all_zero": gains.all_zero,
        "all_best": gains.all_best,
        "turns": _mean(e.turns for e in finished),
        "wellformed": _mean(e.finish().wellformed for e in finished),
        "overflow": _mean(r.overflow for r in rollouts),
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


def samples_of(rollouts: Sequence[TokenRollout], gains: Advantages) -> list[Sample]:
    """The trajectories of informative groups; one without a model token has nothing to learn from."""
    values = gains.values_GK.ravel()
    kept = np.repeat(gains.kept_G, gains.values_GK.shape[1])
    return [
        Sample(r.ids, r.mask, r.logprobs, float(a))
        for r, a, keep in zip(rollouts, values, kept, strict=True)
        if keep and any(r.mask)
    ]


def update(
    model: PeftModel, optimizer: torch.optim.Optimizer, samples: Sequence[Sample], config: GRPOConfig, rng: Random
) -> dict[str, float | int | None]:
    """Take epochs x minibatches steps on equation 2 and return the update's metrics; no samples, no step.

    Args:
        model: Called as a Hugging Face causal model.
        rng: Deals the samples into minibatches. Dealing them by length would save padding and bias every
            step: in many environments the short trajectories are the ones that gave up.

    Raises:
        ConfigError: The gradient is not finite; the weights are left as they were before that step.
    """
    weights = [p for group in optimizer.param_groups for p in group["params"]]
    stats, norms = LossStats(), []
    for _ in range(config.epochs if samples else 0):
        dealt = rng.sample(samples, len(samples))
        parts = min(config.minibatches, len(dealt))
        for n in range(parts):
            minibatch = dealt[n * len(dealt) // parts : (n + 1) * len(dealt) // parts]
            optimizer.zero_grad(set_to_none=True)
            for batch in batches(minibatch, config):
                loss, seen = batch_loss(model, batch, config)
                torch.autograd.backward(loss)
                stats += seen
            norm = float(nn.utils.clip_grad_norm_(weights, config.max_grad_norm))
            if not math.isfinite(norm):
                raise ConfigError(f"the gradient is not finite at lr={config.lr}; lower lr or max_grad_norm")
            optimizer.step()
            norms.append(norm)
    if not norms:
        return dict.fromkeys([*stats.means(), "grad_norm"]) | {"steps": 0}
    means: dict[str, float | int | None] = {**stats.means(), "grad_norm": _mean(norms), "steps": len(norms)}
    return means if config.kl_coef else means | {"kl_base": None}


def batch_loss(model: PeftModel, batch: Batch, config: GRPOConfig) -> tuple[Tensor, LossStats]:
    """Equation 2 on one batch, and its statistics."""
    base_logp_BT = None
    if config.kl_coef:
        with torch.no_grad(), model.disable_adapter():
            base_logp_BT, _ = token_logps(model, batch, config.temperature)
    logp_BT, entropy_BT = token_logps(model, batch, config.temperature)
    return policy_loss(
        logp_BT,
        batch.rollout_logp_BT,
        batch.mask_BT,
        batch.advantages_B,
        batch.weights_B,
        clip_low=config.clip_low,
        clip_high=config.clip_high,
        base_logp_BT=base_logp_BT,
        kl_coef=config.kl_coef,
        entropy_BT=entropy_BT,
    )


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)


def _derive(*parts: object) -> int:
    """A seed for torch from the parts, such as (seed, iteration, use)."""
    return Random("/".join(map(str, parts))).getrandbits(63)


def _envs(env: str | Sequence[tuple[str, float]]) -> Envs:
    envs = [(env, 1.0)] if isinstance(env, str) else [(name, float(weight)) for name, weight in env]
    if not envs or not all(math.isfinite(w) and w > 0 for _, w in envs):
        raise ConfigError(f"env is {env!r}; expected a name, or (name, weight) pairs with weights above 0")
    return envs


def _levels(config: GRPOConfig, names: Sequence[str], *, registered: bool) -> dict[str, dict[int, float]]:
    """The levels to draw of each environment, with weights; `registered`: the registry must know them all."""
    drawn: dict[str, dict[int, float]] = {}
    for name in names:
        wanted = config.levels_of(name)
        try:
            there = list(range(registry.level_count(name)))
        except EnvNotFound:
            if registered:
                raise
            there = sorted(wanted or [0])
        if unknown := set(wanted or ()) - set(there):
            raise ConfigError(f"levels asks for {sorted(unknown)} of {name}, but there are {there}")
        drawn[name] = wanted or dict.fromkeys(there, 1.0)
    return drawn


class _ProgressLine:
    """One line on stderr with the last reward and success."""

    def __init__(self, config: GRPOConfig, history: Sequence[Metrics], enabled: bool) -> None:
        columns = (TextColumn("grpo {task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), disable=not enabled)
        self._task = self._bar.add_task("", total=config.iterations, completed=len(history))

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def show(self, metrics: Metrics) -> None:
        says = f"reward {metrics['reward']:.2f} success {metrics['success']:.2f} signal {metrics['informative']:.2f}"
        self._bar.update(self._task, advance=1, description=says)
