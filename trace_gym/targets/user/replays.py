"""Access to the interface and the recorded episodes of a custom target, for the worlds of the target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from trace_gym.nested import parse_if_json
from trace_gym.targets.user.folder import ANY, TargetSettings, find
from trace_gym.targets.user.formats import Format
from trace_gym.types import Call, Interface, Trajectory
from trace_gym.world import World

Shown = list[tuple[Call, Any]]
"""Tool calls with their results. Results that are JSON objects or lists are parsed."""


def interface_of(target: str) -> Interface:
    """Return the interface of the custom target with this name."""
    return find(target).interface


_formats: dict[type[World], Format] = {}


def format_for(world: type[World]) -> Format:
    """Return the JSON format of tool results in the target of a world class. The result is cached for each class."""
    if (known := _formats.get(world)) is None:
        known = _formats[world] = find(world.target).settings.results
    return known


def compared(target: str, call: Call, answer: Any) -> Any:
    """Return a tool result without the fields that the settings of the named target exempt from comparison."""
    return compared_by(find(target).settings, call, answer)


def compared_by(settings: TargetSettings, call: Call, answer: Any) -> Any:
    """Return a tool result without the fields that these settings exempt from comparison."""
    exempt = settings.not_compared.get(call.tool, ())
    if ANY in exempt:
        return None
    if isinstance(answer, list):
        return [compared_by(settings, call, part) for part in answer]
    return {k: v for k, v in answer.items() if k not in exempt} if isinstance(answer, dict) else answer


def replays_of(target: str) -> list[tuple[Shown, list[Call]]]:
    """Return the recorded episodes of a target.

    For each episode, return the calls before the first write with their results, and all calls of the target's tools.
    The lists are cached, so copy them before changing them.
    """
    home = find(target)
    return _replays_of(target, home.tools_sha256 + home.trajectories_sha256)


@lru_cache(maxsize=8)
def _replays_of(target: str, digest: str) -> list[tuple[Shown, list[Call]]]:
    home = find(target)
    answered = [[a for a in answers(e) if a[0].tool in home.kinds] for e in home.episodes]
    return [(list(_before(a, home.kinds)), [call for call, _ in a]) for a in answered]


def answers(episode: Trajectory) -> list[tuple[Call, str]]:
    """Return each call of an episode that has a result, together with the result."""
    told = {m.get("tool_call_id"): str(m.get("content") or "") for m in episode.messages if m["role"] == "tool"}
    wires = [w for m in episode.messages for w in m.get("tool_calls") or () if w.get("id") in told]
    found = []
    for wire in wires:
        arguments = parse_if_json(wire["function"]["arguments"])
        if isinstance(arguments, dict):
            found.append((Call(wire["function"]["name"], arguments), told[wire["id"]]))
    return found


def refused(told: str) -> bool:
    """Return whether a tool result is a refusal."""
    return told.lower().startswith("error")


def _before(answered: list[tuple[Call, str]], kinds: Mapping[str, str]) -> Iterator[tuple[Call, Any]]:
    """Yield the accepted calls before the first write, with their results."""
    for call, told in answered:
        if not refused(told):
            if kinds[call.tool] == "write":
                return
            yield call, parse_if_json(told)
