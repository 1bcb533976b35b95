"""From what the harness told from inside to a report, believed only as far as it is what was asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from trace_gym.actions import clean
from trace_gym.sandbox.view import WORK
from trace_gym.types import Finding, Report, Verdict
from trace_gym.validate import PROPERTIES
from trace_gym.validate.loading import LOADS, fails
from trace_gym.validate.stacks import place_in

TAMPERED = "tampered"
"""How an outcome ended whose harness noticed that it was changed."""
SHOWN = 5
"""Things that are named in one sentence."""


@dataclass(frozen=True)
class Asked:
    """What a report has to be about."""

    reference: str
    """How the caller named the module."""
    codes: tuple[str, ...]
    profile: str
    names: Mapping[str, str] = field(default_factory=dict)
    """The user's files by their place below ``given`` in the private folder."""


@dataclass(frozen=True)
class Outcome:
    """What came out of one confined validation; the keeper's answer."""

    lines: list[dict[str, Any]] = field(default_factory=list)
    ended: str = ""
    says: str = ""
    printed: str = ""
    left: bool = False


def report_of(asked: Asked, outcome: Outcome) -> Report:
    """The report of one run."""
    if outcome.left:
        return _distrusted(asked, "processes that it started could not be ended")
    try:
        findings = _findings(asked, outcome)
    except (ValidationError, ValueError, TypeError, KeyError) as error:
        return _distrusted(asked, f"what came back is no report ({type(error).__name__})")
    last = outcome.lines[-1] if outcome.lines else {}
    if outcome.ended and outcome.ended != TAMPERED:
        return _stopped(asked, findings, outcome)
    if raised := last.get("raised"):
        return _distrusted(asked, f"validation ended with {_plain(str(raised), asked)}")
    if not isinstance(ended := last.get("ended"), dict):
        return _distrusted(asked, f"the process ended before validation did{_place(outcome, asked)}")
    if wrong := _inconsistent(asked, findings, ended) or ("it was tampered with" if outcome.ended else ""):
        return _distrusted(asked, wrong)
    return Report(
        env=asked.reference,
        passed=all(f.passed for f in findings),
        findings=tuple(sorted(findings, key=lambda f: f.code)),
        scenarios=ended["scenarios"],
        profile=asked.profile,
    )


def same(asked: Asked, first: Report, second: Report) -> Report:
    """A report that passed, if a second run came to the same."""
    if not second.passed:
        found = "; ".join(f.says for f in second.findings if not f.passed)
        return _distrusted(asked, f"a second run of the same validation did not pass: {found}")
    if first != second:
        pairs = zip(first.findings, second.findings, strict=False)
        differs = ", ".join([a.code for a, b in pairs if a != b][:SHOWN]) or "the number of scenarios"
        return _distrusted(asked, f"a second run of the same validation found something else ({differs})")
    return first


def _findings(asked: Asked, outcome: Outcome) -> list[Finding]:
    made = [Finding.model_validate(line["finding"]) for line in outcome.lines if "finding" in line]
    if any(not math.isfinite(x) for f in made for x in f.figures.values()):
        raise ValueError("a figure is no number")
    return [_readdressed(f, asked) for f in made]


def _inconsistent(asked: Asked, findings: list[Finding], ended: dict[str, Any]) -> str:
    """Why what was told cannot be the report that was asked for; empty where it can."""
    if deeds := ended.get("deeds"):
        return f"the module did what environments may not do: {_some(deeds, asked)}"
    if changed := ended.get("changed"):
        return f"the module changed the harness: {_some(changed, asked)}"
    if missed := ended.get("missed"):
        return f"the harness no longer finds planted faults: {_some(missed, asked)}"
    codes = [f.code for f in findings]
    alone = len(findings) == 1 and fails(findings[0])
    late = dict.fromkeys(asked.codes) if not alone else {}
    if not alone and (sorted(set(codes)) != sorted(codes) or not set(codes) <= late.keys()):
        return "it reports other properties than were to be checked"
    if any(f.property != PROPERTIES[f.code].name for f in findings):
        return "its properties go by other names"
    if not isinstance(scenarios := ended.get("scenarios"), int) or (not alone and scenarios < 1):
        return f"it was checked on {ended.get('scenarios')!r} scenarios"
    if not alone:
        findings += [PROPERTIES[c].finding("unfinished", "not finished") for c in asked.codes if c not in codes]
    return ""


def _stopped(asked: Asked, findings: list[Finding], outcome: Outcome) -> Report:
    """The report of a run that exceeded a limit: what it was at has failed, and the rest is unfinished."""
    if findings[-1:] and fails(findings[-1]):
        return _report(asked, findings[-1:])
    done = {f.code: f for f in findings if f.code in asked.codes}
    late = [c for c in asked.codes if c not in done]
    if not late:  # it went on when all was said, so none of it counts
        return _distrusted(asked, f"when all was checked, {outcome.says}")
    verdict: Verdict = "unfinished" if outcome.ended in ("budget", "interrupted") else "failed"
    says = f"the sandbox stopped it: {outcome.says}{_place(outcome, asked)}"
    stopped = PROPERTIES[late[0]].finding(verdict, says)
    rest = [PROPERTIES[c].finding("unfinished", f"not finished: {outcome.says}") for c in late[1:]]
    return _report(asked, [*done.values(), stopped, *rest])


def _place(outcome: Outcome, asked: Asked) -> str:
    """Where the process was when it ended, as part of a sentence; the module may have printed something else."""
    at = place_in(outcome.printed)
    return f"; it was in {_plain(at, asked)}" if at else ""


def _distrusted(asked: Asked, why: str) -> Report:
    says = f"the sandbox does not believe its report: {why}"
    return _report(asked, [PROPERTIES[LOADS].finding("failed", says)])


def _report(asked: Asked, findings: list[Finding]) -> Report:
    ordered = tuple(sorted(findings, key=lambda f: f.code))
    return Report(env=asked.reference, passed=False, findings=ordered, scenarios=0, profile=asked.profile)


def _some(things: Any, asked: Asked) -> str:
    told = [str(t) for t in things] if isinstance(things, list) else [str(things)]
    more = f" and {len(told) - SHOWN} more" if len(told) > SHOWN else ""
    return _plain(", ".join(told[:SHOWN])[:500], asked) + more


def _plain(text: str, asked: Asked) -> str:
    """Text without control characters, in which the module goes by the caller's name."""
    inside = f"{WORK}/{asked.reference.rpartition('/')[2]}"
    text = text.replace(inside, asked.reference)
    for place, name in asked.names.items():
        text = text.replace(f"{WORK}/given/{place}", name)
    return cleaned(text)


def cleaned(text: str) -> str:
    """Text without control characters other than line ends."""
    return "\n".join(map(_line, text.split("\n")))


def _line(text: str) -> str:
    """A line without what a terminal would obey; its indent is kept, as it may be Python's."""
    indent = len(text) - len(text.lstrip(" "))
    return " " * indent + clean(text)


def _readdressed(finding: Finding, asked: Asked) -> Finding:
    texts = {"says": _plain(finding.says, asked), "counterexample": _plain(finding.counterexample, asked)}
    return finding.model_copy(update=texts)
