"""The run report as one self-contained HTML page without scripts or external files, in light and dark mode."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import trace_gym
from trace_gym.evaluation import Evaluation, PolicyResult
from trace_gym.evaluation.show import HEADINGS, cells, label, notes, p_value, title
from trace_gym.files import write
from trace_gym.report import plots
from trace_gym.report.data import ReportData
from trace_gym.report.drawing import Key
from trace_gym.report.talk import talk
from trace_gym.route import BASE, Routing
from trace_gym.types import Capability, Manifest
from trace_gym.validation.variance import VariancePoint

if TYPE_CHECKING:
    import jinja2

KINDS = {
    "rules": "rules, no model",
    "recorded": "recorded answers of a language model",
    "hand": "written by hand",
    "llm": "language model",
    "model": "the agent itself",
    "code": "",
}
SECTIONS = {
    "ran": ("Stages", "the stages were not recorded"),
    "capabilities": ("Capabilities", "no diagnosis was made"),
    "environments": ("Environments", "no environment was generated"),
    "variance": ("Reward variance", "no reward-variance curves were computed"),
    "training": ("Training", "no adapter was trained"),
    "routing": ("Routing", "routing was not measured"),
    "results": ("Results", "no policies were evaluated"),
    "examples": ("Before and after", "no episodes were kept to show"),
    "budget": ("Budget", "no budget was kept"),
}
"""Mapping from section to its title in the table of contents, and to the note for a report without this section."""
SHOWN = (0, 1, 2, 5, 6)
"""Indices of the `HEADINGS` that the results table shows. A separate table shows the tasks gained and lost."""


def write_report(data: ReportData, out_html: str | Path) -> Path:
    """Write the run report atomically to an HTML file, and return its path.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    out = Path(out_html)
    write(out, render_page(data))
    return out


