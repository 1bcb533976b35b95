"""The rollouts stage of a run: the trajectories that are diagnosed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from trace_gym import registry
from trace_gym.evaluation import ScenarioLedger
from trace_gym.files import replacement, write
from trace_gym.pipeline import common
from trace_gym.pipeline.ledger import VERSION, Run
from trace_gym.records import read_records
from trace_gym.targets.source import SkippedRecord
from trace_gym.types import to_jsonl


def rollouts(run: Run) -> None:
    """Collect rollouts of the agent on the split ``select`` of the target, or read them from a results file.

    Do nothing if the settings list environments or capabilities, because the run then does not require a diagnosis.
    """
    if not run.config.diagnoses:
        run.ledger.pop("rollouts", None)  # remove the entry of an earlier configuration
        return
    out = run.path("rollouts", "select.jsonl")
    if run.config.source is not None:
        _read_source(run)
        return
    c = run.config
    scenarios = registry.scenarios(c.target.env, "select", c.rollouts.tasks, levels=c.target.levels)

    parts = [out.with_suffix(f".{n}.jsonl") for n in range(c.workers)]

    def work() -> str:
        decides = {
            "temperature": c.rollouts.temperature,
            **common.model_key(run),
            **common.environment_key(c.target.env),
        }
        run.discard_stale("rollouts", decides, parts)
        ScenarioLedger(run.path("seen.json")).claim("rollouts", scenarios)
        jobs = [
            common.sampling_job(
                run, "rollouts", scenarios[n :: c.workers], part, c.rollouts.temperature, c.rollouts.samples
            )
            for n, part in enumerate(parts)
        ]
        common.run_with_progress(
            run, jobs, lambda: sum(common.lines(p) for p in parts), len(scenarios) * c.rollouts.samples, "episodes"
        )
        write(out, to_jsonl(t for part in parts for t in read_records(part)))
        return f"{c.target.env}: {_summary(Counter(t.success for t in read_records(out)))}"

    depends = {"target": c.target.model_dump(), "rollouts": c.rollouts.model_dump(), "workers": c.workers}
    run.stage("rollouts", {**depends, **common.model_key(run), **common.environment_key(c.target.env)}, [out], work)


def _read_source(run: Run) -> None:
    from trace_gym.targets.results import files_of, stream_results

    source, out = run.config.source, run.path("rollouts", "select.jsonl")
    assert source is not None
    scorer, skip_invalid = run.config.scorer, run.config.skip_invalid

    def work() -> str:
        skipped, equal = list[SkippedRecord](), list[str]()
        on_invalid = skipped.append if skip_invalid else None
        outcomes = Counter[bool | None]()

        def lines() -> Iterator[str]:
            for record in stream_results(source, scorer=scorer, on_invalid=on_invalid, on_equal=equal.append):
                outcomes[record.success] += 1
                yield to_jsonl([record])

        with replacement(out) as new, new.open("w", encoding="utf-8") as file:
            file.writelines(lines())
        note = f"; {len(skipped)} records skipped, the first: {skipped[0].message}" if skipped else ""
        note += f"; equal to earlier records: {len(equal)}, the first: {equal[0]}" if equal else ""
        return f"{source}: {_summary(outcomes)}{note}"

    depends = {"source": files_of(source), "version": VERSION, "scorer": scorer, "skip_invalid": skip_invalid}
    run.stage("rollouts", depends, [out], work)


def _summary(outcomes: Counter[bool | None]) -> str:
    scored = outcomes[True] + outcomes[False]
    share = f"{outcomes[True] / scored:.0%} successful" if scored else "none scored"
    return f"{outcomes.total()} episodes, {share}"
