"""Property TG413: replayed calls from recorded episodes return the results in the recordings.

A target's base world must have the first two of these methods to support this check:

- ``from_records(shown)``, a class method, reconstructs a state from tool results. `shown` is a list of (call, result)
  pairs from before the first write, with parsed JSON results.
- ``knows(call, shown)`` returns whether these results contain all data that a call requires.
- ``as_recorded(call, answer, source)``, an optional class method, removes *declared* differences from a result. These
  are known differences to recordings from this source, such as fields that an older benchmark version does not have.

Each tool is evaluated separately. Read calls only return values from which the state was reconstructed, so their
agreement proves little. The results of writes, calculations and searches have to be computed, so their agreement is
stronger evidence.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from trace_gym.nested import parse_if_json
from trace_gym.schemas import settle
from trace_gym.targets.user.replays import answers, refused
from trace_gym.types import Bars, Call, Scenario, Trajectory
from trace_gym.validation.context import Context
from trace_gym.validation.input_files import read_recordings
from trace_gym.validation.properties import CheckFailed, Passed, Skipped, property_check
from trace_gym.validation.shapes import differences
from trace_gym.world import ToolError, World, call_tool, overrides

VALUES = 0.95
"""Minimum fraction of a tool's computable results that equal the recorded results. Structures must always match."""

RecordedResults = list[tuple[Call, Any]]


@dataclass
class _Tally:
    """Counts for the comparison of one tool's results with the recorded results."""

    calls: int = 0
    computable: int = 0
    shapes: int = 0
    values: int = 0
    declared: int = 0
    """Number of results that are equal except for declared differences."""
    faults: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Undeclared differences as (path, kind)."""
    example: str = ""
    compared: list[tuple[str, int]] = field(default_factory=list)
    """Computable calls as (episode id, call number)."""


@property_check(
    "TG413",
    statement="Recorded calls of the target, replayed on the recorded data, return the recorded results.",
    reason="A policy that learns from results with other shapes or values fails on the target.",
    fix="Compare the tool with the recorded result in the finding, and correct the tool. Declare differences to an "
    "older version of the benchmark in `as_recorded`.",
)
def replay_fidelity(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    if not context.inputs.recordings:
        raise Skipped("no recorded episodes of the target were passed (--recordings)")
    if not overrides(world, "from_records"):
        raise Skipped("the world has no method `from_records`, which builds a state from recorded results")
    episodes = [t for path in context.inputs.recordings for t in read_recordings(path)]
    tallies = compare_recordings(world, episodes, context)
    if not sum(t.computable for t in tallies.values()):
        raise Skipped(f"no call in {len(episodes)} recorded episodes can be computed from the recorded data")
    metrics = dict(_figures(tallies))
    exhibits = tuple(_bars(tallies, what) for what in ("shapes", "values"))
    for tool, found in sorted(tallies.items()):
        if found.shapes < found.computable or found.values < VALUES * found.computable:
            (path, how), times = next(_worst(found))
            message = (
                f"{tool}: {path or 'the result'} differs in its {how} in {times} of {found.computable} recorded calls"
            )
            message += f" ({found.shapes} agree in shape, {found.values} in values); {found.example}"
            raise CheckFailed(message, "", metrics, exhibits)
    total = sum(t.computable for t in tallies.values())
    calls, alike = sum(t.calls for t in tallies.values()), sum(t.values for t in tallies.values())
    message = f"{alike} of {total} recorded calls return the recorded result"
    declared = sum(t.declared for t in tallies.values())
    message += (
        f", {declared} of them except for declared differences; {calls - total} more require records "
        f"that the recordings do not contain"
    )
    return Passed(message, metrics, exhibits)


def _worst(found: _Tally) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield the undeclared differences with their counts: structural differences first, then by frequency."""
    yield from sorted(found.faults.items(), key=lambda item: (item[0][1] == "value", -item[1], item[0]))


def _figures(tallies: dict[str, _Tally]) -> Iterator[tuple[str, float]]:
    for tool, found in sorted(tallies.items()):
        yield f"calls_{tool}", found.calls
        yield f"computable_{tool}", found.computable
        if found.computable:
            yield f"shapes_{tool}", found.shapes / found.computable
            yield f"values_{tool}", found.values / found.computable
            yield f"declared_{tool}", found.declared / found.computable


