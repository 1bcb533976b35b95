"""Validate: run every property on one environment and write down what each found."""

from __future__ import annotations

import random
from collections.abc import Collection

from rich.console import Console
from rich.progress import Progress, TextColumn

from trace_gym.errors import ConfigError, EnvBug
from trace_gym.types import Report, Scenario

# Importing a family registers its properties.
from trace_gym.validate import determinism, experts, fuzz, loading, rewards, surface
from trace_gym.validate.context import PROFILES, Context
from trace_gym.validate.properties import PROPERTIES, Broken
from trace_gym.validate.source import Target, load
from trace_gym.world import World

FAMILIES = (loading, determinism, experts, rewards, surface, fuzz)


def validate(
    target: Target,
    *,
    profile: str = "gate",
    seeds_per_level: int | None = None,
    only: Collection[str] | None = None,
    progress: bool = True,
) -> Report:
    """Check an environment, admitted or not; whatever a bad one does becomes a finding.

    Args:
        target: A world class, a name, the path of a module, or ``module:class``.
        profile: ``gate`` before an environment is admitted, ``quick`` while one is written.
        seeds_per_level: Scenarios for each level; the profile's number by default.
        only: Codes of the properties to check, besides loading; all by default.
        progress: Show which property is being checked, where the error output is a terminal.

    Raises:
        EnvNotFound, ReadError: There is no such environment.
        ConfigError: There is no such profile or property.
    """
    if profile not in PROFILES:
        raise ConfigError(f"{profile!r} is no profile; expected one of {', '.join(PROFILES)}")
    if unknown := set(only or ()) - PROPERTIES.keys():
        raise ConfigError(f"{min(unknown)} is no property; trace-gym validate --list shows them")
    try:
        world, reference = load(target)
    except EnvBug as error:
        failed = PROPERTIES[loading.LOADS].failed(Broken(str(error)))
        return Report(passed=False, findings=(failed,), scenarios=0, profile=profile)
    scenarios = sample(world, PROFILES[profile].seeds_per_level if seeds_per_level is None else seeds_per_level)
    context = Context(world, reference, PROFILES[profile])
    codes = [c for c in sorted(PROPERTIES) if c == loading.LOADS or only is None or c in only]
    findings = []
    before = random.getstate()  # an environment that draws from it must not disturb the caller
    console = Console(stderr=True)
    shown = progress and console.is_terminal
    with Progress(TextColumn("{task.description}"), console=console, transient=True, disable=not shown) as bar:
        task = bar.add_task("")
        for code in codes:
            bar.update(task, description=f"{world.__name__}: {code} {PROPERTIES[code].name}")
            findings.append(PROPERTIES[code](world, scenarios, context))
            if code == loading.LOADS and not findings[0].passed:
                break  # every other property would fail with the same words
    random.setstate(before)
    passed = all(f.passed for f in findings)
    return Report(passed=passed, findings=tuple(findings), scenarios=len(scenarios), profile=profile)


def sample(world: type[World], seeds_per_level: int) -> list[Scenario]:
    """The first seeds of every level; none where the class does not say what it is.

    Raises:
        ConfigError: Less than one seed is asked for.
    """
    if seeds_per_level < 1:
        raise ConfigError(f"seeds_per_level is {seeds_per_level}; expected at least 1")
    if loading.declaration_faults(world):
        return []
    return [Scenario(env=world.id, level=level, seed=seed) for level in world.levels for seed in range(seeds_per_level)]
