"""Comparison of a base world with the live server that it simulates. The same calls are made on both."""

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
from trace_gym.validation.context import PROFILES, Context
from trace_gym.validation.recordings import compare_recordings


@dataclass(frozen=True)
class ToolComparison:
    """Comparison of one tool's results in the base world and on the server."""

    tool: str
    calls: int
    compared: int
    """Number of compared calls: those for which the base world has the necessary records."""
    differ: int
    """Number of compared calls with different results."""
    example: str = ""
    """Description of a call with different results."""
    goals: int = 0
    """Number of coverage goals of the tool; see `trace_gym.explore.goals`."""
    missing: tuple[str, ...] = ()
    """Coverage goals that no compared call has reached."""

    @property
    def share(self) -> float:
        """Fraction of the compared calls with different results; 0 if no call was compared."""
        return self.differ / self.compared if self.compared else 0.0


def compare(
    home: TargetFolder,
    recorder: Recorder,
    episodes: int,
    out: Path | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> list[ToolComparison]:
    """Make the same calls on a live server and on the admitted base world of a target, and compare the results.

    The calls are chosen to reach coverage goals that earlier calls have not reached: optional parameters present and
    absent, each value of an enum, known and unknown ids, refusals, and reads before and after each write. All other
    choices are random.

    Args:
        home: The target. Its folder must be registered.
        recorder: Settings of the exploration.
        episodes: Number of episodes.
        out: JSONL file for the server's episodes.
        tell: Function that is called with a log line about each episode.

    Returns:
        One comparison per tool, in the order of the target's tools.

    Raises:
        TamperedEnv: The base world of the target is not admitted.
        ConfigError: The server and the target have different tools, or no call could be compared.
        ReadError: The server fails.
    """
    world, recorder = target(home.name).world, replace(recorder, purpose="compare")
    there = {t["function"]["name"] for t in recorder.interface.tools} | {*recorder.skip}
    if there != home.kinds.keys():
        only = ", ".join(sorted(there ^ home.kinds.keys()))
        raise ConfigError(
            f"the server and the target {home.name} have different tools: only one of them has {only}. Start the "
            "server from which the target was created, or create the target again"
        )
    made = record(recorder, episodes, out, tell)
    context = Context(world, world.id, PROFILES["quick"])
    found = compare_recordings(world, made.episodes, context)
    if not sum(t.computable for t in found.values()):
        raise ConfigError(
            "no call could be compared, because the base world did not recognize any records in the "
            f"{len(made.episodes)} episodes. Check its methods `from_records` and `knows`"
        )
    shown = _reached(made, {place for seen in found.values() for place in seen.compared})
    rows = []
    for tool in home.kinds:
        wanted = goals_of(made.interface, tool) if tool in made.kinds else ()
        missing = tuple(goal.text for goal in wanted if (tool, goal) not in shown)
        if seen := found.get(tool):
            example = seen.example.replace("recorded", "server", 1)
            counts = seen.calls, seen.computable, seen.computable - seen.values
            rows.append(ToolComparison(tool, *counts, example, len(wanted), missing))
        else:
            rows.append(ToolComparison(tool, 0, 0, 0, "", len(wanted), missing))
    return rows


def _reached(made: Recording, compared: Collection[tuple[str, int]]) -> set[tuple[str, Goal]]:
    """Return pairs of a tool and a coverage goal of this tool that a compared call has reached.

    Args:
        made: The recorded episodes.
        compared: The compared calls, each as a pair of the episode id and the index of the call.
    """
    goals = {tool: goals_of(made.interface, tool) for tool in made.kinds}
    found = set()
    for episode in made.episodes:
        calls = answers(episode)
        for number, ((call, told), situation) in enumerate(zip(calls, situations(calls, made.kinds), strict=False)):
            if (episode.id, number) in compared:
                found |= {(call.tool, goal) for goal in goals[call.tool] if reached(goal, call, situation, told)}
    return found
