"""The page of a validation: its verdict, what each property found, and each failure to be read and run.

One self-contained HTML page in the style of a run's report. It has no script and loads nothing, and a content security
policy forbids both, as much of its text comes from the environment.
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
from trace_gym.report.drawing import Ladder, Lines, ladder, lines, number
from trace_gym.report.page import _jinja
from trace_gym.report.replays import Played, played
from trace_gym.report.talk import Said, Talk, talk
from trace_gym.types import Bars, Curves, Exhibit, Finding, Message, Report, Trajectory, Verdict
from trace_gym.validate.experts import CHECKS
from trace_gym.validate.foreign import is_foreign
from trace_gym.validate.foreign.remedies import statement_for
from trace_gym.validate.properties import PROPERTIES, remedy

MARKS: dict[Verdict, tuple[str, str, str]] = {
    "passed": ("\N{CHECK MARK}", "passed", "good"),
    "failed": ("\N{BALLOT X}", "failed", "bad"),
    "inapplicable": ("\N{EN DASH}", "does not apply", "soft"),
    "unfinished": ("\N{HORIZONTAL ELLIPSIS}", "unfinished", "warn"),
}
"""Sign, words and tone of each verdict."""
JUDGED = ("print(episode.finish())", CHECKS)
"""Ends of snippets that show no more than a conversation does."""
LONGEST, MOST = 4000, 80
"""Characters of a message, and messages of a conversation, that are shown."""


@dataclass(frozen=True)
class Row:
    """A finding, and what its property is about; texts may hold `code`."""

    code: str
    name: str
    sign: str
    words: str
    tone: str
    statement: Markup
    reason: Markup
    says: Markup
    mend: Markup
    figures: tuple[tuple[str, str], ...]
    snippet: str
    beyond: str
    """What the snippet does after the turns of the replay, besides showing how it is judged."""


@dataclass(frozen=True)
class Shown:
    """The exhibits of a finding."""

    lines: tuple[Lines, ...]
    ladders: tuple[Ladder, ...]
    talks: tuple[tuple[str, Talk], ...]

    @property
    def heat(self) -> bool:
        return any(drawn.heat for drawn in self.lines)

    @property
    def single(self) -> bool:
        return len(self.lines) + len(self.ladders) + len(self.talks) == 1


@dataclass(frozen=True)
class Again:
    """A counterexample played again: the conversation, if it began, and what kept it from its end."""

    scenario: str
    talk: Talk | None
    trouble: str


def render_report(report: Report) -> str:
    """The page; every failure that can be played again is, in another process."""
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
    return page.encode(errors="replace").decode()  # half a surrogate pair cannot be written to a file


def row(finding: Finding, env: str = "") -> Row:
    """A finding as the page shows it, in words that fit the environment."""
    known = PROPERTIES.get(finding.code)
    statement = statement_for(finding.code) if is_foreign(env) else ""
    sign, words, tone = MARKS[finding.verdict]
    return Row(
        code=finding.code,
        name=finding.property,
        sign=sign,
        words=words,
        tone=tone,
        statement=_text(statement or (known.statement if known else "")),
        reason=_text(known.reason if known else ""),
        says=_text(finding.says),
        mend=_text(remedy(finding, env)),
        figures=tuple((name.replace("_", " "), number(value)) for name, value in finding.figures.items()),
        snippet=finding.counterexample.rstrip(),
        beyond=_beyond(finding.counterexample),
    )


def shown(exhibits: Sequence[Exhibit]) -> Shown:
    """Exhibits, drawn and ordered by their kind."""
    talks = [e for e in exhibits if not isinstance(e, (Curves, Bars))]
    return Shown(
        lines=tuple(lines(e) for e in exhibits if isinstance(e, Curves)),
        ladders=tuple(ladder(e) for e in exhibits if isinstance(e, Bars)),
        talks=tuple((_text(e.title), conversation(e.messages)) for e in talks),
    )


def conversation(messages: Sequence[Message], trajectory: Trajectory | None = None) -> Talk:
    """Messages as people read them; without a trajectory nothing is said of the outcome."""
    kept = tuple(map(_clipped, messages[:MOST]))
    if len(messages) > MOST:
        kept += ({"role": "user", "content": f"({len(messages) - MOST} more messages)"},)
    blank = Trajectory(id="", task="", messages=())
    try:
        view = talk((trajectory or blank).model_copy(update={"messages": kept}))
    except (AttributeError, KeyError, TypeError):  # not the shape of messages; shown as it is
        view = replace(talk(blank), turns=(Said("agent", json.dumps(kept, indent=1, default=repr)[:LONGEST]),))
    return view if trajectory else replace(view, outcome="", tone="soft")


def _verdict(report: Report) -> Verdict:
    if report.passed:
        return "passed"
    told = {f.verdict for f in report.findings}
    return "unfinished" if "unfinished" in told and "failed" not in told else "failed"


def _counts(report: Report) -> Iterator[tuple[int, str, str]]:
    """Findings of each verdict, with its words and tone."""
    counted = Counter(f.verdict for f in report.findings)
    for verdict, (_, words, tone) in MARKS.items():
        if counted[verdict] or verdict in ("passed", "failed"):
            yield counted[verdict], words, tone


def _played_again(env: str, failed: Sequence[Finding]) -> dict[int, Again]:
    """What comes of the replays now, by the number of the failure."""
    having = [(n, f.replay) for n, f in enumerate(failed) if f.replay is not None]
    results = played(env, [replay for _, replay in having])
    return {n: _again(replay.scenario, result) for (n, replay), result in zip(having, results, strict=True)}


def _again(scenario: str, result: Played) -> Again:
    made = result.trajectory
    return Again(scenario, conversation(made.messages, made) if made else None, result.trouble)


def _beyond(snippet: str) -> str:
    source = snippet.splitlines()
    turns = [n for n, line in enumerate(source) if line.startswith(("episode = begin(", "print(episode.step("))]
    after = source[turns[-1] + 1 :] if turns else []
    return "\n".join(line for line in after if line not in JUDGED)


def _text(words: str) -> Markup:
    """Text with what stands between backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(words))))


def _clipped(message: Any) -> Any:
    """A message whose texts are short enough for a page."""
    match message:
        case str() if len(message) > LONGEST:
            return f"{message[:LONGEST]} ... ({len(message) - LONGEST:,} more characters)"
        case dict():
            return {str(k): _clipped(v) for k, v in message.items()}
        case list() | tuple():
            return [_clipped(v) for v in message]
    return message
