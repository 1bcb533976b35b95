"""The function `validate`, which checks all properties of one environment and returns a report."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

from trace_gym import terminal
from trace_gym.errors import ConfigError, EnvBug, expect_choice
from trace_gym.types import Finding, Report, Scenario

# Importing these modules registers their properties.
from trace_gym.validation import (
    capability,
    choice,
    constant_answers,
    determinism,
    diversity,
    experts,
    exploits,
    fidelity,
    fuzz,
    gymnasium_checks,
    hidden_information,
    instances,
    interactive_leaks,
    leakage,
    learning,
    level_differences,
    loading,
    model_review,
    monotonicity,
    overlap,
    phrasing,
    recordings,
    rewards,
    right_variants,
    robustness,
    search,
    surface,
    user,
    wrong_variants,
)
from trace_gym.validation.context import NO_INPUTS, PROFILES, Context, Profile, ValidationInputs
from trace_gym.validation.input_files import check_readable
from trace_gym.validation.job_engines import FindingSource, ValidationJob, WorldFindings, finding_or_failure, on_ray
from trace_gym.validation.outline import outline
from trace_gym.validation.policy_groups import check_policy
from trace_gym.validation.processes import ProcessLauncher, TimedOut, process_launcher
from trace_gym.validation.properties import PROPERTIES, CheckFailed
from trace_gym.validation.selection import sample, sample_by_name, select_codes
from trace_gym.validation.source import EnvironmentReference, load
from trace_gym.validation.task_files.runner import is_task_file, validate_task_file
from trace_gym.validation.third_party.black_box_job import black_box_job
from trace_gym.validation.third_party.uri import is_third_party

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
    model_review,
    monotonicity,
    robustness,
    user,
    gymnasium_checks,
    diversity,
    fidelity,
    leakage,
    overlap,
    choice,
    constant_answers,
    recordings,
    hidden_information,
    wrong_variants,
    right_variants,
    interactive_leaks,
    level_differences,
)

ENGINES = ("here", "processes", "ray")

LOAD_SNIPPET = "from trace_gym.validation import load\n\nload({!r})\n"
"""Code that reproduces the failure of a module that cannot be loaded."""
NO_LEVELS_FACTOR = 4
"""Sample size of an environment without levels, as a multiple of the profile's seeds per level.

