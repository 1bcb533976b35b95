"""Valid environments on problems that no validation has used: ``PYTHONPATH=tests python -m mutants.fresh``.

A validation uses the first seeds of every level, so that its verdict is deterministic, and a repeated validation uses
the same problems. Here, ``mutants.fresh:tau2_precondition__2`` is ``tau2_precondition`` with another random seed, so
that all problems and all samples that depend on the scenario id are new. An environment that passed must pass again;
each failure is reported as a false alarm. Results are written to ``--kept FILE`` continuously, so that an interrupted
run can be resumed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from time import perf_counter

from trace_gym import registry
from trace_gym.validation import PROFILES, validate
from trace_gym.world import World

_made: dict[str, type[World]] = {}


def __getattr__(name: str) -> type[World]:
    env, found, run = name.rpartition("__")
    if not found or not run.isdigit():
        raise AttributeError(name)
    if name not in _made:
        base = registry.load_world(env)
        members = {"id": name, "__module__": __name__, "__doc__": base.__doc__}
        _made[name] = type(name, (base,), {**members, "generate": classmethod(_salted(base, run))})
    return _made[name]


def _salted(base: type[World], run: str) -> Callable[..., World]:
    def generate(cls: type[World], rng: Random, level: int) -> World:
        made: World = base.generate.__func__(cls, Random(f"{run} {rng.getrandbits(64)}"), level)  # type: ignore[attr-defined]
        return made

    return generate


def main() -> int:
    """Validate each environment in each run; the exit code is 1 if any property does not pass."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("envs", nargs="*", default=registry.list_environments(), metavar="environment")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--profile", choices=list(PROFILES), default="gate")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kept", type=Path, help="file of what was found, to go on from")
    options = parser.parse_args()
    kept = options.kept.read_text().splitlines() if options.kept and options.kept.is_file() else []
    known: dict[str, list[str]] = dict(map(json.loads, kept))
    for name in [f"{env}__{run}" for run in range(1, options.runs + 1) for env in options.envs]:
        if name in known:
            continue
        began = perf_counter()
        report = validate(
            f"mutants.fresh:{name}",
            profile=options.profile,
            engine="processes",
            workers=options.workers,
            progress=False,
        )
        known[name] = [f"{f.code} {f.verdict}: {f.message}" for f in report.findings if not f.passed]
        print(f"{name}: {known[name] or 'passed'} ({perf_counter() - began:.0f} s)", file=sys.stderr, flush=True)
        if options.kept:
            with options.kept.open("a") as end:
                print(json.dumps([name, known[name]]), file=end)
    alarms = {name: found for name, found in known.items() if found}
    print(f"{len(known)} validations of healthy environments, {len(alarms)} with a false alarm")
    print(
        *(f"{name}: {message}" for name, found in alarms.items() for message in found),
        sep="\n",
        end="\n" if alarms else "",
    )
    return bool(alarms)


if __name__ == "__main__":
    sys.exit(main())
