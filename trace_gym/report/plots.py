"""Plots as deterministic SVG text, drawn by matplotlib and colored by the style sheet of the page.

matplotlib draws with the placeholder colors in `INKS`, which are then replaced by CSS variables, so that a plot fits
light and dark mode. Text in a plot remains text and uses the font of the page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from io import StringIO
from statistics import fmean
from typing import TYPE_CHECKING, Any

from trace_gym.errors import MissingExtra
from trace_gym.evaluation import Evaluation
from trace_gym.evaluation.show import label
from trace_gym.report.data import Metrics, Training
from trace_gym.types import Capability
from trace_gym.validation.variance import VariancePoint

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INKS = {
    "ink": "#010101",
    "soft": "#020202",
    "line": "#030303",
    "a": "#040404",
    "b": "#050505",
    "c": "#060606",
    "paper": "#070707",
}
"""Mapping of CSS variable to its placeholder color in matplotlib."""
INK, SOFT, LINE, A, B, C, PAPER = INKS.values()

BARS = (("gap", "gap", A), ("coverage", "coverage", B))
CURVES = (("mean", "mean reward", A), ("std", "reward std within a group", B), ("informative", "informative groups", C))
TRAINED = (("reward", "reward", A), ("success", "success", B), ("informative", "informative groups", C))
"""Field, label and color of each bar or curve."""
WINDOW = 5
"""Number of iterations in the moving average."""
_STYLE: Any = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # names from files may contain dollar signs
    "font.family": "sans-serif",
    "font.size": 11,
    "text.color": INK,
    "axes.edgecolor": LINE,
    "axes.labelcolor": SOFT,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": LINE,
    "grid.linewidth": 0.6,
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": SOFT,
    "ytick.labelcolor": SOFT,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "lines.solid_capstyle": "round",
    "lines.linewidth": 2.2,
}


def capability_bars(capabilities: Sequence[Capability]) -> str:
    """Plot the gap and the coverage of each capability with their confidence intervals."""

    def draw(ax: Axes) -> None:
        _rows(ax, [c.name.replace("_", " ") + ("" if c.selected else " (not selected)") for c in capabilities])
        for y, c in enumerate(capabilities):
            if c.gap is not None:
                ax.barh(y + 0.02, c.gap, height=0.16, color=A, alpha=1.0 if c.selected else 0.4)
            if c.gap_interval is not None:
                ax.plot(c.gap_interval, [y + 0.02] * 2, color=INK, lw=1.4)
            ax.barh(y + 0.22, c.coverage, height=0.16, color=B, alpha=1.0 if c.selected else 0.4)
            if c.coverage_interval is not None:
                ax.plot(c.coverage_interval, [y + 0.22] * 2, color=INK, lw=1.4)
        low = min(
            [0.0, *(c.gap_interval[0] for c in capabilities if c.gap_interval), *(c.gap or 0.0 for c in capabilities)]
        )
        ax.set_xlim(low, 1)
        ax.axvline(0, color=SOFT, lw=0.8)

    return _figure(
        "capabilities", "Gap and coverage of each capability", 420, 40 + 50 * len(capabilities), draw, zoom=1.3
    )


def variance_panel(env: str, points: Sequence[VariancePoint]) -> str:
    """Plot the mean reward, its standard deviation, and the share of groups with varying rewards against competence."""
    competences = sorted({p.p for p in points})
    levels = sorted({p.level for p in points})

    def draw(ax: Axes) -> None:
        for field, _, ink in CURVES:
            for level in levels if len(levels) > 1 else ():
                mine = sorted((p for p in points if p.level == level), key=lambda p: p.p)
                ax.plot([p.p for p in mine], [getattr(p, field) for p in mine], color=ink, lw=0.8, alpha=0.35)
            ax.plot(competences, [fmean(getattr(p, field) for p in points if p.p == x) for x in competences], color=ink)
        _unit(ax, "competence p of the agent")
        ax.set_xlim(0, 1)

    return _figure(f"variance {env}", f"Reward over competence in {env}", 330, 220, draw)


def training_panel(training: Training) -> str:
    """Plot the reward, the success rate and the share of groups with varying rewards over an adapter's training."""

    def draw(ax: Axes) -> None:
        for field, _, ink in TRAINED:
            xs, ys = _series(training.metrics, field)
            ax.plot(xs, ys, color=ink, lw=0.8, alpha=0.35)
            ax.plot(xs, [fmean(ys[max(0, n - WINDOW + 1) : n + 1]) for n in range(len(ys))], color=ink)
        _unit(ax, "iteration")

    return _figure(f"training {training.name}", f"Training of {training.name}", 330, 220, draw)


