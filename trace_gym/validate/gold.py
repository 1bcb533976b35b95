"""What the oracle does, and where it has it from: the pattern of a scenario's gold writes.

A pattern is a list of writes in which every value is replaced by its *source*: the second reservation that the
opening names, the price of the third flight that the search listed. Two scenarios with one pattern are solved by one
recipe, whatever ids, names and amounts stand in them.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from trace_gym.episode import Episode
from trace_gym.types import Call, Interface, Say, Scenario
from trace_gym.validate.context import Context
from trace_gym.validate.draws import Values
from trace_gym.world import Step

Source = tuple[str, ...]
"""``(enum, value)``, ``(opening, field, place)``, ``(shown, result, path...)`` and the like."""
Pattern = tuple[tuple[str, Any], ...]
"""The writes: the tool of each, and its arguments with sources for values."""

LEAST = 24
"""Seeds of a level that are needed to say something of the level as a whole."""
_TELLING = 10
"""Numbers below are counts and indices; that one stands somewhere says nothing."""
_DIGITS, _LETTERS = 4, 5
"""Shorter numbers are limits and fees in any policy, and shorter codes are units: 50, 100, 24h, 3rd."""


def words_of(text: str) -> list[str]:
    """The words of a text as ids are written: ``2024-05-10``, ``mia_li_3668`` and ``#W7004218`` are one each."""
    return [w.strip(".-'") for w in re.findall(r"#?[\w.@'-]+", text)]


def telling(value: Any) -> bool:
    """Whether a value is so particular that it says something where it stands: an id, a code, an amount."""
    if isinstance(value, bool):
        return False
    if isinstance(value, (int, float)):
        return abs(value) >= _TELLING
    return isinstance(value, str) and bool(re.search(r"\d", value)) and len(value) > 1 and " " not in value


def distinctive(word: str) -> bool:
    """Whether a word is unlikely to stand somewhere in another role: an id, a code, a date, a number of four digits."""
    digits = sum(c.isdigit() for c in word)
    return digits >= _DIGITS or (digits > 0 and len(word) >= _LETTERS and any(c.isalpha() for c in word))


