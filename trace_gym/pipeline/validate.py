"""The validate stage of a run: validation of the chosen environments."""

from __future__ import annotations

from trace_gym.errors import ConfigError
from trace_gym.files import write
from trace_gym.pipeline import common
from trace_gym.pipeline.ledger import VERSION, Run


def validate(run: Run) -> None:
    """Validate each chosen environment in this process."""
    from trace_gym import validation

    names = list(common.environments(run))
    outputs = [run.path("validation", f"{name}.json") for name in names]

    def work() -> str:
        checked = 0
        for name, out in zip(names, outputs, strict=True):
            report = validation.validate(name, profile=run.config.validation, progress=False)
            report = report.model_copy(update={"env": name})  # report the name instead of a local path
            write(out, report.model_dump_json(indent=1) + "\n")
            checked = len(report.findings)
            if not report.passed:
                failed = [f"{f.code} {f.message}" for f in report.findings if not f.passed]
                raise ConfigError(f"{name} failed its validation: {'; '.join(failed)}. See the report {out}")
        return f"{len(names)} environments passed {checked} properties each"

    depends = {"profile": run.config.validation, "version": VERSION}
    run.stage("validate", {**depends, **{n: common.environment_key(n) for n in names}}, outputs, work)
