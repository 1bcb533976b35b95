"""Comparison of a base world with the live server that it stands in for, by the same random calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from trace_gym.errors import ConfigError
from trace_gym.explore.record import Recorder, record
from trace_gym.targets.catalogue import target
from trace_gym.targets.user.folder import TargetFolder
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
    """Make random calls on a live server and on the admitted base world of a target, and compare the results.

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
    rows = []
    for tool in home.kinds:
        if seen := found.get(tool):
            example = seen.example.replace("recorded", "server", 1)
            rows.append(Comparison(tool, seen.calls, seen.computable, seen.computable - seen.values, example))
        else:
            rows.append(Comparison(tool, 0, 0, 0))
    return rows
