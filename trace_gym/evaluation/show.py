"""Tables of an evaluation for the terminal and in Markdown."""

from __future__ import annotations

from trace_gym.evaluation.record import Evaluation, PolicyResult
from trace_gym.tables import Grid

HEADINGS = (
    "policy",
    "success % (95 %)",
    "points over base (95 %)",
    "gained / lost",
    "p",
    "reward",
    "training rollouts",
)
LABELS = {
    "base": "base model",
    "routed": "adapters, routed",
    "oracle_routed": "adapters, oracle routing",
    "random_routed": "adapters, random routing",
    "mixture": "one adapter, mixed environments",
    "grpo_target": "one adapter, GRPO on the target",
}
"""Labels of the policies other than single adapters."""
METHOD = (
    "The unit is the task: success with its Wilson interval, difference with a paired bootstrap interval, "
    "p from the exact McNemar test (sign test over tasks when there are several seeds)."
)


def label(row: PolicyResult) -> str:
    """Return the label of a policy in tables and plots."""
    return row.label or LABELS.get(row.name, f"adapter: {row.name}")


def render(evaluation: Evaluation) -> Grid:
    """Return the evaluation as a table for the terminal, as printed by `trace-gym evaluate`."""
    rows = [cells(evaluation, row) for row in evaluation.rows]
    whole = frozenset(range(1, len(HEADINGS)))
    return Grid(HEADINGS, rows, title=title(evaluation), notes=" ".join(notes(evaluation)), whole=whole)


def markdown(evaluation: Evaluation) -> str:
    """Return the evaluation as a Markdown table with title and notes."""
    align = ("---", *["---:"] * (len(HEADINGS) - 1))
    rows = [HEADINGS, align, *(cells(evaluation, row) for row in evaluation.rows)]
    table = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)
    return f"**{title(evaluation)}**\n\n{table}\n\n{' '.join(notes(evaluation))}\n"


def title(evaluation: Evaluation) -> str:
    """Return a title with the environment, the levels, the number of tasks and the temperature."""
    levels = ", ".join(map(str, evaluation.levels))
    where = f"{evaluation.env}, level {levels}" if levels else evaluation.env
    used = evaluation.temperature
    how = "greedy" if used == 0 else f"temperature {used if isinstance(used, str) else f'{used:g}'}"
    return f"{where}: {len(evaluation.base.scenarios)} {evaluation.split} tasks, {how}"


def notes(evaluation: Evaluation) -> list[str]:
    """Return sentences about the method, the training seeds, the samples and the unscored rollouts."""
    made = [evaluation.note] if evaluation.note else []
    made.append(METHOD)
    if several := [row for row in evaluation.rows if len(set(row.by_seed)) > 1]:
        spread = "; ".join(f"{label(row)} {_spread(row)}" for row in several)
        made.append(
            f"Means over training seeds; intervals do not cover the choice of seeds. Lowest to highest: {spread}."
        )
    if sampled := [f"{label(row)} {row.samples}" for row in evaluation.rows if row.samples > 1]:
        made.append(f"Means over the samples of each task. Samples: {'; '.join(sampled)}.")
    if unscored := [f"{label(row)} {row.unscored}" for row in evaluation.rows if row.unscored]:
        made.append(f"Not scored and excluded: {'; '.join(unscored)}.")
    return made


def cells(evaluation: Evaluation, row: PolicyResult) -> tuple[str, ...]:
    """Return the cells of a table row, in the order of `HEADINGS`."""
    success = _percent(row.rate) + (
        f" ({_percent(row.interval.low)} to {_percent(row.interval.high)})" if row.interval else ""
    )
    seeds = f" x {len(row.seeds)} seeds" if len(row.seeds) > 1 else ""
    spent = f"{row.rollouts_trained:,}{seeds}" if row.rollouts_trained else "-"
    versus = ("-", "-", "-")
    if row is not evaluation.base and (c := evaluation.compare(row.name)) is not None:
        points = f"{_points(c.gain)} ({_points(c.low)} to {_points(c.high)})"
        versus = (points, f"{c.gained} / {c.lost}", p_value(c.p))
    reward = "-" if row.reward_mean is None else f"{row.reward_mean:.2f}"
    return (label(row), success, *versus, reward, spent)


def p_value(p: float) -> str:
    """Return a p-value as text with three decimals."""
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def _points(difference: float) -> str:
    return f"{100 * difference:+.1f}"


def _spread(row: PolicyResult) -> str:
    rates = [rate for rate in row.by_seed if rate is not None]
    return f"{_percent(min(rates))} to {_percent(max(rates))}" if rates else "-"
