"""Tables that show a diagnosis in the terminal or as Markdown."""

from __future__ import annotations

from trace_gym.diagnosis.records import Diagnosis
from trace_gym.tables import Grid
from trace_gym.types import Capability

HEADINGS = (
    "capability",
    "coverage",
    "lacking, failed",
    "lacking, passed",
    "gap",
    "shuffled gap",
    "selected",
    "see",
)
LEGEND = (
    "coverage: share of failed trajectories that lack the capability; lacking: share of trajectories that lack the "
    "capability among those that need it; shuffled gap: mean gap with shuffled outcomes, and probability p of the "
    "gap by chance, corrected for the number of capabilities; see: failed trajectories with the clearest evidence"
)

MANY_UNEXPLAINED = 1 / 3
"""Minimum fraction of unexplained failures for which the notes recommend another analyst."""


def render(diagnosis: Diagnosis) -> Grid:
    """Return the table that `trace-gym diagnose` prints."""
    from rich.text import Text

    rows = []
    for capability in diagnosis.capabilities:
        style = "bold" if capability.selected else "dim"
        rows.append([Text(cell, style) for cell in _row(diagnosis, capability)])
    return Grid(HEADINGS, rows, title=_title(diagnosis), notes=_notes(diagnosis), whole=frozenset(range(1, 6)))


def markdown(diagnosis: Diagnosis) -> str:
    """Return the diagnosis as a Markdown table with a title, notes, and descriptions of the capabilities."""
    rows = [HEADINGS, ("---",) * len(HEADINGS), *(_row(diagnosis, c) for c in diagnosis.capabilities)]
    table = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)
    described = "\n".join(f"- `{c.name}`: {c.description}" for c in diagnosis.capabilities)
    return f"**{_title(diagnosis)}**\n\n{table}\n\n{_notes(diagnosis)}\n\n{LEGEND}.\n\n{described}\n"


def _title(diagnosis: Diagnosis) -> str:
    unscored = f", {diagnosis.unscored} not scored" if diagnosis.unscored else ""
    return (
        f"{diagnosis.source or 'trajectories'}: {diagnosis.failed} failed, {diagnosis.passed} passed{unscored}; "
        f"{len(diagnosis.selected)} of {len(diagnosis.capabilities)} capabilities selected "
        f"({_criteria(diagnosis)}; analyst: {diagnosis.analyst})"
    )


def _criteria(diagnosis: Diagnosis) -> str:
    parts = [f"gap >= {diagnosis.delta:.2f}", f"coverage >= {diagnosis.rho:.2f}"]
    parts += [f"p < {diagnosis.alpha:g}"] if diagnosis.alpha < 1 else []
    parts += [f"intervals of {100 * diagnosis.confidence:g} %"]
    parts += [f"in {diagnosis.consistent:.0%} of {diagnosis.runs} label runs"] if diagnosis.runs > 1 else []
    return ", ".join(parts)


def _notes(diagnosis: Diagnosis) -> str:
    if not diagnosis.failed and not diagnosis.passed:
        return (
            f"None of {diagnosis.n} trajectories has an outcome, so there is nothing to diagnose. Repeat the command "
            "that recorded them, or add the outcomes to the file."
        )
    if not diagnosis.failed:
        return "No trajectory failed, so there is nothing to diagnose."
    notes = [f"{name}: {remark}." for name, remark in diagnosis.remarks.items()]
    notes += diagnosis.notes
    share = f"{len(diagnosis.uncovered)} of {diagnosis.failed} failures"
    notes.append(f"No capability explains {share}{_some(diagnosis.uncovered)}.")
    if diagnosis.analyst == "rules" and len(diagnosis.uncovered) >= MANY_UNEXPLAINED * diagnosis.failed:
        notes.append(
            "The rules have no name for the cause of these failures. Label them with a language model (--analyst "
            "openai:MODEL) or by hand (--labels FILE)."
        )
    if diagnosis.unlabelled:
        share = f"{len(diagnosis.unlabelled)} of {diagnosis.n} trajectories"
        notes.append(f"{share} could not be labeled{_some(diagnosis.unlabelled)}.")
    return " ".join(notes)


def _some(ids: tuple[str, ...]) -> str:
    return f" ({', '.join(ids[:3])}{', ...' if len(ids) > 3 else ''})" if ids else ""


def _row(diagnosis: Diagnosis, capability: Capability) -> tuple[str, ...]:
    counts, control = capability.labels, diagnosis.control[capability.name]
    return (
        capability.name,
        f"{capability.coverage:.2f}{_interval(capability.coverage_interval)}",
        f"{_number(capability.er_failed)} ({counts['lacking_failed']}/{_needed(counts, 'failed')})",
        f"{_number(capability.er_passed)} ({counts['lacking_passed']}/{_needed(counts, 'passed')})",
        f"{_number(capability.gap)}{_interval(capability.gap_interval)}",
        f"{_number(control.mean)}, p {_number(control.p if control.corrected is None else control.corrected, 3)}",
        "yes" if capability.selected else "no",
        ", ".join(capability.evidence[:3]),
    )


def _needed(counts: dict[str, int], outcome: str) -> int:
    return counts[f"lacking_{outcome}"] + counts[f"present_{outcome}"]


def _interval(bounds: tuple[float, float] | None) -> str:
    return "" if bounds is None else f" ({_number(bounds[0])} to {_number(bounds[1])})"


def _number(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value + 0.0:.{digits}f}".replace(f"-{0:.{digits}f}", f"{0:.{digits}f}")
