"""A conversation as a menu follows it: each message is read once, and what it changes is found again, nothing else.

The rest of a menu and of its observation stays as it was, so that a turn costs what is new in it.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Sequence
from functools import lru_cache
from operator import is_
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trace_gym.adapters.fits import Fits
from trace_gym.adapters.layout import MARKS, SINCE, Layout
from trace_gym.adapters.offers import Offers
from trace_gym.adapters.results import read, scalars_in, tokens
from trace_gym.adapters.vocabulary import now_in, when
from trace_gym.types import Call, Message, Say

REFUSE = "I am sorry, I cannot do that with {thing}."
TELL = "The {field} is {value}; is that right?"
FILLER = Say("One moment, please.")
"""Said for a slot that offers nothing."""
_NEW = array("f", (1.0, 0.0, 0.0))
TURNS = 30
"""Turns that fill the first number of an observation."""

Obs = NDArray[np.float32]

_refusal = re.compile(re.escape(REFUSE).replace(r"\{thing\}", "(.*)"))
_telling = re.compile(re.escape(TELL).replace(r"\{field\}", "(.*?)").replace(r"\{value\}", ".*"))


class Choice(NamedTuple):
    """What a slot of the menu does."""

    action: Call | Say
    offered: bool = True
    """False where the slot has nothing of its own to offer, or nothing that was not done before."""
    done: bool = False
    refused: bool = False


class Talk:
    """What a conversation offers, slot by slot, and its observation."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.messages: list[Message] = []
        self._cells = layout.blank[:]
        self._observed: Obs = np.frombuffer(self._cells, np.float32)
        self._read: set[tuple[str, str]] = set()
        self._offers, self._fits = Offers(layout.plan), Fits()
        self._columns: list[list[list[Any]] | None] = layout.columns.copy()
        self._scalars: dict[int, list[list[list[str]]]] = {}
        """Of each tool that offers several calls the scalars in its values."""
        self._rivals: dict[int, set[str]] = {}
        """The same, each once."""
        self._made: dict[str, list[tuple[Call, bool]]] = {}
        self._spoken: dict[str, bool] = {}
        self._shown: dict[str, Any] = {}
        self._turns = 0

    def follows(self, messages: Sequence[Message]) -> bool:
        """Whether these are the messages that were read, and perhaps more."""
        known = len(self.messages)
        if known and self.messages[-1]["role"] == "assistant" and len(messages) > known:
            return False  # what answers a turn belongs to it
        return len(messages) >= known and all(map(is_, self.messages, messages))

    @property
    def observation(self) -> Obs:
        """Shape `(size,)`."""
        return self._observed.copy()

    @property
    def offered(self) -> Obs:
        """1 for each slot that offers something, shape `(slots,)`."""
        return self._observed[self.layout.marks :: MARKS].copy()

    def choice(self, slot: int) -> Choice:
        """What a slot does now."""
        marks = self._cells[(at := self.layout.marks + MARKS * slot) : at + 3]
        return Choice(self._action(slot) or FILLER, *map(bool, marks))

    def read(self, messages: Sequence[Message]) -> None:
        """Read what is new; `messages` holds the whole conversation."""
        touched, changed = set[int](), set[str]()
        for n in range(len(self.messages), len(messages)):
            message = messages[n]
            role, content = message["role"], str(message["content"] or "")
            self.messages.append(message)
            if role == "assistant":
                touched |= self._act(message, n + 1 < len(messages) and _error(messages[n + 1]))
                continue
            if role == "tool":
                self._look(content)
            if (role, content) not in self._read:
                self._read.add((role, content))
                known = len(self._offers.things)
                self._offers.read([message])
                if role == "tool":
                    changed |= self._fits.show(read(content))
                elif role == "user":
                    changed |= self._hear(content, known)
        if self.messages:
            self._cells[1] = _error(self.messages[-1])
        touched.update(tool for tool in self._offers.changed() if self._find(tool))
        if changed:
            touched.update(tool for tool, values in self._rivals.items() if not changed.isdisjoint(values))
        for tool in touched:
            self._mark(tool)

    def _action(self, slot: int) -> Call | Say | None:
        """What a slot does; None where it has nothing of its own."""
        layout = self.layout
        if slot < layout.phrase:
            tool = layout.tool_of[slot]
            calls = layout.plan.tools[tool].calls(self._columns[tool], layout.width[tool])
            return calls[n] if (n := slot - layout.calls[tool]) < len(calls) else None
        return Say(text) if (text := self._text(slot)) else None

    def _text(self, slot: int) -> str:
        """What a slot says; nothing where it has nothing of its own."""
        layout = self.layout
        if slot < layout.thing:
            return layout.phrases[slot - layout.phrase]
        if slot < layout.tell:
            things = self._offers.things
            return REFUSE.format(thing=things[n]) if (n := slot - layout.thing) < len(things) else ""
        field = layout.words.fields[slot - layout.tell]
        return _told(field, str(self._shown[field])) if field in self._shown else ""

    def _act(self, turn: Message, refused: bool) -> set[int]:
        """Note what was done in a turn; return its tools."""
        self._turns += 1
        self._cells[0] = min(1.0, self._turns / TURNS)
        touched = set[int]()
        for action in _actions(turn):
            if isinstance(action, Call):
                self._made.setdefault(action.tool, []).append((action, refused))
                touched.update(n for n, tool in enumerate(self.layout.plan.tools) if tool.name == action.tool)
            else:
                self._spoken[action.text] = refused
                if (slot := self._slot_of(action.text)) is not None:
                    self._say_again(slot)
        return touched

    def _slot_of(self, text: str) -> int | None:
        """The slot that says something like this."""
        layout = self.layout
        if text in layout.phrases:
            return layout.phrase + layout.phrases.index(text)
        if match := _refusal.fullmatch(text):
            things = self._offers.things[: layout.words.things]
            return layout.thing + things.index(match[1]) if match[1] in things else None
        return layout.told.get(match[1]) if (match := _telling.fullmatch(text)) else None

    def _say_again(self, slot: int) -> None:
        """Bring up to date what is observed of something to say: offered once, a phrase or what was refused again."""
        at = self.layout.marks + MARKS * slot
        if not self._spoken or (refused := self._spoken.get(self._text(slot))) is None:
            self._cells[at : at + 3] = _NEW
        else:
            self._cells[at : at + 3] = array("f", (refused or slot < self.layout.thing, True, refused))

    def _hear(self, text: str, known: int) -> set[str]:
        """Bring up to date what is observed of what a user says; return the values for which more of it counts.

        Args:
            text: What is said.
            known: How many things were named before.
        """
        cells, layout = self._cells, self.layout
        for slot in range(layout.thing + known, min(layout.thing + len(self._offers.things), layout.tell)):
            self._say_again(slot)
        said = tokens(text)
        for word in said & layout.word.keys():
            cells[layout.word[word]] = 1.0
        return self._fits.hear(said)

    def _look(self, result: str) -> None:
        """Bring up to date what is observed of the fields in a result, and what is told of them."""
        layout, cells = self.layout, self._cells
        found: dict[str, list[Any]] = {}
        for name, value in read(result).fields:
            if name in layout.fields:
                found.setdefault(name, []).append(value)
        for name, values in found.items():
            self._shown[name] = values[-1]
            if name in layout.facts:
                texts = set(map(str, values))
                for at, expected in layout.facts[name]:
                    cells[at] = expected in texts
            if (slot := layout.told.get(name)) is not None:
                self._say_again(slot)
            if (first := layout.times.get(name)) is not None and (now := now_in(str(self.messages[0]["content"]))):
                place = when(str(values[-1]), now)
                cells[first : first + SINCE] = array("f", (place == n for n in range(SINCE)))

    def _find(self, tool: int) -> bool:
        """Find the values for a tool's calls again, and tell whether they are others."""
        columns = self._offers.columns(tool)
        if columns == self._columns[tool]:
            return False
        self._columns[tool] = columns
        if columns is not None and self.layout.count(tool, columns) > 1:
            found = self._scalars[tool] = [[scalars_in(value) for value in column] for column in columns]
            self._rivals[tool] = {scalar for column in found for scalars in column for scalar in scalars}
        else:
            self._scalars.pop(tool, None)
            self._rivals.pop(tool, None)
        return True

    def _mark(self, tool: int) -> None:
        """Bring up to date what is observed of a tool's calls: each is offered once, and again if it was refused."""
        layout, columns = self.layout, self._columns[tool]
        row = layout.marked(tool, layout.count(tool, columns))[:]
        if tool in self._scalars:
            fits = self._fits.of(self._scalars[tool], layout.width[tool])
            row[3 : MARKS * len(fits) : MARKS] = array("f", fits)
        if made := self._made.get(layout.plan.tools[tool].name):
            for n, call in enumerate(layout.plan.tools[tool].calls(columns, layout.width[tool])):
                if answers := [refused for earlier, refused in made if earlier == call]:
                    row[MARKS * n : MARKS * n + 3] = array("f", (answers[-1], 1.0, answers[-1]))
        self._cells[layout.row(tool)] = row


@lru_cache(maxsize=8192)
def _told(field: str, value: str) -> str:
    """The statement of a field's value; of a time the day."""
    return TELL.format(field=field, value=re.sub(r"^(\d{4}-\d\d-\d\d)[T ].*", r"\1", value))


def _error(message: Message) -> bool:
    return str(message["content"] or "").startswith("Error")


def _actions(turn: Message) -> list[Call | Say]:
    called = [c["function"] for c in turn.get("tool_calls", ())]
    return [Call(f["name"], json.loads(f["arguments"])) for f in called] or [Say(turn["content"])]
