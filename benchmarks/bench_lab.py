"""The embedded agent's speed: rollouts and trained tokens a second, as one GRPO iteration does them.

    python benchmarks/bench_lab.py [--repeat 5] [environment ...]

Each repetition rolls out 8 scenarios 8 times with the shipped base and a fresh LoRA, one thread, and takes the
steps of one iteration on them with the settings of the preset ``demo``. Medians are printed, by the clock and in
CPU seconds (which differ on a busy machine), beside the ratio to playing the same episodes one after the other.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from random import Random
from statistics import median
from typing import NamedTuple, TypeVar

import torch

from trace_gym import registry
from trace_gym.lab import BASE
from trace_gym.policies.hf import merged
from trace_gym.rollouts import TokenRollout
from trace_gym.settings import RunConfig
from trace_gym.trainers.batch import Sample
from trace_gym.trainers.torch_grpo import Learner
from trace_gym.trainers.update import update

_T = TypeVar("_T")
ALONE = 8
"""Episodes that are played one after the other, for the ratio."""


class Spent(NamedTuple):
    clock: float
    cpu: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("envs", nargs="*", default=sorted(RunConfig.preset("demo").levels), metavar="environment")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print("environment            rollouts/s  per CPU s  x one by one  trained tokens/s  per CPU s  turns  tokens")
    for env in options.envs:
        measure(env, options.repeat)


def measure(env: str, repeat: int) -> None:
    preset = RunConfig.preset("demo")
    learner = Learner.build(preset.train, BASE)
    scenarios = registry.scenarios(env, "train", preset.train.groups, levels=preset.levels.get(env))
    repeated = [s for s in scenarios for _ in range(preset.train.samples)]

    def play(n: int, together: int, count: int) -> list[TokenRollout]:
        made: list[TokenRollout] = []
        with merged(learner.model):
            for at in range(0, count, together):
                episodes = [registry.start_episode(s) for s in repeated[at : at + together]]
                generator = torch.Generator().manual_seed(1000 * n + at)
                made += learner.policy.rollout(episodes, temperature=1.0, generator=generator)
        return made

    rolled: list[tuple[Spent, list[TokenRollout]]] = []
    alone, trained = [], []
    for n in range(repeat):
        rolled.append(timed(lambda n=n: play(n, len(repeated), len(repeated))))  # type: ignore[misc]
        alone.append(timed(lambda n=n: play(n, 1, ALONE))[0])  # type: ignore[misc]
        samples = signed(rolled[-1][1])
        spent, _ = timed(lambda s=samples, n=n: update(learner.model, learner.optimizer, s, preset.train, Random(n)))  # type: ignore[misc]
        trained.append((spent, sum(len(s.ids) for s in samples) * preset.train.epochs))
    count = len(repeated)
    one_by_one = median(a.cpu for a in alone) / ALONE * count
    turns = sum(r.episode.turns for r in rolled[-1][1]) / count
    tokens = sum(len(r.ids) for r in rolled[-1][1]) / count
    print(
        f"{env:22} {median(count / s.clock for s, _ in rolled):10.0f} {median(count / s.cpu for s, _ in rolled):10.0f}"
        f" {one_by_one / median(s.cpu for s, _ in rolled):13.1f} {median(t / s.clock for s, t in trained):17,.0f}"
        f" {median(t / s.cpu for s, t in trained):10,.0f} {turns:6.1f} {tokens:7.0f}"
    )


def signed(rollouts: Sequence[TokenRollout]) -> list[Sample]:
    """Every trajectory with an advantage of +1 or -1, so that each repetition trains on as many."""
    return [Sample(r.ids, r.mask, r.logprobs, 1.0 - 2 * (n % 2)) for n, r in enumerate(rollouts) if any(r.mask)]


def timed(work: Callable[[], _T]) -> tuple[Spent, _T]:
    clock, cpu = time.perf_counter(), time.process_time()
    made = work()
    return Spent(time.perf_counter() - clock, time.process_time() - cpu), made


if __name__ == "__main__":
    main()
