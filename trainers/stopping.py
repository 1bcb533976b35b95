"""Stopping conditions of a GRPO run: number of iterations, target success rate, or no informative groups.

A group is informative if the rewards of its rollouts differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from trace_gym.trainers.checkpoint import Metrics
from trace_gym.trainers.config import GRPOConfig

Ended = Literal["iterations", "target", "solved", "stopped"]
"""Reasons for the end of a run: all iterations done, target success rate reached, all groups perfect, or stopped."""


def ended(config: GRPOConfig, history: Sequence[Metrics]) -> Ended | None:
    """Return the reason for the end of the run, or None if the run continues."""
    recent = history[-config.target_window :]
    if config.target_success is not None and len(recent) == config.target_window:
        moving = sum(_number(m, "success") for m in recent) / len(recent)
        if moving >= config.target_success:
            return "target"
    quiet = history[-config.max_idle_iterations :]
    perfect = len(quiet) == config.max_idle_iterations and all(m["all_best"] == _groups(config, m) for m in quiet)
    # If all groups were perfect before the first optimizer step, training had no effect. `idle` handles this case.
    if perfect and any(m["steps"] for m in history):
        return "solved"
    return "iterations" if len(history) >= config.iterations else None


def idle(config: GRPOConfig, history: Sequence[Metrics]) -> str:
    """Return an error message if the last iterations had no informative group, else `""`."""
    quiet = history[-config.max_idle_iterations :]
    if len(quiet) < config.max_idle_iterations or any(m["informative"] for m in quiet):
        return ""
    groups = sum(_groups(config, m) for m in quiet)
    zero = sum(_number(m, "all_zero") for m in quiet) / groups
    best = sum(_number(m, "all_best") for m in quiet) / groups
    between = max(0.0, 1 - zero - best)
    overflow = sum(_number(m, "overflow") for m in quiet) / len(quiet)
    if overflow > 0.5:
        advice = f"{overflow:.0%} of the trajectories exceeded max_tokens={config.max_tokens}; increase max_tokens"
    elif zero >= max(best, between):
        advice = (
            "too hard: train on an easier level (levels), reward progress (reward.progress), increase samples, or "
            "start from an adapter that the trainer sft has trained (init_adapter)"
        )
    elif best >= between:
        advice = "solved already: train on a harder level (levels), or leave this capability to the base model"
    else:
        advice = "equal rewards in each group: increase samples or temperature, or refine the reward"
    return (
        f"The rewards did not vary within any group in the last {len(quiet)} iterations ({groups} groups: "
        f"{zero:.0%} all zero, {best:.0%} all perfect, {between:.0%} equal in between). Advice: {advice}."
    )


def _groups(config: GRPOConfig, metrics: Metrics) -> int:
    return int(metrics.get("groups") or config.groups)


def _number(metrics: Metrics, key: str) -> float:
    return float(metrics[key] or 0)
