"""Routing accuracy in the option order that was used in pre-training, and in different orders.

    python benchmarks/bench_route.py [--tasks 300] [--orders 20] [--level 0] [--skip NAME ...]
    python benchmarks/bench_route.py --run runs/full     # which adapters improved, for each training seed

The built-in base model was pre-trained on routing prompts, 40 % of which list every option in alphabetical order.
The first order of `LogitRouter` is the same alphabetical order. This script asks the same router about the same
held-out tasks of the target in that order, in random orders, and averaged over one rotation per option, and compares
each with two controls: a random option, and the best single option. Every task is drawn from the test split.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection, Sequence
from itertools import permutations
from pathlib import Path
from random import Random
from statistics import mean

import numpy as np

from trace_gym import registry
from trace_gym.evaluation import first_messages, random_choices
from trace_gym.lab import BASE as MODEL
from trace_gym.lab.demos import LEVELS, TARGET
from trace_gym.pipeline.route import ground_truth_capabilities
from trace_gym.route import BASE, LogitRouter, Option, options_for
from trace_gym.statistics import newcombe, wilson
from trace_gym.targets.tau2.needs import DESCRIPTIONS
from trace_gym.types import Scenario

Grades = list[list[bool]]
"""Correctness of each choice, indexed by order and task."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=300, help="held-out tasks of the target")
    parser.add_argument("--orders", type=int, default=20, help="random orders, the trained order excluded")
    parser.add_argument("--level", type=int, default=0, help="level of the target")
    parser.add_argument("--skip", nargs="*", default=[], metavar="NAME", help="environments to leave out")
    parser.add_argument("--run", type=Path, help="print the learned capabilities of this run folder instead")
    asked = parser.parse_args()
    if asked.run is not None:
        print_learned(asked.run)
        return
    scenarios = registry.scenarios(TARGET, "test", asked.tasks, levels=[asked.level])
    envs = [name for name in sorted(LEVELS) if name not in (TARGET, *asked.skip)]
    router = build(envs)
    print(f"{TARGET}, level {asked.level}, {len(scenarios)} test tasks, options: {', '.join(names(router))}")
    for label, grades in measure(router, scenarios, asked.orders):
        print(f"{label:44} {summary(grades)}")


def build(envs: Sequence[str]) -> LogitRouter:
    """Return the router of the presets ``demo`` and ``full`` for these environments, in alphabetical order."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(1)
    told = {name: DESCRIPTIONS[registry.load_world(name).capability] for name in envs}
    options = options_for(told, levels={name: LEVELS[name] for name in envs})
    model, tokenizer = AutoModelForCausalLM.from_pretrained(MODEL).eval(), AutoTokenizer.from_pretrained(MODEL)
    return LogitRouter(model, tokenizer, options, permutations=1)


def measure(router: LogitRouter, scenarios: list[Scenario], orders: int) -> list[tuple[str, Grades]]:
    """Return the rows of the table: label, and whether each choice was correct."""
    texts, wanted = first_messages(scenarios), [ground_truth_capabilities(s) for s in scenarios]
    offered = names(router)

    def grades(orders: Sequence[Sequence[Option]]) -> Grades:
        made = []
        for order in orders:
            router.orders = [list(order)]
            made.append(graded([c.capability for c in router.choose_all(texts)], wanted, offered))
        return made

    trained, *others = permutations(router.options)
    drawn = Random("bench_route").sample(others, k=min(orders, len(others)))
    averaged = LogitRouter(router.model, router.tokenizer, router.options, permutations=len(offered))
    rotated = graded([c.capability for c in averaged.choose_all(texts)], wanted, offered)
    chance = [list(random_choices(scenarios, offered, seed=n).values()) for n in range(orders)]
    single = {name: graded([name] * len(scenarios), wanted, offered) for name in offered}
    best = max(single, key=lambda name: sum(single[name]))
    return [
        ("alphabetical order (used in pre-training)", grades([trained])),
        (f"{len(drawn)} random orders", grades(drawn)),
        (f"average over {len(offered)} rotations", [rotated]),
        (f"control: random option, {orders} draws", [graded(c, wanted, offered) for c in chance]),
        (f"control: always {best}", [single[best]]),
    ]


def names(router: LogitRouter) -> list[str]:
    """Return the options in alphabetical order."""
    return [option.capability for option in router.options]


def graded(chosen: Sequence[str], wanted: Sequence[Collection[str]], offered: Sequence[str]) -> list[bool]:
    """Return whether each choice is a needed option, or the base model if the task needs no offered option."""
    return [c in (set(w) & set(offered) or {BASE}) for c, w in zip(chosen, wanted, strict=True)]


def summary(grades: Grades) -> str:
    """Return the accuracy with a 95 % interval, and its range over the orders, as text.

    For one order, this is Wilson's interval. For several orders, it is a bootstrap interval for which orders and tasks
    are resampled independently.
    """
    by_order = [mean(row) for row in grades]
    if len(grades) == 1:
        interval = wilson(sum(grades[0]), len(grades[0]))
        assert interval is not None
        return f"{by_order[0]:.2f} ({interval.low:.2f} to {interval.high:.2f})"
    table, rng = np.array(grades, dtype=float), np.random.default_rng(0)
    rows, columns = table.shape
    resampled = [
        table[rng.integers(rows, size=rows)][:, rng.integers(columns, size=columns)].mean() for _ in range(2_000)
    ]
    low, high = np.quantile(resampled, [0.025, 0.975])
    return f"{mean(by_order):.2f} ({low:.2f} to {high:.2f}), single orders {min(by_order):.2f} to {max(by_order):.2f}"


def print_learned(folder: Path) -> None:
    """Print success before and after training for each adapter and seed, from ``proof.json`` of a run.

    An adapter counts as improved if Newcombe's 95 % interval of the difference excludes 0.
    """
    rows = json.loads((folder / "proof.json").read_text())
    seeds = sorted({row["seed"] for row in rows})
    print(f"{'capability':28}" + "".join(f"seed {seed:<18}" for seed in seeds))
    improved = dict.fromkeys(seeds, 0)
    for capability in sorted({row["capability"] for row in rows}):
        line = f"{capability:28}"
        for row in sorted((r for r in rows if r["capability"] == capability), key=lambda r: r["seed"]):
            n = row["heldout"]
            change = newcombe(round(row["after"] * n), n, round(row["before"] * n), n)
            better = change is not None and change.low > 0
            improved[row["seed"]] += better
            line += f"{row['before']:.2f} to {row['after']:.2f}{' improved' if better else '':12}"
        print(line.rstrip())
    print(f"{'improved':28}" + "".join(f"{count:<23}" for count in improved.values()))


if __name__ == "__main__":
    main()
