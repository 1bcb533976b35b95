"""Repair loop: an author writes a module, which is checked and repaired, up to a fixed number of attempts.

All versions are kept on disk. If no version passes, the version with the fewest diagnostics is selected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from trace_gym.errors import RejectedEnv
from trace_gym.files import write
from trace_gym.llm.quoting import fenced, inline
from trace_gym.review import NO_CHECKERS, Checkers, add_model_checks
from trace_gym.sandbox import RULES, SandboxedWorld, lint_source, validate_sandboxed
from trace_gym.synthesis.author import Author, identity_errors
from trace_gym.synthesis.calibrate import Calibration, calibrate_for_policy, calibrate_from_report
from trace_gym.synthesis.diagnostics import (
    LINT_CODE,
    CheckStage,
    Diagnostic,
    diagnostics_of_report,
    excerpt,
    line_numbers,
)
from trace_gym.synthesis.sandbox_inputs import sandbox_inputs
from trace_gym.synthesis.slots import InvalidModuleError
from trace_gym.types import Report, Spec
from trace_gym.validation import ValidationInputs
from trace_gym.validation.context import NO_INPUTS
from trace_gym.validation.loading import LOADS
from trace_gym.validation.selection import select_codes

USER_FILE_CODES = ("TG413", "TG703")
"""Codes of the properties that read the user's files: recorded episodes and held-out tasks."""
MUTATIONS = 5
"""Maximum number of mutations. A mutation rewrites a module that passed, to make it harder or easier for the policy."""

LogFunction = Callable[[str], None]


@dataclass(frozen=True)
class ValidationConfig:
    """Settings for the validation of candidates and for the calibration of their levels."""

    profile: str = "gate"
    budget: float | None = None
    """Time limit in seconds for all properties of one version; None means no limit."""
    workers: int = 2
    only: tuple[str, ...] | None = None
    """Codes or code prefixes of the properties to check; None means all properties."""
    given: ValidationInputs = NO_INPUTS
    checkers: Checkers = NO_CHECKERS
    """Language models that check each version that passed the other properties."""
    policy: str = ""
    """Policy to train, as for `trace_gym.validation.policy_groups.open_policy_or_groups`. The levels are calibrated so
    that its rewards vary. If empty, they are calibrated for a simulated agent between the ablated expert and the
    oracle."""

    @property
    def codes(self) -> set[str]:
        """Codes of the properties to check."""
        return set(select_codes(self.only))


DEFAULT_VALIDATION = ValidationConfig()


@dataclass(frozen=True)
class Candidate:
    """One version of a module with its diagnostics."""

    number: int
    text: str
    stage: CheckStage
    diagnostics: tuple[Diagnostic, ...]
    report: Report | None = None
    """Validation report; None if the module was rejected before it was run."""

    @property
    def passed(self) -> bool:
        """True if the module passed every property that was checked."""
        return self.report is not None and self.report.passed

    @property
    def rank(self) -> tuple[bool, int, int]:
        """Sort key, which is smallest for the best candidate.

        A module that was run is better than a module that was rejected before it was run. Otherwise, the module with
        fewer diagnostics is better. If the numbers are equal, the later version is better.
        """
        return self.report is None, len(self.diagnostics), -self.number

    @property
    def verdict(self) -> str:
        """One-line summary of the result, for the log."""
        if self.report is not None and self.report.passed:
            return f"passed {len(self.report.findings)} properties on {self.report.scenarios} scenarios"
        codes = ", ".join(dict.fromkeys(c.code for c in self.diagnostics))
        if self.report is None:  # no other output shows the reason
            return f"not run: {codes}. First error: {self.diagnostics[0].message}"
        return f"fails {codes}"


@dataclass(frozen=True)
class AuthoringContext:
    """Spec, author, folder and settings for writing one environment."""

    spec: Spec
    author: Author
    candidate_folder: Path
    """Folder of the candidate. It contains the current version as ``<id>.py`` and every version under ``round-<n>``."""
    validation: ValidationConfig
    log: LogFunction
    """Function that receives a log line about each version."""

    @property
    def module(self) -> Path:
        """Path of the current version."""
        return self.candidate_folder / f"{self.spec.id}.py"


