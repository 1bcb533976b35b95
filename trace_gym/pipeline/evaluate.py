"""The evaluate stage of a run: comparison of base model, adapters and routing on held-out tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from trace_gym import evaluation, registry
from trace_gym.evaluation import (
    Evaluation,
    PolicyRunner,
    markdown,
    merge,
    oracle_choices,
    random_choices,
    routed,
)
from trace_gym.files import write
from trace_gym.pipeline import common
from trace_gym.pipeline.ledger import Run
from trace_gym.pipeline.route import ground_truth_capabilities, test_scenarios
from trace_gym.pipeline.skill import learnable
from trace_gym.records import read_records
from trace_gym.types import Adapter, Scenario, Trajectory


def evaluate(run: Run) -> None:
    """Collect rollouts of the base model and each adapter on held-out tasks, and write the evaluation."""
    c = run.config
    results = common.read_stage_output(run.path("adapters.json"))
    adapters = {r["name"]: r for r in results if "path" in r}
    outputs = [run.path("evaluation", f"level-{level}.json") for level in c.target.levels]
    gains_file = run.path("proof.json")

    def work() -> str:
        decides = {
            "temperature": c.evaluate.temperature,
            **weights,
            **common.model_key(run),
            **common.environment_key(c.target.env),
        }
        run.discard_stale("evaluate", decides, sorted(run.path("rollouts").glob("*/*.jsonl")))
        _collect_rollouts(run, adapters)
        write(gains_file, json.dumps([a.model_dump() for a in _adapter_gains(run, adapters)], indent=1) + "\n")
        message = []
        for level, out in zip(c.target.levels, outputs, strict=True):
            merged = merge([_evaluation(run, level, seed, adapters) for seed in c.seeds])
            merged.write(out)
            write(out.with_suffix(".md"), markdown(merged))
            rates = ", ".join(f"{r.name} {r.rate:.0%}" for r in merged.rows if r.rate is not None)
            message.append(f"level {level}: {rates}")
        return "; ".join(message)

    depends = {
        "evaluate": c.evaluate.model_dump(),
        "target": c.target.model_dump(),
        "seeds": c.seeds,
        "routing": run.path("routing.json"),
    }
    weights = {name: run.path(r["path"]) for name, r in adapters.items()}
    run.stage(
        "evaluate",
        {**depends, **weights, **common.model_key(run), **common.environment_key(c.target.env)},
        [*outputs, gains_file],
        work,
    )


def _collect_rollouts(run: Run, adapters: dict[str, Any]) -> None:
    c, jobs = run.config, []
    names = learnable(run)
    policies: dict[str, Path | None] = {common.BASE: None} | {n: run.path(r["path"]) for n, r in adapters.items()}
    for name, path in policies.items():
        sets = [(test_scenarios(run, level), f"test-{level}") for level in c.target.levels]
        sets += [(_validation(run, level), f"validate-{level}") for level in c.target.levels]
        env = name.rpartition("-s")[0]
        own = names if name == common.BASE else [env] if env in names else []
        sets += [(_own(run, n), f"own-{n}") for n in own]
        files = tuple((tuple(map(str, scenarios)), _records(run, name, kind)) for scenarios, kind in sets)
        jobs.append(common.rollout_job(run, "evaluate", name, path, files, c.evaluate.temperature))
    total = sum(len(scenario_ids) for job in jobs for scenario_ids, _ in job.scenario_sets)
    paths = [path for job in jobs for _, path in job.scenario_sets]
    common.run_with_progress(run, jobs, lambda: sum(map(common.lines, paths)), total, "episodes")


def _evaluation(run: Run, level: int, seed: int, adapters: dict[str, Any]) -> Evaluation:
    """Evaluate all policies for one level and training seed, from the recorded rollouts."""
    names = [n for n in learnable(run) if f"{n}-s{seed}" in adapters]
    tests, validation = test_scenarios(run, level), _validation(run, level)
    capability = {n: registry.load_world(n).capability for n in names}

    def policies_by_option(kind: str) -> dict[str, PolicyRunner]:
        made = {common.BASE: _recorded(run, common.BASE, kind)}
        return made | {capability[n]: _recorded(run, f"{n}-s{seed}", kind) for n in names}

    single = policies_by_option(f"test-{level}")
    options = {"none" if n == common.BASE else n: p for n, p in single.items()}
    chosen: dict[str, str] = common.read_stage_output(run.path("routing.json"))["choices"]
    checked = evaluation.evaluate(policies_by_option(f"validate-{level}"), validation, split="validate", seed=seed)
    best = oracle_choices(
        {s: ground_truth_capabilities(s) for s in tests}, checked, {s: ground_truth_capabilities(s) for s in validation}
    )
    # The base model handles tasks whose chosen adapter was not trained.
    rows = dict(single)
    rows["routed"] = routed({s: c if (c := chosen[str(s)]) in options else "none" for s in tests}, options)
    rows["oracle_routed"] = routed(best, options)
    rows["random_routed"] = routed(random_choices(tests, options, seed=seed), options)
    spent = {capability[n]: adapters[f"{n}-s{seed}"]["rollouts"] for n in names}
    spent |= dict.fromkeys(("routed", "oracle_routed", "random_routed"), sum(spent.values()))
    for row in (common.MIXTURE, common.GRPO_TARGET):
        if f"{row}-s{seed}" in adapters:
            rows[row] = _recorded(run, f"{row}-s{seed}", f"test-{level}")
            spent[row] = adapters[f"{row}-s{seed}"]["rollouts"]
    note = f"model {run.config.model.name}"
    temperature = run.config.evaluate.temperature
    return evaluation.evaluate(rows, tests, temperature=temperature, seed=seed, rollouts_trained=spent, note=note)


def _adapter_gains(run: Run, adapters: dict[str, Any]) -> list[Adapter]:
    """Return the success rates of each adapter and the base model on held-out scenarios of the trained environment."""
    gains = []
    for name in learnable(run):
        before = _rate(read_records(_records(run, common.BASE, f"own-{name}")))
        for seed in run.config.seeds:
            if (trained := adapters.get(f"{name}-s{seed}")) is None:
                continue
            after = _rate(read_records(_records(run, f"{name}-s{seed}", f"own-{name}")))
            gains.append(
                Adapter(
                    capability=registry.load_world(name).capability,
                    env=name,
                    seed=seed,
                    path=trained["path"],
                    base_model=run.config.model.name,
                    rank=run.config.train.lora_rank,
                    trained_on=registry.manifest(name).module_sha256,
                    rollouts=trained["rollouts"],
                    before=before,
                    after=after,
                    heldout=run.config.evaluate.own_tasks,
                )
            )
    return gains


def _recorded(run: Run, name: str, kind: str) -> PolicyRunner:
    """Return a policy that looks up recorded rollouts. At temperature 0, they equal new rollouts of the adapter."""
    by_task = {t.task: t for t in read_records(_records(run, name, kind))}
    return lambda scenarios: [by_task[str(s)] for s in scenarios]


def _records(run: Run, name: str, kind: str) -> Path:
    return run.path("rollouts", name, f"{kind}.jsonl")


def _validation(run: Run, level: int) -> list[Scenario]:
    return registry.scenarios(run.config.target.env, "validate", run.config.evaluate.validation_tasks, levels=[level])


def _own(run: Run, name: str) -> list[Scenario]:
    # Skip the scenarios that the skill stage used.
    offset = run.config.skill.groups
    return registry.scenarios(
        name, "validate", run.config.evaluate.own_tasks, levels=common.levels(run, name), offset=offset
    )


def _rate(records: list[Trajectory]) -> float:
    return sum(bool(t.success) for t in records) / max(1, len(records))
