"""Compare two runs of `trace-gym run` that differ in one setting, such as the trainer or the engine.

    python benchmarks/compare_runs.py FOLDER FOLDER [--resamples N]

Both runs must have evaluated the same tasks with at least two training seeds each. For each policy, the script prints
the mean success rate over the seeds of each run and the difference of the means, in percentage points. The 95 %
interval of the difference is a percentile interval of a bootstrap that draws both tasks and seeds: the same tasks for
both runs, because the runs share them, and the seeds of each run on its own, because they do not share random numbers.
With only three seeds, such an interval is somewhat too narrow. The column t therefore also gives the 95 % interval of
Welch's t-test of the means per seed, which treats the tasks as fixed. It is missing for a policy that is not trained.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float64]
"""Successes by training seed and task."""

T_975 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776}
"""97.5 % quantiles of Student's t-distribution by the number of degrees of freedom."""


def read_run(folder: Path) -> tuple[list[str], dict[str, Table]]:
    """Return the tasks of a run and the successes of each policy, over all levels of the target."""
    tasks: list[str] = []
    found: dict[str, list[Table]] = {}
    files = sorted((folder / "evaluation").glob("level-*.json"))
    if not files:
        raise SystemExit(f"{folder} contains no evaluation. Pass the folder of a complete run")
    for file in files:
        rows = json.loads(file.read_text())["rows"]
        tasks += rows[0]["scenarios"]
        for row in rows:
            table = np.array(row["successes"], dtype=float).reshape(len(row["seeds"]), -1)
            found.setdefault(row["name"], []).append(table)
    return tasks, {name: np.hstack(parts) for name, parts in found.items() if len(parts) == len(files)}


def bootstrap(first: Table, second: Table, resamples: int) -> tuple[float, float]:
    """Return the 95 % interval of the difference of the means, with drawn tasks and seeds."""
    rng = np.random.default_rng(0)
    differences = []
    for _ in range(resamples):
        tasks = rng.integers(first.shape[1], size=first.shape[1])
        means = [table[rng.integers(len(table), size=len(table))][:, tasks].mean() for table in (first, second)]
        differences.append(means[1] - means[0])
    low, high = np.percentile(differences, [2.5, 97.5])
    return float(low), float(high)


def welch(first: Table, second: Table) -> tuple[float, float] | None:
    """Return the 95 % interval of the difference of the means per seed, or None if all seeds are equal."""
    means = [table.mean(axis=1) for table in (first, second)]
    errors = [float(mean.var(ddof=1)) / len(mean) for mean in means]
    if sum(errors) == 0:
        return None
    freedom = sum(errors) ** 2 / sum(e**2 / (len(m) - 1) for e, m in zip(errors, means, strict=True))
    half = T_975[min(4, max(1, math.floor(freedom)))] * math.sqrt(sum(errors))
    center = float(means[1].mean() - means[0].mean())
    return center - half, center + half


def interval(bounds: tuple[float, float] | None) -> str:
    """Return an interval in percentage points."""
    return "-" if bounds is None else f"{100 * bounds[0]:+.1f} to {100 * bounds[1]:+.1f}"


def seeds_text(table: Table) -> str:
    """Return the mean success rate over the seeds, and the lowest and highest one."""
    rates = 100 * table.mean(axis=1)
    return f"{rates.mean():.1f} ({rates.min():.1f} to {rates.max():.1f})"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the comparison as a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs=2, type=Path, metavar="FOLDER", help="folder of a complete run")
    parser.add_argument("--resamples", type=int, default=10_000, help="bootstrap resamples (default: %(default)s)")
    options = parser.parse_args(arguments)
    (tasks, first), (others, second) = map(read_run, options.folders)
    if tasks != others:
        raise SystemExit("the two runs evaluated different tasks. Use the same target, levels and number of tasks")
    if min(len(table) for run in (first, second) for table in run.values()) < 2:
        raise SystemExit("a run with one training seed shows no variation between seeds. Set seeds: [0, 1, 2]")
    head = ["policy", *(f"{folder.name}: success %" for folder in options.folders), "difference", "95 %", "t: 95 %"]
    rows = [
        [
            name,
            seeds_text(first[name]),
            seeds_text(second[name]),
            f"{100 * (second[name].mean() - first[name].mean()):+.1f}",
            interval(bootstrap(first[name], second[name], options.resamples)),
            interval(welch(first[name], second[name])),
        ]
        for name in first
        if name in second
    ]
    for row in [head, ["---"] + ["---:"] * (len(head) - 1), *rows]:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
