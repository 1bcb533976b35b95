"""Construction of reports from the output of a sandboxed job, with checks that reject inconsistent output."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from trace_gym.model_text import clean
from trace_gym.sandbox.filesystem_view import WORK
from trace_gym.types import Finding, FindingVerdict, Report
from trace_gym.validation import PROPERTIES
from trace_gym.validation.loading import LOADS, failed_to_load
from trace_gym.validation.stacks import environment_frame

TAMPERED = "tampered"
"""Value of `JobOutcome.ended` if the worker has detected that the module tampered with the validation code."""
SHOWN = 5
"""Maximum number of items that a message lists."""


@dataclass(frozen=True)
class SandboxedRequest:
    """Validation request that the output of the sandbox is checked against."""

    reference: str
    """Path of the module as specified by the caller."""
    codes: tuple[str, ...]
    profile: str
    names: Mapping[str, str] = field(default_factory=dict)
    """Mapping from the path of each user file below ``given`` in the sandbox's private folder to the user's path."""


@dataclass(frozen=True)
class JobOutcome:
    """Output lines and result of one sandboxed job."""

    lines: list[dict[str, Any]] = field(default_factory=list)
    ended: str = ""
    message: str = ""
    log: str = ""
    unkilled_processes: bool = False


def build_report(request: SandboxedRequest, outcome: JobOutcome) -> Report:
    """Return the report of one validation run."""
    if outcome.unkilled_processes:
        return _rejected_report(request, "processes that the module started could not be ended")
    try:
        findings = _findings(request, outcome)
    except (ValidationError, ValueError, TypeError, KeyError) as error:
        return _rejected_report(request, f"the output is not a valid report ({type(error).__name__})")
    last = outcome.lines[-1] if outcome.lines else {}
    if outcome.ended and outcome.ended != TAMPERED:
        return _stopped(request, findings, outcome)
    if exception := last.get("exception"):
        return _rejected_report(request, f"validation ended with {_for_caller(str(exception), request)}")
    if not isinstance(ended := last.get("ended"), dict):
        return _rejected_report(request, f"the process ended before validation did{_place(outcome, request)}")
    if inconsistency := _find_inconsistency(request, findings, ended) or (
        "the module tampered with validation" if outcome.ended else ""
    ):
        return _rejected_report(request, inconsistency)
    return Report(
        env=request.reference,
        passed=all(f.passed for f in findings),
        findings=tuple(sorted(findings, key=lambda f: f.code)),
        scenarios=ended["scenarios"],
        profile=request.profile,
    )


def confirm_report(request: SandboxedRequest, first: Report, second: Report) -> Report:
    """Return the first report if the second report is equal and passed, else a report of a rejection."""
    if not second.passed:
        found = "; ".join(f.message for f in second.findings if not f.passed)
        return _rejected_report(request, f"a second run of the same validation did not pass: {found}")
    if first != second:
        pairs = zip(first.findings, second.findings, strict=False)
        differs = ", ".join([a.code for a, b in pairs if a != b][:SHOWN]) or "the number of scenarios"
        return _rejected_report(request, f"a second run of the same validation found something else ({differs})")
    return first


def _findings(request: SandboxedRequest, outcome: JobOutcome) -> list[Finding]:
    made = [Finding.model_validate(line["finding"]) for line in outcome.lines if "finding" in line]
    if any(not math.isfinite(x) for f in made for x in f.metrics.values()):
        raise ValueError("a metric in the report is not a finite number")
    return [_with_caller_paths(f, request) for f in made]


def _find_inconsistency(request: SandboxedRequest, findings: list[Finding], ended: dict[str, Any]) -> str:
    """Return the reason why the output is not a valid report for this request, or `""` if it is valid."""
    if forbidden_actions := ended.get("forbidden_actions"):
        return f"the module did something that environments may not do: {_some(forbidden_actions, request)}"
    if changed := ended.get("changed"):
        return f"the module changed the harness: {_some(changed, request)}"
    if undetected := ended.get("undetected_bugs"):
        return f"validation no longer detects planted bugs: {_some(undetected, request)}"
    codes = [f.code for f in findings]
    alone = len(findings) == 1 and failed_to_load(findings[0])
    late = dict.fromkeys(request.codes) if not alone else {}
    if not alone and (sorted(set(codes)) != sorted(codes) or not set(codes) <= late.keys()):
        return "the report contains other properties than the request"
    if any(f.property != PROPERTIES[f.code].name for f in findings):
        return "the report contains wrong property names"
    if not isinstance(scenarios := ended.get("scenarios"), int) or (not alone and scenarios < 1):
        return f"the report contains an invalid number of scenarios: {ended.get('scenarios')!r}"
    if not alone:
        findings += [PROPERTIES[c].finding("unfinished", "not finished") for c in request.codes if c not in codes]
    return ""


def _stopped(request: SandboxedRequest, findings: list[Finding], outcome: JobOutcome) -> Report:
    """Return the report of a run that was stopped: the current property failed, and later properties are unfinished."""
    if findings[-1:] and failed_to_load(findings[-1]):
        return _report(request, findings[-1:])
    done = {f.code: f for f in findings if f.code in request.codes}
    late = [c for c in request.codes if c not in done]
    if not late:  # the module kept running after the last check, so its findings cannot be trusted
        return _rejected_report(request, f"after the last check, {outcome.message}")
    verdict: FindingVerdict = "unfinished" if outcome.ended in ("budget", "interrupted") else "failed"
    message = f"the sandbox stopped the module: {outcome.message}{_place(outcome, request)}"
    stopped = PROPERTIES[late[0]].finding(verdict, message)
    rest = [PROPERTIES[c].finding("unfinished", f"not finished: {outcome.message}") for c in late[1:]]
    return _report(request, [*done.values(), stopped, *rest])


def _place(outcome: JobOutcome, request: SandboxedRequest) -> str:
    """Return the code location at which the process ended, as part of a sentence, or `""` if it is unknown.

    The location is taken from printed output, which the module can forge.
    """
    at = environment_frame(outcome.log)
    return f"; the process was in {_for_caller(at, request)}" if at else ""


def _rejected_report(request: SandboxedRequest, why: str) -> Report:
    message = f"the sandbox rejected the report: {why}"
    return _report(request, [PROPERTIES[LOADS].finding("failed", message)])


def _report(request: SandboxedRequest, findings: list[Finding]) -> Report:
    ordered = tuple(sorted(findings, key=lambda f: f.code))
    return Report(env=request.reference, passed=False, findings=ordered, scenarios=0, profile=request.profile)


def _some(things: Any, request: SandboxedRequest) -> str:
    items = [str(t) for t in things] if isinstance(things, list) else [str(things)]
    more = f" and {len(items) - SHOWN} more" if len(items) > SHOWN else ""
    return _for_caller(", ".join(items[:SHOWN])[:500], request) + more


def _for_caller(text: str, request: SandboxedRequest) -> str:
    """Remove control characters from a text, and replace paths inside the sandbox with the caller's paths."""
    inside = f"{WORK}/{request.reference.rpartition('/')[2]}"
    text = text.replace(inside, request.reference)
    for place, name in request.names.items():
        text = text.replace(f"{WORK}/given/{place}", name)
    return strip_control_characters(text)


def strip_control_characters(text: str) -> str:
    """Return a text without control characters, except for line breaks."""
    return "\n".join(map(_line, text.split("\n")))


def _line(text: str) -> str:
    """Return a line without terminal control sequences. Its indentation is preserved."""
    indent = len(text) - len(text.lstrip(" "))
    return " " * indent + clean(text)


def _with_caller_paths(finding: Finding, request: SandboxedRequest) -> Finding:
    texts = {
        "message": _for_caller(finding.message, request),
        "counterexample": _for_caller(finding.counterexample, request),
    }
    return finding.model_copy(update=texts)
