"""The diagnose stage of a run: the capabilities that the agent lacks."""

from __future__ import annotations

from trace_gym.diagnosis import diagnose as find
from trace_gym.diagnosis import markdown as diagnosis_markdown
from trace_gym.files import write
from trace_gym.pipeline.ledger import VERSION, Run
from trace_gym.records import read_records


def diagnose(run: Run) -> None:
    """Find the missing capabilities that explain failures, unless the settings list capabilities or environments."""
    if not run.config.diagnoses:
        run.ledger.pop("diagnose", None)
        return
    source, out, page = run.path("rollouts", "select.jsonl"), run.path("diagnosis.json"), run.path("diagnosis.md")
    settings = run.config.diagnose

    def work() -> str:
        found = find(read_records(source), delta=settings.delta, rho=settings.rho)
        write(out, found.model_dump_json(indent=1) + "\n")
        write(page, diagnosis_markdown(found))
        return f"missing capabilities: {', '.join(c.name for c in found.selected) or 'none above the thresholds'}"

    run.stage("diagnose", {"source": source, "settings": settings.model_dump(), "version": VERSION}, [out, page], work)
