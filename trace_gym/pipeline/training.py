"""The skill gate and the training of adapters."""

from __future__ import annotations

import json
import os
from typing import Any

from trace_gym import registry
from trace_gym.errors import NoSignal
from trace_gym.evaluate import Seen
from trace_gym.files import write
from trace_gym.pipeline import common
from trace_gym.pipeline.jobs import TrainJob
from trace_gym.pipeline.ledger import Run
from trace_gym.policies.hints import require_hints


def skill(run: Run) -> None:
    """Measure how far the base model's rewards spread in each environment, before anything is trained.

    GRPO brings out what a model does now and then; where all attempts at a scenario earn the same it has no
    gradient. Groups of `train.samples` rollouts on the validation split tell in seconds.
    """
    out, c = run.path("skill.json"), run.config
    names = list(common.environments(run))
    groups = {n: registry.scenarios(n, "validate", c.skill.groups, levels=common.levels(run, n)) for n in names}
    paths = {n: run.path("rollouts", f"skill-{n}.jsonl") for n in names}

    def work() -> str:
        decides = {"temperature": c.train.temperature, **common.base(run), **{n: common.env(n) for n in names}}
        run.discard_stale("skill", decides, list(paths.values()))
        for name in names:
            Seen(run.path("seen.json")).claim("skill", groups[name])
        jobs = [common.sampled(run, groups[n], paths[n], c.train.temperature, c.train.samples) for n in names]
        total = sum(len(g) for g in groups.values()) * c.train.samples
        common.watch(run, jobs, lambda: sum(map(common.lines, paths.values())), total, "episodes")
        measured = {n: _spread(run, n) for n in names}
        write(out, json.dumps(measured, indent=1) + "\n")
        left = [n for n, m in measured.items() if not m["learnable"]]
        shares = ", ".join(f"{n} {m['informative']:.0%}" for n, m in measured.items())
        return f"informative groups: {shares}" + (f"; out of reach: {', '.join(left)}" if left else "")

    depends: dict[str, Any] = {
        "skill": c.skill.model_dump(),
        "samples": c.train.samples,
        "temperature": c.train.temperature,
    }
    run.stage("skill", {**depends, **_inputs(run, names)}, [out], work)


def _spread(run: Run, name: str) -> dict[str, Any]:
    by_task: dict[str, list[float]] = {}
    records = common.trajectories(run.path("rollouts", f"skill-{name}.jsonl"))
    for record in records:
        if record.reward is not None:
            by_task.setdefault(record.task, []).append(record.reward)
    informative = sum(len(set(rewards)) > 1 for rewards in by_task.values()) / max(1, len(by_task))
    return {
        "groups": len(by_task),
        "informative": round(informative, 4),
        "reward": round(sum(map(sum, by_task.values())) / max(1, len(records)), 4),
        "success": round(sum(bool(r.success) for r in records) / max(1, len(records)), 4),
        "learnable": informative >= run.config.skill.informative,
    }


def learnable(run: Run) -> list[str]:
    """The environments that passed the gate."""
    return [n for n, m in common.stored(run.path("skill.json")).items() if m["learnable"]]


def train(run: Run) -> None:
    """Train one adapter a capability and seed, and the comparisons that the settings ask for."""
    out, c = run.path("adapters.json"), run.config
    names = learnable(run)
    if not names:
        raise NoSignal(
            f"the base model's rewards spread in none of {', '.join(common.environments(run))}; "
            f"see {run.path('skill.json')}, use a stronger base, easier levels, or lower skill.informative"
        )
    jobs = _jobs(run, names)

    def work() -> str:
        require_hints(names, c.train.hints)
        total = sum(job.config["iterations"] for job in jobs)
        results = common.watch(
            run, jobs, lambda: sum(common.lines(j.out / "metrics.jsonl") for j in jobs), total, "iterations"
        )
        for made in results:  # relative, so that the folder can be moved and names no place of this machine
            made |= {"path": os.path.relpath(made["path"], run.folder)} if "path" in made else {}
        write(out, json.dumps(results, indent=1) + "\n")
        trained = [r for r in results if "path" in r]
        stopped = "".join(f"; {r['name']}: {r['no_signal']}" for r in results if "no_signal" in r)
        if c.evaluate.mixture and len(names) == 1:
            stopped += f"; evaluate.mixture has no effect, as only {names[0]} is trained on"
        return f"{len(trained)} adapters from {sum(r['rollouts'] for r in trained)} rollouts{stopped}"

    settings = {
        "train": c.train.model_dump(mode="json"),
        "seeds": c.seeds,
        "names": names,
        "evaluate": c.evaluate.model_dump(),
    }
    run.stage("train", {**settings, "target": c.target.model_dump(), **_inputs(run, names)}, [out], work)


def _jobs(run: Run, names: list[str]) -> list[TrainJob]:
    c, jobs = run.config, []
    for seed in c.seeds:
        for name in names:
            jobs.append(_job(run, name, seed, {name: common.levels(run, name)}, 1))
        # The comparisons get as many rollouts as all capability adapters together.
        if c.evaluate.mixture and len(names) > 1:
            jobs.append(_job(run, common.MIXTURE, seed, {n: common.levels(run, n) for n in names}, len(names)))
        if c.evaluate.grpo_target:
            jobs.append(_job(run, common.GRPO_TARGET, seed, {c.target.env: list(c.target.levels)}, len(names)))
    return sorted(
        jobs, key=lambda j: -int(j.config["iterations"])
    )  # the longest first, so that no worker idles at the end


def _job(run: Run, name: str, seed: int, levels: dict[str, list[int]], share: int) -> TrainJob:
    settings = run.config.train.model_dump(mode="json")
    settings |= {"seed": seed, "iterations": run.config.train.iterations * share, "user": run.config.user}
    settings["levels"] = {env: common.weights(run, env, drawn) for env, drawn in levels.items()}
    return TrainJob(
        name=f"{name}-s{seed}",
        mixture=tuple((env, 1.0) for env in levels),
        model=common.model(run),
        config=settings,
        out=run.path("adapters", f"{name}-s{seed}"),
    )


def _inputs(run: Run, names: list[str]) -> dict[str, Any]:
    return {
        "environments": {n: common.env(n) for n in names},
        "levels": {n: common.levels(run, n) for n in names},
        **common.base(run),
    }
