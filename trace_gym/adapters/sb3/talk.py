"""State of a conversation for an action menu: the current action of each slot, and the observation vector.

A menu is a fixed list of slots. Each slot offers at most one action, a tool call or a message. The state is updated
incrementally: each message is read once, and only the slots and observation entries that depend on it are recomputed.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from functools import lru_cache
from operator import is_
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trace_gym.adapters.sb3.fits import Fits
from trace_gym.adapters.sb3.layout import MARKS, SINCE, Layout
from trace_gym.adapters.sb3.offers import Offers
from trace_gym.adapters.sb3.results import read, scalars_in, tokens
from trace_gym.adapters.sb3.vocabulary import now_in, when
from trace_gym.chat import steps_of
from trace_gym.types import Call, Message, Say

REFUSAL = "I am sorry, I cannot do that with {thing}."
STATEMENT = "The {field} is {value}; is that right?"
FILLER = Say("One moment, please.")
"""Message for a slot that has no action."""
_NEW = array("f", (1.0, 0.0, 0.0))
TURNS = 30
"""Number of turns at which the first entry of an observation reaches 1."""

Obs = NDArray[np.float32]

_refusal_pattern = re.compile(re.escape(REFUSAL).replace(r"\{thing\}", "(.*)"))
_statement_pattern = re.compile(re.escape(STATEMENT).replace(r"\{field\}", "(.*?)").replace(r"\{value\}", ".*"))


class MenuChoice(NamedTuple):
    """Current action of a menu slot, and whether it is offered, was taken before, and was answered with an error."""

    action: Call | Say
    offered: bool = True
    """False if the slot has no action, or if its action was already taken and may not be repeated."""
    done: bool = False
    refused: bool = False


class ConversationState:
    """State of a conversation: the current action of each slot, and the observation vector."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.messages: list[Message] = []
        self._entries = layout.blank[:]
        self._observed: Obs = np.frombuffer(self._entries, np.float32)
        self._read: set[tuple[str, str]] = set()
        self._offers, self._fits = Offers(layout.plan), Fits()
        self._columns: list[list[list[Any]] | None] = layout.columns.copy()
        self._scalars: dict[int, list[list[list[str]]]] = {}
        """For each tool with several offered calls, the scalars in its candidate argument values."""
        self._scalar_sets: dict[int, set[str]] = {}
        """The same scalars as a set per tool."""
        self._made_calls: dict[str, list[tuple[Call, bool]]] = {}
        self._sentence_failed: dict[str, bool] = {}
        self._latest_values: dict[str, Any] = {}
        self._turns = 0

    def follows(self, messages: Sequence[Message]) -> bool:
        """Return whether the messages equal or continue the conversation that was read so far."""
        known = len(self.messages)
        if known and self.messages[-1]["role"] == "assistant" and len(messages) > known:
            return False  # a turn must be read together with its answer, to determine whether the turn failed
        return len(messages) >= known and all(map(is_, self.messages, messages))

    @property
    def observation(self) -> Obs:
        """Observation vector, shape `(size,)`."""
        return self._observed.copy()

    @property
    def offered(self) -> Obs:
        """Mask with 1 for each offered slot, shape `(slots,)`."""
        return self._observed[self.layout.marks :: MARKS].copy()

    def choice(self, slot: int) -> MenuChoice:
        """Return the current choice of a slot."""
        marks = self._entries[(at := self.layout.marks + MARKS * slot) : at + 3]
        return MenuChoice(self._action(slot) or FILLER, *map(bool, marks))

    def read(self, messages: Sequence[Message]) -> None:
        """Read the new messages of a conversation; `messages` is the whole conversation."""
        touched, changed = set[int](), set[str]()
        for n in range(len(self.messages), len(messages)):
            message = messages[n]
            role, content = message["role"], str(message["content"] or "")
            self.messages.append(message)
            if role == "assistant":
                touched |= self._read_turn(message, n + 1 < len(messages) and _error(messages[n + 1]))
                continue
            if role == "tool":
                self._read_result_fields(content)
            if (role, content) not in self._read:
                self._read.add((role, content))
                known = len(self._offers.things)
                self._offers.read([message])
                if role == "tool":
                    changed |= self._fits.add_result(read(content))
                elif role == "user":
                    changed |= self._read_user_message(content, known)
        if self.messages:
            self._entries[1] = _error(self.messages[-1])
        touched.update(tool for tool in self._offers.changed() if self._update_columns(tool))
        if changed:
            touched.update(tool for tool, values in self._scalar_sets.items() if not changed.isdisjoint(values))
        for tool in touched:
            self._update_call_entries(tool)

    def _action(self, slot: int) -> Call | Say | None:
        """Return the action of a slot, or None if the slot has no action."""
        layout = self.layout
        if slot < layout.first_phrase:
            tool = layout.tool_of[slot]
            calls = layout.plan.tools[tool].calls(self._columns[tool], layout.width[tool])
            return calls[n] if (n := slot - layout.calls[tool]) < len(calls) else None
        return Say(text) if (text := self._text(slot)) else None

    def _text(self, slot: int) -> str:
        """Return the sentence of a slot, or ``""`` if the slot has no sentence."""
        layout = self.layout
        if slot < layout.first_refusal:
            return layout.phrases[slot - layout.first_phrase]
        if slot < layout.first_statement:
            things = self._offers.things
            return REFUSAL.format(thing=things[n]) if (n := slot - layout.first_refusal) < len(things) else ""
        field = layout.words.fields[slot - layout.first_statement]
        return _statement(field, str(self._latest_values[field])) if field in self._latest_values else ""

    def _read_turn(self, turn: Message, refused: bool) -> set[int]:
        """Record the actions of an assistant turn, and return the indices of the called tools."""
        self._turns += 1
        self._entries[0] = min(1.0, self._turns / TURNS)
        touched = set[int]()
        for action in steps_of(turn):
            if isinstance(action, Call):
                self._made_calls.setdefault(action.tool, []).append((action, refused))
                touched.update(n for n, tool in enumerate(self.layout.plan.tools) if tool.name == action.tool)
            else:
                self._sentence_failed[action.text] = refused
                if (slot := self._slot_of(action.text)) is not None:
                    self._update_sentence_entries(slot)
        return touched

    def _slot_of(self, text: str) -> int | None:
        """Return the slot whose sentence matches a text, or None."""
        layout = self.layout
        if text in layout.phrases:
            return layout.first_phrase + layout.phrases.index(text)
        if match := _refusal_pattern.fullmatch(text):
            things = self._offers.things[: layout.words.things]
            return layout.first_refusal + things.index(match[1]) if match[1] in things else None
        return layout.statement_slots.get(match[1]) if (match := _statement_pattern.fullmatch(text)) else None

    def _update_sentence_entries(self, slot: int) -> None:
        """Update the observation entries of a slot with a sentence.

        A phrase is always offered. A refusal or statement is offered again only if the answer was an error.
        """
        at = self.layout.marks + MARKS * slot
        if not self._sentence_failed or (refused := self._sentence_failed.get(self._text(slot))) is None:
            self._entries[at : at + 3] = _NEW
        else:
            self._entries[at : at + 3] = array("f", (refused or slot < self.layout.first_refusal, True, refused))

    def _read_user_message(self, text: str, known: int) -> set[str]:
        """Update the observation for a user message, and return the values whose relevance may change.

        Args:
            text: The user message.
            known: Number of id-like words that the user named before this message.
        """
        entries, layout = self._entries, self.layout
        for slot in range(
            layout.first_refusal + known, min(layout.first_refusal + len(self._offers.things), layout.first_statement)
        ):
            self._update_sentence_entries(slot)
        user_words = tokens(text)
        for word in user_words & layout.word_entries.keys():
            entries[layout.word_entries[word]] = 1.0
        return self._fits.add_words(user_words)

    def _read_result_fields(self, result: str) -> None:
        """Update the observation and the available statements with the fields in a tool result."""
        layout, entries = self.layout, self._entries
        found: dict[str, list[Any]] = {}
        for name, value in read(result).fields:
            if name in layout.fields:
                found.setdefault(name, []).append(value)
        for name, values in found.items():
            self._latest_values[name] = values[-1]
            if name in layout.facts:
                texts = set(map(str, values))
                for at, expected in layout.facts[name]:
                    entries[at] = expected in texts
            if (slot := layout.statement_slots.get(name)) is not None:
                self._update_sentence_entries(slot)
            if (first := layout.times.get(name)) is not None and (now := now_in(str(self.messages[0]["content"]))):
                place = when(str(values[-1]), now)
                entries[first : first + SINCE] = array("f", (place == n for n in range(SINCE)))

    def _update_columns(self, tool: int) -> bool:
        """Update the candidate values for the calls of a tool, and return whether they changed."""
        columns = self._offers.columns(tool)
        if columns == self._columns[tool]:
            return False
        self._columns[tool] = columns
        if columns is not None and self.layout.count(tool, columns) > 1:
            found = self._scalars[tool] = [[scalars_in(value) for value in column] for column in columns]
            self._scalar_sets[tool] = {scalar for column in found for scalars in column for scalar in scalars}
        else:
            self._scalars.pop(tool, None)
            self._scalar_sets.pop(tool, None)
        return True

    def _update_call_entries(self, tool: int) -> None:
        """Update the observation entries of a tool's calls. A call is offered again only if its result was an error."""
        layout, columns = self.layout, self._columns[tool]
        row = layout.marked(tool, layout.count(tool, columns))[:]
        if tool in self._scalars:
            fits = self._fits.scores(self._scalars[tool], layout.width[tool])
            row[3 : MARKS * len(fits) : MARKS] = array("f", fits)
        if made := self._made_calls.get(layout.plan.tools[tool].name):
            for n, call in enumerate(layout.plan.tools[tool].calls(columns, layout.width[tool])):
                if answers := [refused for earlier, refused in made if earlier == call]:
                    row[MARKS * n : MARKS * n + 3] = array("f", (answers[-1], 1.0, answers[-1]))
        self._entries[layout.row(tool)] = row


@lru_cache(maxsize=8192)
def _statement(field: str, value: str) -> str:
    """Return the sentence that states a field's value. Only the date of a timestamp is stated."""
    return STATEMENT.format(field=field, value=re.sub(r"^(\d{4}-\d\d-\d\d)[T ].*", r"\1", value))


def _error(message: Message) -> bool:
    return str(message["content"] or "").startswith("Error")
