"""Coverage of a custom target's tools by its recorded episodes, and detection of missing recordings.

Validation repeats the recorded calls on a base world. It builds the start state from the records that tools returned
before the first write of an episode. Without such records, the calls of the episode cannot be compared.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from trace_gym.nested import parse_if_json
from trace_gym.targets.user.folder import ANY, TargetSettings
from trace_gym.targets.user.replays import answers, compared_by, refused
from trace_gym.types import Call, Trajectory

ANSWERABLE = 0.5
"""Minimum fraction of the answered calls that must be comparable before a base world can be admitted."""

ResultsById = dict[str, tuple[Call, Any]]
"""Calls before the first write of an episode, by key, each with its result."""


class HasEpisodes(Protocol):
    """Interface of objects with recorded episodes of a target, such as `TargetFolder`."""

    @property
    def settings(self) -> TargetSettings: ...
    @property
    def tools(self) -> tuple[dict[str, Any], ...]: ...
    @property
    def kinds(self) -> Mapping[str, str]: ...
    @property
    def episodes(self) -> tuple[Trajectory, ...]: ...


@dataclass
class Coverage:
    """Coverage of one tool in the recorded episodes."""

    before: int = 0
    """Number of answered calls before the first write of an episode."""
    after: int = 0
    """Number of answered calls from the first write of an episode on."""
    refused: int = 0
    comparable: int = 0
    """Upper bound on the number of answered calls whose results can be compared with those of a base world."""
    blind: list[str] = field(default_factory=list)
    """Ids of the episodes in which the tool was answered, but no read came before the first write."""
    passed: Counter[str] = field(default_factory=Counter)
    """Number of calls that pass an argument for each parameter."""

    @property
    def answered(self) -> int:
        return self.before + self.after


def coverage_of(home: HasEpisodes) -> dict[str, Coverage]:
    """Return the coverage of each tool by the recorded episodes."""
    found = {tool: Coverage() for tool in home.kinds}
    shown = {e.id: shown_before(home, e) for e in home.episodes}
    pooled = next(_conflicts(home, shown), None) is None and any(map(_reads(home), shown.values()))
    for episode in home.episodes:
        known, written = pooled or _reads(home)(shown[episode.id]), False
        for call, answer in _calls(home, episode):
            tool = found[call.tool]
            tool.passed.update(call.arguments.keys())
            if refused(answer):
                tool.refused += 1
                continue
            written = written or home.kinds[call.tool] == "write"
            tool.before += not written
            tool.after += written
            tool.comparable += known
            if not known and episode.id not in tool.blind:
                tool.blind.append(episode.id)
    return found


def never_comparable(home: HasEpisodes, found: dict[str, Coverage]) -> list[str]:
    """Return the tools that have answered calls, but none that can be compared with a base world."""
    return [t for t, c in found.items() if c.answered and not c.comparable and not _exempt(home, t)]


def too_few(home: HasEpisodes, found: dict[str, Coverage]) -> tuple[int, int] | None:
    """Return the number of comparable calls and the number of answered calls if too few are comparable, else None."""
    counted = [c for t, c in found.items() if not _exempt(home, t)]
    comparable, answered = sum(c.comparable for c in counted), sum(c.answered for c in counted)
    return (comparable, answered) if comparable < ANSWERABLE * answered else None


def only_after_writes(home: HasEpisodes, found: dict[str, Coverage]) -> list[str]:
    """Return the read tools that were answered only after writes, so that the records they read are unknown."""
    return [
        t for t, c in found.items() if home.kinds[t] == "read" and c.after and not c.before and not _exempt(home, t)
    ]


def never_passed(home: HasEpisodes, found: dict[str, Coverage]) -> dict[str, list[str]]:
    """Return the optional parameters that no recorded call passes, by tool."""
    schemas = {t["function"]["name"]: t["function"]["parameters"] for t in home.tools}
    missing = {
        tool: [p for p in schemas[tool].get("properties", {}) if not c.passed[p]]
        for tool, c in found.items()
        if c.answered or c.refused
    }
    return {tool: names for tool, names in missing.items() if names}


def starts_differ(home: HasEpisodes) -> tuple[Call, str, str] | None:
    """Return a read with different results in two episodes before their first write, and the ids of the episodes.

    Return None if all episodes agree.
    """
    return next(_conflicts(home, {e.id: shown_before(home, e) for e in home.episodes}), None)


def unexplained_changes(home: HasEpisodes) -> dict[str, tuple[str, list[str]]]:
    """Return the read tools that returned different results for the same call without a write in between.

    In such a case, the result depends on time or chance, or a tool that was called in between is a write tool.

    Returns:
        A mapping from tool to the id of an episode and the other tools that were called in between.
    """
    found: dict[str, tuple[str, list[str]]] = {}
    for episode in home.episodes:
        last: dict[str, tuple[Any, int]] = {}
        calls = _calls(home, episode)
        for number, (call, answer) in enumerate(calls):
            kind = home.kinds[call.tool]
            if kind == "write" and not refused(answer):
                last.clear()
            elif kind == "read" and not refused(answer):
                result = compared_by(home.settings, call, parse_if_json(answer))
                before, when = last.setdefault(_key(call), (result, number))
                if before != result:
                    between = dict.fromkeys(c.tool for c, _ in calls[when + 1 : number] if c.tool != call.tool)
                    found.setdefault(call.tool, (episode.id, list(between)))
    return found


def shown_before(home: HasEpisodes, episode: Trajectory) -> ResultsById:
    """Return the calls of an episode before its first write, with their results."""
    shown: ResultsById = {}
    for call, answer in _calls(home, episode):
        if refused(answer):
            continue
        if home.kinds[call.tool] == "write":
            break
        shown.setdefault(_key(call), (call, parse_if_json(answer)))
    return shown


def _calls(home: HasEpisodes, episode: Trajectory) -> list[tuple[Call, str]]:
    return [(call, answer) for call, answer in answers(episode) if call.tool in home.kinds]


def _reads(home: HasEpisodes) -> Callable[[ResultsById], bool]:
    return lambda shown: any(home.kinds[call.tool] == "read" for call, _ in shown.values())


def _conflicts(home: HasEpisodes, shown: dict[str, ResultsById]) -> Iterator[tuple[Call, str, str]]:
    """Yield reads with different results in two episodes before their first write, and the ids of the episodes."""
    first: dict[str, tuple[str, Any]] = {}
    for name, own in shown.items():
        for key, (call, answer) in own.items():
            if home.kinds[call.tool] == "read":
                other, result = first.setdefault(key, (name, compared_by(home.settings, call, answer)))
                if result != compared_by(home.settings, call, answer):
                    yield call, other, name


def _exempt(home: HasEpisodes, tool: str) -> bool:
    return ANY in home.settings.not_compared.get(tool, ())


def _key(call: Call) -> str:
    return json.dumps([call.tool, call.arguments], sort_keys=True)
