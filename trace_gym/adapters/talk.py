"""A conversation as a menu follows it: each message is read once, and what it changes is found again, nothing else.

The rest of a menu and of its observation stays as it was, so that a turn costs what is new in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from operator import is_
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trace_gym.adapters.fits import Fits, leaves
from trace_gym.adapters.offers import Offers, fields_of, tokens
from trace_gym.adapters.vocabulary import Vocabulary, now_in, when
from trace_gym.types import Call, Message, Say

REFUSE = "I am sorry, I cannot do that with {thing}."
TELL = "The {field} is {value}; is that right?"
FILLER = Say("One moment, please.")
"""Said for a slot that offers nothing."""
TURNS = 30
"""Turns that fill the first number of an observation."""

Obs = NDArray[np.float32]


class Choice(NamedTuple):
    """What a slot of the menu does."""

    action: Call | Say
    offered: bool = True
    """False where the slot has nothing of its own to offer, or nothing that was not done before."""
    done: bool = False
    refused: bool = False


NOTHING = Choice(FILLER, False)


class Talk:
    """What a conversation offers, slot by slot, and its observation.

    Args:
        tools: The agent's.
        words: What to expect.
        phrases: What can always be said.
    """

    def __init__(self, tools: Sequence[Message], words: Vocabulary, phrases: Sequence[str]) -> None:
        self.words, self.phrases = words, phrases
        self.messages: list[Message] = []
        self._tools = [
            _Tool(tool, str(tool["function"]["name"]), w) for tool, w in zip(tools, words.calls, strict=True)
        ]
        self._read: set[tuple[str, str]] = set()
        self._offers, self._fits = Offers(), Fits()
        self._shown: dict[str, list[Any]] = {}
        self._called: dict[str, list[tuple[Call, bool]]] = {}
        self._spoken: dict[str, bool] = {}
        self._turns = 0
        self._facts: dict[str, list[tuple[int, str]]] = {}
        for n, (field, value) in enumerate(words.facts):
            self._facts.setdefault(field, []).append((n, value))
        slots = sum(words.calls) + len(phrases) + words.things + len(words.fields)
        self._choices = [NOTHING] * slots
        self._words, self._facts_seen, self._times_seen, self._slots = (
            [0.0] * n for n in (len(words.words), len(words.facts), 4 * len(words.times), 4 * slots)
        )

    def follows(self, messages: Sequence[Message]) -> bool:
        """Whether these are the messages that were read, and perhaps more."""
        known = len(self.messages)
        if known and self.messages[-1]["role"] == "assistant" and len(messages) > known:
            return False  # what answers a turn belongs to it
        return len(messages) >= known and all(map(is_, self.messages, messages))

    @property
    def choices(self) -> list[Choice]:
        """What each slot does now."""
        return self._choices.copy()

    @property
    def observation(self) -> Obs:
        """Shape `(size,)`."""
        now = [min(1.0, self._turns / TURNS), _error(self.messages[-1])]
        return np.array(now + self._words + self._facts_seen + self._times_seen + self._slots, np.float32)

    def read(self, messages: Sequence[Message]) -> None:
        """Read what is new; `messages` holds the whole conversation."""
        if len(messages) == len(self.messages):
            return
        heard, fields, touched, counted = not self.messages, set[str](), set[str](), set[str]()
        for n in range(len(self.messages), len(messages)):
            message = messages[n]
            role, content = message["role"], str(message["content"] or "")
            if role == "assistant":
                touched |= self._made(message, n + 1 < len(messages) and _error(messages[n + 1]))
            elif role == "tool":
                self._shown.update(found := fields_of(content))
                fields |= found.keys()
            if role != "assistant" and (role, content) not in self._read:
                self._read.add((role, content))
                self._offers.add([message])
                heard |= role == "user"
                if role == "tool":
                    counted |= self._fits.show(content)
            self.messages.append(message)
        self._update(heard, fields, touched, counted)

    def _made(self, turn: Message, refused: bool) -> set[str]:
        """Note what was done in a turn; return its tools, and an empty name if something was said."""
        self._turns += 1
        for action in (actions := _actions(turn)):
            if isinstance(action, Say):
                self._spoken[action.text] = refused
            else:
                self._called.setdefault(action.tool, []).append((action, refused))
        return {a.tool if isinstance(a, Call) else "" for a in actions}

    def _update(self, heard: bool, fields: set[str], touched: set[str], counted: set[str]) -> None:
        if heard:
            said = tokens("\n".join(self._offers.said))
            counted |= self._fits.hear(said)
            self._words = [float(w in said) for w in self.words.words]
        first = 0
        for tool in self._tools:
            made, last = self._called.get(tool.name, ()), first + tool.width
            if tool.update(self._offers, self._fits, made, tool.name in touched, counted):
                self._choices[first:last] = tool.choices
                self._slots[4 * first : 4 * last] = tool.row
            first = last
        if heard or "" in touched or not fields.isdisjoint(self.words.fields):
            self._choices[first:] = self._to_say()
            self._slots[4 * first :] = [x for choice in self._choices[first:] for x in (*choice[1:], 0.0)]
        self._look(fields)

    def _look(self, fields: set[str]) -> None:
        """Bring facts and times up to date that these fields' values tell."""
        for field in fields & self._facts.keys():
            values = {str(v) for v in self._shown[field]}
            for n, value in self._facts[field]:
                self._facts_seen[n] = float(value in values)
        now = now_in(str(self.messages[0]["content"])) if fields else None
        for n, field in enumerate(self.words.times):
            if now and field in fields:
                place = when(str(self._shown[field][-1]), now)
                self._times_seen[4 * n : 4 * n + 4] = [float(place == k) for k in range(4)]

    def _to_say(self) -> list[Choice]:
        words, things = self.words, self._offers.things
        refusals = [_refusal(t) for t in things[: words.things]]
        said = [Choice(Say(p)) for p in self.phrases] + refusals + [NOTHING] * (words.things - len(refusals))
        said += [_told(f, str(self._shown[f][-1])) if f in self._shown else NOTHING for f in words.fields]
        return [self._judged(choice) if choice.offered else choice for choice in said]

    def _judged(self, choice: Choice) -> Choice:
        assert isinstance(choice.action, Say)
        if (refused := self._spoken.get(text := choice.action.text)) is None:
            return choice
        return Choice(choice.action, refused or text in self.phrases, done=True, refused=refused)


