"""The hint of a plan: kept out of the module, and shown to rollouts only where it was found to give nothing away."""

from __future__ import annotations

from dataclasses import replace

from trace_gym.files import write
from trace_gym.policies.hints import CHECKED
from trace_gym.synthesize.rounds import Candidate, Desk, examined
from trace_gym.types import Report
from trace_gym.validate.context import NOTHING


def hint_checked(desk: Desk, made: Candidate) -> Report:
    """The report of a version that passed, in which `CHECKED` has judged the planned hint if it found it harmless.

    A hint that names what the oracle does, or tells what to decide, is left aside, and the report stays as it was.
    """
    report, plan = made.report, desk.spec.plan
    assert report is not None
    first = f"    levels = range({len(desk.spec.levels)})\n"
    if plan is None or not plan.hint or first not in made.text or CHECKED not in desk.terms.codes:
        return report
    alone = replace(desk, place=desk.place / "hint", terms=replace(desk.terms, only=(CHECKED,), given=NOTHING))
    write(alone.module, made.text.replace(first, f"{first}    hint = {plan.hint!r}\n", 1))
    found = next(f for f in examined(alone).findings if f.code == CHECKED)
    if found.verdict != "passed":
        desk.tell(f"{desk.spec.id}: its hint is not used: {found.says}")
        return report
    return report.model_copy(update={"findings": tuple(found if f.code == CHECKED else f for f in report.findings)})
