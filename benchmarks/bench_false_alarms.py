"""False alarms: how often a shipped environment fails validation on new scenarios.

    python benchmarks/bench_false_alarms.py --out runs/alarms.jsonl --draws 10 [--profile gate] [environment ...]

Each draw validates one environment with seeds that no other draw of this environment uses. The draws of an environment
are independent samples from the same generator. A failure therefore means that the verdict depends on the seeds. It is
either a false alarm, or a defect that occurs in only a few scenarios. Properties that start processes, or that use
their own fixed scenarios, are skipped, because another draw does not change what they test.

Results are appended to a file. If the file exists, the draws that it contains are not repeated.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from trace_gym.registry import list_environments
from trace_gym.statistics import wilson
from trace_gym.types import Scenario
from trace_gym.validation import PROFILES, PROPERTIES, Context, load

FIRST = 10_000_000
"""First seed of the first draw. The seeds of the splits and of ordinary validations are smaller."""
DISTANCE = 10_000
"""Distance between the first seeds of two draws."""
UNCHANGED = {"TG102", "TG106", "TG405", "TG704", "TG901", "TG902"}
"""Properties that are skipped, because they start processes or their scenarios do not depend on the draw."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "envs",
        nargs="*",
        metavar="environment",
        help="environments to validate (default: all admitted environments except mixtures)",
    )
    parser.add_argument("--out", type=Path, required=True, help="results, one JSON object per line")
    parser.add_argument("--draws", type=int, default=10, help="draws per environment")
    parser.add_argument("--first", type=int, default=0, help="number of the first draw")
    parser.add_argument("--profile", choices=list(PROFILES), default="gate", help="profile of the validation")
    parser.add_argument("--workers", type=int, default=2, help="number of processes")
    options = parser.parse_args()
    if min(options.draws, options.workers) < 1 or options.first < 0:
        parser.error("--draws and --workers must be at least 1, and --first must not be negative")
    envs = options.envs or [name for name in list_environments() if not name.endswith("mixture")]
    done = {(row["env"], row["draw"], row["profile"]) for row in read(options.out)}
    jobs = [
        (env, draw, options.profile)
        for draw in range(options.first, options.first + options.draws)
        for env in envs
        if (env, draw, options.profile) not in done
    ]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(options.workers) as pool, options.out.open("a", encoding="utf-8") as file:
        for n, finished in enumerate(as_completed([pool.submit(validated, *job) for job in jobs]), 1):
            row = finished.result()
            file.write(json.dumps(row) + "\n")
            file.flush()
            print(f"{n} of {len(jobs)}: {row['env']}, draw {row['draw']}: {', '.join(row['failed']) or 'passed'}")
    report(list(read(options.out)), options.profile)


def read(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the results in a file. The benchmark ends if the file is invalid."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    if lines and not lines[-1].endswith("\n"):
        raise SystemExit(f"{path} ends with an incomplete line. Remove this line, and run the command again")
    try:
        yield from map(json.loads, lines)
    except ValueError as error:
        raise SystemExit(f"{path} is not a file of this benchmark ({error}). Choose another file") from None


def validated(env: str, draw: int, profile: str) -> dict[str, Any]:
    """Validate an environment with the seeds of one draw, and return a row with the message of each failed property."""
    world, reference = load(env)
    chosen = PROFILES[profile]
    start = FIRST + draw * DISTANCE
    scenarios = [
        Scenario(env=world.id, level=level, seed=seed)
        for level in range(len(world.levels))
        for seed in range(start, start + chosen.seeds_per_level)
    ]
    context = Context(world, reference, chosen)
    failed = {}
    for code in PROPERTIES:
        if code not in UNCHANGED and (finding := PROPERTIES[code](world, scenarios, context)).verdict == "failed":
            failed[code] = finding.message
    return {"env": env, "draw": draw, "profile": profile, "failed": failed}


def report(rows: list[dict[str, Any]], profile: str) -> None:
    """Print the share of draws in which a property failed, and the failures by property."""
    rows = [row for row in rows if row["profile"] == profile]
    alarms = [row for row in rows if row["failed"]]
    low, high = wilson(len(alarms), len(rows))
    print(
        f"\n{len(alarms)} of {len(rows)} validations failed ({len(alarms) / len(rows):.1%}, 95% CI: {low:.1%} to "
        f"{high:.1%})"
    )
    for code, count in Counter(code for row in alarms for code in row["failed"]).most_common():
        where = sorted({row["env"] for row in alarms if code in row["failed"]})
        print(f"{code} {PROPERTIES[code].name}: {count}, in {', '.join(where)}")


if __name__ == "__main__":
    main()