The result is similar to the total for native environments, which have three or four levels.
"""


def validate(
    target: EnvironmentReference,
    *,
    profile: str = "gate",
    seeds_per_level: int | None = None,
    levels: Collection[int] | None = None,
    only: Collection[str] | None = None,
    skip: Collection[str] = (),
    given: ValidationInputs = NO_INPUTS,
    engine: str = "here",
    workers: int = 2,
    budget: float | None = None,
    progress: bool = True,
    interruptible: bool = True,
    on_finding: Callable[[Finding], None] = lambda finding: None,
) -> Report:
    """Check the properties of an environment and return a report. Errors of the environment become findings.

    The environment may be one that has not been admitted yet.

    Args:
        target: World class, environment name, module path, ``module:class``, URI of a third-party environment such as
            ``reasoning-gym:chain_sum`` (see `trace_gym.validation.third_party.uri`), or URI of a task file (see
            `trace_gym.validation.task_files`), which is always checked in this process.
        profile: ``gate``, which is required for admission, or ``quick``, which is faster, for use during development.
        seeds_per_level: Scenarios per level. The default is defined by the profile; it is four times larger for an
            environment without levels.
        levels: Levels to check; all by default.
        only: Codes, or prefixes of codes, of the properties to check; all by default. Loading is always checked.
        skip: Codes, or prefixes of codes, to exclude.
        given: Optional inputs: a policy, recorded episodes, and test tasks of the target.
        engine: ``here`` (this process), ``processes`` or ``ray``. The verdict does not depend on the engine.
        workers: Number of properties that are checked concurrently. ``here`` always uses one.
        budget: Time limit in seconds, after which the remaining properties are reported as unfinished; no limit by
            default. Only the engines ``processes`` and ``ray`` can stop a check that hangs.
        progress: Whether to show a progress bar if standard error is a terminal.
        interruptible: Whether `KeyboardInterrupt` means Ctrl-C. If False, a `KeyboardInterrupt` is an error of the
            environment.
        on_finding: Callback that is called with each finding.

    Raises:
        EnvNotFound, ReadError: The environment does not exist.
        ReadError: A file in `given` cannot be read.
        ConfigError: The profile, a property, a level, the engine or the policy does not exist, or `workers` or `budget`
            is not positive.
    """
    if isinstance(target, str) and is_task_file(target):
        unused = {"profile": profile != "gate", "seeds_per_level": seeds_per_level, "levels": levels}
        unused |= {"given": given != NO_INPUTS, "engine": engine == "ray"}
        if found := [name for name, value in unused.items() if value]:
            raise ConfigError(f"the option {found[0]!r} has no effect on the task file {target}. Remove the option")
        return validate_task_file(target, only=only, skip=skip, budget=budget, on_finding=on_finding)
    expect_choice("profile", profile, PROFILES)
    expect_choice("engine", engine, ENGINES)
    if workers < 1 or (budget is not None and not budget > 0):
        raise ConfigError(
            f"invalid limits: found workers={workers} and budget={budget}, expected workers >= 1 and budget > 0 "
            "(seconds)"
        )
    codes = select_codes(only, skip)
    check_readable(given)
    if given.policy:
        check_policy(given.policy)
    with process_launcher() as launcher:
        try:
            prepared = _prepare(target, PROFILES[profile], seeds_per_level, levels, given, engine, budget, launcher)
            if isinstance(prepared, TimedOut):
                at = f" in {prepared.place}" if prepared.place else ""
                message = f"{target} did not load within {budget:g} seconds; look for an endless loop{at}"
                on_finding(unfinished := PROPERTIES[loading.LOADS].finding("unfinished", message))
                return _report(str(target), [unfinished], (), profile)
            job, source = prepared
        except EnvBug as error:
            snippet = (
                "" if isinstance(target, type) or is_third_party(str(target)) else LOAD_SNIPPET.format(str(target))
            )
            on_finding(failed := PROPERTIES[loading.LOADS].failed(CheckFailed(str(error), snippet)))
            return _report(str(target), [failed], (), profile)
        if job.alone and engine == "ray":
            raise ConfigError(
                f"{job.reference} runs on a single server, which Ray cannot replicate. Use --engine processes"
            )
        before = random.getstate()  # the environment may modify the global random state of the caller
        if engine == "here":
            assert source is not None
            finding_iterator = run_serially(
                source if interruptible else partial(finding_or_failure, source), codes, budget
            )
        else:
            if source is not None:
                source.close()  # a server may accept only one session
            check = on_ray if engine == "ray" else launcher.findings
            finding_iterator = check(job, codes, 1 if job.alone else workers, budget)
        findings, stopped = _collect(finding_iterator, codes, job.reference, progress, on_finding)
        if findings[-1:] and loading.failed_to_load(findings[-1]) and findings[-1].verdict == "failed":
            findings = findings[-1:]  # all other properties would fail for the same reason
        else:
            done = {f.code for f in findings}
            message = f"not finished within {budget:g} seconds; increase the budget" if budget else "not finished"
            if timed_out := [f.code for f in findings if f.verdict == "unfinished"]:
                message = f"not started or not finished, because {' and '.join(timed_out)} used the {budget:g} seconds"
            message = "not finished because of an interrupt" if stopped else message
            findings += [PROPERTIES[c].finding("unfinished", message) for c in codes if c not in done]
        if source is not None:
            source.close()
    random.setstate(before)
    return _report(job.reference, findings, job.scenarios, profile)


def _prepare(
    target: EnvironmentReference,
    profile: Profile,
    seeds_per_level: int | None,
    levels: Collection[int] | None,
    inputs: ValidationInputs,
    engine: str,
    budget: float | None,
    launcher: ProcessLauncher,
) -> tuple[ValidationJob, FindingSource | None] | TimedOut:
    """Return the job and an object that computes findings in this process, or `TimedOut` if loading takes too long.

    For a world that is validated in other processes, the object is None: the world is not loaded in this process,
    because it may exit or start threads.

    Raises:
        EnvNotFound, ReadError: The environment does not exist.
        EnvBug: The environment cannot be loaded or created.
        ConfigError: A level does not exist.
    """
    if isinstance(target, str) and is_third_party(target):
        if levels:
            raise ConfigError(f"the environment {target} has no levels. Remove the option --level")
        count = NO_LEVELS_FACTOR * profile.seeds_per_level if seeds_per_level is None else seeds_per_level
        return black_box_job(
            target, count, profile, inputs, launcher=None if engine == "here" else launcher, seconds=budget
        )
    count = profile.seeds_per_level if seeds_per_level is None else seeds_per_level
    if engine == "here" or isinstance(target, type):
        world, reference = load(target)
        scenarios = sample(world, count, levels)
        job = ValidationJob(reference, tuple(scenarios), profile, inputs)
        return job, WorldFindings(Context(world, reference, profile, inputs), job.scenarios)
    outline_result = outline(launcher, target, budget)
    if isinstance(outline_result, TimedOut):
        return outline_result
    return ValidationJob(
        outline_result.reference,
        tuple(sample_by_name(outline_result.env, outline_result.levels, count, levels)),
        profile,
        inputs,
    ), None


def run_serially(source: Callable[[str], Finding], codes: Sequence[str], budget: float | None) -> Iterator[Finding]:
    """Yield the findings for the properties, checked sequentially in this process until the budget is used up."""
    end = time.monotonic() + (budget if budget is not None else math.inf)
    for code in codes:
        if time.monotonic() > end:
            return
        yield source(code)


def _collect(
    prepared: Iterator[Finding], codes: Sequence[str], name: str, progress: bool, on_finding: Callable[[Finding], None]
) -> tuple[list[Finding], bool]:
    """Return the findings, and whether Ctrl-C stopped the validation. If it did, the findings are incomplete."""
    console = terminal.console(stderr=True)
    findings: list[Finding] = []
    stopped = False
    with terminal.progress_bar(name, len(codes), progress, on=console) as update:
        try:
            for finding in prepared:
                findings.append(finding)
                update(advance=1, description=f"{name}: {finding.code} {finding.property} {finding.verdict}")
                on_finding(finding)
                if loading.failed_to_load(finding) and finding.verdict == "failed":
                    break
        except KeyboardInterrupt:
            stopped = True
            console.print("interrupted; the findings so far follow")
    return findings, stopped


def _report(env: str, findings: Sequence[Finding], scenarios: Sequence[Scenario], profile: str) -> Report:
    ordered = tuple(sorted(findings, key=lambda f: f.code))
    passed = all(f.passed for f in ordered)
    return Report(env=env, passed=passed, findings=ordered, scenarios=len(scenarios), profile=profile)