def scalars(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every scalar in nested data, with its path; a key that is an id counts by its place, as an index does."""
    if isinstance(value, dict):
        for n, (key, part) in enumerate(value.items()):
            step = f"#{n}" if is_id(str(key)) else str(key)
            yield from scalars(part, (*path, step))
    elif isinstance(value, list):
        for n, part in enumerate(value):
            yield from scalars(part, (*path, f"#{n}"))
    else:
        yield path, value


def at(value: Any, path: Sequence[str]) -> Any:
    """What stands at a path that `scalars` gave.

    Raises:
        LookupError: Nothing stands there.
    """
    for step in path:
        if step.startswith("#") and isinstance(value, (dict, list)):
            value = list(value.values() if isinstance(value, dict) else value)[int(step[1:])]
        elif isinstance(value, dict):
            value = value[step]
        else:
            raise LookupError(step)
    return value


def is_id(key: str) -> bool:
    """Whether a key names a record and not a field."""
    return not re.fullmatch(r"[a-z_]+\d?", key)


def is_deed(step: Step, interface: Interface, ended: bool) -> bool:
    """Whether a step leaves a trace: a write, or the call that ended the conversation."""
    kind = interface.kinds.get(step.tool) if isinstance(step, Call) else None
    return kind == "write" or (ended and kind == "generic")


@dataclass
class Gold:
    """One scenario as its oracle plays it."""

    episode: Episode
    """Finished; it is shared and not stepped."""
    steps: Sequence[Step]

    @property
    def scenario(self) -> Scenario:
        return self.episode.scenario

    @cached_property
    def schemas(self) -> dict[str, dict[str, Any]]:
        """The parameters of each tool."""
        named = (t["function"] for t in self.episode.interface.tools)
        return {f["name"]: f.get("parameters", {}) for f in named}

    @property
    def opening(self) -> str:
        return str(self.episode.messages[1]["content"])

    @cached_property
    def deeds(self) -> list[Call]:
        """The writes, and a call that ended the conversation."""
        ended = self.episode.world.ended
        interface = self.episode.interface
        return [c for c in self.calls if is_deed(c, interface, ended and c is self.calls[-1])]

    @cached_property
    def calls(self) -> list[Call]:
        """Every call, in the order of `shown`."""
        return [s for s in self.steps if isinstance(s, Call)]

    @property
    def tools(self) -> tuple[str, ...]:
        """The sequence of tools; a message to the user is ``say``."""
        return tuple(s.tool if isinstance(s, Call) else "say" for s in self.steps)

    @cached_property
    def shown(self) -> dict[str, Any]:
        """What the tools answered, parsed where it is JSON, by tool and number of the call."""
        found: dict[str, Any] = {}
        for message in self.episode.messages:
            if message["role"] == "tool":
                number = sum(key.partition("/")[0] == message["name"] for key in found)
                found[f"{message['name']}/{number}"] = _answer(str(message["content"]))
        return found

    @cached_property
    def values(self) -> Values:
        return Values.of(self.episode.start)

    @cached_property
    def places(self) -> dict[Any, tuple[int, Source]]:
        """Where a scalar stands first among the results, and how many results came before."""
        found: dict[Any, tuple[int, Source]] = {}
        for number, (key, result) in enumerate(self.shown.items()):
            for path, value in scalars(result):
                found.setdefault((type(value), value), (number, ("shown", key, *path)))
        return found

    @cached_property
    def pattern(self) -> Pattern:
        deeds = ((d, self.schemas.get(d.tool, {}), self.calls.index(d)) for d in self.deeds)
        return tuple((d.tool, self._sourced("", d.arguments, schema, before)) for d, schema, before in deeds)

    def named(self, name: str) -> list[str]:
        """The values of a field that the opening names, in its order."""
        known = {str(v) for v in self.values.named(name)}
        return list(dict.fromkeys(w for w in words_of(self.opening) if w in known))

    def _sourced(self, name: str, value: Any, schema: dict[str, Any], before: int) -> Any:
        """A value of an argument with sources in place of what may differ."""
        if isinstance(value, dict):
            parts = schema.get("properties", {})
            return tuple((k, self._sourced(k, v, parts.get(k, {}), before)) for k, v in value.items())
        if isinstance(value, list):
            return ("list", *(self._sourced(name, v, schema.get("items", {}), before) for v in value))
        return self.source(name, value, schema, before)

    def source(self, name: str, value: Any, schema: dict[str, Any], before: int) -> Source:
        """Where the value of an argument comes from; only the first `before` results were known then."""
        number, place = self.places.get((type(value), value), (before, ()))
        known = place if number < before else ()
        if value in schema.get("enum", ()) or isinstance(value, bool) or value is None:
            # A choice that a record of the same field shows is kept, any other is made.
            return known if known and known[-1] == name else ("enum", repr(value))
        if isinstance(value, str) and value in (named := self.named(name)):
            return ("opening", name, str(named.index(value)))
        said = words_of(self.opening)
        if str(value) in said:
            numbers = [w for w in said if telling(w) or w.isdigit()]
            return ("opening", "", str(numbers.index(str(value)) if str(value) in numbers else str(value)))
        if known and (isinstance(value, str) or telling(value)):
            return known
        return ("text", "") if isinstance(value, str) and " " in value else ("value", repr(value))

    def resolved(self, pattern: Pattern) -> list[Call] | None:
        """The calls that a pattern means in this scenario; None where a source of it is missing."""
        try:
            return [Call(tool, self._value(arguments)) for tool, arguments in pattern]
        except (LookupError, ValueError):
            return None

    def _value(self, source: Any) -> Any:
        match source:
            case ("enum" | "value", str(text)):
                return _literal(text)
            case ("opening", "", str(place)):
                said = [w for w in words_of(self.opening) if telling(w) or w.isdigit()]
                return _literal(said[int(place)]) if place.isdigit() else place
            case ("opening", str(name), str(place)):
                return self.named(name)[int(place)]
            case ("shown", str(key), *path):
                return at(self.shown[key], path)
            case ("text", str(text)):
                return text or "as asked"
            case ("list", *parts):
                return [self._value(p) for p in parts]
        return {name: self._value(part) for name, part in source}


def more(scenarios: Sequence[Scenario], context: Context, factor: int = 1, least: int = LEAST) -> list[Scenario]:
    """The levels of `scenarios` with more seeds: `factor` times those of the profile, and at least so many.

    What is said of a level as a whole needs more scenarios than a quick look at each has.
    """
    count = max(least, factor * context.profile.seeds_per_level)
    levels = sorted({s.level for s in scenarios})
    return [Scenario(env=context.world.id, level=level, seed=seed) for level in levels for seed in range(count)]


def paired(deeds: Sequence[Call], naive: Sequence[Step]) -> Iterator[tuple[Call, Call | None]]:
    """Each write of the oracle, and the next call of its tool that the ablated expert makes, if there is one."""
    rivals = defaultdict[str, list[Call]](list)
    for step in naive:
        if isinstance(step, Call):
            rivals[step.tool].append(step)
    yield from ((deed, rivals[deed.tool].pop(0) if rivals[deed.tool] else None) for deed in deeds)


def golds(scenarios: Sequence[Scenario], context: Context) -> Iterator[Gold]:
    """The oracle's plays at a sample of every level."""
    for scenario in more(scenarios, context):
        yield Gold(context.expert(scenario, "oracle"), context.plan(scenario, "oracle"))


def parsed(text: str) -> Any:
    """JSON, or the text itself."""
    try:
        return json.loads(text) if text[:1] in "[{" else text
    except ValueError:
        return text


def _answer(text: str) -> Any:
    """What a tool answered: JSON, a bare number, or the text itself."""
    return json.loads(text) if re.fullmatch(r"-?(0|[1-9]\d{0,15})(\.\d+)?", text) else parsed(text)


def _literal(text: str) -> Any:
    known = {"None": None, "True": True, "False": False}
    if text in known:
        return known[text]
    return int(text) if re.fullmatch(r"-?\d+", text) else text.strip("'\"")


def told(steps: Sequence[Step]) -> list[str]:
    """The telling words of the messages to the user."""
    said = " ".join(s.text for s in steps if isinstance(s, Say))
    return [w for w in dict.fromkeys(words_of(said)) if telling(w) and (not w.isdigit() or telling(int(w)))]
