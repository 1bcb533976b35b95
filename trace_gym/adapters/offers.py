"""What a conversation offers to an agent that picks and does not write: calls with values seen so far.

Messages are read as they come, and what they change is found again, nothing else. No world is asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, prod
from typing import Any

from trace_gym.adapters.arguments import CHOICES, Leaf, shape
from trace_gym.adapters.plan import Plan
from trace_gym.adapters.results import Result, read
from trace_gym.policies.seen import ids_in, like_an_id, words_of
from trace_gym.types import Message


class Offers:
    """The values that a conversation offers for the arguments of tools.

    Args:
        plan: What the tools ask for.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan, self.values = plan, plan.values()
        self.said: dict[str, None] = {}
        """The users' words, in their order."""
        self.things: list[str] = []
        """Those that look like an id."""
        self._told: dict[str, None] = {}
        self._doubtful: set[Leaf] = set()
        self._touched: set[int] = set()

    def columns(self, tool: int) -> list[list[Any]] | None:
        """The values of each argument that a tool needs; None where nothing fits one."""
        return self.plan.tools[tool].columns(self.values)

    def changed(self) -> set[int]:
        """The tools for which something else may be on offer than when this was last asked."""
        touched, self._touched = self._touched, set()
        return touched

    def count(self, tool: int) -> int:
        """How many calls of a tool there are."""
        return 0 if (columns := self.columns(tool)) is None else prod(map(len, columns))

    def read(self, messages: Iterable[Message]) -> None:
        """Read more of the conversation."""
        for message in messages:
            text = str(message["content"] or "")
            match message["role"]:
                case "tool":
                    self._show(read(text))
                case "user":
                    self._hear(text)
                case "system":
                    self._instruct(text)
        known = self.values.known
        for leaf in self._doubtful:
            before = known.pop(leaf.place)
            if leaf.options(self.values) != before:
                self._touched |= leaf.tools
        self._doubtful.clear()

    def _instruct(self, text: str) -> None:
        """Read instructions, which may name ids too."""
        self._told.update(dict.fromkeys(ids_in(text)))
        self._loosen()

    def _hear(self, text: str) -> None:
        """Read what a user says."""
        fresh = [w for w in dict.fromkeys(words_of(text)) if w not in self.said]
        self.said.update(dict.fromkeys(fresh))
        self.things += filter(like_an_id, fresh)
        shapes = {shape(word) for word in fresh}
        for word in fresh:
            self.values.said.setdefault(shape(word), []).append(word)
        for leaf in self.plan.texts:
            if not shapes.isdisjoint(leaf.shaped(self.values)):
                self._doubtful.add(leaf)
        self._count(fresh)
        self._loosen()

    def _show(self, result: Result) -> None:
        """Read what a tool answers."""
        watching, named, held, lost = self.plan.watching, self.values.named, self.values.held, []
        for name, value in result.fields:
            for leaf, far in watching(name):
                if far < (known := named[leaf.place]).get(value, inf) and leaf.takes(value):
                    known[value] = far
                    self._doubtful.add(leaf)
            if name and value not in held and isinstance(value, str):
                held.add(value)
                if value in self.said:
                    lost.append(value)
        for word in lost:  # what is another field's value fits no argument as a word
            self._doubtful.update(t for t in self.plan.texts if word in (self.values.known.get(t.place) or ()))
        for place, names in enumerate(self.plan.objects):
            cut = self.values.cut[place]
            for record in result.records:
                if all(name in record for name in names) and (part := {n: record[n] for n in names}) not in cut:
                    cut.append(part)
                    self._touched |= self.plan.cutting[place]
        self._count(value for _, value in result.fields)

    def _count(self, shown: Iterable[Any]) -> None:
        """Note whole numbers, as many as can be offered."""
        numbers = self.values.numbers
        if len(numbers) >= CHOICES:
            return
        for text in map(str, shown):
            if text.isdecimal() and len(text) < 10 and int(text) not in numbers:
                numbers[int(text)] = None
                self._doubtful.update(self.plan.numbers)

    def _loosen(self) -> None:
        """Find again what an argument may be of which nothing is known."""
        before = self.values.loose
        self.values.loose = list(dict.fromkeys([*self.things, *self.said, *self._told]))[:CHOICES]
        if self.values.loose != before:
            for text in self.plan.texts:
                if self.values.known.get(text.place, ()) is None:
                    self._touched |= text.tools
