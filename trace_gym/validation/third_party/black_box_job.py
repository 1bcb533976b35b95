"""Validation job of a third-party environment."""

from __future__ import annotations

from trace_gym.errors import ConfigError
from trace_gym.types import Scenario
from trace_gym.validation.context import Profile, ValidationInputs
from trace_gym.validation.job_engines import ValidationJob
from trace_gym.validation.outline import BlackBoxOutline, black_box_facts, black_box_outline
from trace_gym.validation.processes import ProcessLauncher, TimedOut
from trace_gym.validation.third_party.black_box_context import BlackBoxContext
from trace_gym.validation.third_party.checks import BlackBoxFindings


def black_box_job(
    address: str,
    count: int,
    profile: Profile,
    inputs: ValidationInputs,
    *,
    launcher: ProcessLauncher | None,
    seconds: float | None,
) -> tuple[ValidationJob, BlackBoxFindings] | TimedOut:
    """Return the job for the first `count` problems of an environment, and the source of findings in this process.

    Return `TimedOut` if the environment does not open within the time limit.

    Args:
        address: URI of the environment.
        count: Number of problems.
        profile: Profile of the validation.
        inputs: Optional inputs of the validation.
        launcher: Launcher for a separate process that opens the environment, because opening it may hang or exit; None
            to open the environment in this process.
        seconds: Time limit of the separate process.

    Raises:
        ConfigError: The number of problems is less than 1, or the URI is not valid.
        EnvNotFound, ReadError, MissingExtra: The environment or one of its requirements does not exist.
        EnvBug: The environment cannot be created.
    """
    if count < 1:
        raise ConfigError(f"invalid number of seeds: found {count}, expected at least 1")
    if inputs.recordings:
        raise ConfigError(
            f"--recordings has no effect on {address}, because the environment belongs to another library, and only "
            "native environments can replay recorded tool calls. Remove the option"
        )
    found = black_box_outline(launcher, address, seconds) if launcher else BlackBoxOutline(**black_box_facts(address))
    if isinstance(found, TimedOut):
        return found
    seeds = range(count if found.problems is None else min(count, found.problems))
    scenarios = tuple(Scenario(env=address, level=0, seed=seed) for seed in seeds)
    findings = BlackBoxFindings(BlackBoxContext(address, seeds, profile, inputs))
    return ValidationJob(address, scenarios, profile, inputs, found.served), findings
