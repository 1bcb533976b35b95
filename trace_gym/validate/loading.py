"""TG0: the environment can be loaded and begun."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trace_gym.types import Finding, Scenario
from trace_gym.validate.context import Context
from trace_gym.validate.properties import Broken, Held, prop
from trace_gym.world import World

LOADS = "TG001"
"""The property without which no other is tried."""
MOST_TURNS = 1000
"""Turns that an episode may have. Properties play to the turn limit, so a larger one would keep them busy for hours."""
MOST_LEVELS = 100
"""Levels that an environment may have; every property looks at all of them."""


@prop(
    LOADS,
    statement="The module loads, says what it is, and every level generates a problem with an opening.",
    reason="Nothing else can be said of an environment that does not begin.",
    mend="Run the counterexample; the last line of its traceback names the fault.",
    raising=True,
)
def loads_and_generates(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    if faults := declaration_faults(world):
        raise Broken(f"{world.__name__}: {'; '.join(faults)}")
    for scenario in scenarios:
        episode = context.begin(scenario)
        if not (opening := str(episode.messages[-1]["content"])).strip():
            raise context.broken(scenario, f"the opening is {opening!r}", tail="print(episode.messages[-1])")
    if not context.interface.tools:
        raise Broken(f"{world.__name__} offers no tool; mark at least one method with @tool")
    return Held(f"{len(scenarios)} scenarios on {len(world.levels)} levels begin")


def fails(finding: Finding) -> bool:
    """Whether the environment does not load, so that nothing else can be said of it."""
    return finding.code == LOADS and not finding.passed


def declaration_faults(world: type[World]) -> list[str]:
    """What is wrong with the class attributes of a world."""
    faults = []
    name, levels = getattr(world, "id", None), world.levels
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        faults.append(f"id is {name!r}; expected lower-case letters, digits and underscores")
    if not isinstance(getattr(world, "capability", None), str):
        faults.append("capability is missing; expected a name, or '' for a target")
    if not isinstance(levels, range) or not 1 <= levels.stop <= MOST_LEVELS or levels != range(levels.stop):
        faults.append(f"levels is {levels!r}; expected range(n) with n of 1 to {MOST_LEVELS}")
    turns = world.max_turns
    if isinstance(turns, bool) or not isinstance(turns, int) or not 1 <= turns <= MOST_TURNS:
        faults.append(f"max_turns is {turns!r}; expected a number of 1 to {MOST_TURNS}")
    return faults
