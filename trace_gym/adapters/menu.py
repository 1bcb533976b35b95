"""Every environment as a `gymnasium.Env` with a menu of discrete actions and observations of fixed size.

Reinforcement learning without a language model: a small network picks one of the calls and phrases that the
conversation offers. Menu and observation are functions of the messages and the tools, which is what an agent sees.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from numpy.typing import NDArray

from trace_gym import registry
from trace_gym.adapters.gymnasium import WEIGHTS, TraceEnv
from trace_gym.adapters.offers import Fits, Offers, tokens
from trace_gym.adapters.vocabulary import Vocabulary, latest, now_in, vocabulary, when
from trace_gym.episode import interface_of
from trace_gym.errors import ConfigError
from trace_gym.score import reward
from trace_gym.types import Call, Message, Say

PHRASES = ("Shall I proceed?", "What is the reason?", "All done.")
"""What can always be said: ask to confirm, ask for the reason, close."""
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


class _Sight(NamedTuple):
    """What the users' words and the tools' results offer; few turns bring something new."""

    calls: list[list[Call]]
    """Of each tool."""
    fits: list[float]
    """For each slot how many of the users' words the records of its values hold, from 0 to 1 among a tool's calls."""
    things: list[str]
    said: frozenset[str]


class Menu:
    """The slots of an environment, what they offer in a conversation, and how both are encoded.

    The slots are, in this order: calls of each tool, as many as its vocabulary expects; the phrases; a refusal for
    each thing that the user named; a statement for each field of the vocabulary. Phrases can be said again; a call
    that was answered, a refusal and a statement are offered once.

    An observation holds, in this order, numbers from 0 to 1:

    1. the share of `TURNS` that were taken, and whether the last answer was an error;
    2. for each word of the vocabulary whether a user said it;
    3. for each fact of the vocabulary whether the last result that holds its field shows it;
    4. for each field with dates where its last value lies: over a day before the time that the instructions name,
       within a day before, within a day after, later;
    5. for each slot whether it offers something, whether that was done before, whether it was refused, and how many
       of the user's words the records of its values hold, compared with the other calls of the tool.
    """

    def __init__(self, tools: Sequence[Message], words: Vocabulary, phrases: Sequence[str] = PHRASES) -> None:
        self.tools, self.vocabulary, self.phrases = list(tools), words, list(phrases)
        self._known: tuple[Any, _Sight] | None = None
        self.slots = sum(words.calls) + len(self.phrases) + words.things + len(words.fields)
        self.size = 2 + len(words.words) + len(words.facts) + 4 * len(words.times) + 4 * self.slots

    def offer(self, messages: Sequence[Message]) -> list[Choice]:
        """What each slot does now."""
        seen, shown, expected = self._sight(messages), latest(messages), self.vocabulary
        offered: list[Choice] = []
        for calls, width in zip(seen.calls, expected.calls, strict=True):
            offered += _filled(calls, width)
        offered += [Choice(Say(p)) for p in self.phrases]
        offered += _filled([Say(REFUSE.format(thing=t)) for t in seen.things[: expected.things]], expected.things)
        offered += [_told(f, str(shown[f][-1])) if f in shown else NOTHING for f in expected.fields]
        done = _done(messages)
        return [self._judged(choice, done) if choice.offered else choice for choice in offered]

    def _sight(self, messages: Sequence[Message]) -> _Sight:
        """What is on offer; computed when something new was said or shown."""
        key = list(dict.fromkeys((m["role"], m["content"]) for m in messages if m["role"] != "assistant"))
        if self._known is None or key != self._known[0]:
            offers = Offers(messages)
            said = tokens("\n".join(offers.said))
            rank = Fits(said, offers.results)
            calls: list[list[Call]] = []
            fits: list[float] = []
            for tool, width in zip(self.tools, self.vocabulary.calls, strict=True):
                calls.append(offers.calls_of(tool, width))
                fits += _padded(rank.of(calls[-1]), width)
            self._known = key, _Sight(calls, _padded(fits, self.slots), offers.things, said)
        return self._known[1]

    def _judged(self, choice: Choice, done: dict[str, list[tuple[Call | Say, bool]]]) -> Choice:
        """The choice with what became of it before."""
        answers = [r for earlier, r in done.get(_verb(choice.action), ()) if earlier == choice.action]
        if not answers:
            return choice
        again = answers[-1] or (isinstance(choice.action, Say) and choice.action.text in self.phrases)
        return Choice(choice.action, again, done=True, refused=answers[-1])

    def encode(self, messages: Sequence[Message], offered: Sequence[Choice]) -> Obs:
        """The observation of a conversation and what it offers, shape `(size,)`."""
        seen = self._sight(messages)
        turns = sum(m["role"] == "assistant" for m in messages)
        row = [min(1.0, turns / TURNS), float(_refused(messages[-1]))]
        row += [float(w in seen.said) for w in self.vocabulary.words]
        row += self._shown(latest(messages), now_in(str(messages[0]["content"])))
        for choice, fit in zip(offered, seen.fits, strict=True):
            row += (choice.offered, choice.done, choice.refused, fit)
        return np.asarray(row, dtype=np.float32)

    def _shown(self, shown: dict[str, list[Any]], now: datetime | None) -> list[float]:
        row = [float(value in map(str, shown.get(field, ()))) for field, value in self.vocabulary.facts]
        for field in self.vocabulary.times:
            place = when(str(shown[field][-1]), now) if now and shown.get(field) else None
            row += [float(place == n) for n in range(4)]
        return row


class MenuEnv(gymnasium.Env[Obs, np.int64]):
    """An environment or mixture of the registry as a menu.

    Args:
        name: Name in the registry, or gymnasium id.
        level: Level of every task; None draws one from the seed.
        split: Which seeds ``reset(seed=...)`` counts through, a key of `trace_gym.registry.SPLITS`.
        weights: How an episode is paid, a key of `trace_gym.adapters.gymnasium.WEIGHTS`.
        phrases: What can always be said.
        render_mode: None, or ``ansi`` (`render` returns the conversation).

    Raises:
        EnvNotFound, DuplicateEnv, TamperedEnv: The environment cannot be loaded.
        ScenarioError, ConfigError: An argument is none of its choices.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}

    def __init__(
        self,
        name: str,
        level: int | None = None,
        split: str = "train",
        weights: str = "default",
        phrases: Sequence[str] = PHRASES,
        render_mode: str | None = None,
    ) -> None:
        self.text = TraceEnv(name, level=level, split=split, weights=weights, render_mode=render_mode)
        self.render_mode = render_mode
        self.menu = Menu(_tools(self.text.name), vocabulary(self.text.name, level), phrases)
        self.action_space = gymnasium.spaces.Discrete(self.menu.slots)
        self.observation_space = gymnasium.spaces.Box(0.0, 1.0, (self.menu.size,), np.float32)
        self.offered: list[Choice] = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Obs, dict[str, Any]]:
        """Begin a task, as `TraceEnv.reset` does."""
        super().reset(seed=seed)
        _, info = self.text.reset(seed=seed, options=options)
        return self._look(), {"scenario": info["scenario"]}

    def step(self, action: np.int64) -> tuple[Obs, float, bool, bool, dict[str, Any]]:
        """Do what the slot offers."""
        episode, before = self.text.episode, self.text.episode.done
        episode.step(self.chosen(int(action)))
        info: dict[str, Any] = {"scenario": str(episode.scenario)}
        paid = 0.0
        if episode.score is not None:
            info["success"] = episode.score.success
            paid = 0.0 if before else reward(episode.score, WEIGHTS[self.text.weights])
        return self._look(), paid, episode.done and not episode.truncated, episode.truncated, info

    def chosen(self, slot: int) -> Call | Say:
        """What a slot does now; one that offers nothing stands for another, so that every action is legal."""
        if (choice := self.offered[slot]).offered:
            return choice.action
        instead = [c.action for c in self.offered if c.offered]
        return instead[slot % len(instead)]

    def render(self) -> str | None:
        return self.text.render()

    def action_masks(self) -> NDArray[np.bool_]:
        """Which slots offer something, shape `(slots,)`; the name is the one that sb3-contrib asks for."""
        return np.asarray([c.offered for c in self.offered])

    def _look(self) -> Obs:
        messages = self.text.episode.messages
        self.offered = self.menu.offer(messages)
        return self.menu.encode(messages, self.offered)


