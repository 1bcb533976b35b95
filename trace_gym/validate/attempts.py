"""Attempts that several families compare: which scenarios, what an attempt left behind, and hybrids of two plans."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from typing import Any, Literal, TypeVar

from trace_gym.episode import Episode
from trace_gym.schemas import settle
from trace_gym.types import Call, Interface
from trace_gym.validate.draws import plain
from trace_gym.world import Step, ToolError, run_tool

_T = TypeVar("_T")
EXPERTS: tuple[Literal["oracle"], Literal["ablated"]] = ("oracle", "ablated")
UNTOLD = "..."
"""What is said where nothing is to be said."""


def spread(items: Sequence[_T], most: int) -> list[_T]:
    """At most so many of the items, evenly spread, so that every level has its share."""
    count = min(most, len(items))
    return [items[n * len(items) // count] for n in range(count)]


def deeds(episode: Episode) -> list[Call]:
    """The calls that were carried out and may have changed something that matters, in order."""
    harmless = getattr(episode.world, "harmless", ())
    messages, kinds = episode.messages, episode.interface.kinds
    refused = {m["tool_call_id"] for m in messages if m["role"] == "tool" and m["content"].startswith("Error")}
    made = [c for m in messages for c in m.get("tool_calls", ()) if c["id"] not in refused]
    calls = [Call(c["function"]["name"], json.loads(c["function"]["arguments"])) for c in made]
    return [c for c in calls if kinds.get(c.tool, "read") != "read" and c.tool not in harmless]


def left(episode: Episode) -> Any:
    """The state that the deeds of an attempt leave behind, whatever was said beside them."""
    world = episode.start.copy()
    for call in deeds(episode):
        with suppress(ToolError):  # a tool may ask for a talk that is not repeated here
            run_tool(world, Call(call.tool, settle(call, episode.interface)[0]))
    return plain(world)


def hybrids(oracle: Sequence[Step], ablated: Sequence[Step], interface: Interface) -> Iterator[list[Step]]:
    """Plans of the oracle in which the ablated expert has a hand.

    Wherever the two differ the ablated steps come instead of the oracle's, before them, after them, or with all
    that follows them; and one write at a time is exchanged for its counterpart.
    """
    matcher = SequenceMatcher(None, [*map(repr, oracle)], [*map(repr, ablated)], autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            yield [*oracle[:a], *ablated[c:d], *oracle[b:]]
            yield [*oracle[:a], *ablated[c:d], *oracle[a:]]
            yield [*oracle[:b], *ablated[c:d], *oracle[b:]]
            yield [*oracle[:a], *ablated[c:]]
    yield from _exchanged(oracle, ablated, interface)


def _exchanged(oracle: Sequence[Step], ablated: Sequence[Step], interface: Interface) -> Iterator[list[Step]]:
    """Plans with the ablated write, or none, instead of one of the oracle's; a surplus one comes before the end."""
    mine, theirs = ([n for n, s in enumerate(plan) if writes(s, interface)] for plan in (oracle, ablated))
    for k, n in enumerate(mine):
        instead = [ablated[theirs[k]]] if k < len(theirs) else []
        yield [*oracle[:n], *instead, *oracle[n + 1 :]]
    for n in theirs[len(mine) :]:
        yield [*oracle[:-1], ablated[n], *oracle[-1:]]


def writes(step: Step, interface: Interface) -> bool:
    """Whether a step is the call of a tool that writes."""
    return isinstance(step, Call) and interface.kinds.get(step.tool) == "write"
