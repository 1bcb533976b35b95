"""Precision and recall of a diagnosis on agents with planted deficits.

    python benchmarks/bench_diagnose.py [--analyst NAME] [--env NAME ...] [--n N ...] [--scenarios 120] [--first 0]

Each agent solves scenarios of several environments of one target. In the environments that train a capability it lacks,
the agent follows the ablated expert with a fixed probability (the strength of the deficit), and otherwise the oracle.
In all other environments, the agent follows the oracle. Half of the episodes are from the environments of the deficits.
For an agent with noise, 10 % of its episodes are scored as failed although the oracle solved them, as a defective
grader would do.

The tables contain precision and recall of the selected capabilities, the error of gap and coverage, and the share of
healthy agents and of agents with shuffled outcomes for which at least one capability is selected. A capability is
covered if the analyst's `descriptions` contain it; deficits in other capabilities have recall 0, and every selected
capability counts as a wrong name. A last table contains agents with a deficit that no environment trains: they ask the
customer for an id instead of looking it up. `--analyst` is `rules`, `random`, or an `Analyst` without arguments as
`package.module:NAME`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

from trace_gym import registry
from trace_gym.diagnosis import Analyst, RuleAnalyst, diagnose
from trace_gym.episode import Episode
from trace_gym.policies.scripted import Ablated, Oracle
from trace_gym.rollouts import rollout
from trace_gym.types import Call, Label, Manifest, Say, Scenario, Trajectory

STRENGTHS = (0.3, 0.6, 1.0)
SIZES = (50, 100, 200, 500, 1000)
NOISE = 0.1
HABITS = ("tau2_record_identification", "tau2_retail_desk", "tau2_precondition", "tau2_retail_precondition")
"""Environments in which agents ask for ids."""


class RandomAnalyst:
    """Control that assigns random labels of all registered capabilities."""

    name = "random"

    def __init__(self) -> None:
        self.descriptions = {m.capability: m.capability for m in environments()}

    def label(self, trajectories: Iterable[Trajectory]) -> list[dict[str, dict[str, Label]]]:
        """Return one label run."""
        labels: tuple[Label, ...] = ("NA", "PRESENT", "LACKING")
        return [{t.id: {n: Random(f"{t.id}/{n}").choice(labels) for n in self.descriptions} for t in trajectories}]


class Remembering:
    """Analyst that labels every recorded episode only once, even if several agents share the episode."""

    def __init__(self, analyst: Analyst, episodes: Sequence[Trajectory]) -> None:
        self.name, self.descriptions = analyst.name, dict(analyst.descriptions)
        self._runs = [dict(run) for run in analyst.label(episodes)]

    def label(self, trajectories: Iterable[Trajectory]) -> list[dict[str, Mapping[str, Label]]]:
        """Return the label runs of an agent's episodes."""
        origin = {t.id: t.id.partition("@")[0] for t in trajectories}
        return [{i: run[o] for i, o in origin.items() if o in run} for run in self._runs]


@dataclass(frozen=True)
class Agent:
    """Description of an agent with known deficits."""

    deficits: tuple[str, ...]
    """Environments whose capability the agent lacks."""
    background: tuple[str, ...]
    strength: float = 0.0
    noise: float = 0.0
    shuffled: bool = False
    seed: int = 0


@dataclass(frozen=True)
class Result:
    """Comparison of a diagnosis with the truth."""

    agent: Agent
    n: int
    truth: frozenset[str]
    named: frozenset[str]
    gap_errors: tuple[float, ...]
    coverage_errors: tuple[float, ...]
    unexplained: float
    """Share of the failures in which the analyst finds no missing capability."""


@cache
def environments() -> tuple[Manifest, ...]:
    """Return the manifests of the environments that train one capability."""
    return tuple(sorted((m for m in registry.manifests() if m.capability), key=lambda m: m.id))