NOTHING = Choice(FILLER, False)


def _tools(name: str) -> tuple[Message, ...]:
    """The tools of an environment, or of all parts of a mixture.

    Raises:
        ConfigError: The parts have different ones, which no menu of fixed slots can offer.
    """
    parts = list(registry.mixture(name).mixture) if name in registry.mixtures() else [name]
    first, *others = [interface_of(registry.load(part)).tools for part in parts]
    if unlike := [part for part, tools in zip(parts[1:], others, strict=True) if tools != first]:
        raise ConfigError(f"{unlike[0]} has other tools than {parts[0]}; take one part of {name} at a time")
    return first


def _filled(actions: Sequence[Call | Say], width: int) -> list[Choice]:
    return [*map(Choice, actions), *[NOTHING] * (width - len(actions))]


def _padded(fits: Sequence[float], width: int) -> list[float]:
    return [*fits, *[0.0] * (width - len(fits))]


@lru_cache(maxsize=8192)
def _told(field: str, value: str) -> Choice:
    """The statement of a field's value; of a time the day."""
    return Choice(Say(TELL.format(field=field, value=re.sub(r"^(\d{4}-\d\d-\d\d)[T ].*", r"\1", value))))


def _refused(message: Message) -> bool:
    return str(message["content"] or "").startswith("Error")


def _verb(action: Call | Say) -> str:
    return action.tool if isinstance(action, Call) else ""


def _done(messages: Sequence[Message]) -> dict[str, list[tuple[Call | Say, bool]]]:
    """What was called, by tool, and said (under an empty name) before, and whether it was refused."""
    done: dict[str, list[tuple[Call | Say, bool]]] = {}
    for turn, answer in zip(messages, [*messages[1:], {"content": ""}], strict=True):
        if turn["role"] == "assistant":
            for action in _actions(turn):
                done.setdefault(_verb(action), []).append((action, _refused(answer)))
    return done


def _actions(turn: Message) -> list[Call | Say]:
    called = [c["function"] for c in turn.get("tool_calls", ())]
    return [Call(f["name"], json.loads(f["arguments"])) for f in called] or [Say(turn["content"])]
