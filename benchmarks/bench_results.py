"""Time and memory of a rule-based diagnosis, by the number of trajectories.

    python benchmarks/bench_results.py [--n 100 1000 10000] [--form tau2] [--plot FILE.svg]

Each measurement writes a results file, which repeats recorded conversations under different trial numbers, and
diagnoses it in a fresh process. The time is the CPU time of the process after the imports. The peak memory is the
largest resident set size of the process. The memory for labels grows with the number of trajectories;
`--without-labels` measures only the reading of the file.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"


def write_results(path: Path, form: str, count: int) -> None:
    """Write a results file with `count` records, without keeping all of them in memory."""
    data = json.loads((DATA / ("tau_bench_airline.json" if form == "tau-bench" else "tau2_retail.json")).read_text())
    records: list[dict[str, Any]] = data if form == "tau-bench" else data["simulations"]
    filler = {"role": "assistant", "content": "I will look into it. " * 100}
    key = "traj" if form == "tau-bench" else "messages"

    def rows() -> Iterator[str]:
        for n in range(count):
            record = records[n % 2]
            yield json.dumps(record | {key: [*record[key][:-1], *[filler] * 10, record[key][-1]], "trial": n})

    with path.open("w") as file:
        if form == "tau2":
            head = {k: v for k, v in data.items() if k != "simulations"}
            file.write(json.dumps(head)[:-1] + ', "simulations": [')
        elif form == "tau-bench":
            file.write("[")
        for n, row in enumerate(rows()):
            file.write(("," if n else "") + row)
        file.write("]}" if form == "tau2" else "]")


def measure(path: Path, labels: bool) -> None:
    """Diagnose a file, or only read it, and print the seconds, the peak memory and the number of trajectories."""
    from trace_gym.diagnosis import diagnose
    from trace_gym.targets.results import stream_results

    diagnose(islice(stream_results(path), 2))  # imports the targets
    start = time.process_time()
    count = diagnose(stream_results(path)).n if labels else sum(1 for _ in stream_results(path))
    seconds = time.process_time() - start
    print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, count]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", nargs="*", type=int, default=[100, 1000, 10000], help="numbers of trajectories")
    parser.add_argument("--form", default="tau2", choices=["tau2", "tau-bench"], help="format of the results")
    parser.add_argument("--without-labels", action="store_true", help="only read the file")
    parser.add_argument("--plot", type=Path, help="plot the time and the memory to an SVG file")
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.file:
        measure(options.file, not options.without_labels)
        return
    print("| trajectories | file, MB | CPU time, s | peak memory, MB |\n|---:|---:|---:|---:|")
    points = []
    for count in options.n:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "results.json")
            write_results(path, options.form, count)
            command = [sys.executable, __file__, "--file", str(path)]
            command += ["--without-labels"] if options.without_labels else []
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            seconds, memory, read = json.loads(done.stdout)
            assert read == count
            points.append((count, seconds, memory))
            print(f"| {count:,} | {path.stat().st_size / 1e6:.0f} | {seconds:.1f} | {memory:.0f} |", flush=True)
    if options.plot:
        plot(points, options.plot)


def plot(points: Sequence[tuple[int, float, float]], path: Path) -> None:
    """Plot the CPU time and the peak memory by the number of trajectories."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3), layout="constrained")
    counts = [count for count, _, _ in points]
    for axes, label, values in zip(
        figure.subplots(1, 2),
        ("CPU time (s)", "peak memory (MB)"),
        ([seconds for _, seconds, _ in points], [memory for _, _, memory in points]),
        strict=True,
    ):
        axes.plot(counts, values, "o-")
        axes.set(xlabel="trajectories", ylabel=label, ylim=(0, 1.1 * max(values)), xlim=(0, 1.05 * max(counts)))
        axes.grid(alpha=0.3)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
