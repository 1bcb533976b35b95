"""Validation of the hint in the plan of an environment. A hint is used only if it does not reveal the solution."""

from __future__ import annotations

from dataclasses import replace

from trace_gym.files import write
from trace_gym.policies.hints import CHECKED
from trace_gym.synthesis.repair_loop import AuthoringContext, Candidate, validate_candidate
from trace_gym.types import Report
from trace_gym.validation.context import NO_INPUTS


def check_hint(context: AuthoringContext, candidate: Candidate) -> Report:
    """Check the planned hint of a version that passed, and return its report with the finding about the hint.

    If the hint does not pass the property `CHECKED`, for example because it contains a value that the oracle uses, the
    hint is not used, and the report is returned unchanged.
    """
    report, plan = candidate.report, context.spec.plan
    assert report is not None
    first = f"    levels = range({len(context.spec.levels)})\n"
    if plan is None or not plan.hint or first not in candidate.text or CHECKED not in context.validation.codes:
        return report
    alone = replace(
        context,
        candidate_folder=context.candidate_folder / "hint",
        validation=replace(context.validation, only=(CHECKED,), given=NO_INPUTS),
    )
    write(alone.module, candidate.text.replace(first, f"{first}    hint = {plan.hint!r}\n", 1))
    found = next(f for f in validate_candidate(alone).findings if f.code == CHECKED)
    if found.verdict != "passed":
        context.log(f"{context.spec.id}: the planned hint is not used: {found.message}")
        return report
    return report.model_copy(update={"findings": tuple(found if f.code == CHECKED else f for f in report.findings)})
