"""Property TG001: the environment can be loaded and generates scenarios."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trace_gym.types import Finding, Scenario
from trace_gym.validation.context import Context
from trace_gym.validation.properties import CheckFailed, Passed, property_check
from trace_gym.world import World

LOADS = "TG001"
"""Code of the property that must pass before any other property is checked."""
MOST_TURNS = 1000
"""Maximum turn limit of an episode.

Properties run episodes up to the turn limit, so a larger limit would take hours.
"""
MOST_LEVELS = 100
"""Maximum number of levels. Every property checks all levels."""


@property_check(
    LOADS,
    statement="The module loads, declares its class attributes, and generates a scenario with an initial observation "
    "on every level.",
    reason="No other property can be checked for an environment that does not load.",
    fix="Run the counterexample. The last line of its traceback names the error.",
    raising=True,
)
def loads_and_generates(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    if faults := declaration_errors(world):
        raise CheckFailed(f"{world.__name__}: {'; '.join(faults)}")
    for scenario in scenarios:
        episode = context.begin(scenario)
        if not (opening := str(episode.messages[-1]["content"])).strip():
            raise context.failure(
                scenario, f"the first user message is empty: found {opening!r}", tail="print(episode.messages[-1])"
            )
    if not context.interface.tools:
        raise CheckFailed(f"{world.__name__} has no tool; decorate at least one method with @tool")
    return Passed(f"{len(scenarios)} scenarios on {len(world.levels)} levels can be started")


def failed_to_load(finding: Finding) -> bool:
    """Return whether a finding reports that the environment does not load."""
    return finding.code == LOADS and not finding.passed


def declaration_errors(world: type[World]) -> list[str]:
    """Return descriptions of invalid class attributes of a world."""
    faults = []
    name, levels = getattr(world, "id", None), world.levels
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        faults.append(f"id is {name!r}; expected lower-case letters, digits and underscores")
    if not isinstance(getattr(world, "capability", None), str):
        faults.append("capability is missing; expected a name, or '' for a target")
    if not isinstance(levels, range) or not 1 <= levels.stop <= MOST_LEVELS or levels != range(levels.stop):
        faults.append(f"levels is {levels!r}; expected range(n) with n from 1 to {MOST_LEVELS}")
    turns = world.max_turns
    if isinstance(turns, bool) or not isinstance(turns, int) or not 1 <= turns <= MOST_TURNS:
        faults.append(f"max_turns is {turns!r}; expected an integer from 1 to {MOST_TURNS}")
    return faults
