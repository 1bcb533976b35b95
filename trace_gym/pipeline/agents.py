"""From the agent's trajectories to validated environments: rollouts, diagnose, synthesize, validate."""

from __future__ import annotations

import json
from typing import Any

from trace_gym import registry
from trace_gym.diagnose import Diagnosis
from trace_gym.diagnose import diagnose as find
from trace_gym.diagnose import markdown as diagnosis_markdown
from trace_gym.errors import ConfigError, EnvNotFound
from trace_gym.evaluate import Seen
from trace_gym.files import write
from trace_gym.parsing import read_model
from trace_gym.pipeline import authoring, common, named
from trace_gym.pipeline.ledger import VERSION, Run
from trace_gym.types import Capability, Manifest, Trajectory, to_jsonl


def rollouts(run: Run) -> None:
    """Collect the agent's trajectories on the target's select split, or read those of a results file.

    Where the settings name environments or capabilities, nothing is collected.
    """
    if not run.config.diagnoses:
        run.ledger.pop("rollouts", None)  # of an earlier configuration
        return
    out = run.path("rollouts", "select.jsonl")
    if run.config.source is not None:
        _read(run)
        return
    c = run.config
    scenarios = registry.scenarios(c.target.env, "select", c.rollouts.tasks, levels=c.target.levels)

    parts = [out.with_suffix(f".{n}.jsonl") for n in range(c.workers)]

    def work() -> str:
        decides = {"temperature": c.rollouts.temperature, **common.base(run), **common.env(c.target.env)}
        run.discard_stale("rollouts", decides, parts)
        Seen(run.path("seen.json")).claim("rollouts", scenarios)
        jobs = [
            common.sampled(run, scenarios[n :: c.workers], part, c.rollouts.temperature, c.rollouts.samples)
            for n, part in enumerate(parts)
        ]
        common.watch(
            run, jobs, lambda: sum(common.lines(p) for p in parts), len(scenarios) * c.rollouts.samples, "episodes"
        )
        write(out, to_jsonl(t for part in parts for t in common.trajectories(part)))
        return f"{c.target.env}: {_summary(common.trajectories(out))}"

    depends = {"target": c.target.model_dump(), "rollouts": c.rollouts.model_dump(), "workers": c.workers}
    run.stage("rollouts", {**depends, **common.base(run), **common.env(c.target.env)}, [out], work)


def _read(run: Run) -> None:
    from trace_gym.targets.results import read_results

    source, out = run.config.source, run.path("rollouts", "select.jsonl")
    assert source is not None

    def work() -> str:
        records = read_results(source)
        write(out, to_jsonl(records))
        return f"{source}: {_summary(records)}"

    run.stage("rollouts", {"source": source, "version": VERSION}, [out], work)


def diagnose(run: Run) -> None:
    """Name the capabilities whose lack explains the failures, unless the settings name them."""
    if not run.config.diagnoses:
        run.ledger.pop("diagnose", None)
        return
    source, out, page = run.path("rollouts", "select.jsonl"), run.path("diagnosis.json"), run.path("diagnosis.md")
    settings = run.config.diagnose

    def work() -> str:
        found = find(common.trajectories(source), delta=settings.delta, rho=settings.rho)
        write(out, found.model_dump_json(indent=1) + "\n")
        write(page, diagnosis_markdown(found))
        return f"lacking: {', '.join(c.name for c in found.retained) or 'nothing above the thresholds'}"

    run.stage("diagnose", {"source": source, "settings": settings.model_dump(), "version": VERSION}, [out, page], work)


def synthesize(run: Run) -> None:
    """Find, or write, one environment for each capability that was retained, or that the settings name."""
    source, out = run.path("diagnosis.json"), run.path("environments.json")
    config = run.config

    def work() -> str:
        target = _interface(config.target.env)
        asked = (
            list(read_model(source, Diagnosis, "a diagnosis", common.REDO).retained)
            if config.diagnoses
            else named.capabilities(config)
        )
        found: dict[str, Manifest | str] = {card.capability: card for card in named.manifests(config)}
        found |= {c.name: _served(run, c, target) or "" for c in asked}
        missing = [c for c in asked if not found[c.name]]
        if config.author == "llm" and missing:
            found |= authoring.written(run, missing, target)
        chosen = {
            card.id: {"capability": name, "author": card.author, "module": card.module_sha256}
            for name, card in found.items()
            if isinstance(card, Manifest)
        }
        unserved = {name: why for name, why in found.items() if isinstance(why, str)}
        told = [f"{name} ({why})" if why else name for name, why in unserved.items()]
        if not chosen:
            mend = f"read {source}, lower diagnose.delta or diagnose.rho, collect more rollouts"
            mend = mend if config.diagnoses else "name environments that train them"
            raise ConfigError(
                f"no environment serves what was found ({', '.join(told) or 'nothing'}); {mend}, or have environments "
                "written: author: llm"
            )
        write(out, json.dumps({"environments": chosen, "unserved": list(unserved)}, indent=1) + "\n")
        return ", ".join(chosen) + (f"; nothing serves {', '.join(told)}" if told else "")

    depends: dict[str, Any] = {"author": config.author, "version": VERSION}
    if config.diagnoses:
        depends["source"] = source
    else:
        depends |= {"capabilities": config.capabilities, "target": config.target.env}
        depends |= {f"environment {card.id}": card.module_sha256 for card in named.manifests(config)}
    if config.author == "llm":
        depends["llm"] = config.llm.model_dump(mode="json")
    run.stage("synthesize", depends, [out], work)


def _interface(env: str) -> str:
    """The target whose interface an environment keeps: the airline where it names none, or is a mixture."""
    try:
        return registry.manifest(env).target or "tau2_airline"
    except EnvNotFound:
        return "tau2_airline"


def _served(run: Run, capability: Capability, target: str) -> Manifest | None:
    """The environment of the shipped spec, or of the user's own target, that serves a capability; None without one."""
    from trace_gym.synthesize import TemplateAuthor, serving
    from trace_gym.synthesize import synthesize as write_environment

    if (spec := serving(capability, target)) is None:
        return named.registered(capability.name, target)
    if spec.id not in registry.names():
        write_environment(spec, author=TemplateAuthor(), folder=run.path("envs"))
        registry.add_folder(run.path("envs"))
    return registry.manifest(spec.id)


def validate(run: Run) -> None:
    """Check every chosen environment, here and now."""
    from trace_gym import validate as validation

    names = list(common.environments(run))
    outputs = [run.path("validation", f"{name}.json") for name in names]

    def work() -> str:
        checked = 0
        for name, out in zip(names, outputs, strict=True):
            report = validation.validate(name, profile=run.config.validation, progress=False)
            report = report.model_copy(update={"env": name})  # instead of a place on this machine
            write(out, report.model_dump_json(indent=1) + "\n")
            checked = len(report.findings)
            if not report.passed:
                failed = [f"{f.code} {f.says}" for f in report.findings if not f.passed]
                raise ConfigError(f"{name} fails {'; '.join(failed)}; see {out}")
        return f"{len(names)} environments passed {checked} properties each"

    depends = {"profile": run.config.validation, "version": VERSION}
    run.stage("validate", {**depends, **{n: common.env(n) for n in names}}, outputs, work)


def _summary(records: list[Trajectory]) -> str:
    scored = [t for t in records if t.success is not None]
    share = sum(bool(t.success) for t in scored) / max(1, len(scored))
    return f"{len(records)} episodes, {share:.0%} successful"