class Episodes:
    """Recorded episodes of the oracle and of the ablated expert in all environments."""

    def __init__(self, names: Sequence[str], scenarios: int, first: int) -> None:
        self.by_expert: dict[tuple[str, bool], list[Trajectory]] = {}
        for name in names:
            levels = registry.level_count(name)
            drawn = [Scenario(env=name, level=i % levels, seed=i) for i in range(first, first + scenarios)]
            for policy in (Oracle(), Ablated()):
                ablated = isinstance(policy, Ablated)
                found = rollout(policy, drawn, progress=False)
                # The ids of the two experts' episodes in one scenario must differ.
                self.by_expert[name, ablated] = [
                    t.model_copy(update={"id": f"{t.id}{'-' if ablated else '+'}", "model": ""}) for t in found
                ]

    def of(self, agent: Agent, n: int) -> tuple[list[Trajectory], set[str]]:
        """Return `n` episodes of an agent, and the ids of those in which the agent lacked a capability."""
        rng = Random(f"{agent}/{n}")
        planted, healthy = agent.deficits or agent.background, agent.background or agent.deficits
        found, lacking = [], set()
        for number in range(n):
            group = planted if number % 2 else healthy
            env = group[number // 2 % len(group)]
            ablated = env in agent.deficits and rng.random() < agent.strength
            chosen = rng.choice(self.by_expert[env, ablated])
            name = f"{chosen.id}@{number}"
            success = bool(chosen.success) and (ablated or rng.random() >= agent.noise)
            found.append(chosen.model_copy(update={"id": name, "success": success}))
            # An ablated expert that solves the scenario did not need the capability there.
            lacking |= {name} if ablated and not chosen.success else set()
        if agent.shuffled:
            outcomes = [t.success for t in found]
            rng.shuffle(outcomes)
            found = [t.model_copy(update={"success": s}) for t, s in zip(found, outcomes, strict=True)]
        return found, lacking


def measure(analyst: Analyst, episodes: Episodes, agent: Agent, n: int) -> Result:
    """Diagnose one agent."""
    sample, lacking = episodes.of(agent, n)
    found = diagnose(sample, analyst=analyst, permutations=500, seed=agent.seed)
    capability = {m.id: m.capability for m in environments()}
    named = {c.name: c for c in found.selected}
    gaps, coverages = [], []
    for env in agent.deficits:
        if (c := named.get(capability[env])) is None:
            continue
        needing = [t for t in sample if capability[t.task.split("/")[0]] == c.name]
        rates = [
            fmean(t.id in lacking for t in g) for s in (False, True) if (g := [t for t in needing if t.success is s])
        ]
        failed = [t for t in sample if not t.success]
        own = {t.id for t in needing}
        coverages.append(c.coverage - fmean(t.id in lacking and t.id in own for t in failed))
        if c.gap is not None and len(rates) == 2:
            gaps.append(c.gap - (rates[0] - rates[1]))
    truth = frozenset() if agent.shuffled else frozenset(capability[e] for e in agent.deficits)
    unexplained = len(found.uncovered) / found.failed if found.failed else 0.0
    return Result(agent, n, truth, frozenset(named), tuple(gaps), tuple(coverages), unexplained)


def single_agents(pool: Sequence[Manifest]) -> Iterator[Agent]:
    """Yield agents with one deficit."""
    for m in pool:
        for strength in STRENGTHS:
            for noise in (0.0, NOISE):
                yield Agent((m.id,), background(pool, m), strength, noise)


def pair_agents(pool: Sequence[Manifest], count: int = 40) -> Iterator[Agent]:
    """Yield agents with two deficits in the environments of one target."""
    pairs = [(a, b) for a, b in combinations(pool, 2) if a.target == b.target and a.capability != b.capability]
    for n, (a, b) in enumerate(Random(0).sample(pairs, min(count, len(pairs)))):
        rest = tuple(e for e in background(pool, a) if e != b.id)
        yield Agent((a.id, b.id), rest, STRENGTHS[n % 3], NOISE * (n % 2))


def control_agents(pool: Sequence[Manifest], seeds: int = 20) -> Iterator[Agent]:
    """Yield healthy agents and agents with shuffled outcomes."""
    for target in sorted({m.target for m in pool}):
        mine = [m for m in pool if m.target == target]
        names = tuple(m.id for m in mine)
        for seed in range(seeds):
            yield Agent((), names, noise=NOISE, seed=seed)
            yield Agent((mine[seed % len(mine)].id,), names, 0.6, shuffled=True, seed=seed)


def background(pool: Sequence[Manifest], of: Manifest) -> tuple[str, ...]:
    """Return the environments of the same target that train a different capability."""
    return tuple(m.id for m in pool if m.target == of.target and m.capability != of.capability)


def scores(results: Sequence[Result]) -> tuple[float | None, float | None]:
    """Return precision and recall of the named capabilities over all agents."""
    right = sum(len(r.truth & r.named) for r in results)
    named, truth = sum(len(r.named) for r in results), sum(len(r.truth) for r in results)
    return (right / named if named else None), (right / truth if truth else None)


def wrong(results: Sequence[Result]) -> float | None:
    """Return the share of agents for which the diagnosis named a capability that they do not lack."""
    return fmean(bool(r.named - r.truth) for r in results) if results else None


def table(title: str, results: Sequence[Result], by: Callable[[Result], str]) -> None:
    """Print one row per group of agents."""
    print(f"\n| {title} | agents | precision | recall | wrong name | gap error | coverage error | unexplained |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    groups: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        groups[by(result)].append(result)
    for name, group in groups.items():
        gaps = [abs(e) for r in group for e in r.gap_errors]
        coverages = [abs(e) for r in group for e in r.coverage_errors]
        values = [*scores(group), wrong(group), fmean(gaps) if gaps else None, fmean(coverages) if coverages else None]
        cells = ["-" if v is None else f"{v:.2f}" for v in [*values, fmean(r.unexplained for r in group)]]
        print(f"| {name} | {len(group)} | {' | '.join(cells)} |", flush=True)


def confusion(results: Sequence[Result]) -> None:
    """Print the capabilities that were selected for each planted deficit."""
    print("\n| deficit | selected capabilities (number of agents) |\n|---|---|")
    groups: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        groups[result.agent.deficits[0]].append(result)
    for env, group in groups.items():
        names = sorted({n for r in group for n in r.named})
        counts = ", ".join(f"{n} ({sum(n in r.named for r in group)})" for n in names)
        print(f"| {env} | {counts or 'none'} of {len(group)} |")


def report(analyst: Analyst, results: Sequence[Result]) -> None:
    """Print all tables."""
    known = set(analyst.descriptions)
    single = [r for r in results if len(r.agent.deficits) == 1 and not r.agent.shuffled]
    inside, outside = [r for r in single if r.truth <= known], [r for r in single if not r.truth <= known]
    table("covered capabilities, trajectories", inside, lambda r: str(r.n))
    table("other capabilities, trajectories", outside, lambda r: str(r.n))
    large = [r for r in single if r.n >= 200]
    table("strength and noise, from 200 trajectories", large, lambda r: f"{r.agent.strength}, {r.agent.noise:.0%}")
    pairs = [r for r in results if len(r.agent.deficits) == 2]
    share = {0: "pairs, none covered", 1: "pairs, one covered", 2: "pairs, both covered"}
    table("two deficits", pairs, lambda r: f"{share[len(r.truth & known)]}, {r.n}")
    table("healthy, 10 % noise", [r for r in results if not r.agent.deficits], lambda r: str(r.n))
    table("shuffled outcomes", [r for r in results if r.agent.shuffled], lambda r: f"{r.agent.background[0]}, {r.n}")
    confusion(large)


class AsksForIds:
    """Policy that asks the customer for the id of a record instead of looking it up, and never does anything else."""

    name = "asks-for-ids"

    def act(self, episode: Episode) -> Call | Say:
        """Return the next question."""
        return Say("Could you please give me the number of the record?" if episode.turns else "What is the number?")


def habits(analyst: Analyst, episodes: Episodes, names: Sequence[str], n: int, first: int, scenarios: int) -> None:
    """Print how often `lookup_before_action` is selected for agents that ask for ids in one environment."""
    print(
        f"\n| asks for ids in, {n} trajectories | agents | lookup_before_action | other capabilities |\n"
        "|---|---:|---:|---|"
    )
    for name in names:
        drawn = [
            Scenario(env=name, level=i % registry.level_count(name), seed=i) for i in range(first, first + scenarios)
        ]
        asking = [
            t.model_copy(update={"id": f"{t.id}?", "model": ""}) for t in rollout(AsksForIds(), drawn, progress=False)
        ]
        named = []
        for strength in STRENGTHS:
            for noise in (0.0, NOISE):
                sample = [*habit_sample(episodes, name, asking, strength, noise, n)]
                named.append({c.name for c in diagnose(sample, analyst=analyst, permutations=500).selected})
        others = sorted({c for found in named for c in found} - {"lookup_before_action"})
        counts = ", ".join(f"{c} ({sum(c in found for found in named)})" for c in others)
        right = sum("lookup_before_action" in found for found in named)
        print(f"| {name} | {len(named)} | {right} | {counts or 'none'} |", flush=True)


def habit_sample(
    episodes: Episodes, name: str, asking: Sequence[Trajectory], strength: float, noise: float, n: int
) -> Iterator[Trajectory]:
    """Yield `n` episodes of an agent, half of them from the environment in which it asks for ids."""
    rng = Random(f"{name}/{strength}/{noise}/{n}")
    [own] = [m for m in environments() if m.id == name]
    others = background(environments(), own)
    for number in range(n):
        env = name if number % 2 else others[number // 2 % len(others)]
        asks = env == name and rng.random() < strength
        chosen = rng.choice(asking if asks else episodes.by_expert[env, False])
        success = bool(chosen.success) and rng.random() >= noise
        yield chosen.model_copy(update={"id": f"{chosen.id}@{number}", "success": success})


def load_analyst(name: str) -> Analyst:
    """Return the analyst with this name."""
    if name in ("rules", "random"):
        return RuleAnalyst() if name == "rules" else RandomAnalyst()
    module, _, attribute = name.partition(":")
    found: Analyst = getattr(importlib.import_module(module), attribute)()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--analyst", default="rules", help="rules, random or package.module:NAME")
    parser.add_argument("--env", nargs="*", help="environments with a deficit; all registered by default")
    parser.add_argument("--n", nargs="*", type=int, default=SIZES, help="numbers of trajectories")
    parser.add_argument("--scenarios", type=int, default=120, help="recorded scenarios per environment")
    parser.add_argument("--first", type=int, default=0, help="first seed of the scenarios")
    parser.add_argument("--seeds", type=int, default=20, help="healthy and shuffled agents per target")
    parser.add_argument("--json", type=Path, help="file for the results of every agent")
    options = parser.parse_args()
    start = time.perf_counter()
    pool = environments()
    episodes = Episodes([m.id for m in pool], options.scenarios, options.first)
    print(
        f"{len(pool)} environments, {options.scenarios} scenarios each ({time.perf_counter() - start:.0f} s)",
        flush=True,
    )
    analyst = Remembering(load_analyst(options.analyst), [t for ts in episodes.by_expert.values() for t in ts])
    chosen = [m for m in pool if not options.env or m.id in options.env]
    agents = [*single_agents(pool), *pair_agents(pool), *control_agents(pool, options.seeds)]
    agents = [a for a in agents if not a.deficits or any(m.id in a.deficits for m in chosen)]
    results = []
    for n in options.n:
        results += [measure(analyst, episodes, agent, n) for agent in agents]
        print(f"{n} trajectories ({time.perf_counter() - start:.0f} s)", file=sys.stderr, flush=True)
    print(f"{len(results)} diagnoses by the analyst {analyst.name} ({time.perf_counter() - start:.0f} s)")
    report(analyst, results)
    for n in (n for n in options.n if n >= 200):
        own = load_analyst(options.analyst)
        habits(own, episodes, [m.id for m in chosen if m.id in HABITS], n, options.first, options.scenarios)
    if options.json:
        options.json.write_text(json.dumps([plain(r) for r in results], indent=1) + "\n")


def plain(result: Result) -> dict[str, Any]:
    """Return a result as JSON data."""
    agent = replace(result.agent, background=())
    return {**vars(agent), "n": result.n, "truth": sorted(result.truth), "named": sorted(result.named)}


if __name__ == "__main__":
    main()
