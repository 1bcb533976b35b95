"""Measure how many bugs by outside authors the review by a language model detects, and its false alarms.

    python benchmarks/bench_review.py FOLDER [--half development|unseen] [--count 30] [--controls 10] [--seed 0]
        [--reviewer openai:MODEL] [--reader openai:MODEL]

The bugs are in ``benchmarks/outsiders/``; the controls are shipped environments without a bug. The results are written
to ``FOLDER/results.jsonl``, and a second run with the same folder skips the reviews that the file contains. By default,
requests are written to files in ``FOLDER`` (see ``files:DIR``), where a model without other context can put its
answers.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from bench_outsiders import HALVES, load_bugs, read

from trace_gym import registry
from trace_gym.llm import Model, open_model_uri
from trace_gym.review import review
from trace_gym.statistics import wilson


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=HALVES, default="development")
    parser.add_argument("--count", type=int, default=30, help="number of bugs, drawn at random")
    parser.add_argument("--controls", type=int, default=10, help="number of shipped environments, drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--exclude", type=Path, nargs="*", default=[], help="results whose bugs and controls to leave out"
    )
    parser.add_argument("--reviewer", help="model URI; by default one folder per group of environments")
    parser.add_argument("--reader", help="model URI; by default the folder of another group")
    parser.add_argument("--groups", type=int, default=2, help="number of folders, each answered by one model")
    parser.add_argument("--workers", type=int, default=3, help="number of concurrent reviews per group")
    options = parser.parse_args()
    subjects = draw(options.half, options.count, options.controls, options.seed, options.exclude)
    rng = random.Random(options.seed)
    rng.shuffle(subjects)
    groups = [subjects[n :: options.groups] for n in range(options.groups)]
    out = options.folder / "results.jsonl"
    options.folder.mkdir(parents=True, exist_ok=True)
    done = {row["key"] for row in read(out)}
    models = [
        (
            open_model_uri(options.reviewer or f"files:{options.folder}/{n}"),
            open_model_uri(options.reader or f"files:{options.folder}/{(n + 1) % len(groups)}"),
        )
        for n in range(len(groups))
    ]
    pools = [ThreadPoolExecutor(options.workers) for _ in groups]
    jobs = [
        pool.submit(reviewed, key, env, source, *models[n])
        for n, (pool, group) in enumerate(zip(pools, groups, strict=True))
        for key, env, source in group
        if key not in done
    ]
    with out.open("a", encoding="utf-8") as file:
        for number, job in enumerate(as_completed(jobs), 1):
            row = job.result()
            file.write(json.dumps(row) + "\n")
            file.flush()
            print(f"{number}/{len(jobs)} {row['seconds']:6.1f} s {row['key'][:20]} {row['env']}: {row['verdict']}")
    summarize(list(read(out)))


def draw(half: str, count: int, controls: int, seed: int, exclude: Sequence[Path] = ()) -> list[tuple[str, str, str]]:
    """Return the key, environment and source of each selected bug and control. No environment is selected twice.

    A model that sees two versions of one environment could find the bug by comparing them.
    """
    rng = random.Random(seed)
    names = rng.sample(sorted(m.id for m in registry.manifests()), len(registry.manifests()))
    known = {row["key"] for path in exclude for row in read(path)}
    bugs = sorted((b for b in load_bugs() if b.half == half and b.key not in known), key=lambda b: b.key)
    rng.shuffle(bugs)
    first = {b.env: b for b in reversed(bugs)}
    chosen = [first[env] for env in names if env in first][:count]
    rest = [env for env in names if env not in {b.env for b in chosen} and f"shipped {env}" not in known][:controls]
    shipped = [(f"shipped {env}", env, registry.module_path(env).read_text(encoding="utf-8")) for env in rest]
    return [*((b.key, b.env, b.source()) for b in chosen), *shipped]


def reviewed(key: str, env: str, source: str, reviewer: Model, reader: Model) -> dict[str, Any]:
    """Review one version of an environment."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{env}.py"
        path.write_text(source, encoding="utf-8")
        try:
            found = review(path, reviewer, reader)
            verdict, message, metrics = found.verdict, found.message, found.metrics
        except Exception as error:  # one failure must not end the other reviews
            verdict, message, metrics = "error", str(error), {}
    seconds = round(time.monotonic() - begun, 1)
    return {"key": key, "env": env, "verdict": verdict, "message": message, "metrics": metrics, "seconds": seconds}


def summarize(rows: Sequence[dict[str, Any]]) -> None:
    """Print the detection rate of the bugs and the rate of reported shipped environments, with 95% intervals."""
    for name, chosen in (("bugs", list(_bugs(rows))), ("shipped", [r for r in rows if r not in list(_bugs(rows))])):
        failed = sum(r["verdict"] == "failed" for r in chosen)
        span = wilson(failed, len(chosen))
        rate = f"{failed / len(chosen):.0%} ({span.low:.0%} to {span.high:.0%})" if span else "none"
        print(f"{name}: {failed} of {len(chosen)} reported: {rate}")


def _bugs(rows: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    yield from (r for r in rows if not r["key"].startswith("shipped "))


if __name__ == "__main__":
    main()
