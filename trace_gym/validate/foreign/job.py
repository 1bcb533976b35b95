"""The job of validating a foreign environment."""

from __future__ import annotations

from trace_gym.errors import ConfigError
from trace_gym.types import Scenario
from trace_gym.validate.context import Given, Profile
from trace_gym.validate.engine import Job
from trace_gym.validate.foreign.asked import Asked
from trace_gym.validate.outline import ForeignOutline, foreign_facts, foreign_outline
from trace_gym.validate.processes import Hanging, Workplace


def foreign_job(
    address: str, count: int, profile: Profile, given: Given, *, place: Workplace | None, seconds: float | None
) -> tuple[Job, Asked] | Hanging:
    """Return the first `count` problems of an environment, as a job, and what answers for it in this process.

    Args:
        address: Where the environment comes from.
        count: Number of problems.
        profile: How thorough the validation is.
        given: What else the validation looks at.
        place: What starts the separate process that opens the environment, which may hang or end the process; None
            opens it in this process.
        seconds: Time limit of that process.

    Raises:
        ConfigError: Less than one problem is asked for, or the address is none.
        EnvNotFound, ReadError, MissingExtra: There is no such environment, or what it needs is missing.
        EnvBug: It cannot be made.
    """
    if count < 1:
        raise ConfigError(f"seeds is {count}; expected at least 1")
    if given.recordings:
        raise ConfigError(
            f"--recordings has no effect on {address}: found an environment of another library, expected one of "
            "trace_gym, whose tools can repeat recorded calls. Leave it out"
        )
    found = foreign_outline(place, address, seconds) if place else ForeignOutline(**foreign_facts(address))
    if isinstance(found, Hanging):
        return found
    seeds = range(count if found.problems is None else min(count, found.problems))
    scenarios = tuple(Scenario(env=address, level=0, seed=seed) for seed in seeds)
    return Job(address, scenarios, profile, given, found.served), Asked(address, seeds, profile, given)
