"""Success of the oracle's plan after its messages are reworded, by environment, level and kind of rewording.

    python benchmarks/bench_paraphrase.py [--env NAME ...] [--seeds 20] [--first 0] [--kind NAME ...] [--examples N]

Each cell is the percentage of reworded plans that succeed just as the original plan does, and whose messages the user
understands in the same way. A dot means that no plan contains a message that this kind of rewording applies to. The
column `oracle` is the success rate of the original plan. The column `ablated` counts the scenarios in which the ablated
expert succeeds after the rewording but not before. `--examples` prints the first plans that differ for each kind.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable

from trace_gym import registry
from trace_gym.types import Scenario
from trace_gym.validation import PROFILES, Context, load
from trace_gym.validation.paraphrase import ANNOUNCED, KINDS
from trace_gym.validation.phrasing import difference, first_change, paraphrased_plans

ALL = (*KINDS, ANNOUNCED)
SHORT = {
    "completion": "compl", "contractions": "contr", "everything": "all", "proposal": "propos", "progress": "progr",
    "announced transfer": "announ", "transfer": "transf",
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--env", nargs="*", default=registry.list_environments(), help="names or paths; all registered by default"
    )
    parser.add_argument("--seeds", type=int, default=20, help="scenarios for each level")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--kind", nargs="*", default=ALL, choices=ALL, metavar="KIND", help=f"of {', '.join(ALL)}")
    parser.add_argument("--examples", type=int, default=0, help="print so many plans that differ for each kind")
    options = parser.parse_args()
    print("| environment/level | oracle | " + " | ".join(SHORT.get(k, k) for k in options.kind) + " | ablated |")
    print("|---|" + "---:|" * (len(options.kind) + 2))
    for env in options.env:
        measure(env, range(options.first, options.first + options.seeds), options.kind, options.examples)


def measure(env: str, seeds: Iterable[int], kinds: Iterable[str], examples: int) -> None:
    """Print the rows of an environment."""
    world, reference = load(env)
    for level in world.levels:
        context = Context(world, reference, PROFILES["gate"])
        tried: dict[str, list[bool]] = defaultdict(list)
        lost: dict[str, list[str]] = defaultdict(list)
        for n, seed in enumerate(seeds):
            scenario = Scenario(env=world.id, level=level, seed=seed)
            tried["oracle"].append(context.expert(scenario, "oracle").finish().success)
            for kind, plan in paraphrased_plans(context, scenario, "oracle", n):
                if kind in kinds:
                    now = difference(context, scenario, kind, plan)
                    tried[kind].append(not now)
                    if now:
                        change = first_change(context.plan(scenario, "oracle"), plan)
                        lost[kind].append(f"{scenario}: {now}; it says {change}")
            usual = context.expert(scenario, "ablated").finish().success
            gains = [
                context.run(scenario, plan).finish().success
                for kind, plan in paraphrased_plans(context, scenario, "ablated", n)
                if kind == "everything"
            ]
            tried["ablated"].append(not usual and any(gains))
        cells = " | ".join(f"{100 * sum(t) / len(t):.0f}" if (t := tried[k]) else "." for k in ("oracle", *kinds))
        print(f"| {world.id}/{level} | {cells} | {sum(tried['ablated'])} |", flush=True)
        for kind, told in lost.items():
            for line in told[:examples]:
                print(f"    {kind}: {line}")


if __name__ == "__main__":
    main()
