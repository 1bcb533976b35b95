"""The HTML report of a validation: verdict, findings of all properties, and failures with replays and snippets.

The self-contained page has the style of a run report. It contains no scripts and loads no files, and a content security
policy forbids both, because much of its text comes from the environment.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup, escape

import trace_gym
from trace_gym.report.drawing import BarChart, Lines, bar_chart, lines, number
from trace_gym.report.page import _jinja
from trace_gym.report.replays import Played, played
from trace_gym.report.talk import Said, Talk, talk
from trace_gym.types import Bars, Curves, Exhibit, Finding, FindingVerdict, Message, Report, Trajectory
from trace_gym.validation.experts import CHECKS
from trace_gym.validation.properties import PROPERTIES
from trace_gym.validation.remedies import remedy
from trace_gym.validation.task_files.registry import TASK_PROPERTIES
from trace_gym.validation.third_party import is_third_party
from trace_gym.validation.third_party.checks import statement_for

MARKS: dict[FindingVerdict, tuple[str, str, str]] = {
    "passed": ("\N{CHECK MARK}", "passed", "good"),
    "failed": ("\N{BALLOT X}", "failed", "bad"),
    "skipped": ("\N{EN DASH}", "does not apply", "soft"),
    "unfinished": ("\N{HORIZONTAL ELLIPSIS}", "unfinished", "warn"),
    "warning": ("!", "warning", "warn"),
}
"""Symbol, label and CSS class of each verdict."""
JUDGED = ("print(episode.finish())", CHECKS)
"""Final lines of snippets that only print the score or the checks, which the replay shows anyway."""
LONGEST, MOST = 4000, 80
"""Maximum number of characters per message and of messages per conversation that are shown."""


@dataclass(frozen=True)
class FindingRow:
    """A finding with the description of its property, as HTML."""

    code: str
    name: str
    sign: str
    words: str
    tone: str
    statement: Markup
    reason: Markup
    message: Markup
    fix: Markup
    metrics: tuple[tuple[str, str], ...]
    snippet: str
    beyond: str
    """Lines of the snippet that follow the replayed turns, excluding those that print the score."""


@dataclass(frozen=True)
class ExhibitView:
    """The exhibits of a finding (charts and conversations), as values for the page template."""

    lines: tuple[Lines, ...]
    bar_charts: tuple[BarChart, ...]
    talks: tuple[tuple[str, Talk], ...]

    @property
    def heat(self) -> bool:
        return any(drawn.heat for drawn in self.lines)

    @property
    def single(self) -> bool:
        return len(self.lines) + len(self.bar_charts) + len(self.talks) == 1


@dataclass(frozen=True)
class ReplayView:
    """A replayed counterexample: the conversation, if the episode started, and the error that stopped it."""

    scenario: str
    talk: Talk | None
    trouble: str


def render_report(report: Report) -> str:
    """Return the HTML page of a validation. Failures with a counterexample are replayed in another process."""
    failed = [f for f in report.findings if f.verdict == "failed"]
    again = _played_again(report.env, failed)
    measured = [f for f in report.findings if f.exhibits and f not in failed]
    page = (
        _jinja()
        .get_template("validation.html.jinja")
        .render(
            report=report,
            verdict=MARKS[_verdict(report)],
            counts=list(_counts(report)),
            failures=[(row(f, report.env), again.get(n), shown(f.exhibits)) for n, f in enumerate(failed)],
            unfinished=[row(f, report.env) for f in report.findings if f.verdict == "unfinished"],
            rows=[row(f, report.env) for f in report.findings],
            measured=[(row(f, report.env), shown(f.exhibits)) for f in measured],
            version=trace_gym.__version__,
        )
    )
    return page.encode(errors="replace").decode()  # lone surrogates cannot be written to a file


def row(finding: Finding, env: str = "") -> FindingRow:
    """Return a finding as HTML, with the description of its property for native or third-party environments."""
    known = PROPERTIES.get(finding.code) or TASK_PROPERTIES.get(finding.code)
    statement = statement_for(finding.code) if is_third_party(env) else ""
    sign, words, tone = MARKS[finding.verdict]
    return FindingRow(
        code=finding.code,
        name=finding.property,
        sign=sign,
        words=words,
        tone=tone,
        statement=_text(statement or (known.statement if known else "")),
        reason=_text(known.reason if known else ""),
        message=_text(finding.message),
        fix=_text(remedy(finding, env)),
        metrics=tuple((name.replace("_", " "), number(value)) for name, value in finding.metrics.items()),
        snippet=finding.counterexample.rstrip(),
        beyond=_beyond(finding.counterexample),
    )


def shown(exhibits: Sequence[Exhibit]) -> ExhibitView:
    """Convert exhibits to charts and conversations for the page template."""
    talks = [e for e in exhibits if not isinstance(e, (Curves, Bars))]
    return ExhibitView(
        lines=tuple(lines(e) for e in exhibits if isinstance(e, Curves)),
        bar_charts=tuple(bar_chart(e) for e in exhibits if isinstance(e, Bars)),
        talks=tuple((_text(e.title), conversation(e.messages)) for e in talks),
    )


def conversation(messages: Sequence[Message], trajectory: Trajectory | None = None) -> Talk:
    """Return the readable view of messages, with the outcome and checks of `trajectory` if it is given."""
    kept = tuple(map(_clipped, messages[:MOST]))
    if len(messages) > MOST:
        kept += ({"role": "user", "content": f"({len(messages) - MOST} more messages)"},)
    blank = Trajectory(id="", task="", messages=())
    try:
        view = talk((trajectory or blank).model_copy(update={"messages": kept}))
    except (AttributeError, KeyError, TypeError):  # not valid messages; show them as JSON
        view = replace(talk(blank), turns=(Said("agent", json.dumps(kept, indent=1, default=repr)[:LONGEST]),))
    return view if trajectory else replace(view, outcome="", tone="soft")


def _verdict(report: Report) -> FindingVerdict:
    if report.passed:
        return "passed"
    verdicts = {f.verdict for f in report.findings}
    return "unfinished" if "unfinished" in verdicts and "failed" not in verdicts else "failed"


def _counts(report: Report) -> Iterator[tuple[int, str, str]]:
    """Yield the number of findings, the label and the CSS class of each verdict."""
    counted = Counter(f.verdict for f in report.findings)
    for verdict, (_, words, tone) in MARKS.items():
        if counted[verdict] or verdict in ("passed", "failed"):
            yield counted[verdict], words, tone


def _played_again(env: str, failed: Sequence[Finding]) -> dict[int, ReplayView]:
    """Replay the counterexamples of failures, and return the results by index of the failure in `failed`."""
    having = [(n, f.replay) for n, f in enumerate(failed) if f.replay is not None]
    results = played(env, [replay for _, replay in having])
    return {n: _again(replay.scenario, result) for (n, replay), result in zip(having, results, strict=True)}


def _again(scenario: str, result: Played) -> ReplayView:
    made = result.trajectory
    return ReplayView(scenario, conversation(made.messages, made) if made else None, result.trouble)


def _beyond(snippet: str) -> str:
    source = snippet.splitlines()
    turns = [n for n, line in enumerate(source) if line.startswith(("episode = begin(", "print(episode.step("))]
    after = source[turns[-1] + 1 :] if turns else []
    return "\n".join(line for line in after if line not in JUDGED)


def _text(words: str) -> Markup:
    """Return escaped text with `<code>` elements for text in backticks."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(words))))


def _clipped(message: Any) -> Any:
    """Return a message with long texts truncated."""
    match message:
        case str() if len(message) > LONGEST:
            return f"{message[:LONGEST]} ... ({len(message) - LONGEST:,} more characters)"
        case dict():
            return {str(k): _clipped(v) for k, v in message.items()}
        case list() | tuple():
            return [_clipped(v) for v in message]
    return message
