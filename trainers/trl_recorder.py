"""Rollout function and callback for TRL's `GRPOTrainer`, which record metrics, save checkpoints and end the run."""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from transformers import TrainerCallback

from trace_gym.adapters.trl import RolloutFunction, TrlEnvironment
from trace_gym.errors import ConfigError
from trace_gym.score import reward
from trace_gym.trainers import checkpoint, stopping
from trace_gym.trainers.advantage import advantages
from trace_gym.trainers.checkpoint import Metrics, RunState
from trace_gym.trainers.trl_config import TRLConfig
from trace_gym.trainers.trl_settings import steps_per_iteration
from trace_gym.types import Message


@dataclass
class TRLRollouts:
    """The `rollout_func` of the trainer, which keeps the environments of the last batch for the metrics."""

    function: RolloutFunction
    environments: list[TrlEnvironment] = field(default_factory=list)
    overflow: list[bool] = field(default_factory=list)
    """Whether the token limit was reached before the episode ended, for each rollout."""
    tokens: list[int] = field(default_factory=list)
    """Number of sampled tokens of each rollout."""
    seconds: float = 0.0
    """Time that the last batch took."""

    def __call__(self, prompts: Sequence[list[Message]], trainer: Any) -> dict[str, Any]:
        """Run all conversations of a batch."""
        began = time.monotonic()
        made = self.function(prompts, trainer)
        self.seconds = time.monotonic() - began
        self.environments = list(trainer.environments)
        # TRL reads the rewards later, and reading a reward ends the episode.
        self.overflow = [e.episode is not None and not e.episode.done for e in self.environments]
        self.tokens = [sum(mask) for mask in made["env_mask"]]
        return made

    def metrics(self, config: TRLConfig) -> Metrics:
        """Return the metrics of the last batch of rollouts. The batch must have been scored."""
        episodes = [e.episode for e in self.environments if e.episode is not None]
        scores = [e.finish() for e in episodes]
        rewards_GK = np.array([reward(s, config.reward) for s in scores]).reshape(-1, config.samples)
        groups = advantages(rewards_GK, config.advantage, best=config.best_reward)
        tokens_GK = np.array(self.tokens).reshape(-1, config.samples)
        return {
            "reward": float(rewards_GK.mean()),
            "reward_std": float(rewards_GK.std()),
            "success": _mean(s.success for s in scores),
            "informative": float(groups.kept_G.mean()),
            "groups": len(rewards_GK),
            "all_zero": groups.all_zero,
            "all_best": groups.all_best,
            "turns": _mean(e.turns for e in episodes),
            "wellformed": _mean(s.wellformed for s in scores),
            "overflow": _mean(self.overflow),
            "tokens": int(tokens_GK.sum()),
            "trained_tokens": int(tokens_GK[groups.kept_G].sum()),
        }


class TRLRecorder(TrainerCallback):
    """Callback that records the metrics of each iteration, saves checkpoints, and ends the run.

    Args:
        state: State of the run, to which the metrics of each iteration are added.
        rollouts: Rollout function of the trainer.
        out: Output folder.
        update_bar: Function that updates the progress bar.
    """

    ended: str | None = None
    """Reason for the end of the run."""
    idle: str = ""
    """Error message if the rewards did not vary in any group for too many iterations."""

    def __init__(self, state: RunState, rollouts: TRLRollouts, out: Path, update_bar: Callable[..., None]) -> None:
        self.run, self.rollouts, self.out, self.update_bar = state, rollouts, out, update_bar
        self._steps: list[dict[str, float]] = []
        self._began = time.monotonic()

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Start the clock of the first iteration."""
        self._began = time.monotonic()

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **_: Any) -> None:
        """Collect the statistics of an optimizer step. The last step of an iteration completes the iteration."""
        config = self.run.config
        assert isinstance(config, TRLConfig)
        if logs is None or "grad_norm" not in logs:  # TRL logs a summary at the end of the training
            return
        if not math.isfinite(logs["grad_norm"]):
            raise ConfigError(f"the gradient is not finite at lr={config.lr}. Decrease lr or max_grad_norm")
        self._steps.append(logs)
        if len(self._steps) == steps_per_iteration(config):
            self._complete(config, control)

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Add the state of the run to a new checkpoint of TRL, so that it is complete, and delete older checkpoints."""
        new = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        checkpoint.write_state(new, self.run)
        for old in set(new.parent.glob("checkpoint-*")) - {new}:
            shutil.rmtree(old)

    def _complete(self, config: TRLConfig, control: Any) -> None:
        run, now = self.run, time.monotonic()
        entry: Metrics = {
            "iteration": run.iteration,
            **self.rollouts.metrics(config),
            **step_statistics(self._steps, config),
            "rollouts": run.rollouts + config.groups * config.samples,
            "seconds": round(now - self._began, 3),
            "rollout_seconds": round(self.rollouts.seconds, 3),
            "lr": self._steps[-1].get("learning_rate"),
        }
        run.history.append(entry)
        self._steps, self._began = [], now
        checkpoint.append_metrics(self.out / "metrics.jsonl", entry)
        self.update_bar(advance=1, description=PROGRESS.format_map(entry))
        self.ended = ended(config, run.history)
        self.idle = "" if self.ended else stopping.idle(config, run.history)
        control.should_training_stop = bool(self.ended or self.idle)
        control.should_save = control.should_training_stop or run.iteration % config.checkpoint_every == 0


PROGRESS = "trl_grpo reward {reward:.2f} success {success:.2f} signal {informative:.2f}"
"""Format string for the text of the progress bar, which is filled with the metrics of an iteration."""


def ended(config: TRLConfig, history: Sequence[Metrics]) -> str | None:
    """Return the reason for the end of the run, or None if the run continues."""
    # TRL also takes optimizer steps on groups with equal rewards, but these steps do not count as training.
    return stopping.ended(config, [m | {"steps": m["steps"] if m["informative"] else 0} for m in history])


def step_statistics(steps: Sequence[dict[str, float]], config: TRLConfig) -> Metrics:
    """Return the metrics of an iteration's optimizer steps from TRL's logs; None for metrics that TRL does not log."""

    def mean_of(key: str) -> float | None:
        return _mean(log[key] for log in steps) if all(log.get(key) is not None for log in steps) else None

    return {
        "clip_fraction": mean_of("clip_ratio/region_mean"),
        "entropy": mean_of("entropy"),
        "kl_rollout": None,
        "kl_base": mean_of("kl") if config.kl_coef else None,
        "ratio_max": None,
        "grad_norm": mean_of("grad_norm"),
        "steps": len(steps),
    }


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)
