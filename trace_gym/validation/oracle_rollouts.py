"""Rollouts of the oracle (the expert that solves a scenario), and the sources of the values in its writes.

The *pattern* of a rollout is the list of its writes, with every value replaced by its *source*, for example "the second
reservation in the first user message" or "the price of the third flight in the search result". Two scenarios with the
same pattern have the same solution recipe, regardless of ids, names and amounts.
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
from trace_gym.nested import parse_if_json
from trace_gym.types import Call, Interface, Say, Scenario
from trace_gym.validation.context import Context
from trace_gym.validation.random_calls import StateValues
from trace_gym.world import Step

ValueSource = tuple[str, ...]
"""Source of a value, such as ``(enum, value)``, ``(opening, field, index)`` or ``(shown, result, path...)``."""
Pattern = tuple[tuple[str, Any], ...]
"""Writes of a plan as pairs of the tool and its arguments, with sources in place of values."""

MIN_SEEDS = 24
"""Minimum number of seeds per level for properties that evaluate a level as a whole."""
_MIN_IDENTIFYING = 10
"""Smallest number that identifies a value.

Smaller integers are treated as counts or indices.
"""
_DIGITS, _LETTERS = 4, 5
"""Minimum number of digits of a distinctive number, and minimum length of a distinctive code.

Shorter numbers are often limits or fees (50, 100), and shorter codes are often units or ordinals (24h, 3rd).
"""


def words_of(text: str) -> list[str]:
    """Return the words of a text. Ids such as ``2024-05-10``, ``mia_li_3668`` and ``#W7004218`` are single words.

    Times such as ``18:20`` are single words too.
    """
    return [w.strip(".-'") for w in re.findall(r"#?(?:[\w.@'-]|(?<=\d):(?=\d))+", text)]


def is_identifying(value: Any) -> bool:
    """Return whether a value is so specific that its occurrence in a text is evidence of a leak.

    Ids, codes and amounts are identifying.
    """
    if isinstance(value, bool):
        return False
    if isinstance(value, (int, float)):
        return abs(value) >= _MIN_IDENTIFYING
    return isinstance(value, str) and bool(re.search(r"\d", value)) and len(value) > 1 and " " not in value


def is_distinctive(word: str) -> bool:
    """Return whether a word is an id, a code, a date, or a number of at least four digits.

    Such words rarely occur with a different meaning.
    """
    digits = sum(c.isdigit() for c in word)
    return digits >= _DIGITS or (digits > 0 and len(word) >= _LETTERS and any(c.isalpha() for c in word))


def scalars_by_path(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every scalar in nested data with its path. Record ids and list indices appear in paths as ``#index``."""
    if isinstance(value, dict):
        for n, (key, part) in enumerate(value.items()):
            step = f"#{n}" if is_id(str(key)) else str(key)
            yield from scalars_by_path(part, (*path, step))
    elif isinstance(value, list):
        for n, part in enumerate(value):
            yield from scalars_by_path(part, (*path, f"#{n}"))
    else:
        yield path, value


