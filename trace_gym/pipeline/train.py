"""The train stage of a run: training of one adapter per environment and seed."""

from __future__ import annotations

import json
import os

from trace_gym.errors import NoSignal
from trace_gym.files import write
from trace_gym.pipeline import common
from trace_gym.pipeline.jobs import TrainJob
from trace_gym.pipeline.ledger import Run
from trace_gym.pipeline.skill import learnable, training_inputs
from trace_gym.policies.hints import require_hints
from trace_gym.trainers.config import GRPOConfig


def train(run: Run) -> None:
    """Train one adapter per environment and seed, and the baselines that the settings enable."""
    out, c = run.path("adapters.json"), run.config
    names = learnable(run)
    if not names:
        raise NoSignal(
            f"the rewards of the base model do not vary enough in any of {', '.join(common.environments(run))}, so "
            f"GRPO cannot train it (see {run.path('skill.json')}). Use a stronger model, easier levels, or a lower "
            "skill.informative"
        )
    jobs = _jobs(run, names)

    def work() -> str:
        warning = require_hints(names, c.train.hints if isinstance(c.train, GRPOConfig) else 0.0)
        total = sum(job.config["iterations"] for job in jobs)
        results = common.run_with_progress(
            run, jobs, lambda: sum(common.lines(j.out / "metrics.jsonl") for j in jobs), total, "iterations"
        )
        for made in results:  # relative paths, so that the folder can be moved
            made |= {"path": os.path.relpath(made["path"], run.folder)} if "path" in made else {}
        write(out, json.dumps(results, indent=1) + "\n")
        trained = [r for r in results if "path" in r]
        stopped = "".join(f"; {r['name']}: {r['no_signal']}" for r in results if "no_signal" in r)
        if c.evaluate.mixture and len(names) == 1:
            stopped += f"; evaluate.mixture has no effect, because {names[0]} is the only training environment"
        stopped += f"; {warning}" if warning else ""
        return f"{len(trained)} adapters from {sum(r['rollouts'] for r in trained)} rollouts{stopped}"

    settings = {
        "train": c.train.model_dump(mode="json"),
        "seeds": c.seeds,
        "names": names,
        "evaluate": c.evaluate.model_dump(),
    }
    run.stage("train", {**settings, "target": c.target.model_dump(), **training_inputs(run, names)}, [out], work)


def _jobs(run: Run, names: list[str]) -> list[TrainJob]:
    c, jobs = run.config, []
    for seed in c.seeds:
        for name in names:
            jobs.append(_job(run, name, seed, {name: common.levels(run, name)}, 1))
        # Each baseline is trained on as many rollouts as all adapters of this seed together.
        if c.evaluate.mixture and len(names) > 1:
            jobs.append(_job(run, common.MIXTURE, seed, {n: common.levels(run, n) for n in names}, len(names)))
        if c.evaluate.grpo_target:
            jobs.append(_job(run, common.GRPO_TARGET, seed, {c.target.env: list(c.target.levels)}, len(names)))
    return sorted(jobs, key=lambda j: -int(j.config["iterations"]))  # longest first, to balance the workers


def _job(run: Run, name: str, seed: int, levels: dict[str, list[int]], share: int) -> TrainJob:
    settings = run.config.train.model_dump(mode="json")
    settings |= {"seed": seed, "iterations": run.config.train.iterations * share, "user": run.config.user}
    if isinstance(teachers := settings.get("teachers"), dict):
        settings["teachers"] = {env: folder for env, folder in teachers.items() if env in levels}
    settings["levels"] = {env: common.weights(run, env, drawn) for env, drawn in levels.items()}
    return TrainJob(
        name=f"{name}-s{seed}",
        mixture=tuple((env, 1.0) for env in levels),
        model=run.config.model,
        config=settings,
        out=run.path("adapters", f"{name}-s{seed}"),
    )
