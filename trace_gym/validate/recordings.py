"""TG4, recorded episodes: what the target answered there is answered here.

A target's base world takes part through two methods, and may have a third:

- ``from_records(shown)``, a class method: the state that answers show. `shown` is a list of (call, answer), answers
  parsed where they are JSON, all from before any change.
- ``knows(call, shown)``: whether those records suffice to answer a call.
- ``as_recorded(call, answer, source)``, a class method: an answer without what is *declared* to differ in recordings of
  that source, such as fields that an older version of the benchmark has not.

A look-up gives back what it has put there, so its values prove little; writes, calculations and searches derive theirs.
Each tool is judged by itself, and the latter are not hidden among the former.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from trace_gym.schemas import settle
from trace_gym.types import Bars, Call, Scenario, Trajectory
from trace_gym.validate.context import Context
from trace_gym.validate.files import recorded
from trace_gym.validate.gold import parsed
from trace_gym.validate.properties import Broken, Held, Inapplicable, prop
from trace_gym.validate.shapes import differences
from trace_gym.world import ToolError, World, call_tool

VALUES = 0.95
"""Share of a tool's computable answers that must hold the recorded values; shapes must agree in all of them."""

Shown = list[tuple[Call, Any]]


@dataclass
class _Tally:
    """How the answers of one tool compare."""

    calls: int = 0
    computable: int = 0
    shapes: int = 0
    values: int = 0
    declared: int = 0
    """Answers that agree but for declared differences."""
    faults: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Undeclared differences, as (path, how)."""
    example: str = ""
    compared: list[tuple[str, int]] = field(default_factory=list)
    """The computable calls, as (id of the episode, number of the call)."""


@prop(
    "TG413",
    statement="Recorded calls of the target, replayed on the records that they showed, are answered alike.",
    reason="What a policy learns from answers of another shape, or from other prices, fails at the target.",
    mend="Compare the tool with the recorded answer in the finding, and correct the tool; declare what an older version"
    " of the benchmark answers otherwise.",
)
def replay_fidelity(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    if not context.given.recordings:
        raise Inapplicable("no recorded episode of the target is given")
    if not hasattr(world, "from_records"):
        raise Inapplicable("the world has no `from_records`, which builds a state from recorded answers")
    episodes = [t for path in context.given.recordings for t in recorded(path)]
    tallies = tally(world, episodes, context)
    if not sum(t.computable for t in tallies.values()):
        raise Inapplicable(f"no call in {len(episodes)} recorded episodes can be answered from what they show")
    figures = dict(_figures(tallies))
    exhibits = tuple(_bars(tallies, what) for what in ("shapes", "values"))
    for tool, found in sorted(tallies.items()):
        if found.shapes < found.computable or found.values < VALUES * found.computable:
            (path, how), times = next(_worst(found))
            says = f"{tool}: {path or 'the answer'} differs by {how} in {times} of {found.computable} recorded calls"
            says += f" ({found.shapes} agree in shape, {found.values} in values); {found.example}"
            raise Broken(says, "", figures, exhibits)
    total = sum(t.computable for t in tallies.values())
    calls, alike = sum(t.calls for t in tallies.values()), sum(t.values for t in tallies.values())
    says = f"{alike} of {total} recorded calls are answered alike"
    declared = sum(t.declared for t in tallies.values())
    says += f", {declared} of them but for declared differences; {calls - total} more need records that were not shown"
    return Held(says, figures, exhibits)


def _worst(found: _Tally) -> Iterator[tuple[tuple[str, str], int]]:
    """The undeclared differences: of shape first, then the most frequent."""
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
    return Bars(title=f"Recorded calls answered alike, by {what}", unit="share of computable calls", bars=shares)


def tally(world: type[World], episodes: Sequence[Trajectory], context: Context) -> dict[str, _Tally]:
    """Replay every episode on what was shown before any change: by all of them, if they are of one database."""
    tallies: dict[str, _Tally] = {}
    kinds = context.interface.kinds
    played = [(episode, [c for c in made(episode) if c[0].tool in kinds]) for episode in episodes]
    before = [_untouched(calls, kinds) for _, calls in played]
    pool = list({key: pair for shown in reversed(before) for key, pair in shown.items()}.values())
    alone: list[World] = [world.from_records(list(own.values())) for own in before]  # type: ignore[attr-defined]
    together: World = world.from_records(pool)  # type: ignore[attr-defined]
    calls_before = [[call for call, _ in own.values()] for own in before]
    one = all(_looks(w, c, context) == _looks(together, c, context) for w, c in zip(alone, calls_before, strict=True))
    for (episode, calls), own, start in zip(played, before, alone, strict=True):
        seeded: Any = together.copy() if one else start
        shown = pool if one else list(own.values())
        lost = False
        for number, (call, told) in enumerate(calls):
            found = tallies.setdefault(call.tool, _Tally())
            found.calls += 1
            known = not lost and (not hasattr(seeded, "knows") or seeded.knows(call, shown))
            # After a change that cannot be repeated, the state is another than the recorded one.
            lost = lost or (not known and kinds[call.tool] == "write" and not refused(told))
            if known:
                found.compared.append((episode.id, number))
                _compare(world, episode, call, told, _answer(seeded, call, context), found)
    return tallies


def _looks(world: World, calls: Sequence[Call], context: Context) -> list[str]:
    """What look-ups find. A hand-over would end the conversation, and changes no record."""
    return [_answer(world, call, context) for call in calls if context.interface.kinds[call.tool] == "read"]


def made(episode: Trajectory) -> list[tuple[Call, str]]:
    """The calls of an episode, each with what the tool answered."""
    answers = {m.get("tool_call_id"): str(m.get("content") or "") for m in episode.messages if m["role"] == "tool"}
    wired = [w for m in episode.messages for w in m.get("tool_calls") or () if w["id"] in answers]
    found = []
    for wire in wired:
        arguments = parsed(wire["function"]["arguments"])
        if isinstance(arguments, dict):
            found.append((Call(wire["function"]["name"], arguments), answers[wire["id"]]))
    return found


def refused(told: str) -> bool:
    """Whether an answer is a refusal."""
    return told.lower().startswith("error")


def _untouched(calls: Sequence[tuple[Call, str]], kinds: dict[str, Any]) -> dict[str, tuple[Call, Any]]:
    """What was shown before the first change, by call."""
    shown: dict[str, tuple[Call, Any]] = {}
    for call, told in calls:
        if refused(told):
            continue
        if kinds[call.tool] == "write":
            break
        shown.setdefault(json.dumps([call.tool, call.arguments], sort_keys=True), (call, parsed(told)))
    return shown


def _answer(world: World, call: Call, context: Context) -> str:
    """What a call is answered, as an agent reads it; it changes the world."""
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


def _compare(world: type[World], episode: Trajectory, call: Call, told: str, ours: str, found: _Tally) -> None:
    """Count how an answer compares with the recorded one; of refusals the wordings are free."""
    found.computable += 1
    if refused(told) or refused(ours):
        faults = [] if refused(told) == refused(ours) else [("", "refusal")]
        raw = faults
    else:
        strip = getattr(world, "as_recorded", lambda call, answer, source: answer)
        pair = [strip(call, parsed(text), episode.source) for text in (told, ours)]
        faults, raw = list(differences(*pair)), list(differences(parsed(told), parsed(ours)))
    kinds = {how for _, how in faults}
    found.shapes += kinds <= {"value"}
    found.values += not kinds
    found.declared += bool(raw) and not faults
    found.faults.update(set(faults))
    if faults and not found.example:
        asked = f"{call.tool} {json.dumps(call.arguments)}"
        found.example = f"{episode.id}, {asked}: recorded {told[:300]}, here {ours[:300]}"
