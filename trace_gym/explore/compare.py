"""Comparison of a base world with the live server that it simulates, by the same calls."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path

from trace_gym.errors import ConfigError
from trace_gym.explore.goals import Goal, goals_of, reached, situations
from trace_gym.explore.record import Recorder, Recording, record
from trace_gym.targets.catalogue import target
from trace_gym.targets.user.folder import TargetFolder
from trace_gym.targets.user.replays import answers
from trace_gym.validate.context import PROFILES, Context
from trace_gym.validate.recordings import tally


@dataclass(frozen=True)
class Comparison:
    """How the base world's results of one tool compare with the server's."""

    tool: str
    calls: int
    compared: int
    """Calls that the base world has the records to answer."""
    differ: int
    example: str = ""
    """A call that they answer differently."""
    goals: int = 0
    """Number of things that the calls of the tool should show; see `trace_gym.explore.goals`."""
    missing: tuple[str, ...] = ()
    """Those that no compared call has shown."""

    @property
    def share(self) -> float:
        """Share of the compared calls that differ; 0 where none was compared."""
        return self.differ / self.compared if self.compared else 0.0


def compare(
    home: TargetFolder,
    recorder: Recorder,
    episodes: int,
    out: Path | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> list[Comparison]:
    """Make the same calls on a live server and on the admitted base world of a target, and compare the results.

    The calls are chosen for what the earlier ones have not shown: each optional parameter given and left out, each
    value of an enum, known and unknown ids, refusals, and reads before and after each write. The rest is random.

    Args:
        home: The target; its folder is among those that are searched.
        recorder: How the server is explored.
        episodes: How many episodes are played.
        out: JSONL file for the server's episodes.
        tell: Called with a line about each episode.

    Returns:
        One entry for each tool of the target, in its order.

    Raises:
        TamperedEnv: The target has no admitted base world.
        ConfigError: The tools of the server are not those of the target, or nothing could be compared.
        ReadError: The server fails.
    """
    world, recorder = target(home.name).world, replace(recorder, purpose="compare")
    there = {t["function"]["name"] for t in recorder.interface.tools} | {*recorder.skip}
    if there != home.kinds.keys():
        only = ", ".join(sorted(there ^ home.kinds.keys()))
        raise ConfigError(
            f"the server and {home.name} have different tools: only one of them has {only}. Start the server that the "
            "target was made from, or make the target anew"
        )
    made = record(recorder, episodes, out, tell)
    context = Context(world, world.id, PROFILES["quick"])
    found = tally(world, made.episodes, context)
    if not sum(t.computable for t in found.values()):
        raise ConfigError(
            f"nothing could be compared: the base world knows none of the records of {len(made.episodes)} episodes. "
            "Look at its from_records and knows"
        )
    shown = _reached(made, {place for seen in found.values() for place in seen.compared})
    rows = []
    for tool in home.kinds:
        wanted = goals_of(made.interface, tool) if tool in made.kinds else ()
        missing = tuple(goal.text for goal in wanted if (tool, goal) not in shown)
        if seen := found.get(tool):
            example = seen.example.replace("recorded", "server", 1)
            counts = seen.calls, seen.computable, seen.computable - seen.values
            rows.append(Comparison(tool, *counts, example, len(wanted), missing))
        else:
            rows.append(Comparison(tool, 0, 0, 0, "", len(wanted), missing))
    return rows


def _reached(made: Recording, compared: Collection[tuple[str, int]]) -> set[tuple[str, Goal]]:
    """Return the goals of each tool that the compared calls have reached."""
    goals = {tool: goals_of(made.interface, tool) for tool in made.kinds}
    found = set()
    for episode in made.episodes:
        calls = answers(episode)
        for number, ((call, told), situation) in enumerate(zip(calls, situations(calls, made.kinds), strict=False)):
            if (episode.id, number) in compared:
                found |= {(call.tool, goal) for goal in goals[call.tool] if reached(goal, call, situation, told)}
    return found
