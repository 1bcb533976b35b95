"""Layout of a menu: the indices of its slots and of the entries in its observation vector.

A menu is a fixed list of slots, that is, discrete actions; see `trace_gym.adapters.sb3.menu.Menu`.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate
from math import prod
from typing import Any

from trace_gym.adapters.sb3.plan import ToolPlan
from trace_gym.adapters.sb3.vocabulary import Vocabulary
from trace_gym.types import Message

MARKS = 4
"""Number of observation entries per slot: offered, taken before, failed, and relevance."""
SINCE = 4
"""Number of observation entries per date field, one per time interval of `trace_gym.adapters.sb3.vocabulary.when`."""


class Layout:
    """Indices of a menu's slots and observation entries. The docstring of `Menu` describes their order.

    Args:
        tools: OpenAI function tools of the agent.
        words: Vocabulary of the environment's conversations.
        phrases: Sentences that the agent can always say.
    """

    def __init__(self, tools: Sequence[Message], words: Vocabulary, phrases: Sequence[str]) -> None:
        self.plan, self.words, self.phrases, self.width = ToolPlan(tools), words, tuple(phrases), words.calls
        *self.calls, self.first_phrase = accumulate(words.calls, initial=0)
        """Index of the first slot of each tool (`calls`) and of the phrases (`first_phrase`)."""
        self.first_refusal = self.first_phrase + len(phrases)
        self.first_statement = self.first_refusal + words.things
        self.slots = self.first_statement + len(words.fields)
        self.tool_of = [n for n, width in enumerate(words.calls) for _ in range(width)]
        self.statement_slots = {field: self.first_statement + n for n, field in enumerate(words.fields)}
        self.word_entries = {word: 2 + n for n, word in enumerate(words.words)}
        self.facts: dict[str, list[tuple[int, str]]] = {}
        first = 2 + len(words.words)
        for n, (field, value) in enumerate(words.facts):
            self.facts.setdefault(field, []).append((first + n, value))
        first += len(words.facts)
        self.times = {field: first + SINCE * n for n, field in enumerate(words.times)}
        self.marks = first + SINCE * len(words.times)
        self.size = self.marks + MARKS * self.slots
        self.fields = {*self.statement_slots, *self.facts, *self.times}
        """Names of the fields whose latest values affect slots or observations."""
        self.blank = array("f", bytes(4 * self.size))
        """Observation of an empty conversation."""
        for slot in range(self.first_phrase, self.first_refusal):
            self.blank[self.marks + MARKS * slot] = 1.0
        self._marked: dict[tuple[int, int], array[float]] = {}
        self.columns = [tool.columns(self.plan.values()) for tool in self.plan.tools]
        """Candidate argument values for the calls of each tool before the conversation starts."""
        for tool, columns in enumerate(self.columns):
            self.blank[self.row(tool)] = self.marked(tool, self.count(tool, columns))

    def count(self, tool: int, columns: Sequence[Sequence[Any]] | None) -> int:
        """Return the number of calls that the menu offers for a tool with these argument values."""
        return 0 if columns is None else min(self.width[tool], prod(map(len, columns)))

    def row(self, tool: int) -> slice:
        """Return the slice of the observation with the entries for the calls of a tool."""
        first = self.marks + MARKS * self.calls[tool]
        return slice(first, first + MARKS * self.width[tool])

    def marked(self, tool: int, count: int) -> array[float]:
        """Return the observation entries of a tool with `count` offered calls, before any of them was made."""
        width = self.width[tool]
        if (known := self._marked.get((width, count))) is None:
            known = array("f", [*([1.0, 0.0, 0.0, 0.0] * count), *([0.0] * (MARKS * (width - count)))])
            self._marked[width, count] = known
        return known
