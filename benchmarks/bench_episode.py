"""Number of resets, steps, whole episodes and state hashes per second of CPU time on one core.

python benchmarks/bench_episode.py [environment ...]    # default: the toy world of the tests
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from trace_gym.chat_formats import FORMATS
from trace_gym.episode import Episode
from trace_gym.registry import load_world, world_at
from trace_gym.types import Call, Say, Scenario
from trace_gym.world import World

TOY = Path(__file__).parents[1] / "tests" / "user_folder" / "library_loans.py"
SECONDS = 1.0
Plan = list[Call | Say] | list[str]


def rate(work: Callable[[int], int], seconds: float = SECONDS) -> float:
    """Return the units of work per CPU second. `work` takes the index of the call and returns the units done."""
    done, turn, start = 0, 0, time.process_time()
    while (spent := time.process_time() - start) < seconds:
        done += work(turn)
        turn += 1
    return done / spent


def measure(world: type[World]) -> dict[str, float]:
    """Return the rates of `world` at its hardest level, measured with 50 scenarios."""

    def begin(seed: int) -> Episode:
        return Episode(world, Scenario(env=world.id, level=world.levels[-1], seed=seed % 50))

    def play(seed: int, plans: list[Plan]) -> int:
        episode = begin(seed)
        return sum(1 for step in plans[seed % 50] if episode.step(step))

    def stepping(plans: list[Plan]) -> float:
        """Return the steps per second. The time to start and to score the episodes is not included."""
        steps, spent = 0, 0.0
        while spent < SECONDS:
            fresh = [begin(n) for n in range(50)]
            start = time.process_time()
            for episode, plan in zip(fresh, plans, strict=True):
                for step in plan[:-1]:
                    episode.step(step)
            spent += time.process_time() - start
            steps += sum(len(plan) - 1 for plan in plans)
        return steps / spent

    scripted: list[Plan] = [list(begin(n).start.oracle()) for n in range(50)]
    spoken: list[Plan] = [[s if isinstance(s, str) else _text(s) for s in steps] for steps in scripted]
    episode = begin(0)
    return {
        "resets/s": rate(lambda n: bool(begin(n))),
        "scripted steps/s": stepping(scripted),
        "text steps/s": stepping(spoken),
        "whole episodes/s, scored": rate(lambda n: bool(play(n, scripted))),
        "state hashes/s": rate(lambda n: bool(episode.state_hash)),
    }


def _text(step: Call | Say) -> str:
    return step.text if isinstance(step, Say) else FORMATS["hermes"].render(step)


def main() -> None:
    for world in [load_world(name) for name in sys.argv[1:]] or [world_at(TOY)]:
        print(world.id)
        for unit, figure in measure(world).items():
            print(f"  {figure:10,.0f}  {unit}")


if __name__ == "__main__":
    main()
