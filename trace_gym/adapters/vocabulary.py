"""What the conversations of an environment are made of, learnt from what an agent is shown on seeds to train on.

A menu and an observation of fixed size must know which words, records and dates to expect, and how many calls of each
tool. That is read off some conversations in which an agent looks around: messages and tools alone, no world.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from typing import Any

from trace_gym import registry
from trace_gym.adapters.arguments import CHOICES
from trace_gym.adapters.offers import Offers
from trace_gym.adapters.plan import Plan
from trace_gym.adapters.results import fields_of, tokens
from trace_gym.policies.exploits import EXPLOITS
from trace_gym.policies.seen import reads, writes
from trace_gym.types import Message, Scenario

SCENARIOS = 48
"""How many conversations a vocabulary is learnt from."""
SIZE = 32
"""Most words, and most facts."""
RARE = 12
"""What is in fewer than one of so many conversations is left out."""
THINGS = 4
"""Most things that can be refused one by one."""

_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?")


@dataclass(frozen=True)
class Vocabulary:
    """What to expect in the conversations of an environment; every list is in a fixed order."""

    words: tuple[str, ...]
    """Words of the users, without digits, which are said in some conversations and not in all."""
    facts: tuple[tuple[str, str], ...]
    """Field and value, without digits, which some conversations show and not all."""
    times: tuple[str, ...]
    """Fields that hold dates."""
    fields: tuple[str, ...]
    """Fields whose value differs from one conversation to the next and which the user does not know: what to tell."""
    calls: tuple[int, ...]
    """For each tool how many calls were on offer at most, from 1 to `CHOICES`."""
    things: int
    """How many things the users named at most, up to `THINGS`."""


def learn(scenarios: Iterable[Scenario]) -> Vocabulary:
    """The vocabulary of these scenarios' conversations.

    Raises:
        EnvBug: An environment failed.
    """
    words, facts, unknown = Counter[str](), Counter[tuple[str, str]](), set[str]()
    values: dict[str, set[str]] = {}
    calls, things, count = Counter[int](), 0, 0
    for scenario in scenarios:
        messages, tools = _looked_around(scenario)
        shown, offers, count = latest(messages), Offers(Plan(tools)), count + 1
        offers.read(messages)
        words.update({w.lower() for w in offers.said if w.isalpha()})
        facts.update(set(_facts(shown)))
        for field, found in shown.items():
            values.setdefault(field, set()).update(map(str, found))
            unknown.update({field} if not tokens(str(found[-1])) <= tokens(" ".join(offers.said)) else ())
        moving = [*reads(tools), *writes(tools)]  # one call to hand over or to think is enough
        calls |= Counter({n: min(offers.count(n), CHOICES if t in moving else 1) for n, t in enumerate(tools)})
        things = max(things, len(offers.things))
    return Vocabulary(
        words=tuple(_telling(words, count)),
        facts=tuple(_telling(facts, count)),
        times=tuple(sorted(f for f, found in values.items() if found and all(map(_TIME.fullmatch, found)))),
        fields=tuple(sorted(f for f in unknown if f and len(values[f]) > 1)),
        calls=tuple(max(1, calls[n]) for n in range(len(tools))),
        things=min(things, THINGS),
    )


@cache
def vocabulary(name: str, level: int | None = None) -> Vocabulary:
    """The vocabulary of an environment or mixture, at one level or at all of them; learnt once a process."""
    return learn(registry.scenarios(name, "train", SCENARIOS, levels=None if level is None else [level]))


def latest(messages: Sequence[Message]) -> dict[str, list[Any]]:
    """Each field of the results with its values in the last result that holds it."""
    found: dict[str, list[Any]] = {}
    for message in messages:
        if message["role"] == "tool":
            found.update(fields_of(str(message["content"] or "")))
    return found


def when(value: str, now: datetime) -> int | None:
    """Where a time lies: 0 over a day before now, 1 within a day before, 2 within a day after, 3 later."""
    if not _TIME.fullmatch(value):
        return None
    days = (datetime.fromisoformat(value) - now).total_seconds() / 86400
    return 0 if days <= -1 else 1 if days <= 0 else 2 if days < 1 else 3


@lru_cache(maxsize=64)
def now_in(instructions: str) -> datetime | None:
    """The first time that the instructions name."""
    named = _TIME.search(instructions)
    return datetime.fromisoformat(named[0]) if named else None


def _looked_around(scenario: Scenario) -> tuple[list[Message], tuple[Message, ...]]:
    """A conversation in which everything was looked up that a few calls can reach, and its tools."""
    episode = registry.episode(scenario)
    while not episode.done:
        episode.step(EXPLOITS["read"].act(episode))
    return episode.messages, episode.tools


def _facts(shown: Mapping[str, Sequence[Any]]) -> Iterator[tuple[str, str]]:
    """Fields with values that are words."""
    for field, values in shown.items():
        yield from ((field, str(v)) for v in values if field and len(str(v)) < 40 and not re.search(r"\d", str(v)))


def _telling(counts: Counter[Any], among: int) -> list[Any]:
    """The most frequent of what some conversations hold and others do not."""
    varied = [(n, thing) for thing, n in counts.items() if among / RARE <= n < among]
    return [thing for _, thing in sorted(varied, key=lambda pair: (-pair[0], pair[1]))[:SIZE]]
