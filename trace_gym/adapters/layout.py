"""Where the slots of a menu and the numbers of its observation lie."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate
from math import prod
from typing import Any

from trace_gym.adapters.plan import Plan
from trace_gym.adapters.vocabulary import Vocabulary
from trace_gym.types import Message

MARKS = 4
"""Numbers of an observation for each slot: offered, done, refused, fit."""
SINCE = 4
"""Numbers of an observation for each field with dates."""


class Layout:
    """The slots of a menu and the numbers of its observation, as `Menu` describes them.

    Args:
        tools: The agent's.
        words: What to expect.
        phrases: What can always be said.
    """

    def __init__(self, tools: Sequence[Message], words: Vocabulary, phrases: Sequence[str]) -> None:
        self.plan, self.words, self.phrases, self.width = Plan(tools), words, tuple(phrases), words.calls
        *self.calls, self.phrase = accumulate(words.calls, initial=0)
        """The first slot of each tool, and of the phrases."""
        self.thing = self.phrase + len(phrases)
        self.tell = self.thing + words.things
        self.slots = self.tell + len(words.fields)
        self.tool_of = [n for n, width in enumerate(words.calls) for _ in range(width)]
        self.told = {field: self.tell + n for n, field in enumerate(words.fields)}
        self.word = {word: 2 + n for n, word in enumerate(words.words)}
        self.facts: dict[str, list[tuple[int, str]]] = {}
        first = 2 + len(words.words)
        for n, (field, value) in enumerate(words.facts):
            self.facts.setdefault(field, []).append((first + n, value))
        first += len(words.facts)
        self.times = {field: first + SINCE * n for n, field in enumerate(words.times)}
        self.marks = first + SINCE * len(words.times)
        self.size = self.marks + MARKS * self.slots
        self.fields = {*self.told, *self.facts, *self.times}
        """The fields whose last values matter."""
        self.blank = array("f", bytes(4 * self.size))
        """The observation of nothing."""
        for slot in range(self.phrase, self.thing):
            self.blank[self.marks + MARKS * slot] = 1.0
        self._marked: dict[tuple[int, int], array[float]] = {}
        self.columns = [tool.columns(self.plan.values()) for tool in self.plan.tools]
        """The values for each tool's calls before anything was shown."""
        for tool, columns in enumerate(self.columns):
            self.blank[self.row(tool)] = self.marked(tool, self.count(tool, columns))

    def count(self, tool: int, columns: Sequence[Sequence[Any]] | None) -> int:
        """How many calls a tool offers with these values."""
        return 0 if columns is None else min(self.width[tool], prod(map(len, columns)))

    def row(self, tool: int) -> slice:
        """Where the marks of a tool's calls lie."""
        first = self.marks + MARKS * self.calls[tool]
        return slice(first, first + MARKS * self.width[tool])

    def marked(self, tool: int, count: int) -> array[float]:
        """The marks of a tool that offers so many calls, none of which was made or fits better than another."""
        width = self.width[tool]
        if (known := self._marked.get((width, count))) is None:
            known = array("f", [*([1.0, 0.0, 0.0, 0.0] * count), *([0.0] * (MARKS * (width - count)))])
            self._marked[width, count] = known
        return known
