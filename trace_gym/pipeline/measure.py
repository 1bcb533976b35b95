"""Routing and evaluation on held-out tasks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trace_gym import registry
from trace_gym.errors import MissingExtra
from trace_gym.evaluate import (
    Evaluation,
    Player,
    Seen,
    evaluate_policies,
    held_out,
    markdown,
    merge,
    openings,
    oracle_choices,
    random_choices,
    routed,
)
from trace_gym.files import write
from trace_gym.pipeline import common, named
from trace_gym.pipeline.ledger import Run
from trace_gym.pipeline.training import learnable
from trace_gym.route import LogitRouter, Routing, accuracy, description_of, options_for
from trace_gym.types import Adapter, Scenario, Trajectory


def route(run: Run) -> None:
    """Choose an adapter for every held-out task, before any of them is played."""
    out, c = run.path("routing.json"), run.config
    names = learnable(run)

    def work() -> str:
        choices: dict[str, str] = {}
        reports: dict[str, Any] = {}
        router = _router(run, names)
        for level in c.target.levels:
            scenarios = _test(run, level)
            chosen = router.choose_all(openings(scenarios, common.speaker(run)))
            choices |= {str(s): c.capability for s, c in zip(scenarios, chosen, strict=True)}
            reports[str(level)] = accuracy(chosen, [needs(s) for s in scenarios]).model_dump(mode="json")
        write(out, json.dumps({"choices": choices, "routing": reports}, indent=1) + "\n")
        return ", ".join(f"level {level}: {_accuracy(r)} to a needed option" for level, r in reports.items())

    depends: dict[str, Any] = {
        "route": c.route.model_dump(),
        "target": c.target.model_dump(),
        "tasks": c.evaluate.tasks,
        "names": names,
    }
    if not c.diagnoses:
        depends["capabilities"] = c.capabilities
    levels = {n: common.levels(run, n) for n in names}
    run.stage("route", {**depends, "levels": levels, **common.base(run), **common.env(c.target.env)}, [out], work)


def _router(run: Run, names: Sequence[str]) -> LogitRouter:
    try:
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError as error:
        raise MissingExtra(f"{error.name} is missing; pip install 'trace-gym[lab]'") from None
    known = named.descriptions(run)
    descriptions = {n: description_of(registry.manifest(n), known) for n in names}
    options = options_for(descriptions, levels={n: common.levels(run, n) for n in names})
    folder = common.model(run)
    settings, train = run.config.route, run.config.train
    loaded: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=train.dtype)
    model = loaded.to(train.device).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    return LogitRouter(model, tokenizer, options, permutations=settings.permutations, threshold=settings.threshold)


def evaluate(run: Run) -> None:
    """Play the held-out tasks with the base and every adapter, and put the rows together."""
    c = run.config
    results = common.stored(run.path("adapters.json"))
    adapters = {r["name"]: r for r in results if "path" in r}
    outputs = [run.path("evaluation", f"level-{level}.json") for level in c.target.levels]
    proof = run.path("proof.json")

    def work() -> str:
        decides = {"temperature": c.evaluate.temperature, **weights, **common.base(run), **common.env(c.target.env)}
        run.discard_stale("evaluate", decides, sorted(run.path("rollouts").glob("*/*.jsonl")))
        _play(run, adapters)
        write(proof, json.dumps([a.model_dump() for a in _proofs(run, adapters)], indent=1) + "\n")
        says = []
        for level, out in zip(c.target.levels, outputs, strict=True):
            evaluation = merge([_evaluation(run, level, seed, adapters) for seed in c.seeds])
            evaluation.write(out)
            write(out.with_suffix(".md"), markdown(evaluation))
            rates = ", ".join(f"{r.name} {r.rate:.0%}" for r in evaluation.rows if r.rate is not None)
            says.append(f"level {level}: {rates}")
        return "; ".join(says)

    depends = {
        "evaluate": c.evaluate.model_dump(),
        "target": c.target.model_dump(),
        "seeds": c.seeds,
        "routing": run.path("routing.json"),
    }
    weights = {name: run.path(r["path"]) for name, r in adapters.items()}
    run.stage(
        "evaluate", {**depends, **weights, **common.base(run), **common.env(c.target.env)}, [*outputs, proof], work
    )


def _play(run: Run, adapters: dict[str, Any]) -> None:
    c, plays = run.config, []
    names = learnable(run)
    policies: dict[str, Path | None] = {common.BASE: None} | {n: run.path(r["path"]) for n, r in adapters.items()}
    for name, path in policies.items():
        sets = [(_test(run, level), f"test-{level}") for level in c.target.levels]
        sets += [(_validation(run, level), f"validate-{level}") for level in c.target.levels]
        env = name.rpartition("-s")[0]
        own = names if name == common.BASE else [env] if env in names else []
        sets += [(_own(run, n), f"own-{n}") for n in own]
        files = tuple((tuple(map(str, scenarios)), _records(run, name, kind)) for scenarios, kind in sets)
        plays.append(common.play(run, name, path, files, c.evaluate.temperature))
    total = sum(len(addresses) for job in plays for addresses, _ in job.plays)
    paths = [path for job in plays for _, path in job.plays]
    common.watch(run, plays, lambda: sum(map(common.lines, paths)), total, "episodes")


def _evaluation(run: Run, level: int, seed: int, adapters: dict[str, Any]) -> Evaluation:
    """All rows of one level and training seed, from the records that were played."""
    names = [n for n in learnable(run) if f"{n}-s{seed}" in adapters]
    tests, validation = _test(run, level), _validation(run, level)
    capability = {n: registry.load(n).capability for n in names}

    def players(kind: str) -> dict[str, Player]:
        made = {common.BASE: _stored(run, common.BASE, kind)}
        return made | {capability[n]: _stored(run, f"{n}-s{seed}", kind) for n in names}

    single = players(f"test-{level}")
    options = {"none" if n == common.BASE else n: p for n, p in single.items()}
    chosen: dict[str, str] = common.stored(run.path("routing.json"))["choices"]
    checked = evaluate_policies(players(f"validate-{level}"), validation, split="validate", seed=seed)
    best = oracle_choices({s: needs(s) for s in tests}, checked, {s: needs(s) for s in validation})
    # A choice whose adapter was not trained falls to the base model.
    rows = dict(single)
    rows["routed"] = routed({s: c if (c := chosen[str(s)]) in options else "none" for s in tests}, options)
    rows["oracle_routed"] = routed(best, options)
    rows["random_routed"] = routed(random_choices(tests, options, seed=seed), options)
    spent = {capability[n]: adapters[f"{n}-s{seed}"]["rollouts"] for n in names}
    spent |= dict.fromkeys(("routed", "oracle_routed", "random_routed"), sum(spent.values()))
    for row in (common.MIXTURE, common.GRPO_TARGET):
        if f"{row}-s{seed}" in adapters:
            rows[row] = _stored(run, f"{row}-s{seed}", f"test-{level}")
            spent[row] = adapters[f"{row}-s{seed}"]["rollouts"]
    note = f"model {run.config.model}"
    temperature = run.config.evaluate.temperature
    return evaluate_policies(rows, tests, temperature=temperature, seed=seed, rollouts_trained=spent, note=note)


def _proofs(run: Run, adapters: dict[str, Any]) -> list[Adapter]:
    """Before and after of each capability adapter on held-out scenarios of its own environment."""
    proofs = []
    for name in learnable(run):
        before = _rate(common.trajectories(_records(run, common.BASE, f"own-{name}")))
        for seed in run.config.seeds:
            if (trained := adapters.get(f"{name}-s{seed}")) is None:
                continue
            after = _rate(common.trajectories(_records(run, f"{name}-s{seed}", f"own-{name}")))
            proofs.append(
                Adapter(
                    capability=registry.load(name).capability,
                    env=name,
                    seed=seed,
                    path=trained["path"],
                    base_model=run.config.model,
                    rank=run.config.train.lora_rank,
                    trained_on=registry.manifest(name).module_sha256,
                    rollouts=trained["rollouts"],
                    before=before,
                    after=after,
                    heldout=run.config.evaluate.own_tasks,
                )
            )
    return proofs


def needs(scenario: Scenario) -> frozenset[str]:
    """The capabilities that a task is known to need, derived by its world."""
    return registry.episode(scenario).start.needs()


def _stored(run: Run, name: str, kind: str) -> Player:
    """Plays from the records on disk: at temperature 0 a routed task is the chosen adapter's own attempt."""
    by_task = {t.task: t for t in common.trajectories(_records(run, name, kind))}
    return lambda scenarios: [by_task[str(s)] for s in scenarios]


def _records(run: Run, name: str, kind: str) -> Path:
    return run.path("rollouts", name, f"{kind}.jsonl")


def _test(run: Run, level: int) -> list[Scenario]:
    used = Seen(run.path("seen.json"))
    return held_out(run.config.target.env, run.config.evaluate.tasks, used, levels=[level])


def _validation(run: Run, level: int) -> list[Scenario]:
    return registry.scenarios(run.config.target.env, "validate", run.config.evaluate.validation_tasks, levels=[level])


def _own(run: Run, name: str) -> list[Scenario]:
    # Behind those that the skill gate has looked at.
    offset = run.config.skill.groups
    return registry.scenarios(
        name, "validate", run.config.evaluate.own_tasks, levels=common.levels(run, name), offset=offset
    )


def _rate(records: list[Trajectory]) -> float:
    return sum(bool(t.success) for t in records) / max(1, len(records))


def _accuracy(report: dict[str, Any]) -> str:
    share = Routing.model_validate(report).accuracy
    return "no task" if share is None else f"{share:.0%}"
