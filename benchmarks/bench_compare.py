"""Speed of this working tree compared with an earlier revision, measured in one run.

The earlier revision is unpacked into a temporary folder. The two trees are then measured alternately, several times,
each time in a fresh process, so that a change in the speed of the machine affects both. All times are CPU times. A
ratio is the median over the pairs of measurements.

python benchmarks/bench_compare.py [--base REVISION] [--repeat N]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TOY = "library_loans"
GROUP = 8
SCORED = ("toolsandbox_datetime", "toolsandbox_state_dependency", "tau2_precondition", "tau2_retail_multi_step")
TURNS = (10, 100, 1000)
COMMANDS = ("--version", "--help")

Rows = dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default="ad396e7", help="git revision to compare with")
    parser.add_argument("--repeat", type=int, default=5, help="measurements of each tree")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure()))
        return
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "base"
        unpack(options.base, base)
        pairs = [(rows_of(base), rows_of(ROOT)) for _ in range(max(1, options.repeat))]
    print("\n".join(table(options.base, pairs)))


def unpack(revision: str, folder: Path) -> None:
    """Write the files of a git revision to a folder."""
    archive = subprocess.run(["git", "-C", str(ROOT), "archive", revision], capture_output=True)
    if archive.returncode:
        sys.exit(f"cannot read revision {revision}: {archive.stderr.decode().strip()}. Name one with --base.")
    folder.mkdir()
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)


def rows_of(tree: Path) -> Rows:
    """Return the measurements of a tree, taken in a fresh process."""
    env = {**os.environ, "PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1"}
    env.pop("TRACE_GYM_ENVS", None)
    with tempfile.TemporaryDirectory() as elsewhere:
        command = [sys.executable, str(Path(__file__).resolve()), "--measure"]
        done = subprocess.run(command, env=env, cwd=elsewhere, stdout=subprocess.PIPE, text=True, check=True)
    made: Rows = json.loads(done.stdout)
    return made


def table(base: str, pairs: list[tuple[Rows, Rows]]) -> list[str]:
    """Return the lines of a table in Markdown."""
    lines = [f"| measured | {base} | now | times as fast |", "|---|---:|---:|---:|"]
    for name in pairs[0][0]:
        before, now = ([pair[n][name] for pair in pairs] for n in (0, 1))
        # Rates are better when they are higher, times when they are lower.
        ratios = [n / b if name.endswith("/s") else b / n for b, n in zip(before, now, strict=True)]
        cells = (shown(statistics.median(before)), shown(statistics.median(now)), f"{statistics.median(ratios):.2f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def shown(figure: float) -> str:
    """Return a number as text with at least three significant digits."""
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.3g}"


def measure() -> Rows:
    """Return all measurements of the imported tree."""
    import trace_gym
    from trace_gym import registry, sandbox
    from trace_gym.adapters.gymnasium import TraceEnv
    from trace_gym.episode import Episode
    from trace_gym.types import Report, Scenario

    assert Path(str(trace_gym.__file__)).is_relative_to(os.environ["PYTHONPATH"]), trace_gym.__file__
    rows: Rows = {}
    with tempfile.TemporaryDirectory() as folder:
        module = shutil.copy(ROOT / "tests" / "user_folder" / f"{TOY}.py", folder)
        known = signature(registry.admit).parameters  # earlier trees describe the module without this argument
        options: dict[str, Any] = {"describe": sandbox.describe} if "describe" in known else {}
        registry.admit(module, Report(passed=True, findings=(), scenarios=0), author="hand", **options)
        registry.add_folder(folder)
        registry.load_world(TOY).max_turns = 10**6
        env = TraceEnv(TOY, level=0)
        for turns in TURNS:
            rows[f"Gymnasium step after {turns:,} turns, µs"] = step_time(env, turns)
    datetime = registry.load_world("toolsandbox_datetime")
    rows["toolsandbox_datetime, resets/s"] = rate(
        lambda n: Episode(datetime, Scenario(env=datetime.id, level=n % 4, seed=n))
    )
    rows["tau2_precondition by name, resets/s"] = rate(
        lambda n: registry.start_episode(f"tau2_precondition/{n % 4}/{n}")
    )
    for name in SCORED:
        plans: dict[int, list[Any]] = {}
        rows[f"{name}, scored episodes of groups of {GROUP}/s"] = rate(lambda n: play(name, n // GROUP % 20, plans))  # noqa: B023
    for command in COMMANDS:
        rows[f"trace-gym {command}, s"] = min(command_time(command) for _ in range(3))
    return rows


def step_time(env: Any, turns: int) -> float:
    """Return the duration of a step in microseconds when the conversation has `turns` turns."""
    env.reset(seed=4)
    for _ in range(turns):
        env.step("Let me think.")
    times = []
    for _ in range(5):
        start = time.process_time()
        for _ in range(20):
            env.step("Let me think.")
        times.append((time.process_time() - start) / 20)
    return 1e6 * min(times)


def rate(work: Callable[[int], Any], seconds: float = 0.3, tries: int = 5) -> float:
    """Return the calls of `work` per second in the best of several tries. Each try calls it with 0, 1, 2, and so on."""
    rates = []
    for _ in range(tries):
        count, start = 0, time.process_time()
        while (spent := time.process_time() - start) < seconds:
            work(count)
            count += 1
        rates.append(count / spent)
    return max(rates)


def play(name: str, seed: int, plans: dict[int, list[Any]]) -> None:
    """Run an episode with the oracle's plan, which is created once per seed and stored in `plans`."""
    from trace_gym import registry

    episode = registry.start_episode(f"{name}/2/{seed}")
    if seed not in plans:
        plans[seed] = list(episode.start.oracle())
    for step in plans[seed]:
        episode.step(step)
    episode.finish()


def command_time(*arguments: str) -> float:
    """Return the CPU seconds that a command takes."""
    code = "import sys; from trace_gym.cli import main; sys.exit(main())"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code, *arguments], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
