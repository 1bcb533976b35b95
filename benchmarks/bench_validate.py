"""Number of scenarios per second that each property and a whole validation check, with one and two worker processes.

    python benchmarks/bench_validate.py [--repeat 3] [--profile gate] [--whole] [environment ...]

If no environment is given, all registered environments are measured. Each property is timed separately, without cached
rollouts. In a validation, properties share rollouts, so a whole validation takes less time than the sum of its
properties. The script prints medians of the elapsed time and of the CPU time, which differ on a busy machine and if a
property starts processes. Properties that do not apply are omitted.

A whole validation is measured outside and inside the sandbox, alternately with one worker and with two. The last
columns compare two workers with one: the speedup in elapsed time, and the ratio of the CPU seconds of all processes.
``--whole`` skips the measurement of separate properties.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple, TypeVar

from trace_gym import registry
from trace_gym.sandbox import check
from trace_gym.types import Finding, Scenario
from trace_gym.validation import PROFILES, PROPERTIES, Context, load, validate
from trace_gym.validation.selection import sample

_T = TypeVar("_T")
WORKERS = (1, 2)


class Spent(NamedTuple):
    clock: float
    cpu: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("envs", nargs="*", default=registry.list_environments(), metavar="environment")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--profile", choices=list(PROFILES), default="gate")
    parser.add_argument("--whole", action="store_true", help="measure whole validations only")
    options = parser.parse_args()
    for env in options.envs:
        if not options.whole:
            each_property(env, options.profile, options.repeat)
        as_a_whole(env, options.profile, options.repeat)


def each_property(env: str, profile: str, repeat: int) -> None:
    """Measure every property separately, and print the slowest first."""
    world, reference = load(env)
    scenarios = sample(world, PROFILES[profile].seeds_per_level)
    rows: list[tuple[Spent, str]] = []
    for code, found in PROPERTIES.items():

        def alone(code: str = code) -> Finding:
            return PROPERTIES[code](world, scenarios, Context(world, reference, PROFILES[profile]))

        verdict, spent = timed(alone, repeat)
        if verdict.verdict != "skipped":
            rows.append((spent, f"{code} {found.name}{'' if verdict.passed else ', which fails'}"))
    total = Spent(sum(s.clock for s, _ in rows), sum(s.cpu for s, _ in rows))
    print(f"\n{env}: {len(scenarios)} scenarios, profile {profile}, median of {repeat}")
    print("  scenarios/s  per CPU s   share  property, by itself")
    for spent, name in sorted(rows, reverse=True):
        print(f"  {line(scenarios, spent)}  {spent.cpu / total.cpu:6.1%}  {name}")
    print(f"  {line(scenarios, total)}  {1:6.1%}  their sum")


def as_a_whole(env: str, profile: str, repeat: int) -> None:
    """Measure whole validations, alternately with one worker and with two, outside and inside the sandbox."""
    scenarios = sample(load(env)[0], PROFILES[profile].seeds_per_level)
    print(f"\n{env}: {len(scenarios)} scenarios, profile {profile}, median of {repeat}")
    print("  scenarios/s  per CPU s  speedup  CPU ratio")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(registry.module_path(env), folder))  # without its manifest it is not admitted

        def outside(workers: int) -> bool:
            return validate(env, profile=profile, engine="processes", workers=workers, progress=False).passed

        def inside(workers: int) -> bool:
            return check(copy, profile=profile, workers=workers).passed

        for place, work in (("outside", outside), ("inside", inside)):
            runs: dict[int, list[tuple[bool, Spent]]] = {workers: [] for workers in WORKERS}
            for _ in range(repeat):
                for workers in WORKERS:
                    runs[workers].append(timed(lambda workers=workers, work=work: work(workers), 1))  # type: ignore[misc]
            spent = {
                w: Spent(median(s.clock for _, s in made), median(s.cpu for _, s in made)) for w, made in runs.items()
            }
            for workers in runs:
                speedup, ratio = (spent[1].clock / spent[workers].clock, spent[workers].cpu / spent[1].cpu)
                failed = "" if all(passed for passed, _ in runs[workers]) else ", which fails"
                name = f"all properties {place} the sandbox, {workers} worker{'s' * (workers > 1)}{failed}"
                print(f"  {line(scenarios, spent[workers])}  {speedup:7.2f}  {ratio:9.3f}  {name}")


def timed(work: Callable[[], _T], repeat: int) -> tuple[_T, Spent]:
    """Return the result of the work, and the medians of its elapsed time and CPU time."""
    clocks, cpus = [], []
    for _ in range(repeat):
        began = time.perf_counter(), cpu()
        made = work()
        clocks.append(time.perf_counter() - began[0])
        cpus.append(cpu() - began[1])
    return made, Spent(median(clocks), median(cpus))


def cpu() -> float:
    """Return the CPU seconds of this process and of its child processes that have ended."""
    spent = os.times()  # its own part is exact to a hundredth of a second only
    return time.process_time() + spent.children_user + spent.children_system


def line(scenarios: Sequence[Scenario], spent: Spent) -> str:
    return f"{len(scenarios) / spent.clock:11.1f}  {len(scenarios) / spent.cpu:9.1f}"


if __name__ == "__main__":
    main()
