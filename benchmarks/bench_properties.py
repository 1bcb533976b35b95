"""Cost of each property of a validation, and the number of defects that it detects.

    python benchmarks/bench_outsiders.py --half all --profile quick --out outsiders.jsonl
    python benchmarks/bench_properties.py --outsiders outsiders.jsonl [--profile gate] [environment ...]

The cost is the share of the CPU time of a validation in one process. Properties share rollouts, and the first property
that needs a rollout pays for it. Properties that start processes are measured including these. Detections are counted
in `docs/notes/mutants.md` and in the results of `bench_outsiders.py`. The column *alone* contains the number of defects
that no other property detects.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import fmean

from bench_validate import cpu

from trace_gym.validation import PROFILES, PROPERTIES, Context, load
from trace_gym.validation.selection import sample

MUTANTS = Path(__file__).parents[1] / "docs" / "notes" / "mutants.md"
ENVIRONMENTS = (
    "tau2_precondition",
    "tau2_airline_desk",
    "tau2_retail_multi_step",
    "tau2_refund_explanation",
    "toolsandbox_datetime",
    "toolsandbox_state_dependency",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("envs", nargs="*", default=ENVIRONMENTS, metavar="environment")
    parser.add_argument("--profile", choices=list(PROFILES), default="gate")
    parser.add_argument("--outsiders", type=Path, help="results of bench_outsiders.py")
    options = parser.parse_args()
    costs: dict[str, list[float]] = defaultdict(list)
    totals = []
    for env in options.envs:
        spent = costs_of(env, options.profile)
        totals.append(sum(spent.values()))
        for code, seconds in spent.items():
            costs[code].append(seconds / totals[-1])
    print(f"CPU time of a validation: {fmean(totals):.1f} s ({min(totals):.1f} to {max(totals):.1f})\n")
    groups = {"Mutants": set_of_mutants()}
    if options.outsiders:
        groups["Bugs of outsiders"] = set_of_bugs(options.outsiders)
    counted = [counts(list(group)) for group in groups.values()]
    print(f"| Property | CPU time | {' | '.join(f'{name} | alone' for name in groups)} |")
    print("|---|" + "---:|" * (1 + 2 * len(groups)))
    for code in sorted(PROPERTIES, key=lambda code: -sum(costs[code])):
        share = sum(costs[code]) / len(totals)
        cells = [str(count[code]) for pair in counted for count in pair]
        print(f"| {code} {PROPERTIES[code].name} | {share:.1%} | {' | '.join(cells)} |")


def costs_of(env: str, profile: str) -> dict[str, float]:
    """Return the CPU seconds of each property that applies to an environment, with shared rollouts."""
    world, reference = load(env)
    chosen = PROFILES[profile]
    context, scenarios = Context(world, reference, chosen), sample(world, chosen.seeds_per_level)
    spent = {}
    for code, checked in PROPERTIES.items():
        begun = cpu()
        if checked(world, scenarios, context).verdict != "skipped":
            spent[code] = cpu() - begun
    return spent


def set_of_mutants() -> Iterator[set[str]]:
    """Yield the codes of the properties that reject each mutant."""
    for line in MUTANTS.read_text(encoding="utf-8").splitlines():
        if line.startswith("| ") and (codes := set(re.findall(r"TG\d{3}", line.rpartition("| ")[2] or line))):
            yield codes


def set_of_bugs(path: Path) -> Iterator[set[str]]:
    """Yield the codes of the properties that detect each bug of an outside author."""
    for line in path.read_text(encoding="utf-8").splitlines():
        yield set(json.loads(line)["failed"])


def counts(detected: Iterable[set[str]]) -> tuple[Counter[str], Counter[str]]:
    """Return the number of detections of each property, and the number of those that no other property has."""
    found = list(detected)
    return Counter(c for codes in found for c in codes), Counter(c for codes in found if len(codes) == 1 for c in codes)


if __name__ == "__main__":
    main()
