"""The skill stage of a run: a check that the rewards of the base model vary, before training starts."""

from __future__ import annotations

import json
from typing import Any

from trace_gym import registry
from trace_gym.evaluation import ScenarioLedger
from trace_gym.files import write
from trace_gym.pipeline import common
from trace_gym.pipeline.ledger import Run
from trace_gym.records import read_records
from trace_gym.trainers.config import GRPOConfig


def skill(run: Run) -> None:
    """Measure in each environment how often the rewards of the base model vary within a group of rollouts.

    GRPO has no gradient in a group if all of its rollouts have the same reward. The stage samples groups of
    `train.samples` rollouts on the validation split. This takes much less time than training.
    """
    out, c = run.path("skill.json"), run.config
    grpo = c.train if isinstance(c.train, GRPOConfig) else GRPOConfig()
    names = list(common.environments(run))
    groups = {n: registry.scenarios(n, "validate", c.skill.groups, levels=common.levels(run, n)) for n in names}
    paths = {n: run.path("rollouts", f"skill-{n}.jsonl") for n in names}

    def work() -> str:
        decides = {
            "temperature": grpo.temperature,
            **common.model_key(run),
            **{n: common.environment_key(n) for n in names},
        }
        run.discard_stale("skill", decides, list(paths.values()))
        for name in names:
            ScenarioLedger(run.path("seen.json")).claim("skill", groups[name])
        jobs = [common.sampling_job(run, "skill", groups[n], paths[n], grpo.temperature, grpo.samples) for n in names]
        total = sum(len(g) for g in groups.values()) * grpo.samples
        common.run_with_progress(run, jobs, lambda: sum(map(common.lines, paths.values())), total, "episodes")
        measured = {n: _reward_statistics(run, n) for n in names}
        write(out, json.dumps(measured, indent=1) + "\n")
        excluded = [n for n, m in measured.items() if not m["learnable"]]
        shares = ", ".join(f"{n} {m['informative']:.0%}" for n, m in measured.items())
        return f"informative groups: {shares}" + (
            f"; not trained, rewards too uniform: {', '.join(excluded)}" if excluded else ""
        )

    depends: dict[str, Any] = {
        "skill": c.skill.model_dump(),
        "samples": grpo.samples,
        "temperature": grpo.temperature,
        **({} if c.train.needs_variance else {"needs_variance": False}),
    }
    run.stage("skill", {**depends, **training_inputs(run, names)}, [out], work)


def _reward_statistics(run: Run, name: str) -> dict[str, Any]:
    by_task: dict[str, list[float]] = {}
    records = read_records(run.path("rollouts", f"skill-{name}.jsonl"))
    for record in records:
        if record.reward is not None:
            by_task.setdefault(record.task, []).append(record.reward)
    informative = sum(len(set(rewards)) > 1 for rewards in by_task.values()) / max(1, len(by_task))
    return {
        "groups": len(by_task),
        "informative": round(informative, 4),
        "reward": round(sum(map(sum, by_task.values())) / max(1, len(records)), 4),
        "success": round(sum(bool(r.success) for r in records) / max(1, len(records)), 4),
        "learnable": informative >= run.config.skill.informative or not run.config.train.needs_variance,
    }


def learnable(run: Run) -> list[str]:
    """Return the environments that have enough groups with varying rewards."""
    return [n for n, m in common.read_stage_output(run.path("skill.json")).items() if m["learnable"]]


def training_inputs(run: Run, names: list[str]) -> dict[str, Any]:
    return {
        "environments": {n: common.environment_key(n) for n in names},
        "levels": {n: common.levels(run, n) for n in names},
        **common.model_key(run),
    }
