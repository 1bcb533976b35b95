"""Sandbox inputs of a candidate module: the modules that it may import, and the files of its target."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from trace_gym.errors import ConfigError
from trace_gym.targets.catalogue import foundation, importable_modules, registered, target
from trace_gym.targets.user.coverage import ANSWERABLE
from trace_gym.targets.user.folder import ANY, TRAJECTORIES, TargetFolder, find
from trace_gym.targets.user.replays import answers, refused
from trace_gym.types import Finding, Report, Spec
from trace_gym.validation import PROPERTIES, CheckFailed

BASE = "base"
"""Blueprint name in the specs of base worlds."""
REPLAY = "TG413"
"""Code of the property that compares a base world with the recorded episodes."""


@dataclass(frozen=True)
class SandboxInputs:
    """Imports and files that are available to a module in the sandbox. The defaults are for registered targets."""

    imports: Sequence[str] = field(default_factory=importable_modules)
    target_files: Mapping[str, str] = field(default_factory=dict)
    """Contents of the files of a custom target, by path relative to the target's folder."""
    recordings: tuple[str, ...] = ()
    """Keys of `target_files` that contain recorded episodes."""
    check_report: Callable[[Report], Report] = lambda report: report
    """Function that applies further requirements to a validation report and returns the resulting report."""


def sandbox_inputs(spec: Spec) -> SandboxInputs:
    """Return the sandbox inputs for the module of a spec.

    Raises:
        TamperedEnv: The base world of the target is not admitted.
        ReadError: A file of the target cannot be read.
    """
    if spec.target in registered():
        return SandboxInputs()
    try:
        target_folder = find(spec.target)
    except ConfigError:
        return SandboxInputs()  # validation reports that the target does not exist
    if spec.blueprint == BASE:
        target_files = target_folder.files(base=False)
        return SandboxInputs(
            foundation(target_folder).modules,
            target_files,
            (TRAJECTORIES,),
            lambda report: require_comparisons(report, target_folder),
        )
    return SandboxInputs(target(spec.target).modules, target_folder.files(), (TRAJECTORIES,))


def require_comparisons(report: Report, target_folder: TargetFolder) -> Report:
    """Return the report of a base world; change `REPLAY` to a failure if too few recorded calls could be compared."""
    findings = {f.code: f for f in report.findings}
    if not report.passed or REPLAY not in findings or not (why := _missing_evidence(findings[REPLAY], target_folder)):
        return report
    failed = PROPERTIES[REPLAY].failed(CheckFailed(why, metrics=findings[REPLAY].metrics))
    return report.model_copy(update={"passed": False, "findings": tuple((findings | {REPLAY: failed}).values())})


def _missing_evidence(finding: Finding, target_folder: TargetFolder) -> str:
    """Return the reason why too few recorded calls could be replayed; empty if there are enough."""
    if finding.verdict == "skipped":
        return f"no recorded call was compared: {finding.message}"
    exempt = {tool for tool, fields in target_folder.settings.not_compared.items() if ANY in fields}
    tools = target_folder.kinds.keys() - exempt
    answered = [
        call.tool
        for e in target_folder.episodes
        for call, result in answers(e)
        if call.tool in tools and not refused(result)
    ]
    known = {tool: int(finding.metrics.get(f"computable_{tool}", 0)) for tool in tools}
    fix = (
        "let `from_records` keep every record that recorded answers show, and let `knows` return true for each call "
        "that these records determine"
    )
    if unknown := sorted(tool for tool in {*answered} if not known[tool]):
        count = answered.count(unknown[0])
        return f"tool {unknown[0]}: `knows` is true for none of {count} answered calls, expected at least 1; {fix}"
    if (count := sum(known.values())) < ANSWERABLE * len(answered):
        return (
            f"`knows` is true for {count} of {len(answered)} answered calls, expected at least {ANSWERABLE:.0%}; {fix}"
        )
    return ""