def _bars(tallies: dict[str, _Tally], what: str) -> Bars:
    shares = {t: getattr(f, what) / f.computable for t, f in sorted(tallies.items()) if f.computable}
    return Bars(
        title=f"Recorded calls with the recorded result, by {what}", unit="share of computable calls", bars=shares
    )


def compare_recordings(world: type[World], episodes: Sequence[Trajectory], context: Context) -> dict[str, _Tally]:
    """Replay the calls of every episode and return the comparison with the recorded results, by tool.

    The state of an episode is reconstructed from its results before the first write. If the episodes use the same
    database, the results of all episodes are combined.
    """
    tallies: dict[str, _Tally] = {}
    kinds = context.interface.kinds
    replays = [(episode, [c for c in answers(episode) if c[0].tool in kinds]) for episode in episodes]
    before = [_shown_before_writes(calls, kinds) for _, calls in replays]
    pool = list({key: pair for shown in reversed(before) for key, pair in shown.items()}.values())
    separate: list[World] = [world.from_records(list(own.values())) for own in before]
    combined: World = world.from_records(pool)
    calls_before = [[call for call, _ in own.values()] for own in before]
    same_database = all(
        _read_answers(w, c, context) == _read_answers(combined, c, context)
        for w, c in zip(separate, calls_before, strict=True)
    )
    for (episode, calls), own, start in zip(replays, before, separate, strict=True):
        seeded: Any = combined.copy() if same_database else start
        shown = pool if same_database else list(own.values())
        diverged = False
        for number, (call, recorded_answer) in enumerate(calls):
            found = tallies.setdefault(call.tool, _Tally())
            found.calls += 1
            answerable = not diverged and seeded.knows(call, shown)
            # After a write that cannot be replayed, the state differs from the recorded one.
            diverged = diverged or (not answerable and kinds[call.tool] == "write" and not refused(recorded_answer))
            if answerable:
                found.compared.append((episode.id, number))
                _compare(world, episode, call, recorded_answer, _answer(seeded, call, context), found)
    return tallies


def _read_answers(world: World, calls: Sequence[Call], context: Context) -> list[str]:
    """Return the results of the read calls.

    Generic calls, such as a transfer to a human, are excluded, because they may end the conversation.
    """
    return [_answer(world, call, context) for call in calls if context.interface.kinds[call.tool] == "read"]


def _shown_before_writes(calls: Sequence[tuple[Call, str]], kinds: dict[str, Any]) -> dict[str, tuple[Call, Any]]:
    """Return the distinct successful calls before the first successful write, with their results."""
    shown: dict[str, tuple[Call, Any]] = {}
    for call, recorded_answer in calls:
        if refused(recorded_answer):
            continue
        if kinds[call.tool] == "write":
            break
        shown.setdefault(
            json.dumps([call.tool, call.arguments], sort_keys=True), (call, parse_if_json(recorded_answer))
        )
    return shown


def _answer(world: World, call: Call, context: Context) -> str:
    """Return the result of a call in the form that an agent receives. The call may change the world."""
    arguments, complaint = settle(call, context.interface)
    if complaint:
        return f"Error: {complaint}"
    try:
        result = call_tool(world, call.tool, arguments)
    except ToolError as refusal:
        return f"Error: {refusal}"
    except Exception as error:
        return f"Error: {type(error).__name__}: {error}"
    return world.format_result(call, result).strip()


def _compare(
    world: type[World], episode: Trajectory, call: Call, recorded_answer: str, computed: str, found: _Tally
) -> None:
    """Compare a result with the recorded result and update the counts. The wording of errors may differ."""
    found.computable += 1
    if refused(recorded_answer) or refused(computed):
        faults = [] if refused(recorded_answer) == refused(computed) else [("", "refusal")]
        raw = faults
    else:
        pair = [world.as_recorded(call, parse_if_json(text), episode.source) for text in (recorded_answer, computed)]
        faults, raw = (
            list(differences(*pair)),
            list(differences(parse_if_json(recorded_answer), parse_if_json(computed))),
        )
    kinds = {how for _, how in faults}
    found.shapes += kinds <= {"value"}
    found.values += not kinds
    found.declared += bool(raw) and not faults
    found.faults.update(set(faults))
    if faults and not found.example:
        asked = f"{call.tool} {json.dumps(call.arguments)}"
        found.example = f"{episode.id}, {asked}: recorded {recorded_answer[:300]}, here {computed[:300]}"
