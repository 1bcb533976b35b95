"""The HTML page of a diagnosis: capabilities, labels, and episodes that show how failures differ from successes.

The self-contained page has the style of a run report. It contains no scripts and loads no files, and a content security
policy forbids both, because most of its text comes from trajectories.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import Any, NamedTuple

from markupsafe import Markup

import trace_gym
from trace_gym.diagnosis import Diagnosis
from trace_gym.diagnosis.decisive import decisive_turn
from trace_gym.diagnosis.records import Summary
from trace_gym.report.drawing import tag
from trace_gym.report.page import _jinja
from trace_gym.report.talk import Called, Said, Talk, _text
from trace_gym.report.validation import conversation
from trace_gym.statistics import wilson
from trace_gym.types import Capability, Trajectory

MOST_COLUMNS = 400
"""Maximum number of trajectories in the map of labels."""
MOST_CAPABILITIES = 16
"""Maximum number of capabilities for which the smallest set that covers the failures is computed."""
COLORS = {"LACKING": "var(--bad)", "PRESENT": "var(--good)", "NA": "var(--line)"}
CELL, ROW, NAMES = 6, 22, 200
"""Sizes in CSS pixels: width of a cell, height of a row, and width of the names in the map of labels."""


class Rate(NamedTuple):
    """A rate with its confidence interval. All numbers are percentages."""

    name: str
    share: float
    text: str
    start: float
    """Lower bound of the interval."""
    width: float
    marks: tuple[float, ...] = ()
    """Values in the label runs."""

    @classmethod
    def of(cls, name: str, value: float, interval: tuple[float, float] | None) -> Rate:
        """Create a rate from a value and its confidence interval, both given as fractions between 0 and 1."""
        low, high = interval or (value, value)
        text = f"{value:.2f} ({low:.2f} to {high:.2f})" if interval else f"{value:.2f}"
        return cls(name, 100 * value, text, 100 * low, 100 * (high - low))


@dataclass(frozen=True)
class CapabilityView:
    """A capability, as values for the page template. Lengths are percentages."""

    capability: Capability
    remark: str
    p: str
    gap: str
    rates: tuple[Rate, ...]
    """The coverage, the error rates of failed and of passed trajectories, and the selection frequency."""
    interval: tuple[float, float] | None
    """Interval of the gap, as start and width."""
    talks: tuple[tuple[str, Talk], ...]
    """Heading and conversation of the clearest failed and successful episode."""

    @property
    def marked(self) -> bool:
        """Whether a turn that decided a label is marked."""
        return any(turn.decisive for _, talk in self.talks for turn in talk.turns)


def render_diagnosis(
    found: Diagnosis, trajectories: Iterable[Trajectory], quotes: Mapping[str, str] | None = None
) -> str:
    """Return the HTML page of a diagnosis.

    Args:
        found: The diagnosis.
        trajectories: The diagnosed trajectories. Only those that the page shows are kept in memory.
        quotes: Mapping from ``capability/trajectory id`` to an excerpt from the turn that decided the label. Without
            it, `decisive_turn` determines the turn.
    """
    summaries, by_id = list[Summary](), dict[str, Trajectory]()
    wanted = {i for c in found.capabilities for i, _ in _shown(c)}
    for t in trajectories:
        summaries.append(Summary.of(t))
        by_id |= {t.id: t} if t.id in wanted else {}
    views = [_view(c, found, by_id, quotes or {}) for c in found.capabilities]
    page = (
        _jinja()
        .get_template("diagnosis.html.jinja")
        .render(
            found=found,
            views=views,
            map=label_map(found, summaries),
            hidden=max(0, len(_scored(summaries)) - MOST_COLUMNS),
            cover=smallest_cover(found, summaries),
            overlap=overlap(found, summaries),
            version=trace_gym.__version__,
        )
    )
    return page.encode(errors="replace").decode()  # lone surrogates cannot be written to a file


def _view(
    capability: Capability, found: Diagnosis, by_id: Mapping[str, Trajectory], quotes: Mapping[str, str]
) -> CapabilityView:
    control = found.control.get(capability.name)
    p = None if control is None else control.p if control.corrected is None else control.corrected
    interval = capability.gap_interval
    talks = [
        (f"{outcome}: {i}", marked(by_id[i], capability.name, quotes.get(f"{capability.name}/{i}", "")))
        for i, outcome in _shown(capability)
        if i in by_id
    ]
    gap = "-" if capability.gap is None else f"{capability.gap:.2f}"
    return CapabilityView(
        capability=capability,
        remark=found.remarks.get(capability.name, ""),
        p="-" if p is None else f"{p:.3f}",
        gap=f"{gap} ({interval[0]:.2f} to {interval[1]:.2f})" if interval else gap,
        rates=tuple(_rates(capability, found)),
        interval=None if interval is None else (50 + 50 * interval[0], 50 * (interval[1] - interval[0])),
        talks=tuple(talks),
    )


def _rates(capability: Capability, found: Diagnosis) -> Iterator[Rate]:
    marks = [100 * c for c in capability.run_coverages] if found.runs > 1 else []
    yield Rate.of("coverage", capability.coverage, capability.coverage_interval)._replace(marks=tuple(marks))
    for outcome, value, interval in (
        ("failed", capability.er_failed, capability.er_failed_interval),
        ("passed", capability.er_passed, capability.er_passed_interval),
    ):
        if value is not None:
            yield Rate.of(f"lacking, {outcome}", value, interval)
    if found.runs > 1:
        reached = round(capability.frequency * found.runs)
        yield Rate.of("selection frequency", capability.frequency, wilson(reached, found.runs, found.confidence))


def _shown(capability: Capability) -> list[tuple[str, str]]:
    """Return the ids of the clearest failed and successful trajectory, or nothing if no failed one lacks it.

    Each id is returned with the outcome.
    """
    if not capability.evidence:
        return []
    return [(i, "failed") for i in capability.evidence[:1]] + [(i, "passed") for i in capability.contrast[:1]]


def marked(trajectory: Trajectory, capability: str, quote: str = "") -> Talk:
    """Return the conversation of a trajectory, with the turn that decided a label marked."""
    view = conversation(trajectory.messages, trajectory)
    turns = list(view.turns)
    found = _quoted(turns, quote) if quote else _decisive(turns, decisive_turn(trajectory, capability))
    if found is None and quote:
        found = _numbered(trajectory, quote)
    if found is not None and found < len(turns):
        turns[found] = replace(turns[found], decisive=True)
    return replace(view, turns=tuple(turns))


def _decisive(turns: Sequence[Said | Called], text: str | None) -> int | None:
    """Return the index of the last turn of the agent with this text, which is a message or a call."""
    for n in reversed(range(len(turns))):
        turn = turns[n]
        own = turn.text if isinstance(turn, Said) and turn.kind == "agent" else ""
        own = f"{turn.name} {turn.raw}" if isinstance(turn, Called) else own
        if text and own.split() == text.split():
            return n
    return None


def _quoted(turns: Sequence[Said | Called], quote: str) -> int | None:
    """Return the index of the first turn that contains a quote. Case and white space are ignored."""
    wanted = _squeezed(re.sub(r"^(\[\d+\] )?((user|agent|call|result): )?", "", quote))
    for n, turn in enumerate(turns):
        forms = [turn.text] if isinstance(turn, Said) else [f"{turn.name} {turn.raw}", turn.result]
        if wanted and any(wanted in _squeezed(form) for form in forms):
            return n
    return None


def _squeezed(text: str) -> str:
    return re.sub(r"[\s\\]", "", text).casefold()


def _numbered(trajectory: Trajectory, quote: str) -> int | None:
    """Return the index of the turn whose number in the prompt precedes a quote."""
    wanted = re.match(r"\[(\d+)\]", quote)
    number, index = 0, -1
    index_of: dict[Any, int] = {}
    for message in trajectory.messages if wanted else ():
        if message.get("role") == "system":
            continue
        if _text(message):
            number += 1
            spoken = message.get("role") in ("user", "assistant")
            index += spoken
            if wanted and number == int(wanted[1]):
                return index if spoken else index_of.get(message.get("tool_call_id"))
        for call in message.get("tool_calls") or ():
            number, index = number + 1, index + 1
            index_of[call.get("id")] = index
            if wanted and number == int(wanted[1]):
                return index
    return None


def _scored(trajectories: Sequence[Summary]) -> list[Summary]:
    return [t for t in trajectories if t.success is not None]


def label_map(found: Diagnosis, trajectories: Sequence[Summary]) -> Markup:
    """Return the labels as an SVG image, with a row per capability and a column per trajectory, failed ones first."""
    names = [c.name for c in found.capabilities]
    rank = {"LACKING": 0, "PRESENT": 1, "NA": 2}
    columns = sorted(
        _scored(trajectories), key=lambda t: (bool(t.success), [rank[found.labels[t.id][n]] for n in names])
    )[:MOST_COLUMNS]
    if not names or not columns:
        return Markup()
    width = NAMES + CELL * len(columns)
    failed = sum(not t.success for t in columns)
    parts = []
    for row, name in enumerate(names):
        y = ROW * (row + 1)
        parts.append(tag("text", name.replace("_", " "), x=NAMES - 8, y=y + ROW - 7, text_anchor="end"))
        for column, t in enumerate(columns):
            value = found.labels[t.id][name]
            x = NAMES + CELL * column
            title = tag("title", f"{t.id}: {value}")
            parts.append(tag("rect", title, x=x, y=y, width=CELL - 1, height=ROW - 2, fill=COLORS[value]))
    heads = [("failed", 0, failed), ("passed", failed, len(columns))]
    parts += [tag("text", name, x=NAMES + CELL * start, y=ROW - 6) for name, start, end in heads if end > start]
    label = f"Labels of {len(names)} capabilities in {len(columns)} trajectories"
    height = ROW * (len(names) + 1)
    return tag(
        "svg", *parts, class_="labels", viewBox=f"0 0 {width} {height}", width=width, role="img", aria_label=label
    )


def lacking(found: Diagnosis, trajectories: Sequence[Summary]) -> dict[str, set[str]]:
    """Return the failed trajectories that lack each capability, for capabilities with at least one."""
    failed = [t.id for t in trajectories if t.success is False]
    sets = {c.name: {i for i in failed if found.labels[i][c.name] == "LACKING"} for c in found.capabilities}
    return {name: ids for name, ids in sets.items() if ids}


def smallest_cover(found: Diagnosis, trajectories: Sequence[Summary]) -> list[tuple[str, int]]:
    """Return a smallest set of capabilities that covers all explained failures, and the number of failures each adds.

    A capability is required if it alone explains some failure. The set is exact if there are at most
    `MOST_CAPABILITIES` others. Otherwise, the capabilities that add the most failures
    are chosen one after another.
    """
    sets = lacking(found, trajectories)
    counts = Counter(chain.from_iterable(sets.values()))
    whole = set(counts)
    required = [name for name, ids in sets.items() if any(counts[i] == 1 for i in ids)]
    others, remaining = sets.keys() - required, whole.difference(*(sets[name] for name in required))
    chosen = list(sets)
    if len(others) <= MOST_CAPABILITIES:
        choices = (c for size in range(len(others) + 1) for c in combinations(sorted(others), size))
        chosen = required + list(next(c for c in choices if remaining <= set().union(*(sets[name] for name in c))))
    ordered, covered = [], set[str]()
    while chosen and covered != whole:
        best = max(chosen, key=lambda name: len(sets[name] - covered))
        ordered.append((best, len(sets[best] - covered)))
        covered |= sets[best]
        chosen.remove(best)
    return ordered


def overlap(found: Diagnosis, trajectories: Sequence[Summary]) -> list[tuple[str, list[int]]]:
    """Return, for each pair of capabilities, the number of failed trajectories that lack both."""
    sets = lacking(found, trajectories)
    return [(name, [len(own & other) for other in sets.values()]) for name, own in sets.items()]
