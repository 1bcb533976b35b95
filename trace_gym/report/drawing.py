"""Charts of findings for HTML pages: line charts and heat maps as SVG, bar charts as elements with relative widths.

The charts are drawn without a plotting library, so a validation report requires no optional dependencies. Colors are
variables of the style sheet of the page. Series with the names ``level 0``, ``level 1``, ... are ordered: their lines
are shades of one color, and a heat map with one row per level is added below the lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

from markupsafe import Markup

from trace_gym.types import Bars, Curves

WIDTH, LEFT, RIGHT, TOP, PLOT, ROW = 420, 56, 14, 24, 150, 15
"""Sizes in CSS pixels: chart width, margins, height of the line chart, and height of a heat map row."""
OTHERS = ("var(--b)", "var(--c)", "var(--ink)", "var(--soft)")
"""Colors of series other than levels."""
FEW = 8
"""Maximum number of points of a line for which each point is marked."""
LARGEST = 1e100
"""Largest absolute value that is drawn. Larger values and NaN are not drawn."""

Point = tuple[float, float]


@dataclass(frozen=True)
class Key:
    """An entry of a legend."""

    kind: str
    """CSS class of the symbol: ``line``, ``dashed``, ``band`` (target range) or ``bound``."""
    words: str
    ink: str


@dataclass(frozen=True)
class Lines:
    """A rendered line chart, as a value for the page template."""

    title: str
    legend: tuple[Key, ...]
    svg: Markup
    heat: bool
    """Whether there is a heat map below the lines."""


@dataclass(frozen=True)
class Bar:
    """A bar of a bar chart. Lengths are percentages of the axis."""

    name: str
    value: str
    left: float
    width: float
    over: bool
    """Whether the value exceeds the bound."""


@dataclass(frozen=True)
class BarChart:
    """A bar chart, as a value for the page template."""

    title: str
    legend: tuple[Key, ...]
    bars: tuple[Bar, ...]
    bound: float | None
    """Position of the bound, as a percentage of the axis."""
    zero: float
    ends: tuple[str, str]
    unit: str


@dataclass(frozen=True)
class Axis:
    """Mapping of values to pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    @property
    def ticks(self) -> list[float]:
        step = _step(self.low, self.high)
        return [n * step for n in range(ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9) + 1)]


def lines(exhibit: Curves) -> Lines:
    """Return a line chart with a shaded target range, and with a heat map of the levels below the lines."""
    series = {name: [p for p in points if all(map(_drawable, p))] for name, points in exhibit.series.items()}
    levels = {name: points for name, points in series.items() if re.fullmatch(r"level \d{1,9}", name)}
    rows = {name: points for name, points in levels.items() if len(points) > 1} if len(levels) > 1 else {}
    inks = _inks(series, levels)
    target_range = exhibit.target_range if exhibit.target_range and all(map(_drawable, exhibit.target_range)) else None
    xs = [x for points in series.values() for x, _ in points]
    ys = [y for points in series.values() for _, y in points] + list(target_range or ())
    x = Axis(*_ends(xs), LEFT, WIDTH - RIGHT)
    y = Axis(*_ends(ys, whole=True), TOP + PLOT, TOP)
    height = TOP + PLOT + 20 + (ROW * len(rows) + 8 if rows else 0) + 18
    parts = [
        *_band(target_range, y),
        *_axes(x, y, exhibit.y),
        *(mark for name, points in series.items() for mark in _line(name, points, x, y, *inks[name])),
        *_heat(rows, x, y, target_range),
        tag("text", exhibit.x, x=_n((x.start + x.end) / 2), y=_n(height - 4), text_anchor="middle"),
    ]
    message = f"{exhibit.title}: {exhibit.y} over {exhibit.x}; {', '.join(series)}"
    svg = tag("svg", *parts, class_="chart", viewBox=f"0 0 {WIDTH} {height}", role="img", aria_label=message)
    return Lines(exhibit.title, tuple(_legend(inks, target_range)), svg, bool(rows))


def bar_chart(exhibit: Bars) -> BarChart:
    """Return a bar chart with the upper bound of the values."""
    bound = exhibit.bound if exhibit.bound is not None and _drawable(exhibit.bound) else None
    reach = [v for v in (*exhibit.bars.values(), bound) if v is not None and _drawable(v)]
    axis = Axis(*_ends([0.0, *reach], whole=True), 0, 100)
    bars = []
    for name, value in exhibit.bars.items():
        start, end = sorted((axis(0), axis(value) if _drawable(value) else axis(0)))
        bars.append(
            Bar(name, number(value), round(start, 2), round(end - start, 2), bound is not None and value > bound)
        )
    return BarChart(
        title=exhibit.title,
        legend=() if bound is None else (Key("bound", f"bound, {number(bound)}", "var(--ink)"),),
        bars=tuple(bars),
        bound=None if bound is None else round(axis(bound), 2),
        zero=round(axis(0), 2),
        ends=(number(axis.low), number(axis.high)),
        unit=exhibit.unit,
    )


def number(value: float) -> str:
    """Format a number with three significant digits and at most three decimals."""
    if not isfinite(value):
        return "not a number"
    if abs(value) >= 1000 or value == int(value):
        return f"{value + 0.0:,.0f}"  # avoid negative zero
    return f"{value:.3f}".rstrip("0").rstrip(".") if 0.001 <= abs(value) < 1 else f"{value:.3g}"