class _Tool:
    """The slots of a tool."""

    def __init__(self, tool: Message, name: str, width: int) -> None:
        self.tool, self.name, self.width = tool, name, width
        self.calls: list[Call] | None = None
        self.values: list[list[str]] = []
        self.fits: list[float] = []
        self.choices: list[Choice] = []

    @property
    def row(self) -> list[float]:
        """What is observed, slot by slot."""
        return [x for choice, fit in zip(self.choices, self.fits, strict=True) for x in (*choice[1:], fit)]

    def update(
        self, offers: Offers, fits: Fits, made: Sequence[tuple[Call, bool]], touched: bool, counted: set[str]
    ) -> bool:
        """Find again what may have changed, and tell whether anything may have.

        Args:
            offers: Where the calls come from.
            fits: How they are compared.
            made: The calls of the tool, and whether they were refused.
            touched: Whether there are new ones.
            counted: Values for which more of the users' words count than before.
        """
        calls = offers.calls_of(self.tool, self.width)
        if new := calls is not self.calls:
            self.calls, self.values = calls, [leaves(c.arguments) for c in calls]
        if again := new or not all(map(counted.isdisjoint, self.values)):
            self.fits = fits.of(self.values) + [0.0] * (self.width - len(calls))
        if new or touched:
            self.choices = [_judged(c, made) for c in calls] + [NOTHING] * (self.width - len(calls))
        return again or touched


def _judged(call: Call, made: Sequence[tuple[Call, bool]]) -> Choice:
    """A call with what became of it before."""
    answers = [refused for earlier, refused in made if earlier == call]
    return Choice(call, answers[-1], True, answers[-1]) if answers else Choice(call)


@lru_cache(maxsize=8192)
def _told(field: str, value: str) -> Choice:
    """The statement of a field's value; of a time the day."""
    return Choice(Say(TELL.format(field=field, value=re.sub(r"^(\d{4}-\d\d-\d\d)[T ].*", r"\1", value))))


@lru_cache(maxsize=8192)
def _refusal(thing: str) -> Choice:
    return Choice(Say(REFUSE.format(thing=thing)))


def _error(message: Message) -> bool:
    return str(message["content"] or "").startswith("Error")


def _actions(turn: Message) -> list[Call | Say]:
    called = [c["function"] for c in turn.get("tool_calls", ())]
    return [Call(f["name"], json.loads(f["arguments"])) for f in called] or [Say(turn["content"])]
