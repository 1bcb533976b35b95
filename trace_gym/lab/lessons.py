"""What the embedded agent reads besides demonstrations: routing exercises and questions about records.

They give it latent skills (naming what a task needs, finding a value in a record, finding the
cheapest flight) that a large model brings along, and that GRPO can then bring out. They show no
behaviour: no tool is called in them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from random import Random

from trace_gym import registry
from trace_gym.lab.demos import LEVELS, TARGET, demonstration
from trace_gym.route.prompt import LETTERS, NO_SKILL, Option, compact, routing_messages, shuffled
from trace_gym.targets.tau2.airline import SKILLS, AirlineDesk, Cancel, Swap
from trace_gym.targets.tau2.needs import DESCRIPTIONS
from trace_gym.targets.tau2.records import FARES
from trace_gym.types import Message, Scenario

ENVS = {registry_name: levels for registry_name, levels in LEVELS.items() if registry_name != TARGET}
TASKS = 6
"""Tasks that follow one routing prompt."""
PAIRS = 12
"""Comparisons of prices in one lesson."""
QUIZ = {"role": "system", "content": "# Questions about records"}


def routing_exercises(start: int, count: int) -> Iterator[list[Message]]:
    """Routing prompts, each followed by several tasks and their letters.

    Most list all capabilities in alphabetical order, as the router's first order does; the others list some of them
    in any order, with or without examples.
    """
    seeds = registry.SPLITS["pretrain"]
    for n in range(start, start + count):
        rng = Random(f"lab/route/{n}")
        offset = 50_000_000 + 16 * n
        every = rng.random() < 0.6
        names = sorted(ENVS) if every else rng.sample(sorted(ENVS), k=rng.randint(1, len(ENVS)))
        options = [example_option(rng, name, seeds[offset + i]) for i, name in enumerate(names)] + [NO_SKILL]
        if not every and rng.random() < 0.5:
            options = [replace(option, example="") for option in options]
        options = sorted(options, key=lambda o: o.capability) if every else shuffled(options, rng)
        chat: list[Message] = []
        for turn in range(TASKS):
            opening, needs = _task(rng, seeds[offset + 4 + turn])
            fitting = [o for o in options if o.capability in needs] or [NO_SKILL]
            # Where several are needed, completing comes first: without it the other parts are not even begun.
            fitting = [o for o in fitting if o.capability == "multi_step_completion"] or fitting
            asked = (
                routing_messages(opening, options) if not chat else [{"role": "user", "content": f"Task: {opening}"}]
            )
            letter = LETTERS[options.index(rng.choice(fitting))]
            chat += [*asked, {"role": "assistant", "content": letter}]
        yield chat


def _task(rng: Random, seed: int) -> tuple[str, frozenset[str]]:
    """An opening, and the skills that it calls for as far as an opening can tell."""
    env = rng.choice([*ENVS, TARGET, TARGET, TARGET, TARGET])
    desk = registry.episode(Scenario(env=env, level=rng.choice(LEVELS[env]), seed=seed)).start
    assert isinstance(desk, AirlineDesk)
    needs = desk.needs()
    if not needs:  # the skill is called for even where the shortcut happens to be right
        called_for = {Cancel: "precondition_verification", Swap: "structured_data_reasoning"}
        needs = frozenset(called_for[type(r)] for r in desk.requests if type(r) in called_for)
    return desk.opening(), needs


def example_option(rng: Random, env: str, seed: int) -> Option:
    """A capability with one successful conversation from its environment that needed it."""
    capability = registry.load(env).capability
    for attempt in range(20):
        scenario = Scenario(env=env, level=rng.choice(LEVELS[env]), seed=seed + 1_000_000 * attempt)
        episode = demonstration(scenario, SKILLS)
        assert isinstance(episode.start, AirlineDesk)
        if capability in episode.start.needs():
            return Option(capability, DESCRIPTIONS[capability], compact(episode.messages))
    return Option(capability, DESCRIPTIONS[capability])


def questions(start: int, count: int) -> Iterator[list[Message]]:
    """A search result or a profile with questions about it, or prices to compare."""
    seeds = registry.SPLITS["pretrain"]
    for n in range(start, start + count):
        rng = Random(f"lab/quiz/{n}")
        kind = rng.choices((_about_flights, _about_prices, _about_profile), (5, 3, 1))[0]
        yield [QUIZ, *kind(rng, seeds[100_000_000 + n])]


def _about_flights(rng: Random, seed: int) -> list[Message]:
    """Which of two or three flights is the cheapest, in one cabin after the other."""
    desk = _desk(rng, "tau2_structured_data", seed)
    booking, swap = next(iter(desk.reservations.values())), desk.requests[0]
    assert isinstance(swap, Swap)
    found = desk.search_direct_flight(booking["origin"], booking["destination"], swap.date)
    asked = []
    for cabin in rng.sample(("basic_economy", "economy", "business"), k=3):
        best = min(found, key=lambda f: f["prices"][cabin])
        asked.append((f"Which flight is the cheapest in {cabin}?", best["flight_number"]))
    one, cabin = rng.choice(found), rng.choice(("economy", "business"))
    asked.insert(rng.randrange(4), (f"What does {one['flight_number']} cost in {cabin}?", str(one["prices"][cabin])))
    # The first question stands before the record, as a customer's wish stands before the look-up.
    (question, answer), *others = asked
    chat = [_user(question), {"role": "tool", "content": json.dumps(found)}, _assistant(answer)]
    return chat + [turn for q, a in others for turn in (_user(q), _assistant(a))]


def _about_prices(rng: Random, seed: int) -> list[Message]:
    """Which of two prices is the lower one: the order that the question about flights needs."""
    pairs = (rng.sample(FARES, k=2) for _ in range(PAIRS))
    return [turn for a, b in pairs for turn in (_user(f"Which is lower, {a} or {b}?"), _assistant(str(min(a, b))))]


def _about_profile(rng: Random, seed: int) -> list[Message]:
    desk = _desk(rng, "tau2_tool_precision", seed)
    owner = desk.users[desk.customer]
    method = rng.choice(list(owner["payment_methods"].values()))
    question = f"What is the id of the {method['source'].replace('_', ' ')}?"
    return [_user(question), {"role": "tool", "content": json.dumps(owner)}, _assistant(method["id"])]


def _desk(rng: Random, env: str, seed: int) -> AirlineDesk:
    desk = registry.episode(Scenario(env=env, level=rng.choice(LEVELS[env]), seed=seed)).start
    assert isinstance(desk, AirlineDesk)
    return desk


def _user(content: str) -> Message:
    return {"role": "user", "content": content}


def _assistant(content: str) -> Message:
    return {"role": "assistant", "content": content}


__all__ = ["example_option", "questions", "routing_exercises"]
