"""The diagnose stage of a run: the capabilities that the agent lacks."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from trace_gym.diagnosis import Diagnosis
from trace_gym.diagnosis import diagnose as find
from trace_gym.diagnosis import markdown as diagnosis_markdown
from trace_gym.diagnosis.tables import MANY_UNEXPLAINED
from trace_gym.errors import ConfigError
from trace_gym.files import write
from trace_gym.llm.model_uri import log_to_stderr
from trace_gym.pipeline import common
from trace_gym.pipeline.ledger import VERSION, Run
from trace_gym.records import read_records
from trace_gym.targets.catalogue import all_targets, target_name_of
from trace_gym.targets.results import stream_results
from trace_gym.types import Trajectory


def diagnose(run: Run) -> None:
    """Find the missing capabilities that explain failures, unless the settings list capabilities or environments."""
    if not run.config.diagnoses:
        run.ledger.pop("diagnose", None)
        return
    source, out, page = run.path("rollouts", "select.jsonl"), run.path("diagnosis.json"), run.path("diagnosis.md")
    settings = run.config.diagnose

    def work() -> str:
        _check_target(run, stream_results(source))
        found = _diagnosis(run, source)
        write(out, found.model_dump_json(indent=1) + "\n")
        write(page, diagnosis_markdown(found))
        names = ", ".join(c.name for c in found.selected) or "none above the thresholds"
        return f"missing capabilities: {names}{_advice(found)}"

    run.stage("diagnose", {"source": source, "settings": settings.model_dump(), "version": VERSION}, [out, page], work)


def _advice(found: Diagnosis) -> str:
    """Return a note if the rules leave many failures unexplained."""
    if found.analyst != "rules" or len(found.uncovered) < MANY_UNEXPLAINED * max(found.failed, 1):
        return ""
    share = f"{len(found.uncovered)} of {found.failed} failures are unexplained"
    return f"; {share}: set diagnose.analyst to a language model such as openai:MODEL to find their causes"


def _check_target(run: Run, records: Iterable[Trajectory]) -> None:
    """Check that the diagnosed trajectories are from the benchmark of the environment on which the run is evaluated.

    Raises:
        ConfigError: The trajectories are from a different benchmark, on which no adapter could be evaluated.
    """
    found = {target_name_of(t) for t in records} - {""}
    env = run.config.target.env
    own = common.target_of(env)
    benchmarks = {t.name: t.benchmark or t.name for t in all_targets()}
    if found and benchmarks[own] not in {benchmarks[name] for name in found}:
        raise ConfigError(
            f"the trajectories in source belong to another target: found trajectories of {', '.join(sorted(found))}, "
            f"expected trajectories of {own}, because target.env is {env}. Set target.env to an environment of "
            f"{sorted(found)[0]}"
        )


def _diagnosis(run: Run, source: Path) -> Diagnosis:
    settings = run.config.diagnose
    criteria = settings.model_dump(include={"delta", "rho", "alpha", "confidence"})
    if settings.analyst == "rules":
        return find(stream_results(source), **criteria)
    from trace_gym.diagnosis.analyst import AnalystOptions
    from trace_gym.diagnosis.analyst.opening import open_analyst

    options = AnalystOptions(runs=settings.runs, outcome_aware=settings.outcome_aware)
    with open_analyst(
        settings.analyst,
        options,
        run.path("diagnosis"),
        log_to_stderr,
        tokens=settings.tokens,
        dollars=settings.dollars,
        price=settings.price,
    ) as analyst:
        found = find(
            read_records(source), **criteria, analyst=analyst, consistent=min(settings.keep / settings.runs, 1.0)
        )
        write(run.path("diagnosis", "analyst.json"), analyst.report().model_dump_json(indent=1) + "\n")
        return found
