"""The route stage of a run: selection of an adapter for each held-out task."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from trace_gym import registry
from trace_gym.evaluation import (
    ScenarioLedger,
    first_messages,
    held_out,
)
from trace_gym.files import write
from trace_gym.models import load_weights
from trace_gym.pipeline import common, named
from trace_gym.pipeline.ledger import Run
from trace_gym.pipeline.skill import learnable
from trace_gym.route import LogitRouter, Routing, accuracy, description_of, options_for
from trace_gym.types import Scenario


def route(run: Run) -> None:
    """Choose an adapter for each held-out task from its first user message."""
    out, c = run.path("routing.json"), run.config
    names = learnable(run)

    def work() -> str:
        choices: dict[str, str] = {}
        reports: dict[str, Any] = {}
        router = _router(run, names)
        for level in c.target.levels:
            scenarios = test_scenarios(run, level)
            chosen = router.choose_all(first_messages(scenarios, common.user_model(run)))
            choices |= {str(s): c.capability for s, c in zip(scenarios, chosen, strict=True)}
            reports[str(level)] = accuracy(chosen, list(map(ground_truth_capabilities, scenarios))).model_dump(
                mode="json"
            )
        write(out, json.dumps({"choices": choices, "routing": reports}, indent=1) + "\n")
        shares = ", ".join(f"level {level}: {_accuracy(r)} routed to a needed option" for level, r in reports.items())
        return f"{shares}; {router.warning}" if router.warning else shares

    depends: dict[str, Any] = {
        "route": c.route.model_dump(),
        "target": c.target.model_dump(),
        "tasks": c.evaluate.tasks,
        "names": names,
    }
    if not c.diagnoses:
        depends["capabilities"] = c.capabilities
    levels = {n: common.levels(run, n) for n in names}
    run.stage(
        "route",
        {**depends, "levels": levels, **common.model_key(run), **common.environment_key(c.target.env)},
        [out],
        work,
    )


def _router(run: Run, names: Sequence[str]) -> LogitRouter:
    known = named.descriptions(run)
    descriptions = {n: description_of(registry.manifest(n), known) for n in names}
    options = options_for(descriptions, levels={n: common.levels(run, n) for n in names})
    settings, agent = run.config.route, run.config.model
    model, tokenizer = load_weights(agent)
    return LogitRouter(
        model,
        tokenizer,
        options,
        permutations=settings.permutations,
        threshold=settings.threshold,
        template=agent.template,
    )


def _accuracy(report: dict[str, Any]) -> str:
    share = Routing.model_validate(report).accuracy
    return "no tasks" if share is None else f"{share:.0%}"


def ground_truth_capabilities(scenario: Scenario) -> frozenset[str]:
    """Return the capabilities that a task requires, computed by its world."""
    return registry.start_episode(scenario).start.needs()


def test_scenarios(run: Run, level: int) -> list[Scenario]:
    used = ScenarioLedger(run.path("seen.json"))
    return held_out(run.config.target.env, run.config.evaluate.tasks, used, levels=[level])
