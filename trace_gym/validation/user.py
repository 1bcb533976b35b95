"""Property TG406: the simulated user is consistent and ends the conversation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import permutations
from typing import Any

from trace_gym.episode import Episode
from trace_gym.types import Say, Scenario
from trace_gym.validation.context import Context
from trace_gym.validation.expert_plans import evenly_spaced, is_write
from trace_gym.validation.properties import Passed, property_check
from trace_gym.validation.random_calls import StateValues, to_plain_data
from trace_gym.validation.robustness import CHATTER
from trace_gym.world import World

MOST = 24
"""Maximum number of scenarios, evenly spaced over the sample."""
QUESTIONS = (
    "What is your user id?",
    "Which reservation, order or record is it? What is its number?",
    "What is the reason?",
    "How do you want to pay?",
    "What is your name?",
)
REPLIES = 5
"""Maximum number of different answers to a repeated message, if the user does not end the conversation."""
ENDS = "print(episode.done, episode.truncated, episode.messages[-1])"


@property_check(
    "TG406",
    statement="In one state, the simulated user answers the same message identically, states one value for each "
    "question, and ends the conversation after success.",
    reason="A user with random or endless answers makes the reward depend on chance and the episodes never end.",
    fix="Let `reply` depend only on the state and the message, and return None after the request was fulfilled or "
    "refused.",
)
def user_is_consistent(world: type[World], scenarios: Sequence[Scenario], context: Context) -> Passed:
    chosen = evenly_spaced(scenarios, MOST)
    count = facts = 0
    longest = 1
    for scenario in chosen:
        served = context.expert(scenario, "oracle")
        if served.finish().success and served.truncated:
            message = "the oracle has fulfilled the request, but the user does not end the conversation"
            raise context.failure(scenario, message, context.plan(scenario, "oracle"), ENDS)
        for steps, state in _states(context, scenario):
            for text in (*QUESTIONS, *CHATTER):
                count += 1
                _same_answer(context, scenario, steps, state, text)
            facts += _same_facts(context, scenario, steps, state)
        for text in (*QUESTIONS, *CHATTER):
            longest = max(longest, _count_replies(context, scenario, text))
    message = (
        f"{count} repeated messages got identical answers, {facts} repeated facts were equal, and users "
        f"end the conversation after success"
    )
    return Passed(f"{message}; one message gets {longest} different answers at most", {"asked": count, "facts": facts})


def _states(context: Context, scenario: Scenario) -> Iterator[tuple[list[Any], World]]:
    """Yield the initial state and the state before the oracle's first write, each with the steps up to that state."""
    plan = context.plan(scenario, "oracle")
    first = next((n for n, step in enumerate(plan) if is_write(step, context.interface)), 0)
    for steps in ([], plan[:first]) if first else ([],):
        with context.catch_failures(scenario, steps):
            episode = Episode(context.world, scenario)
            for step in steps:
                episode.step(step)
            if not episode.done:
                yield steps, episode.world


def _same_answer(context: Context, scenario: Scenario, steps: Sequence[Any], state: World, text: str) -> None:
    one, other = state.copy(), state.copy()
    with context.catch_failures(scenario, [*steps, Say(text)]):
        answers = one.reply(text), other.reply(text)
    if answers[0] != answers[1] or to_plain_data(one) != to_plain_data(other):
        same_facts = f"{answers[0]!r} and {answers[1]!r}"
        message = f"in the same state, {text!r} gets different answers: {same_facts}"
        tail = f"print(*(episode.world.copy().reply({text!r}) for _ in range(2)), sep='\\n')"
        raise context.failure(scenario, message, steps, tail)


def _same_facts(context: Context, scenario: Scenario, steps: Sequence[Any], state: World) -> int:
    """Ask the user two questions and then the first one again, and compare the facts in both answers to it.

    Return the number of facts that the user stated identically in both answers to the first question.
    """
    known = frozenset(w for w in StateValues.of(state).strings if re.fullmatch(_WORD, w))
    same_facts = 0
    for one, other in permutations(QUESTIONS, 2):
        talk = [Say(text) for text in (one, other, one)]
        world = state.copy()
        with context.catch_failures(scenario, [*steps, *talk]):
            first, _, again = (world.reply(step.text) for step in talk)
        if first is None or again is None:
            continue
        (frame, facts), (framed, later) = _facts(first, known), _facts(again, known)
        if frame == framed and facts != later:
            pairs = [f"{a} and then {b}" for a, b in zip(facts, later, strict=True) if a != b]
            message = f"{one!r} gets contradictory answers: {', '.join(pairs)}"
            raise context.failure(scenario, message, [*steps, *talk], "print(episode.messages)")
        same_facts += len(facts) if frame == framed else 0
    return same_facts


_WORD = r"\w(?:[\w@.#+:/-]*\w)?"


@lru_cache(maxsize=64)  # there are few distinct answers, and each may be long
def _facts(text: str, known: frozenset[str]) -> tuple[str, list[str]]:
    """Return a text with its facts masked, and the list of facts.

    Facts are words that are values in the state, and words of at least three characters with a digit.
    """
    facts = [w for w in re.findall(_WORD, text) if w in known or (len(w) > 2 and re.search(r"\d", w))]
    return re.sub(_WORD, lambda m: "#" if m[0] in facts else m[0], text), facts


def _count_replies(context: Context, scenario: Scenario, text: str) -> int:
    """Repeat one message and return the number of different answers."""
    turns = context.world.max_turns + REPLIES
    world = context.begin(scenario).world
    answers: set[str] = set()
    with context.catch_failures(scenario, [Say(text)] * turns):
        for _ in range(turns):
            if (answer := world.reply(text)) is None or world.ended:
                return len(answers)
            answers.add(answer)
    if len(answers) > REPLIES:
        message = (
            f"{text!r}, said {turns} times, gets {len(answers)} different answers, and the user does not end "
            f"the conversation"
        )
        tail = f"for _ in range({turns}):\n    print(episode.world.reply({text!r}))"
        raise context.failure(scenario, message, tail=tail)
    return len(answers)