def run_repair_loop(context: AuthoringContext) -> Iterator[Candidate]:
    """Yield checked versions of a module until a version passes or no repair attempts remain."""
    spec, author = context.spec, context.author
    best: Candidate | None = None
    for number in range(author.repairs + 1):
        if best is None:
            write_module = partial(author.write, spec)
        else:
            write_module = partial(author.revise, spec, best.text, best.stage, best.diagnostics, number)
        candidate = make_candidate(context, write_module, number)
        if author.repairs:
            context.log(f"{spec.id}, version {number + 1} of at most {author.repairs + 1}: {candidate.verdict}")
        yield candidate
        if candidate.passed:
            return
        best = min((c for c in (best, candidate) if c), key=lambda c: c.rank)


def calibrate_levels(context: AuthoringContext, passed: Candidate) -> tuple[Candidate, Calibration, int]:
    """Fit the level weights to the policy to train, and let the author rewrite the module if no weights are suitable.

    Args:
        context: Spec, author, folder and settings of the environment.
        passed: Version that passed validation.

    Returns:
        The version whose reward statistics are closest to the target ranges, its calibration, and the number of
        mutations that were written.
    """
    best, found = passed, measure_calibration(context, passed)
    name, count = context.spec.id, 0
    while not found.fits and count < MUTATIONS:
        count += 1
        context.log(
            f"{name} is too {found.direction} for {context.validation.policy}, {found.message}; mutation {count}"
        )
        mutate = partial(context.author.mutate, context.spec, best.text, found.direction, found.message, count)
        candidate = make_candidate(context, mutate, passed.number + count)
        context.log(f"{name}, mutation {count} of at most {MUTATIONS}: {candidate.verdict}")
        if candidate.passed and (now := measure_calibration(context, candidate)).distance < found.distance:
            best, found = candidate, now
    short = "" if found.fits else f"; outside the target ranges, using the closest of {count + 1} versions"
    context.log(f"{name}: {found.message}{short}")
    return best, found, count


def measure_calibration(context: AuthoringContext, candidate: Candidate) -> Calibration:
    """Return the calibration of a version that passed. The episodes run in the sandbox, and the policy runs outside."""
    assert candidate.report is not None
    if not context.validation.policy:
        return calibrate_from_report(candidate.report, len(context.spec.levels))
    write(context.module, candidate.text)
    inputs = sandbox_inputs(context.spec)
    with SandboxedWorld(context.module, target_imports=inputs.imports, target_files=inputs.target_files) as world:
        return calibrate_for_policy(world, context.validation.policy)


def make_candidate(context: AuthoringContext, write_module: Callable[[], str], number: int) -> Candidate:
    """Write one version of the module, check it, and save it with its diagnostics in the folder ``round-<number>``."""
    candidate = _checked(context, write_module, number)
    folder = context.candidate_folder / f"round-{number}"
    _forget(folder / "report.json", folder / context.module.name, candidate.text)
    write(folder / context.module.name, candidate.text)
    write(folder / "diagnostics.md", "".join(map(_markdown, candidate.diagnostics)) or "No errors were found.\n")
    if candidate.report is not None:
        write(folder / "report.json", candidate.report.model_dump_json(indent=1) + "\n")
    return candidate


def _checked(context: AuthoringContext, write_module: Callable[[], str], number: int) -> Candidate:
    """Write one version of the module, lint it and, if it has no errors, validate it in the sandbox."""
    try:
        text = write_module()
    except InvalidModuleError as error:
        diagnostics = tuple(_identity_diagnostic(message, error.text) for message in error.errors)
        return Candidate(number, error.text, "lint", diagnostics)
    write(context.module, text)
    if errors := tuple(lint(text, context.spec)):
        return Candidate(number, text, "lint", errors)
    report = _known(context, text, number) or validate_candidate(context)
    report = add_model_checks(report, context.module, context.validation.checkers)
    diagnostics = tuple(diagnostics_of_report(report, text))
    if not report.passed and not diagnostics:
        unfinished = [f.code for f in report.findings if f.verdict == "unfinished"]
        raise RejectedEnv(
            f"{context.spec.id}: validation exceeded the limit of {context.validation.budget:g} seconds; "
            f"{len(unfinished)} of {len(report.findings)} properties, {unfinished[0]} first, were not finished, and no "
            "property failed. Run the same command again with a higher --seconds"
        )
    return Candidate(number, text, "checks", diagnostics, report)


