"""Language-model checks of an environment (TG214 and TG215), whose findings are added to a validation report."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from trace_gym.llm import Model
from trace_gym.review.process import review
from trace_gym.review.solving import solve
from trace_gym.types import Finding, Report
from trace_gym.validation import PROFILES, PROPERTIES
from trace_gym.validation.model_review import MODEL_CODES, REVIEW, SOLVER


@dataclass(frozen=True)
class Checkers:
    """Language models that check environments."""

    reviewer: Model | None = None
    """Model that reads the module (TG214); None for no review."""
    solver: Model | None = None
    """Model in the role of the agent (TG215); None if no model solves scenarios."""
    reader: Model | None = None
    """Model that judges the evidence of the other two; None if they judge it themselves, in a new conversation."""


NO_CHECKERS = Checkers()


def add_model_checks(
    report: Report,
    path: Path,
    checkers: Checkers,
    *,
    levels: Collection[int] | None = None,
    seeds_per_level: int | None = None,
) -> Report:
    """Return the report with the findings of the language models on an environment that passed the other properties.

    Args:
        report: Report of the other properties.
        path: Module file of the environment.
        checkers: Language models. Properties without a model remain as they are in the report.
        levels: Levels of the scenarios that the solver gets; all by default.
        seeds_per_level: Number of scenarios per level of the validation. The solver gets at most this number.

    Raises:
        ModelError: The reviewer did not answer, or its answer is not valid. An error of the solver skips TG215 instead.
        BudgetSpent: The budget of a model is spent.
        ConfigError: A model is not configured correctly.
        ReadError, EnvBug, SandboxError: The module cannot be read, loaded, or isolated.
    """
    count = PROFILES[report.profile].solver_scenarios
    count = count if seeds_per_level is None else min(count, seeds_per_level)
    reviewer, solver, reader = checkers.reviewer, checkers.solver, checkers.reader
    if reviewer is not None:
        report = _checked(report, REVIEW, lambda: review(path, reviewer, reader))
    if solver is not None:
        report = _checked(
            report, SOLVER, lambda: solve(path, solver, reader, count=count, levels=levels, reference=report.env)
        )
    return report


def _checked(report: Report, code: str, check: Callable[[], Finding]) -> Report:
    """Return the report with a new finding for a property, if the property was selected.

    The check runs only if no other property failed. Properties later in `MODEL_CODES` are ignored: in the report of an
    interrupted run, they may still have an old finding, which a later call replaces.
    """
    if not any(f.code == code for f in report.findings):
        return report
    again = MODEL_CODES[MODEL_CODES.index(code) :]
    if any(not f.passed for f in report.findings if f.code not in again):
        found = PROPERTIES[code].finding("skipped", "not checked, because another property failed or was unfinished")
    else:
        found = check()
    findings = tuple(found if f.code == code else f for f in report.findings)
    return report.model_copy(update={"findings": findings, "passed": all(f.passed for f in findings)})