def get_path(value: Any, path: Sequence[str]) -> Any:
    """Return the value at a path from `scalars_by_path`.

    Raises:
        LookupError: There is no value at the path.
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
    """Return whether a key is the id of a record and not a field name."""
    return not re.fullmatch(r"[a-z_]+\d?", key)


def is_effective(step: Step, interface: Interface, ended: bool) -> bool:
    """Return whether a step has an effect: a write, or the call that ended the conversation."""
    kind = interface.kinds.get(step.tool) if isinstance(step, Call) else None
    return kind == "write" or (ended and kind == "generic")


@dataclass
class OracleRollout:
    """Rollout of the oracle in one scenario."""

    episode: Episode
    """Finished episode. It is cached and must not be stepped."""
    steps: Sequence[Step]

    @property
    def scenario(self) -> Scenario:
        return self.episode.scenario

    @cached_property
    def schemas(self) -> dict[str, dict[str, Any]]:
        """Parameter schemas by tool."""
        named = (t["function"] for t in self.episode.interface.tools)
        return {f["name"]: f.get("parameters", {}) for f in named}

    @property
    def opening(self) -> str:
        return str(self.episode.messages[1]["content"])

    @cached_property
    def write_calls(self) -> list[Call]:
        """Write calls, and the call that ended the conversation."""
        ended = self.episode.world.ended
        interface = self.episode.interface
        return [c for c in self.calls if is_effective(c, interface, ended and c is self.calls[-1])]

    @cached_property
    def calls(self) -> list[Call]:
        """All calls, in the same order as their results in `shown`."""
        return [s for s in self.steps if isinstance(s, Call)]

    @property
    def tools(self) -> tuple[str, ...]:
        """Sequence of tool names, with ``say`` for a message to the user."""
        return tuple(s.tool if isinstance(s, Call) else "say" for s in self.steps)

    @cached_property
    def shown(self) -> dict[str, Any]:
        """Tool results by tool and call number, parsed if they are JSON."""
        found: dict[str, Any] = {}
        for message in self.episode.messages:
            if message["role"] == "tool":
                number = sum(key.partition("/")[0] == message["name"] for key in found)
                found[f"{message['name']}/{number}"] = _answer(str(message["content"]))
        return found

    @cached_property
    def values(self) -> StateValues:
        return StateValues.of(self.episode.start)

    @cached_property
    def first_locations(self) -> dict[Any, tuple[int, ValueSource]]:
        """First location of each scalar in the tool results, with the number of results before that location."""
        found: dict[Any, tuple[int, ValueSource]] = {}
        for number, (key, result) in enumerate(self.shown.items()):
            for path, value in scalars_by_path(result):
                found.setdefault((type(value), value), (number, ("shown", key, *path)))
        return found

    @cached_property
    def pattern(self) -> Pattern:
        writes = ((d, self.schemas.get(d.tool, {}), self.calls.index(d)) for d in self.write_calls)
        return tuple((d.tool, self._with_sources("", d.arguments, schema, before)) for d, schema, before in writes)

    def named(self, name: str) -> list[str]:
        """Return the values of a field of the state that the first user message mentions, in order of appearance."""
        known = {str(v) for v in self.values.named(name)}
        return list(dict.fromkeys(w for w in words_of(self.opening) if w in known))

    def _with_sources(self, name: str, value: Any, schema: dict[str, Any], before: int) -> Any:
        """Return an argument with sources in place of values."""
        if isinstance(value, dict):
            parts = schema.get("properties", {})
            return tuple((k, self._with_sources(k, v, parts.get(k, {}), before)) for k, v in value.items())
        if isinstance(value, list):
            return ("list", *(self._with_sources(name, v, schema.get("items", {}), before) for v in value))
        return self.source(name, value, schema, before)

    def source(self, name: str, value: Any, schema: dict[str, Any], before: int) -> ValueSource:
        """Return the source of an argument value.

        Args:
            name: Name of the argument.
            value: Value of the argument.
            schema: JSON Schema of the argument.
            before: Number of tool results that were available at the time of the call.
        """
        number, location = self.first_locations.get((type(value), value), (before, ()))
        known = location if number < before else ()
        if value in schema.get("enum", ()) or isinstance(value, bool) or value is None:
            # If a field of the same name displayed this value, the field is the source. Else the value is a constant.
            return known if known and known[-1] == name else ("enum", repr(value))
        if isinstance(value, str) and value in (named := self.named(name)):
            return ("opening", name, str(named.index(value)))
        said = words_of(self.opening)
        if str(value) in said:
            numbers = [w for w in said if is_identifying(w) or w.isdigit()]
            return ("opening", "", str(numbers.index(str(value)) if str(value) in numbers else str(value)))
        if known and (isinstance(value, str) or is_identifying(value)):
            return known
        return ("text", "") if isinstance(value, str) and " " in value else ("value", repr(value))

    def calls_for(self, pattern: Pattern) -> list[Call] | None:
        """Return the calls that a pattern specifies in this scenario; None if a source does not exist here."""
        try:
            return [Call(tool, self._value(arguments)) for tool, arguments in pattern]
        except (LookupError, ValueError):
            return None

    def _value(self, source: Any) -> Any:
        match source:
            case ("enum" | "value", str(text)):
                return _literal(text)
            case ("opening", "", str(location)):
                said = [w for w in words_of(self.opening) if is_identifying(w) or w.isdigit()]
                return _literal(said[int(location)]) if location.isdigit() else location
            case ("opening", str(name), str(location)):
                return self.named(name)[int(location)]
            case ("shown", str(key), *path):
                return get_path(self.shown[key], path)
            case ("text", str(text)):
                return text or "as asked"
            case ("list", *parts):
                return [self._value(p) for p in parts]
        return {name: self._value(part) for name, part in source}


def extend_sample(
    scenarios: Sequence[Scenario], context: Context, factor: int = 1, least: int = MIN_SEEDS
) -> list[Scenario]:
    """Return a larger sample of scenarios for the same levels.

    The number of seeds per level is `factor` times that of the profile, and at least `least`. The seeds begin with the
    smallest seed in `scenarios`. Properties that evaluate a level as a whole require more scenarios than properties of
    single scenarios.
    """
    count = max(least, factor * context.profile.seeds_per_level)
    first = min((s.seed for s in scenarios), default=0)
    levels = sorted({s.level for s in scenarios})
    return [Scenario(env=context.world.id, level=level, seed=first + n) for level in levels for n in range(count)]


def paired_writes(writes: Sequence[Call], naive: Sequence[Step]) -> Iterator[tuple[Call, Call | None]]:
    """Yield each write of the oracle with the ablated expert's corresponding call of the same tool, or None.

    The n-th call of a tool by one expert corresponds to the n-th call of the tool by the other.
    """
    rivals = defaultdict[str, list[Call]](list)
    for step in naive:
        if isinstance(step, Call):
            rivals[step.tool].append(step)
    yield from ((write, rivals[write.tool].pop(0) if rivals[write.tool] else None) for write in writes)


def oracle_rollouts(scenarios: Sequence[Scenario], context: Context) -> Iterator[OracleRollout]:
    """Yield the oracle's rollouts on a sample of every level."""
    for scenario in extend_sample(scenarios, context):
        yield OracleRollout(context.expert(scenario, "oracle"), context.plan(scenario, "oracle"))


def _answer(text: str) -> Any:
    """Return a parsed tool result: JSON, a number, or the text itself."""
    return json.loads(text) if re.fullmatch(r"-?(0|[1-9]\d{0,15})(\.\d+)?", text) else parse_if_json(text)


def _literal(text: str) -> Any:
    known = {"None": None, "True": True, "False": False}
    if text in known:
        return known[text]
    return int(text) if re.fullmatch(r"-?\d+", text) else text.strip("'\"")


def stated_values(steps: Sequence[Step]) -> list[str]:
    """Return the identifying words of the messages to the user."""
    said = " ".join(s.text for s in steps if isinstance(s, Say))
    return [
        w for w in dict.fromkeys(words_of(said)) if is_identifying(w) and (not w.isdigit() or is_identifying(int(w)))
    ]