def tag(name: str, *inside: str, **attributes: object) -> Markup:
    """Return an XML element. Content that is not `Markup` is escaped."""
    pairs = ((key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items())
    formatted = Markup("").join(Markup(' {}="{}"').format(*pair) for pair in pairs)
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), formatted, Markup("").join(inside))


def _inks(series: Mapping[str, object], levels: Mapping[str, object]) -> dict[str, tuple[str, bool]]:
    """Return the color of each line, and whether it is dashed because all colors are used."""
    shades = [f"color-mix(in srgb, var(--a) {share}%, var(--{to}))" for share, to in _shades(len(levels))]
    others = [name for name in series if name not in levels]
    colours = OTHERS if levels else ("var(--a)", *OTHERS)
    made = {name: (shade, False) for name, shade in zip(levels, shades, strict=True)}
    return made | {name: (colours[n % len(colours)], n >= len(colours)) for n, name in enumerate(others)}


def _shades(count: int) -> Iterator[tuple[int, str]]:
    """Yield shades that range from nearly the background color through the full color to nearly the text color."""
    for n in range(count):
        place = n / (count - 1) if count > 1 else 0.5
        yield (round(45 + 110 * place), "paper") if place <= 0.5 else (round(100 - 90 * (place - 0.5)), "ink")


def _legend(inks: Mapping[str, tuple[str, bool]], target_range: Point | None) -> Iterator[Key]:
    if len(inks) > 1:
        yield from (Key("dashed" if dashed else "line", name, ink) for name, (ink, dashed) in inks.items())
    if target_range:
        yield Key("band", f"expected: {number(target_range[0])} to {number(target_range[1])}", "var(--good)")


def _band(target_range: Point | None, y: Axis) -> Iterator[Markup]:
    if target_range:
        low, high = y(target_range[0]), y(target_range[1])
        yield tag("rect", class_="band", x=LEFT, y=_n(high), width=WIDTH - LEFT - RIGHT, height=_n(low - high))


def _axes(x: Axis, y: Axis, above: str) -> Iterator[Markup]:
    yield tag("text", above, x=LEFT, y=TOP - 10)
    for value in y.ticks:
        yield tag("line", class_="grid", x1=LEFT, x2=WIDTH - RIGHT, y1=_n(y(value)), y2=_n(y(value)))
        yield tag("text", number(value), x=LEFT - 8, y=_n(y(value) + 4), text_anchor="end")
    for value in x.ticks:
        yield tag("text", number(value), x=_n(x(value)), y=TOP + PLOT + 16, text_anchor="middle")


def _line(name: str, points: Sequence[Point], x: Axis, y: Axis, ink: str, dashed: bool) -> Iterator[Markup]:
    if len(points) > 1:
        way = "M" + "L".join(f"{_n(x(a))} {_n(y(b))}" for a, b in points)
        style = f"stroke:{ink}" + (";stroke-dasharray:5 4" if dashed else "")
        yield tag("path", tag("title", name), class_="line", d=way, style=style)
    for a, b in points if len(points) <= FEW else ():
        tooltip = tag("title", f"{name}, {number(a)}: {number(b)}")
        yield tag("circle", tooltip, class_="point", cx=_n(x(a)), cy=_n(y(b)), r=3.5, style=f"fill:{ink}")


def _heat(rows: Mapping[str, Sequence[Point]], x: Axis, y: Axis, target_range: Point | None) -> Iterator[Markup]:
    for n, (name, points) in enumerate(sorted(rows.items(), key=lambda row: int(row[0].split()[1]))):
        top = TOP + PLOT + 26 + n * ROW
        width = (x.end - x.start) / max(1, len(points) - 1)
        yield tag("text", name, x=_n(LEFT - width / 2 - 5), y=_n(top + ROW - 4), text_anchor="end")
        for a, b in points:
            tooltip = tag("title", f"{name}, {number(a)}: {number(b)}")
            left, strength = x(a) - width / 2, (b - y.low) / (y.high - y.low)
            place = {"x": _n(left + 0.5), "y": top, "width": _n(width - 1), "height": ROW - 1}
            yield tag("rect", tooltip, class_="cell", fill_opacity=f"{0.06 + 0.9 * strength:.2f}", **place)
            if target_range and target_range[0] <= b <= target_range[1]:
                ink = "var(--paper)" if strength > 0.6 else "var(--ink)"
                yield tag("circle", class_="dot", cx=_n(x(a)), cy=top + ROW / 2 - 0.5, r=1.8, style=f"fill:{ink}")


def _ends(values: Sequence[float], whole: bool = False) -> tuple[float, float]:
    """Return the limits of an axis: 0 to 1 for shares, else the range of the values, rounded to steps if `whole`."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    if low >= 0 and high <= 1:
        return 0.0, 1.0
    if low == high:
        low, high = low - max(1.0, abs(low) / 2), high + max(1.0, abs(high) / 2)
    step = _step(low, high)
    return (floor(low / step) * step, ceil(high / step) * step) if whole else (low, high)


def _step(low: float, high: float) -> float:
    """Return a round tick distance that gives three to six ticks."""
    rough = (high - low) / 5
    power: float = 10 ** floor(log10(rough))
    return next((m * power for m in (1, 2, 2.5, 5) if m * power >= rough * (1 - 1e-9)), 10 * power)


def _drawable(value: float) -> bool:
    return abs(value) < LARGEST


def _n(value: float) -> str:
    return f"{value:.1f}"
