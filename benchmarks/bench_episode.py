"""How many scripted steps, text steps, resets and state hashes an episode manages in a second of one core's time.

python benchmarks/bench_episode.py [environment ...]    # without one: the toy world of the tests
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from trace_gym.actions import FORMATS
from trace_gym.episode import Episode
from trace_gym.registry import load, world_at
from trace_gym.types import Call, Say, Scenario
from trace_gym.world import World

TOY = Path(__file__).parents[1] / "tests" / "user_folder" / "library_loans.py"
SECONDS = 1.0


def rate(work: Callable[[int], int]) -> float:
    """Units of work a second of CPU time; `work` takes the number of its call and returns how many units it did."""
    done, turn, start = 0, 0, time.process_time()
    while (spent := time.process_time() - start) < SECONDS:
        done += work(turn)
        turn += 1
    return done / spent


def measure(world: type[World]) -> dict[str, float]:
    """Rates of `world` at its hardest level."""
    level = world.levels[-1]

    def begin(seed: int) -> Episode:
        return Episode(world, Scenario(env=world.id, level=level, seed=seed))

    plans = [(n, list(begin(n).start.oracle())) for n in range(50)]
    spoken = [(n, [_text(step) for step in steps]) for n, steps in plans]

    def play(seed: int, steps: list[Call | Say] | list[str]) -> int:
        episode = begin(seed)
        return sum(1 for step in steps if episode.step(step) is not None)

    episode = begin(0)
    return {
        "resets/s": rate(lambda n: bool(begin(n))),
        "scripted steps/s, resets and scores included": rate(lambda n: play(*plans[n % 50])),
        "text steps/s, resets and scores included": rate(lambda n: play(*spoken[n % 50])),
        "state hashes/s": rate(lambda n: bool(episode.state_hash)),
    }


def _text(step: Call | Say) -> str:
    return step.text if isinstance(step, Say) else FORMATS["hermes"].render(step)


def main() -> None:
    for world in [load(name) for name in sys.argv[1:]] or [world_at(TOY)]:
        print(world.id)
        for unit, figure in measure(world).items():
            print(f"  {figure:10,.0f}  {unit}")


if __name__ == "__main__":
    main()
