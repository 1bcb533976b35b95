"""Precision and recall of the language-model analyst on agents with planted deficits.

    python benchmarks/bench_planted.py [--n N ...] [--analyst model|random] [--json FILE]

`benchmarks/planted` contains six groups of recorded episodes. Together they contain episodes from all environments
that train one capability: four by the oracle, and four failures of the ablated expert per environment. For each
group, a language model discovered capabilities and labeled all episodes twice, in different conversations that saw
only the rendered prompts. Their answers are replayed. An agent with a deficit is simulated as in `bench_diagnose.py`,
by drawing from the episodes of one group, so that the same few episodes occur many times in large samples. Each draw
counts as a task. The control `random` assigns random labels of the planted capabilities. The rules need reference
solutions, which these episodes lack; `bench_diagnose.py` measures them.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import bench_analyst
import bench_diagnose
from bench_diagnose import Agent, Episodes, Remembering, Result

from trace_gym.diagnosis import Analyst
from trace_gym.diagnosis.analyst import ModelAnalyst
from trace_gym.diagnosis.analyst.agreement import mean_kappa
from trace_gym.llm import open_model_uri
from trace_gym.records import read_records
from trace_gym.types import Label, Manifest, Trajectory

FOLDER = Path(__file__).parent / "planted"


class Group(Episodes):
    """The recorded episodes of one group of environments, with the answers of the language model."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.name = folder, folder.name
        self.truth: dict[str, dict[str, Any]] = json.loads((folder / "truth.json").read_text())
        planted = {t["capability"] for t in self.truth.values()}
        self.recorded = read_records(folder / "episodes.jsonl.gz")
        first = self.recorded[0].tools.keys()
        self.pool = tuple(m for m in bench_diagnose.environments() if m.capability in planted and _serves(m, first))
        environment = {m.capability: m.id for m in self.pool}
        self.by_expert = {(env, ablated): [] for env in environment.values() for ablated in (False, True)}
        for t in self.recorded:
            if "copy_of" in (truth := self.truth[t.id]):
                continue  # the copy with an injected instruction
            env = environment[truth["capability"]]
            self.by_expert[env, truth["lacking"]].append(t.model_copy(update={"task": f"{env}/{t.id}"}))

    def of(self, agent: Agent, n: int) -> tuple[list[Trajectory], set[str]]:
        """Return `n` episodes of an agent, and the ids of those in which the agent lacked a capability."""
        found, lacking = super().of(agent, n)
        # Each draw counts as a task of its own: eight tasks per capability would be too few for a permutation test.
        return [t.model_copy(update={"task": f"{t.task}@{number}"}) for number, t in enumerate(found)], lacking

    def analyst(self) -> ModelAnalyst:
        """Return the analyst with the recorded answers."""
        return ModelAnalyst(
            open_model_uri(f"replay-purpose:{self.folder / 'answers'}", cache=None), options(self.recorded)
        )

    def agents(self, seeds: int) -> list[Agent]:
        """Return agents with one deficit, with two deficits, and without any, and agents with shuffled outcomes."""
        names = tuple(m.id for m in self.pool)
        single = list(bench_diagnose.single_agents(self.pool))
        pairs = list(bench_diagnose.pair_agents(self.pool, 6))
        healthy = [Agent((), names, noise=bench_diagnose.NOISE, seed=s) for s in range(seeds)]
        shuffled = [Agent((names[s % len(names)],), names, 0.6, shuffled=True, seed=s) for s in range(seeds)]
        return single + pairs + healthy + shuffled


class Labeled:
    """Analyst whose labels are known."""

    def __init__(self, name: str, descriptions: Mapping[str, str], runs: Sequence[Mapping[str, Any]]) -> None:
        self.name, self.descriptions, self._runs = name, dict(descriptions), runs

    def label(self, trajectories: Iterable[Trajectory]) -> Sequence[Mapping[str, Any]]:
        """Return the label runs."""
        return self._runs


def _serves(manifest: Manifest, tools: Iterable[str]) -> bool:
    from trace_gym.targets.catalogue import target

    return set(tools) <= set(target(manifest.target).interface.kinds)


