"""TG4, fourth part: a scripted user who neither loops nor contradicts himself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import permutations
from typing import Any

from trace_gym.episode import Episode
from trace_gym.types import Say, Scenario
from trace_gym.validate.attempts import spread, writes
from trace_gym.validate.context import Context
from trace_gym.validate.draws import Values, plain
from trace_gym.validate.properties import Held, prop
from trace_gym.validate.robustness import CHATTER
from trace_gym.world import World

MOST = 24
"""Scenarios that are tried, evenly spread over the sample."""
QUESTIONS = (
    "What is your user id?",
    "Which reservation, order or record is it? What is its number?",
    "What is the reason?",
    "How do you want to pay?",
    "What is your name?",
)
REPLIES = 5
"""Different answers to one message, said again and again, from a user who never hangs up."""
ENDS = "print(episode.done, episode.truncated, episode.messages[-1])"


@prop(
    "TG406",
    statement="The user answers alike in the same state, tells one value for one question, and hangs up when served.",
    reason="A user who talks at random or for ever makes the reward depend on luck, and the episodes endless.",
    mend="Let `reply` depend on the state and the message alone, and return None once the user is served or refused.",
)
def user_neither_loops_nor_contradicts(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Held:
    chosen = spread(scenarios, MOST)
    asked = facts = 0
    longest = 1
    for scenario in chosen:
        served = context.expert(scenario, "oracle")
        if served.finish().success and served.truncated:
            says = "the oracle has served the user, who is still on the line"
            raise context.broken(scenario, says, context.plan(scenario, "oracle"), ENDS)
        for said, state in _states(context, scenario):
            for text in (*QUESTIONS, *CHATTER):
                asked += 1
                _same_answer(context, scenario, said, state, text)
            facts += _same_facts(context, scenario, said, state)
        for text in (*QUESTIONS, *CHATTER):
            longest = max(longest, _bounded(context, scenario, text))
    says = f"{asked} messages were answered alike twice, {facts} facts told twice were the same, served users hang up"
    return Held(f"{says}; one message gets {longest} different answers at most", {"asked": asked, "facts": facts})


def _states(context: Context, scenario: Scenario) -> Iterator[tuple[list[Any], World]]:
    """The state at the start and before the oracle's first write, each with the steps that lead there."""
    plan = context.plan(scenario, "oracle")
    first = next((n for n, step in enumerate(plan) if writes(step, context.interface)), 0)
    for steps in ([], plan[:first]) if first else ([],):
        with context.blame(scenario, steps):
            episode = Episode(context.world, scenario)
            for step in steps:
                episode.step(step)
            if not episode.done:
                yield steps, episode.world


def _same_answer(context: Context, scenario: Scenario, said: Sequence[Any], state: World, text: str) -> None:
    one, other = state.copy(), state.copy()
    with context.blame(scenario, [*said, Say(text)]):
        answers = one.reply(text), other.reply(text)
    if answers[0] != answers[1] or plain(one) != plain(other):
        told = f"{answers[0]!r} and {answers[1]!r}"
        says = f"in one and the same state {text!r} is answered differently: {told}"
        tail = f"print(*(episode.world.copy().reply({text!r}) for _ in range(2)), sep='\\n')"
        raise context.broken(scenario, says, said, tail)


def _same_facts(context: Context, scenario: Scenario, said: Sequence[Any], state: World) -> int:
    """Ask one question, then another, then the first again; returns how many facts were told twice."""
    known = frozenset(w for w in Values.of(state).strings if re.fullmatch(_WORD, w))
    told = 0
    for one, other in permutations(QUESTIONS, 2):
        talk = [Say(text) for text in (one, other, one)]
        world = state.copy()
        with context.blame(scenario, [*said, *talk]):
            first, _, again = (world.reply(step.text) for step in talk)
        if first is None or again is None:
            continue
        (frame, facts), (framed, later) = _facts(first, known), _facts(again, known)
        if frame == framed and facts != later:
            pairs = [f"{a} and then {b}" for a, b in zip(facts, later, strict=True) if a != b]
            says = f"{one!r} is answered with {', '.join(pairs)}"
            raise context.broken(scenario, says, [*said, *talk], "print(episode.messages)")
        told += len(facts) if frame == framed else 0
    return told


_WORD = r"\w(?:[\w@.#+:/-]*\w)?"


@lru_cache(maxsize=64)  # few answers to many questions, and each may be long
def _facts(text: str, known: frozenset[str]) -> tuple[str, list[str]]:
    """A sentence without its facts, and these: words of the state, and words of three letters or more with a digit."""
    facts = [w for w in re.findall(_WORD, text) if w in known or (len(w) > 2 and re.search(r"\d", w))]
    return re.sub(_WORD, lambda m: "#" if m[0] in facts else m[0], text), facts


def _bounded(context: Context, scenario: Scenario, text: str) -> int:
    """Say one thing again and again; returns how many different answers it gets."""
    turns = context.world.max_turns + REPLIES
    world = context.begin(scenario).world
    answers: set[str] = set()
    with context.blame(scenario, [Say(text)] * turns):
        for _ in range(turns):
            if (answer := world.reply(text)) is None or world.ended:
                return len(answers)
            answers.add(answer)
    if len(answers) > REPLIES:
        says = f"{text!r}, said {turns} times, gets {len(answers)} different answers, and the user does not hang up"
        tail = f"for _ in range({turns}):\n    print(episode.world.reply({text!r}))"
        raise context.broken(scenario, says, tail=tail)
    return len(answers)
