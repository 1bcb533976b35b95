"""Rollouts per second of the toy model, in-process and with a vLLM server, and the environments' share of the time.

    VLLM_PYTHON=/opt/vllm/bin/python python benchmarks/bench_engines.py

Each engine runs the same scenarios in batches of several sizes, sampled at temperature 1. The scripted oracle is the
control: its rows show the speed of the environments without a model. The environments' share is their CPU time,
including starting and scoring episodes, divided by the CPU time of all processes. Elapsed times also depend on other
programs on the machine; the load average at the start is printed. ``--engines process`` does not require vLLM.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import torch

from trace_gym import registry
from trace_gym.episode import Episode
from trace_gym.models import ModelSettings, load_policy
from trace_gym.models.server import ModelServer
from trace_gym.models.server_settings import ServerSettings
from trace_gym.policies.scripted import Oracle
from trace_gym.rollouts import play
from trace_gym.sandbox.process_monitor import SYSTEM_TIME, USER_TIME, scan_descendants
from trace_gym.types import Scenario

HEADER = (
    "| engine | conversations | rollouts/s | sampled tokens/s | CPU ms per rollout | environments, CPU ms | share |"
)
Engine = Callable[[Sequence[Episode]], int]
"""Function that runs episodes to their end and returns the number of sampled tokens."""


@dataclass
class Clock:
    """CPU time of the environments, summed over all threads."""

    seconds: list[float] = field(default_factory=list)

    @contextmanager
    def environments(self) -> Iterator[None]:
        """Measure the CPU time of all steps and scores of episodes while the block runs."""
        step, finish = Episode.step, Episode.finish
        Episode.step, Episode.finish = self.timed(step), self.timed(finish)  # type: ignore[method-assign]
        try:
            yield
        finally:
            Episode.step, Episode.finish = step, finish  # type: ignore[method-assign]

    def timed(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with its CPU time recorded."""

        def measured(*args: Any, **options: Any) -> Any:
            began = time.thread_time()
            try:
                return method(*args, **options)
            finally:
                self.seconds.append(time.thread_time() - began)

        return measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", default="tau2_precondition")
    parser.add_argument("--level", type=int, default=0)
    parser.add_argument("--conversations", type=int, nargs="+", default=[8, 32, 128])
    parser.add_argument("--engines", nargs="+", default=["oracle", "process", "vllm"])
    parser.add_argument("--repeat", type=int, default=3, help="batches of each size; the table shows the median")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{options.env}/{options.level}, load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores\n\n{HEADER}")
    print("|---|" + "---:|" * 6)
    for name in options.engines:
        with opened(name) as (engine, server):
            run(engine, scenarios(options, 2), server)  # warm up
            for count in options.conversations:
                rows = [run(engine, scenarios(options, count), server) for _ in range(options.repeat)]
                print(line(name, count, [median(column) for column in zip(*rows, strict=True)]), flush=True)


def scenarios(options: argparse.Namespace, count: int) -> list[Scenario]:
    return registry.scenarios(options.env, "train", count, levels=[options.level])


@contextmanager
def opened(name: str) -> Iterator[tuple[Engine, ModelServer | None]]:
    """Yield an engine and its server."""
    if name == "oracle":
        yield lambda episodes: sum(0 for e in episodes if play(Oracle(), e)), None
        return
    if name == "process":
        yield sampling(load_policy(ModelSettings())), None
        return
    variables = {"VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1"}
    settings = ModelSettings(engine="vllm", server=ServerSettings(environment=variables))
    with tempfile.TemporaryDirectory() as folder, ModelServer(settings, log=Path(folder, "vllm.log")) as server:
        yield sampling(load_policy(server.start())), server


def sampling(policy: Any) -> Engine:
    def run(episodes: Sequence[Episode]) -> int:
        found = policy.rollout(episodes, temperature=1.0, generator=torch.Generator().manual_seed(0))
        return sum(sum(r.mask) for r in found)

    return run


def run(engine: Engine, chosen: Sequence[Scenario], server: ModelServer | None) -> tuple[float, ...]:
    """Run the scenarios and return the measurements.

    Returns:
        Rollouts per second, sampled tokens per second, CPU milliseconds per rollout in total and in the environments,
        and the environments' share of the CPU time.
    """
    clock, leader = Clock(), server.pid if server else None
    wall, cpu = time.perf_counter(), cpu_seconds(leader)
    episodes = [clock.timed(registry.start_episode)(scenario) for scenario in chosen]
    with clock.environments():
        tokens = engine(episodes)
        for episode in episodes:
            episode.finish()
    wall, cpu = time.perf_counter() - wall, cpu_seconds(leader) - cpu
    if server is not None and server.pid != leader:
        sys.exit("the server was restarted during a measurement")
    environments, count = sum(clock.seconds), len(chosen)
    return count / wall, tokens / wall, 1000 * cpu / count, 1000 * environments / count, environments / cpu


def cpu_seconds(leader: int | None) -> float:
    """Return the CPU time of this process and of the processes of a server."""
    ticks = 0
    for stat in scan_descendants(leader).values() if leader is not None else ():
        ticks += stat[USER_TIME] + stat[SYSTEM_TIME]
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def line(name: str, count: int, row: Sequence[float]) -> str:
    rollouts, tokens, cpu, environments, share = row
    sampled = f"{tokens:,.0f}" if tokens else "none"
    return f"| {name} | {count} | {rollouts:,.1f} | {sampled} | {cpu:,.1f} | {environments:.2f} | {share:.1%} |"


if __name__ == "__main__":
    main()
