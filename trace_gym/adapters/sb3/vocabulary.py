"""Vocabulary of an environment's conversations: the words, field values and call counts that a menu must support.

A menu has a fixed size, so it must be known in advance which words, field values and dates occur in conversations, and
how many calls of each tool are possible. They are collected from episodes of training seeds, in which an exploring
policy calls the read tools. Only messages and tools are used, not the state of the world.
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
from trace_gym.adapters.sb3.arguments import CHOICES
from trace_gym.adapters.sb3.offers import Offers
from trace_gym.adapters.sb3.plan import ToolPlan
from trace_gym.adapters.sb3.results import fields_of, tokens
from trace_gym.policies.exploits import EXPLOITS
from trace_gym.policies.seen import reads, writes
from trace_gym.types import Message, Scenario

SCENARIOS = 48
"""Number of conversations from which a vocabulary is collected."""
SIZE = 32
"""Maximum number of words, and of facts."""
RARE = 12
"""Words and facts are omitted if they occur in fewer than ``1 / RARE`` of the conversations."""
THINGS = 4
"""Maximum number of refusals. Each refusal is about one item that the user named with an id-like word."""

_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?")


@dataclass(frozen=True)
class Vocabulary:
    """The words, field values and call counts of an environment's conversations. Each tuple has a fixed order."""

    words: tuple[str, ...]
    """Alphabetic words that users say in some conversations, but not in all."""
    facts: tuple[tuple[str, str], ...]
    """Pairs of a field and a value without digits that occur in some conversations, but not in all."""
    times: tuple[str, ...]
    """Fields that contain dates."""
    fields: tuple[str, ...]
    """Fields for which the agent can state a value. Their values vary, and the user did not mention the values."""
    calls: tuple[int, ...]
    """For each tool, the maximum number of possible calls in a conversation, from 1 to `CHOICES`."""
    things: int
    """Maximum number of id-like words that a user named in a conversation, up to `THINGS`."""


def learn(scenarios: Iterable[Scenario]) -> Vocabulary:
    """Run the exploring policy in each scenario and return the vocabulary of the conversations.

    Raises:
        EnvBug: An environment failed.
    """
    words, facts, unknown = Counter[str](), Counter[tuple[str, str]](), set[str]()
    values: dict[str, set[str]] = {}
    calls, things, count = Counter[int](), 0, 0
    for scenario in scenarios:
        messages, tools = _exploration(scenario)
        shown, offers, count = latest(messages), Offers(ToolPlan(tools)), count + 1
        offers.read(messages)
        words.update({w.lower() for w in offers.user_words if w.isalpha()})
        facts.update(set(_facts(shown)))
        for field, found in shown.items():
            values.setdefault(field, set()).update(map(str, found))
            unknown.update({field} if not tokens(str(found[-1])) <= tokens(" ".join(offers.user_words)) else ())
        moving = [*reads(tools), *writes(tools)]  # for other tools, such as transfer and think, one call is sufficient
        calls |= Counter({n: min(offers.count(n), CHOICES if t in moving else 1) for n, t in enumerate(tools)})
        things = max(things, len(offers.things))
    return Vocabulary(
        words=tuple(_statement_pattern(words, count)),
        facts=tuple(_statement_pattern(facts, count)),
        times=tuple(sorted(f for f, found in values.items() if found and all(map(_TIME.fullmatch, found)))),
        fields=tuple(sorted(f for f in unknown if f and len(values[f]) > 1)),
        calls=tuple(max(1, calls[n]) for n in range(len(tools))),
        things=min(things, THINGS),
    )


@cache
def vocabulary(name: str, level: int | None = None) -> Vocabulary:
    """Return the vocabulary of an environment or mixture, for one level or all levels; cached per process."""
    return learn(registry.scenarios(name, "train", SCENARIOS, levels=None if level is None else [level]))


def latest(messages: Sequence[Message]) -> dict[str, list[Any]]:
    """Return a mapping from each field to its values in the latest tool result that contains the field."""
    found: dict[str, list[Any]] = {}
    for message in messages:
        if message["role"] == "tool":
            found.update(fields_of(str(message["content"] or "")))
    return found


def when(value: str, now: datetime) -> int | None:
    """Return the index of the interval that contains a time, or None if the value is not a time.

    The intervals are: a day or more before now (0), less than a day before (1), less than a day after (2), later (3).
    """
    if not _TIME.fullmatch(value):
        return None
    days = (datetime.fromisoformat(value) - now).total_seconds() / 86400
    return 0 if days <= -1 else 1 if days <= 0 else 2 if days < 1 else 3


@lru_cache(maxsize=64)
def now_in(instructions: str) -> datetime | None:
    """Return the first date or time in the instructions, which is the current time of the scenario; None if missing."""
    named = _TIME.search(instructions)
    return datetime.fromisoformat(named[0]) if named else None


def _exploration(scenario: Scenario) -> tuple[list[Message], tuple[Message, ...]]:
    """Run the exploring policy, which calls read tools, and return the messages and tools of the episode."""
    episode = registry.start_episode(scenario)
    while not episode.done:
        episode.step(EXPLOITS["read"].act(episode))
    return episode.messages, episode.tools


def _facts(shown: Mapping[str, Sequence[Any]]) -> Iterator[tuple[str, str]]:
    """Yield pairs of a field and a value, for values under 40 characters without digits."""
    for field, values in shown.items():
        yield from ((field, str(v)) for v in values if field and len(str(v)) < 40 and not re.search(r"\d", str(v)))


def _statement_pattern(counts: Counter[Any], among: int) -> list[Any]:
    """Return the `SIZE` most frequent items that occur in some, but not all, of the conversations."""
    varied = [(n, thing) for thing, n in counts.items() if among / RARE <= n < among]
    return [thing for _, thing in sorted(varied, key=lambda pair: (-pair[0], pair[1]))[:SIZE]]