def options(episodes: Sequence[Trajectory]) -> bench_analyst.AnalystOptions:
    """Return the options of the recorded analysis of a group."""
    return bench_analyst.options_for(episodes, 2)


def labeled(group: Group, kind: str) -> Analyst:
    """Return an analyst with the labels of a group's episodes, by the language model or at random."""
    if kind == "model":
        analyst = group.analyst()
        runs: Sequence[Mapping[str, Any]] = analyst.label(group.recorded)
        return Labeled(analyst.name, analyst.descriptions, runs)
    names = {t["capability"]: t["capability"] for t in group.truth.values()}
    choices: tuple[Label, ...] = ("NA", "PRESENT", "LACKING")
    run = {t.id: {n: Random(f"{t.id}/{n}").choice(choices) for n in names} for t in group.recorded}
    return Labeled("random", names, [run])


def measure(group: Group, analyst: Analyst, sizes: Sequence[int], seeds: int) -> list[Result]:
    """Diagnose all agents of a group."""
    known = Remembering(analyst, group.recorded)
    return [bench_diagnose.measure(known, group, agent, n) for n in sizes for agent in group.agents(seeds)]


def summary(group: Group, analyst: Analyst) -> str:
    """Return a row with the named capabilities, the agreement of the labels with the truth, and kappa of the runs."""
    runs = analyst.label(group.recorded)
    planted, known = {t["capability"] for t in group.truth.values()}, set(analyst.descriptions)
    counts = Counter[str]()
    for run in runs:
        found = bench_analyst.agreement(run, group.truth, known)
        counts.update({kind: count for kind, count in found.items() if kind.endswith(("_right", "_wrong"))})
    own, other = (counts[f"{kind}_right"] for kind in ("own", "other"))
    owns, others = own + counts["own_wrong"], other + counts["other_wrong"]
    kappa = mean_kappa([{i: dict(labels) for i, labels in run.items()} for run in runs])
    return (
        f"| {group.name} | {len(planted & known)} of {len(planted)} | {len(known)} | {own} of {owns} | "
        f"{own + other} of {owns + others} | {'-' if kappa is None else f'{kappa:.2f}'} |"
    )


def prompts(group: Group) -> dict[str, str]:
    """Return the SHA-256 digest of each prompt as it is rendered now, by the purpose of the request."""
    asked: dict[str, str] = {}
    analyst = group.analyst()
    complete = analyst.model.complete

    def record(request: Any) -> Any:
        asked[request.purpose] = digest(request.messages)
        return complete(request)

    analyst.model.complete = record  # type: ignore[method-assign]
    analyst.label(group.recorded)
    return asked


def digest(messages: Sequence[Any]) -> str:
    """Return the SHA-256 digest of the messages of a request."""
    return sha256(json.dumps(list(messages), sort_keys=True).encode()).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--analyst", choices=("model", "random"), default="model")
    parser.add_argument("--n", nargs="*", type=int, default=bench_diagnose.SIZES, help="numbers of trajectories")
    parser.add_argument("--seeds", type=int, default=20, help="healthy and shuffled agents per group")
    parser.add_argument("--json", type=Path, help="file for the results of every agent")
    chosen = parser.parse_args()
    results, names = [], set[str]()
    print(
        "| group | named | capabilities | own labels right | all labels right | kappa |\n|---|---:|---:|---:|---:|---:|"
    )
    for folder in sorted(path for path in FOLDER.iterdir() if path.is_dir()):
        group = Group(folder)
        analyst = labeled(group, chosen.analyst)
        print(summary(group, analyst), flush=True)
        names |= set(analyst.descriptions)
        results += measure(group, analyst, chosen.n, chosen.seeds)
    bench_diagnose.report(Labeled(chosen.analyst, dict.fromkeys(names, ""), []), results)
    if chosen.json:
        chosen.json.write_text(json.dumps([bench_diagnose.plain(r) for r in results], indent=1) + "\n")


if __name__ == "__main__":
    main()
