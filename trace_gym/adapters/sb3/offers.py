"""Candidate argument values for the tool calls that a menu can offer in a conversation.

The values come from earlier messages and are updated incrementally as messages arrive. The state of the world is not
used.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, prod
from typing import Any

from trace_gym.adapters.sb3.arguments import CHOICES, Leaf, shape
from trace_gym.adapters.sb3.plan import ToolPlan
from trace_gym.adapters.sb3.results import Result, read
from trace_gym.policies.seen import ids_in, like_an_id, words_of
from trace_gym.types import Message


class Offers:
    """Candidate argument values from one conversation.

    Args:
        plan: The tools and their required arguments.
    """

    def __init__(self, plan: ToolPlan) -> None:
        self.plan, self.values = plan, plan.values()
        self.user_words: dict[str, None] = {}
        """Words of the user, in order of appearance."""
        self.things: list[str] = []
        """Words of the user that look like an id."""
        self._statement: dict[str, None] = {}
        self._outdated: set[Leaf] = set()
        self._changed_tools: set[int] = set()

    def columns(self, tool: int) -> list[list[Any]] | None:
        """Return the candidate values of each required argument of a tool, or None if an argument has no candidates."""
        return self.plan.tools[tool].columns(self.values)

    def changed(self) -> set[int]:
        """Return the tools whose candidate values may have changed since the last call of this method."""
        touched, self._changed_tools = self._changed_tools, set()
        return touched

    def count(self, tool: int) -> int:
        """Return the number of possible calls of a tool."""
        return 0 if (columns := self.columns(tool)) is None else prod(map(len, columns))

    def read(self, messages: Iterable[Message]) -> None:
        """Add messages of the conversation."""
        for message in messages:
            text = str(message["content"] or "")
            match message["role"]:
                case "tool":
                    self._read_tool_result(read(text))
                case "user":
                    self._read_user_message(text)
                case "system":
                    self._read_system_message(text)
        known = self.values.known
        for leaf in self._outdated:
            before = known.pop(leaf.place)
            if leaf.options(self.values) != before:
                self._changed_tools |= leaf.tools
        self._outdated.clear()

    def _read_system_message(self, text: str) -> None:
        """Add a system message, which may also contain ids."""
        self._statement.update(dict.fromkeys(ids_in(text)))
        self._update_fallback()

    def _read_user_message(self, text: str) -> None:
        """Add a user message."""
        fresh = [w for w in dict.fromkeys(words_of(text)) if w not in self.user_words]
        self.user_words.update(dict.fromkeys(fresh))
        self.things += filter(like_an_id, fresh)
        shapes = {shape(word) for word in fresh}
        for word in fresh:
            self.values.user_words.setdefault(shape(word), []).append(word)
        for leaf in self.plan.texts:
            if not shapes.isdisjoint(leaf.shaped(self.values)):
                self._outdated.add(leaf)
        self._add_integers(fresh)
        self._update_fallback()

    def _read_tool_result(self, result: Result) -> None:
        """Add a tool result."""
        leaves_matching, named, field_values, lost = (
            self.plan.leaves_matching,
            self.values.named,
            self.values.field_values,
            [],
        )
        for name, value in result.fields:
            for leaf, far in leaves_matching(name):
                if far < (known := named[leaf.place]).get(value, inf) and leaf.takes(value):
                    known[value] = far
                    self._outdated.add(leaf)
            if name and value not in field_values and isinstance(value, str):
                field_values.add(value)
                if value in self.user_words:
                    lost.append(value)
        for word in lost:  # a user word that is the value of another field is no longer a candidate
            self._outdated.update(t for t in self.plan.texts if word in (self.values.known.get(t.place) or ()))
        for place, names in enumerate(self.plan.objects):
            objects_found = self.values.objects_found[place]
            for record in result.records:
                if (
                    all(name in record for name in names)
                    and (part := {n: record[n] for n in names}) not in objects_found
                ):
                    objects_found.append(part)
                    self._changed_tools |= self.plan.object_tools[place]
        self._add_integers(value for _, value in result.fields)

    def _add_integers(self, shown: Iterable[Any]) -> None:
        """Add integers to the candidates for number arguments, up to the maximum number of candidates."""
        numbers = self.values.numbers
        if len(numbers) >= CHOICES:
            return
        for text in map(str, shown):
            if text.isdecimal() and len(text) < 10 and int(text) not in numbers:
                numbers[int(text)] = None
                self._outdated.update(self.plan.numbers)

    def _update_fallback(self) -> None:
        """Update the fallback candidates, which are used for arguments without information about suitable values."""
        before = self.values.fallback
        self.values.fallback = list(dict.fromkeys([*self.things, *self.user_words, *self._statement]))[:CHOICES]
        if self.values.fallback != before:
            for text in self.plan.texts:
                if self.values.known.get(text.place, ()) is None:
                    self._changed_tools |= text.tools