def render_page(data: ReportData) -> str:
    """Return the run report as HTML. Sections without data are omitted, and a note on the page lists them.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    parts = _parts(data)
    there = {name: bool(parts.get(name)) for name in SECTIONS} | {"ran": bool(data.run.stages or data.run.model)}
    there["budget"] |= bool(parts["requests"])
    left_out = [message for name, (_, message) in SECTIONS.items() if not there[name]]
    return (
        _jinja()
        .get_template("page.html.jinja")
        .render(
            **parts,
            run=data.run,
            headline=_headline(data),
            contents=[(name, heading) for name, (heading, _) in SECTIONS.items() if there[name]],
            missing=[f"Not in this report: {'; '.join(left_out)}."] if left_out else [],
            version=trace_gym.__version__,
        )
    )


def _parts(data: ReportData) -> dict[str, Any]:
    """Return the variables of the page template. The variables of sections without data are empty."""
    return {
        "stages": [(s.name, s.who, KINDS[s.kind], s.detail) for s in data.run.stages],
        "capabilities": [_capability(c) for c in data.capabilities],
        "gapless": any(c.gap is None for c in data.capabilities),
        "capability_plot": _svg(plots.capability_bars(data.capabilities)) if data.capabilities else "",
        "environments": [_environment(m) for m in data.environments],
        "capability_bars": _legend(plots.BARS),
        "variance": [(env, _svg(plots.variance_panel(env, points))) for env, points in _by_env(data).items()],
        "variance_curves": _legend(plots.CURVES),
        "group_size": " or ".join(str(k) for k in sorted({p.k for p in data.variance})),
        "faint_levels": len({(p.env, p.level) for p in data.variance}) > len({p.env for p in data.variance}),
        "training": [(t.name, _svg(plots.training_panel(t))) for t in data.training],
        "training_curves": _legend(plots.TRAINED),
        "window": plots.WINDOW,
        "routing": [_routing(name, routing) for name, routing in _routings(data).items() if routing.tasks],
        "results": [_results(e) for e in data.evaluations],
        "examples": [
            {"title": e.title, "message": e.message, "before": talk(e.before), "after": talk(e.after)}
            for e in data.examples
        ],
        "budget": list(_budget(data)),
        "requests": list(_requests(data)),
    }


class Headline(NamedTuple):
    """A key number at the top of the page."""

    value: str
    message: str
    detail: str
    main: bool = False


def _headline(data: ReportData) -> list[list[Headline]]:
    """Return the key numbers: one line per evaluation (base model, routed adapters, difference), and the total cost."""
    lines: list[list[Headline]] = []
    for evaluation in data.evaluations:
        where = f", level {', '.join(map(str, evaluation.levels))}" if len(data.evaluations) > 1 else ""
        routed = [row for row in evaluation.rows if row.name == "routed"]
        line = [
            Headline(_percent(row.rate), label(row) + where, _around(row), main=row in routed)
            for row in (evaluation.base, *routed)
        ]
        for c in filter(None, (evaluation.compare(row.name) for row in routed)):
            detail = f"95 %: {100 * c.low:+.1f} to {100 * c.high:+.1f}"
            line.append(Headline(f"{100 * c.gain:+.1f}", "points over the base model" + where, detail))
        lines.append(line)
    if spent := sum(s.rollouts for s in data.run.budget):
        cost = Headline(f"{spent:,}", "rollouts", "all stages together")
        lines = [*lines[:-1], [*(lines[-1] if lines else []), cost]]
    return lines


def _capability(c: Capability) -> tuple[str, ...]:
    gap = "-" if c.gap is None else f"{c.gap:+.2f}"
    if c.gap_interval:
        gap += f" ({c.gap_interval[0]:+.2f} to {c.gap_interval[1]:+.2f})"
    return (c.name, c.description, gap, f"{c.coverage:.2f}", "yes" if c.selected else "no", c.analyst)


def _environment(m: Manifest) -> tuple[str, ...]:
    findings = m.report.findings
    passed = (
        f"{sum(f.passed for f in findings)} of {len(findings)}" if findings else ("yes" if m.report.passed else "no")
    )
    return (m.id, m.title, m.capability, m.author, str(m.levels), passed)


def _by_env(data: ReportData) -> dict[str, list[VariancePoint]]:
    made: dict[str, list[VariancePoint]] = {}
    for point in data.variance:
        made.setdefault(point.env, []).append(point)
    return made


def _routings(data: ReportData) -> dict[str, Routing]:
    return {"": data.routing} if isinstance(data.routing, Routing) else data.routing or {}


def _routing(name: str, routing: Routing) -> dict[str, Any]:
    options = [*(o for o in routing.options if o != BASE), BASE]
    message = f"{routing.correct} of {routing.tasks} tasks are routed to a correct option: {_percent(routing.accuracy)}"
    if routing.interval:
        message += f" (95 %: {_percent(routing.interval.low)} to {_percent(routing.interval.high)})"
    lines = []
    order = sorted(routing.confusion, key=lambda needed: (needed == BASE, needed.count("+"), needed))
    for needed, chosen in ((needed, routing.confusion[needed]) for needed in order):
        tasks = sum(chosen.values())
        offered = set(needed.split(" + ")) & set(options) or {BASE}
        counts = [(option, chosen.get(option, 0)) for option in options]
        line = [{"count": n, "share": round(100 * n / tasks), "right": option in offered} for option, n in counts]
        lines.append({"needed": needed, "cells": line, "tasks": tasks})
    return {"name": name, "message": message + ".", "options": options, "lines": lines}


def _results(evaluation: Evaluation) -> dict[str, Any]:
    compared = [c for row in evaluation.rows[1:] if (c := evaluation.compare(row.name))]
    lines = [cells(evaluation, row) for row in evaluation.rows]
    return {
        "title": title(evaluation),
        "plot": _svg(plots.results_plot(evaluation)),
        "headings": [HEADINGS[n] for n in SHOWN],
        "lines": [[line[n] for n in SHOWN] for line in lines],
        "notes": notes(evaluation),
        "changes": [
            (label(evaluation.row(c.name)), c.gained, c.lost, c.pairs - c.gained - c.lost, c.pairs, p_value(c.p))
            for c in compared
        ],
    }


def _budget(data: ReportData) -> Iterator[tuple[str, ...]]:
    for s in data.run.budget:
        yield s.stage, f"{s.rollouts:,}", f"{s.tokens:,}", f"{s.seconds:,.0f}"
    if len(data.run.budget) > 1:
        rollouts, tokens = sum(s.rollouts for s in data.run.budget), sum(s.tokens for s in data.run.budget)
        yield "total", f"{rollouts:,}", f"{tokens:,}", f"{sum(s.seconds for s in data.run.budget):,.0f}"


def _requests(data: ReportData) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table of the agent's requests to an endpoint."""
    for stage, u in data.run.requests.items():
        cost = "unknown" if u.cost is None else f"{u.cost:,.4f}"
        yield stage, f"{u.requests:,}", f"{u.failed:,}", f"{u.prompt_tokens:,}", f"{u.completion_tokens:,}", cost


def _legend(curves: tuple[tuple[str, str, str], ...]) -> list[Key]:
    """Return the legend of bars or curves, with CSS variables instead of the placeholder colors."""
    variable = {colour: f"var(--{name})" for name, colour in plots.INKS.items()}
    return [Key("line", words, variable[colour]) for _, words, colour in curves]


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def _around(row: PolicyResult) -> str:
    return f"95 %: {100 * row.interval.low:.1f} to {100 * row.interval.high:.1f}" if row.interval else ""


def _svg(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)  # generated by this package, already escaped


@cache
def _jinja() -> jinja2.Environment:
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.PackageLoader("trace_gym.templates", "report"),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["words"] = lambda name: name.replace("_", " ")
    return made
