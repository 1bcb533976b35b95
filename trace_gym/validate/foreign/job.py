"""The job of validating a foreign environment."""

from __future__ import annotations

from contextlib import closing

from trace_gym.errors import ConfigError
from trace_gym.types import Scenario
from trace_gym.validate.context import Given, Profile
from trace_gym.validate.engine import Job
from trace_gym.validate.foreign.address import open_patiently
from trace_gym.validate.foreign.asked import Asked


def foreign_job(address: str, count: int, profile: Profile, given: Given) -> tuple[Job, Asked]:
    """The first `count` problems of an environment, as a job, and what answers for it in this process.

    Raises:
        ConfigError: Less than one problem is asked for, or the address is none.
        EnvNotFound, ReadError, MissingExtra: There is no such environment, or what it needs is missing.
        EnvBug: It cannot be made.
    """
    if count < 1:
        raise ConfigError(f"seeds is {count}; expected at least 1")
    with closing(open_patiently(address)) as box:
        seeds = range(count if box.problems is None else min(count, box.problems))
        alone = box.served
    scenarios = tuple(Scenario(env=address, level=0, seed=seed) for seed in seeds)
    return Job(address, scenarios, profile, given, alone), Asked(address, seeds, profile, given)
