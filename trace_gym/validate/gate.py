"""Validate: run every property on one environment and write down what each found."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from trace_gym import terminal
from trace_gym.errors import ConfigError, EnvBug
from trace_gym.types import Finding, Report, Scenario

# Importing a family registers its properties.
from trace_gym.validate import (
    capability,
    choice,
    determinism,
    diversity,
    experts,
    exploits,
    fidelity,
    fuzz,
    gradient,
    gymnasium_checks,
    instances,
    leakage,
    learning,
    loading,
    overlap,
    phrasing,
    recipes,
    recordings,
    rewards,
    robustness,
    search,
    surface,
    user,
)
from trace_gym.validate.context import NOTHING, PROFILES, Context, Given, Profile
from trace_gym.validate.engine import Asking, Job, OfWorld, blamed, on_ray
from trace_gym.validate.files import readable
from trace_gym.validate.foreign.address import is_foreign
from trace_gym.validate.foreign.job import foreign_job
from trace_gym.validate.outline import outline
from trace_gym.validate.policies import known
from trace_gym.validate.processes import Hanging, Workplace, workplace
from trace_gym.validate.properties import PROPERTIES, Broken
from trace_gym.validate.source import Target, load
from trace_gym.world import World

FAMILIES = (
    loading,
    determinism,
    experts,
    rewards,
    surface,
    fuzz,
    learning,
    exploits,
    search,
    instances,
    capability,
    phrasing,
    gradient,
    robustness,
    user,
    gymnasium_checks,
    diversity,
    fidelity,
    leakage,
    overlap,
    choice,
    recipes,
    recordings,
)

ENGINES = ("here", "processes", "ray")

LOADING = "from trace_gym.validate import load\n\nload({!r})\n"
"""What shows why a module cannot be loaded."""
LEVELS_WORTH = 4
"""How much larger the sample of an environment without levels is; ours have three levels or four."""


def validate(
    target: Target,
    *,
    profile: str = "gate",
    seeds_per_level: int | None = None,
    levels: Collection[int] | None = None,
    only: Collection[str] | None = None,
    skip: Collection[str] = (),
    given: Given = NOTHING,
    engine: str = "here",
    workers: int = 2,
    budget: float | None = None,
    progress: bool = True,
    interruptible: bool = True,
    tell: Callable[[Finding], None] = lambda finding: None,
) -> Report:
    """Check an environment, admitted or not; whatever a bad one does becomes a finding.

    Args:
        target: A world class, a name, the path of a module, ``module:class``, or the address of an environment that is
            none of ours, such as ``reasoning-gym:chain_sum`` (`trace_gym.validate.foreign.address`).
        profile: ``gate`` before an environment is admitted, ``quick`` while one is written.
        seeds_per_level: Scenarios for each level; the profile's number by default, and four times that of an
            environment without levels.
        levels: Levels to look at; all of them by default.
        only: Codes of the properties to check, or what they begin with, besides loading; all by default.
        skip: Codes to leave out, or what they begin with.
        given: What else to look at: a policy, recorded episodes, tasks of the target.
        engine: ``here``, ``processes`` or ``ray``; the verdict is the same.
        workers: Properties that are checked at once; ``here`` has one.
        budget: Seconds after which the rest is reported as unfinished; no limit by default. What hangs is
            stopped in processes and on Ray only.
        progress: Show which property is being checked, where the error output is a terminal.
        interruptible: Whether `KeyboardInterrupt` means Ctrl-C; False where that cannot arrive, so that an environment
            that raises it has failed.
        tell: Called with every finding as it comes.

    Raises:
        EnvNotFound, ReadError: There is no such environment.
        ReadError: A file in `given` cannot be read.
        ConfigError: There is no such profile, property, level, engine or policy, no worker, or no time.
    """
    if profile not in PROFILES:
        raise ConfigError(f"{profile!r} is no profile; expected one of {', '.join(PROFILES)}")
    if engine not in ENGINES:
        raise ConfigError(f"{engine!r} is not a valid engine; expected one of {', '.join(ENGINES)}")
    if workers < 1 or (budget is not None and not budget > 0):
        raise ConfigError(f"asked for {workers} workers and {budget} seconds; expected at least one, and some time")
    codes = chosen(only, skip)
    readable(given)
    if given.policy:
        known(given.policy)
    with workplace() as place:
        try:
            found = _prepared(target, PROFILES[profile], seeds_per_level, levels, given, engine, budget, place)
            if isinstance(found, Hanging):
                at = f" in {found.place}" if found.place else ""
                late = f"{target} is not loaded within {budget:g} seconds; look for a loop without an end{at}"
                tell(unfinished := PROPERTIES[loading.LOADS].finding("unfinished", late))
                return _report(str(target), [unfinished], (), profile)
            job, ask = found
        except EnvBug as error:
            snippet = "" if isinstance(target, type) or is_foreign(str(target)) else LOADING.format(str(target))
            tell(failed := PROPERTIES[loading.LOADS].failed(Broken(str(error), snippet)))
            return _report(str(target), [failed], (), profile)
        if job.alone and engine == "ray":
            raise ConfigError(f"{job.reference} is one server, which a cluster cannot multiply; use --engine processes")
        before = random.getstate()  # an environment that draws from it must not disturb the caller
        if engine == "here":
            assert ask is not None
            coming = here(ask if interruptible else partial(blamed, ask), codes, budget)
        else:
            if ask is not None:
                ask.close()  # a server may have one session only
            check = on_ray if engine == "ray" else place.findings
            coming = check(job, codes, 1 if job.alone else workers, budget)
        findings, stopped = _followed(coming, codes, job.reference, progress, tell)
        if findings[-1:] and loading.fails(findings[-1]) and findings[-1].verdict == "failed":
            findings = findings[-1:]  # every other property would fail with the same words
        else:
            done = {f.code for f in findings}
            late = f"not finished within {budget:g} seconds; give it a larger budget" if budget else "not finished"
            if hung := [f.code for f in findings if f.verdict == "unfinished"]:
                late = f"not begun or not finished, as {' and '.join(hung)} took all of the {budget:g} seconds"
            late = "not finished when it was interrupted" if stopped else late
            findings += [PROPERTIES[c].finding("unfinished", late) for c in codes if c not in done]
        if ask is not None:
            ask.close()
    random.setstate(before)
    return _report(job.reference, findings, job.scenarios, profile)


def _prepared(
    target: Target,
    profile: Profile,
    seeds_per_level: int | None,
    levels: Collection[int] | None,
    given: Given,
    engine: str,
    budget: float | None,
    place: Workplace,
) -> tuple[Job, Asking | None] | Hanging:
    """Return the job and what answers for it in this process, or where the world was when it had to be loaded.

    A world that is validated in other processes is not loaded in this one, as it may quit or start threads.

    Raises:
        EnvNotFound, ReadError: There is no such environment.
        EnvBug: It cannot be loaded or made.
        ConfigError: A level does not exist.
    """
    if isinstance(target, str) and is_foreign(target):
        if levels:
            raise ConfigError(f"{target} has no levels; leave out --level")
        count = LEVELS_WORTH * profile.seeds_per_level if seeds_per_level is None else seeds_per_level
        return foreign_job(target, count, profile, given, place=None if engine == "here" else place, seconds=budget)
    count = profile.seeds_per_level if seeds_per_level is None else seeds_per_level
    if engine == "here" or isinstance(target, type):
        world, reference = load(target)
        scenarios = sample(world, count, levels)
        job = Job(reference, tuple(scenarios), profile, given)
        return job, OfWorld(Context(world, reference, profile, given), job.scenarios)
    made = outline(place, target, budget)
    if isinstance(made, Hanging):
        return made
    return Job(made.reference, tuple(sampled(made.env, made.levels, count, levels)), profile, given), None


def chosen(only: Collection[str] | None, skip: Collection[str] = ()) -> list[str]:
    """The codes that begin with one of `only` and with none of `skip`; loading is always among them.

    Raises:
        ConfigError: No code begins so.
    """
    if wrong := [start for start in skip if loading.LOADS.startswith(start)]:
        raise ConfigError(f"--skip {wrong[0]} has no effect: {loading.LOADS} is always checked. Leave it out")
    for start in (*(only or ()), *skip):
        if not any(code.startswith(start) for code in PROPERTIES):
            raise ConfigError(f"{start} is no property; trace-gym validate --list shows them")
    wanted = [c for c in PROPERTIES if only is None or c.startswith(tuple(only))]
    return sorted({loading.LOADS, *(c for c in wanted if not c.startswith(tuple(skip) or ("?",)))})


def here(ask: Callable[[str], Finding], codes: Sequence[str], budget: float | None) -> Iterator[Finding]:
    """One property after the other in this process."""
    end = time.monotonic() + (budget if budget is not None else math.inf)
    for code in codes:
        if time.monotonic() > end:
            return
        yield ask(code)


def _followed(
    found: Iterator[Finding], codes: Sequence[str], name: str, progress: bool, tell: Callable[[Finding], None]
) -> tuple[list[Finding], bool]:
    """The findings as they come, and whether Ctrl-C ended them, which keeps those that are there."""
    console = terminal.console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    findings: list[Finding] = []
    stopped = False
    with Progress(*columns, console=console, transient=True, disable=not (progress and console.is_terminal)) as bar:
        task = bar.add_task(name, total=len(codes))
        try:
            for finding in found:
                findings.append(finding)
                bar.update(task, advance=1, description=f"{name}: {finding.code} {finding.property} {finding.verdict}")
                tell(finding)
                if loading.fails(finding) and finding.verdict == "failed":
                    break
        except KeyboardInterrupt:
            stopped = True
            console.print("interrupted; this is what was found so far")
    return findings, stopped


def _report(env: str, findings: Sequence[Finding], scenarios: Sequence[Scenario], profile: str) -> Report:
    ordered = tuple(sorted(findings, key=lambda f: f.code))
    passed = all(f.passed for f in ordered)
    return Report(env=env, passed=passed, findings=ordered, scenarios=len(scenarios), profile=profile)


def sample(world: type[World], seeds_per_level: int, levels: Collection[int] | None = None) -> list[Scenario]:
    """The first seeds of every level, or of these levels; none where the class does not say what it is.

    Raises:
        ConfigError: Less than one seed is asked for, or a level that does not exist.
    """
    whole = not loading.declaration_faults(world)
    return sampled(world.id if whole else "", len(world.levels) if whole else 0, seeds_per_level, levels)


def sampled(env: str, count: int, seeds_per_level: int, levels: Collection[int] | None) -> list[Scenario]:
    """The same by name and number of levels; `count` is 0 where the class does not say what it is."""
    if seeds_per_level < 1:
        raise ConfigError(f"seeds_per_level is {seeds_per_level}; expected at least 1")
    if not count:
        return []
    if wrong := sorted(set(levels or ()) - set(range(count))):
        raise ConfigError(f"{env} has levels 0 to {count - 1}; asked for {wrong}")
    wanted = [n for n in range(count) if levels is None or n in levels]
    return [Scenario(env=env, level=level, seed=seed) for level in wanted for seed in range(seeds_per_level)]
