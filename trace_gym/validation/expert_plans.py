"""Helpers for the plans of the two experts: sampling, variants of plans, and the state that a rollout produces.

The oracle is the expert that solves a scenario. The ablated expert is the same expert without the capability.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from typing import Any, Literal, TypeVar

from trace_gym.chat import call_of
from trace_gym.episode import Episode
from trace_gym.schemas import settle
from trace_gym.types import Call, Interface
from trace_gym.validation.random_calls import to_plain_data
from trace_gym.world import Step, ToolError, call_tool

_T = TypeVar("_T")
EXPERTS: tuple[Literal["oracle"], Literal["ablated"]] = ("oracle", "ablated")
FILLER_MESSAGE = "..."
"""Message without content, for turns in which the agent has nothing to say."""


def evenly_spaced(items: Sequence[_T], most: int) -> list[_T]:
    """Return at most `most` evenly spaced items, so that every level is represented."""
    count = min(most, len(items))
    return [items[n * len(items) // count] for n in range(count)]


def write_calls(episode: Episode) -> list[Call]:
    """Return the successful calls that may have changed relevant state, in order."""
    harmless = episode.world.harmless
    messages, kinds = episode.messages, episode.interface.kinds
    refused = {m["tool_call_id"] for m in messages if m["role"] == "tool" and m["content"].startswith("Error")}
    made = [c for m in messages for c in m.get("tool_calls", ()) if c["id"] not in refused]
    calls = map(call_of, made)
    return [c for c in calls if kinds.get(c.tool, "read") != "read" and c.tool not in harmless]


def state_after(episode: Episode) -> Any:
    """Return the state that the write calls of a rollout produce without its messages and read calls."""
    world = episode.start.copy()
    for call in write_calls(episode):
        with suppress(ToolError):  # a tool may require an earlier message, and messages are not repeated
            call_tool(world, call.tool, settle(call, episode.interface)[0])
    return to_plain_data(world)


def hybrid_plans(oracle: Sequence[Step], ablated: Sequence[Step], interface: Interface) -> Iterator[list[Step]]:
    """Yield variants of the oracle's plan that contain steps of the ablated expert.

    At each difference between the plans, the ablated expert's steps replace the oracle's steps, precede them, follow
    them, or replace the rest of the plan. In further variants, the ablated expert's corresponding write replaces one
    write of the oracle.
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
    """Yield plans with one write of the oracle replaced by a write of the ablated expert, or removed.

    Surplus ablated writes are inserted before the last step.
    """
    mine, theirs = ([n for n, s in enumerate(plan) if is_write(s, interface)] for plan in (oracle, ablated))
    for k, n in enumerate(mine):
        instead = [ablated[theirs[k]]] if k < len(theirs) else []
        yield [*oracle[:n], *instead, *oracle[n + 1 :]]
    for n in theirs[len(mine) :]:
        yield [*oracle[:-1], ablated[n], *oracle[-1:]]


def is_write(step: Step, interface: Interface) -> bool:
    """Return whether a step is a call of a write tool."""
    return isinstance(step, Call) and interface.kinds.get(step.tool) == "write"