def results_plot(evaluation: Evaluation) -> str:
    """Plot the success rate of each policy with its confidence interval, and the baseline as a vertical line."""
    rows = [(row, rate) for row in evaluation.rows if (rate := row.rate) is not None]

    def draw(ax: Axes) -> None:
        _rows(ax, [label(row) for row, _ in rows])
        if evaluation.base.rate is not None:
            ax.axvline(evaluation.base.rate, color=SOFT, lw=1, ls=(0, (3, 3)))
        for y, (row, rate) in enumerate(rows):
            ink = SOFT if row is evaluation.base else A if row.name == "routed" else B
            if row.interval is not None:
                ax.plot(row.interval, [y + 0.1] * 2, color=ink, lw=2)
            for one in row.by_seed if len(row.seeds) > 1 else ():
                if one is not None:
                    ax.plot([one], [y + 0.1], "o", color=ink, ms=3, alpha=0.6)
            ax.plot([rate], [y + 0.1], "o", color=ink, ms=8)
        ax.set_xlim(0, 1)

    name = f"results {evaluation.env} {evaluation.levels}"
    return _figure(name, "Success of each policy with its interval", 420, 40 + 40 * len(rows), draw, zoom=1.3)


def _rows(ax: Axes, names: Sequence[str]) -> None:
    """Set up rows from top to bottom with their names above them, so that long names fit a narrow page."""
    ax.set_ylim(len(names) - 0.5, -0.6)
    ax.set_yticks([])
    ax.grid(axis="y", visible=False)
    ax.spines["left"].set_visible(False)
    ax.xaxis.set_major_formatter(lambda x, _: f"{100 * x:.0f} %")
    for y, name in enumerate(names):
        clear = {"facecolor": PAPER, "edgecolor": "none", "pad": 1}  # hides the grid behind the text
        ax.text(0.0, y - 0.26, name, transform=ax.get_yaxis_transform(), va="center", bbox=clear)


def _unit(ax: Axes, below: str) -> None:
    ax.set_ylim(-0.02, 1.02)
    ax.set_yticks([0, 0.5, 1])
    ax.set_xlabel(below)


def _series(metrics: Sequence[Metrics], field: str) -> tuple[list[float], list[float]]:
    """Return the iterations that have a value for the field, and these values."""
    there = [(float(m.get("iteration") or 0), v) for m in metrics if (v := m.get(field)) is not None and v == v]
    return [x for x, _ in there], [float(v) for _, v in there]


def _figure(
    name: str, message: str, width: int, height: int, draw: Callable[[Axes], None], *, zoom: float = 1.0
) -> str:
    """Draw on new axes of this size (CSS pixels), and return inline SVG that is scaled at most by `zoom`."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("the plots of the report require matplotlib. Run: pip install 'trace-gym[lab]'") from None
    out = StringIO()
    with matplotlib.rc_context({**_STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=(width / 72, height / 72), layout="constrained")
        draw(figure.subplots())
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    return _inline(out.getvalue(), message, round(width * zoom))


def _inline(svg: str, message: str, width: int) -> str:
    """Return the content of an SVG file as an inline element with the colors and the font of the page."""
    size = re.search(r'viewBox="([^"]+)"', svg)
    assert size is not None
    body = re.sub(
        r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>",
        "",
        svg[svg.index(">", svg.index("<svg")) + 1 :],
        flags=re.S,
    )
    body = re.sub(r'(<g) id="[^"]*"', r"\1", body)
    body = re.sub(r"font(-family)?: [^;\"]*'[^;\"]*;? ?", "", body)
    for variable, colour in INKS.items():
        body = body.replace(colour, f"var(--{variable})")
    body = re.sub(r"\s+", " ", body).strip()
    head = f'viewBox="{size[1]}" style="max-width:{width}px" role="img" aria-label="{escape(message)}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {head}>{body}'