def lint(text: str, spec: Spec) -> Iterator[Diagnostic]:
    """Yield the errors of a module that can be found without running it.

    The module's id and capability are compared with the spec only if the module violates no lint rules.
    """
    if errors := lint_source(text, target_imports=sandbox_inputs(spec).imports):
        yield from (
            Diagnostic(f.rule, f"line {f.line}: {f.message}", RULES[f.rule], "", excerpt(text, [f.line]))
            for f in errors
        )
    else:
        yield from (_identity_diagnostic(message, text) for message in identity_errors(text, spec))


def _identity_diagnostic(message: str, text: str) -> Diagnostic:
    return Diagnostic(LINT_CODE, message, lines=excerpt(text, line_numbers(message)))


def validate_candidate(context: AuthoringContext) -> Report:
    """Validate the current version in the sandbox, regardless of whether its author is trusted."""
    validation, inputs = context.validation, sandbox_inputs(context.spec)
    report = validate_sandboxed(
        context.module,
        profile=validation.profile,
        only=validation.only,
        budget=validation.budget,
        engine="processes" if validation.workers > 1 else "here",
        workers=validation.workers,
        target_imports=inputs.imports,
        target_files=inputs.target_files,
        recordings=inputs.recordings,
        confirm=not context.author.trusted,
    )
    report = inputs.check_report(report)
    return _compared(context, report) if report.passed and validation.given != NO_INPUTS else report


def _compared(context: AuthoringContext, report: Report) -> Report:
    """Check the properties that read the user's files, and return the report with these findings added.

    These properties are checked in a second run, so that only a module that passed all other properties gets access to
    the user's files.
    """
    inputs = sandbox_inputs(context.spec)
    compared = validate_sandboxed(
        context.module,
        profile=context.validation.profile,
        only=USER_FILE_CODES,
        given=context.validation.given,
        target_imports=inputs.imports,
        target_files=inputs.target_files,
    )
    found = {f.code: f for f in compared.findings}
    findings = tuple(found.get(f.code, f) if f.code in (*USER_FILE_CODES, LOADS) else f for f in report.findings)
    return report.model_copy(update={"findings": findings, "passed": report.passed and compared.passed})


def _forget(report: Path, module: Path, text: str) -> None:
    """Remove an existing report if it belongs to a different module text.

    Otherwise, if the process is killed after it writes the new module and before it writes the report, the next run
    would use the old report for the new module.
    """
    if not module.is_file() or module.read_text() != text:
        report.unlink(missing_ok=True)


def _known(context: AuthoringContext, text: str, number: int) -> Report | None:
    """Return the report of an interrupted run for the same module text, or None if there is no reusable report."""
    folder = context.candidate_folder / f"round-{number}"
    try:
        if (folder / context.module.name).read_text() != text:
            return None
        known = Report.model_validate_json((folder / "report.json").read_bytes())
    except (OSError, ValidationError):
        return None
    whole = known.passed and {f.code for f in known.findings} == context.validation.codes
    # An incomplete report without failures cannot be reused.
    usable = whole or diagnostics_of_report(known, text)
    return known if known.profile == context.validation.profile and usable else None


def _markdown(diagnostic: Diagnostic) -> str:
    """Return a diagnostic as a Markdown section."""
    blocks = "".join(f"\n{fenced(b, 'python')}\n" for b in (diagnostic.counterexample, diagnostic.lines) if b)
    return f"## {diagnostic.code} {inline(diagnostic.message)}\n\n{diagnostic.fix}\n{blocks}\n"
