"""What recorded episodes show of each tool, and which recordings are missing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from trace_gym.targets.user.folder import ANY, Settings
from trace_gym.targets.user.replays import answers, compared_by, parsed, refused
from trace_gym.types import Call, Trajectory

ANSWERABLE = 0.5
"""Least share of the answered calls that a base world has to be able to answer, to be admitted."""

Shown = dict[str, tuple[Call, Any]]
"""Reads before the first write of an episode with their results, by call."""


class Recorded(Protocol):
    """Episodes of a target, such as those of its folder."""

    @property
    def settings(self) -> Settings: ...
    @property
    def tools(self) -> tuple[dict[str, Any], ...]: ...
    @property
    def kinds(self) -> Mapping[str, str]: ...
    @property
    def episodes(self) -> tuple[Trajectory, ...]: ...


@dataclass
class Coverage:
    """What the recorded episodes show of one tool."""

    before: int = 0
    """Answered calls before the first write of their episode."""
    after: int = 0
    """Other answered calls."""
    refused: int = 0
    comparable: int = 0
    """Most of the answered calls that a base world can be compared in: some records were shown before the writes."""
    blind: list[str] = field(default_factory=list)
    """Episodes in which the tool was answered and no record was shown before the first write."""
    passed: Counter[str] = field(default_factory=Counter)
    """How often each parameter was passed."""

    @property
    def answered(self) -> int:
        return self.before + self.after


def coverage_of(home: Recorded) -> dict[str, Coverage]:
    """Return what the recorded episodes of a target show of each of its tools."""
    found = {tool: Coverage() for tool in home.kinds}
    shown = {e.id: shown_before(home, e) for e in home.episodes}
    pooled = next(_conflicts(home, shown), None) is None and any(map(_reads(home), shown.values()))
    for episode in home.episodes:
        known, written = pooled or _reads(home)(shown[episode.id]), False
        for call, told in _calls(home, episode):
            tool = found[call.tool]
            tool.passed.update(call.arguments.keys())
            if refused(told):
                tool.refused += 1
                continue
            written = written or home.kinds[call.tool] == "write"
            tool.before += not written
            tool.after += written
            tool.comparable += known
            if not known and episode.id not in tool.blind:
                tool.blind.append(episode.id)
    return found


def never_comparable(home: Recorded, found: dict[str, Coverage]) -> list[str]:
    """Return the tools that were answered, but never where a base world could be compared."""
    return [t for t, c in found.items() if c.answered and not c.comparable and not _exempt(home, t)]


def too_few(home: Recorded, found: dict[str, Coverage]) -> tuple[int, int] | None:
    """Return how many answered calls can be compared and how many there are, where these are too few; else None."""
    counted = [c for t, c in found.items() if not _exempt(home, t)]
    comparable, answered = sum(c.comparable for c in counted), sum(c.answered for c in counted)
    return (comparable, answered) if comparable < ANSWERABLE * answered else None


def only_after_writes(home: Recorded, found: dict[str, Coverage]) -> list[str]:
    """Return the reads that were never answered before a write, so that no record of theirs is shown."""
    return [
        t for t, c in found.items() if home.kinds[t] == "read" and c.after and not c.before and not _exempt(home, t)
    ]


def never_passed(home: Recorded, found: dict[str, Coverage]) -> dict[str, list[str]]:
    """Return the optional parameters that no recorded call passes, by tool."""
    schemas = {t["function"]["name"]: t["function"]["parameters"] for t in home.tools}
    missing = {
        tool: [p for p in schemas[tool].get("properties", {}) if not c.passed[p]]
        for tool, c in found.items()
        if c.answered or c.refused
    }
    return {tool: names for tool, names in missing.items() if names}


def starts_differ(home: Recorded) -> tuple[Call, str, str] | None:
    """Return a read that two episodes answer differently before their first write, and the ids of the episodes."""
    return next(_conflicts(home, {e.id: shown_before(home, e) for e in home.episodes}), None)


def unexplained_changes(home: Recorded) -> dict[str, tuple[str, list[str]]]:
    """Return reads that were answered differently with no write in between, by tool.

    Each has the id of an episode and the other tools that were called in between: the read depends on time or chance,
    or one of these tools writes.
    """
    found: dict[str, tuple[str, list[str]]] = {}
    for episode in home.episodes:
        last: dict[str, tuple[Any, int]] = {}
        calls = _calls(home, episode)
        for number, (call, told) in enumerate(calls):
            kind = home.kinds[call.tool]
            if kind == "write" and not refused(told):
                last.clear()
            elif kind == "read" and not refused(told):
                result = compared_by(home.settings, call, parsed(told))
                before, when = last.setdefault(_key(call), (result, number))
                if before != result:
                    between = dict.fromkeys(c.tool for c, _ in calls[when + 1 : number] if c.tool != call.tool)
                    found.setdefault(call.tool, (episode.id, list(between)))
    return found


def shown_before(home: Recorded, episode: Trajectory) -> Shown:
    """Return what an episode shows before its first write."""
    shown: Shown = {}
    for call, told in _calls(home, episode):
        if refused(told):
            continue
        if home.kinds[call.tool] == "write":
            break
        shown.setdefault(_key(call), (call, parsed(told)))
    return shown


def _calls(home: Recorded, episode: Trajectory) -> list[tuple[Call, str]]:
    return [(call, told) for call, told in answers(episode) if call.tool in home.kinds]


def _reads(home: Recorded) -> Callable[[Shown], bool]:
    return lambda shown: any(home.kinds[call.tool] == "read" for call, _ in shown.values())


def _conflicts(home: Recorded, shown: dict[str, Shown]) -> Iterator[tuple[Call, str, str]]:
    """Yield reads that two episodes answer differently before their first write."""
    first: dict[str, tuple[str, Any]] = {}
    for name, own in shown.items():
        for key, (call, answer) in own.items():
            if home.kinds[call.tool] == "read":
                other, result = first.setdefault(key, (name, compared_by(home.settings, call, answer)))
                if result != compared_by(home.settings, call, answer):
                    yield call, other, name


def _exempt(home: Recorded, tool: str) -> bool:
    return ANY in home.settings.not_compared.get(tool, ())


def _key(call: Call) -> str:
    return json.dumps([call.tool, call.arguments], sort_keys=True)
