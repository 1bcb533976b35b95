"""When a run is over: all iterations done, good enough, or nothing left to learn from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from trace_gym.trainers.checkpoint import Metrics
from trace_gym.trainers.config import GRPOConfig

Ended = Literal["iterations", "target", "solved", "stopped"]
"""All iterations done, target success reached, every group perfect after training, or stopped by the caller."""


def ended(config: GRPOConfig, history: Sequence[Metrics]) -> Ended | None:
    """Why the run is over, or None while it is not."""
    recent = history[-config.target_window :]
    if config.target_success is not None and len(recent) == config.target_window:
        moving = sum(_number(m, "success") for m in recent) / len(recent)
        if moving >= config.target_success:
            return "target"
    quiet = history[-config.max_idle_iterations :]
    perfect = len(quiet) == config.max_idle_iterations and all(m["all_best"] == config.groups for m in quiet)
    # Perfect without a single step is no success of training; `idle` says so.
    if perfect and any(m["steps"] for m in history):
        return "solved"
    return "iterations" if len(history) >= config.iterations else None


def idle(config: GRPOConfig, history: Sequence[Metrics]) -> str:
    """What to do when the last iterations had no informative group; empty while there is a signal."""
    quiet = history[-config.max_idle_iterations :]
    if len(quiet) < config.max_idle_iterations or any(m["informative"] for m in quiet):
        return ""
    groups = len(quiet) * config.groups
    zero = sum(_number(m, "all_zero") for m in quiet) / groups
    best = sum(_number(m, "all_best") for m in quiet) / groups
    between = max(0.0, 1 - zero - best)
    overflow = sum(_number(m, "overflow") for m in quiet) / len(quiet)
    if overflow > 0.5:
        advice = f"{overflow:.0%} of the trajectories ran out of max_tokens={config.max_tokens}; raise it"
    elif zero >= max(best, between):
        advice = "too hard: train on an easier level (levels), pay progress (reward.progress), or raise samples"
    elif best >= between:
        advice = "solved already: train on a harder level (levels), or leave this capability to the base model"
    else:
        advice = (
            "all rollouts of a group earn the same: raise samples or temperature, or pay finer differences (reward)"
        )
    return (
        f"No group had different rewards in the last {len(quiet)} iterations ({groups} groups: {zero:.0%} all zero, "
        f"{best:.0%} all perfect, {between:.0%} equal in between). Advice: {advice}."
    )


def _number(metrics: Metrics, key: str) -> float:
    return float(metrics[key] or 0)
