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
from trace_gym.episode import Episode
from trace_gym.lab.demos import LEVELS, TARGET, demonstration
from trace_gym.route.prompt import LETTERS, NO_SKILL, Option, compact, routing_messages, shuffled
from trace_gym.targets.tau2.airline import SKILLS, AirlineDesk, Cancel, Swap
from trace_gym.targets.tau2.needs import DESCRIPTIONS
from trace_gym.types import Message, Scenario

ENVS = {registry_name: levels for registry_name, levels in LEVELS.items() if registry_name != TARGET}
TASKS = 6
"""Tasks that follow one routing prompt."""
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
    """A search result or a profile, and one question about it."""
    seeds = registry.SPLITS["pretrain"]
    for n in range(start, start + count):
        rng = Random(f"lab/quiz/{n}")
        env = rng.choice(("tau2_structured_data",) * 7 + ("tau2_tool_precision",))
        episode = registry.episode(Scenario(env=env, level=rng.choice(LEVELS[env]), seed=seeds[100_000_000 + n]))
        yield _about_flights(rng, episode) if env == "tau2_structured_data" else _about_profile(rng, episode)


def _about_flights(rng: Random, episode: Episode) -> list[Message]:
    desk = episode.start
    assert isinstance(desk, AirlineDesk)
    booking = next(iter(desk.reservations.values()))
    date = rng.choice([d for f in desk.flights.values() for d in f["dates"]])
    found = desk.search_direct_flight(booking["origin"], booking["destination"], date)
    cabin = rng.choice(("economy", "business"))
    if rng.random() < 0.85:
        question = f"Which flight is the cheapest in {cabin}?"
        answer = min(found, key=lambda f: f["prices"][cabin])["flight_number"]
    else:
        asked = rng.choice(found)
        question = f"What does {asked['flight_number']} cost in {cabin}?"
        answer = str(asked["prices"][cabin])
    return _answered(question, found, answer)


def _about_profile(rng: Random, episode: Episode) -> list[Message]:
    desk = episode.start
    assert isinstance(desk, AirlineDesk)
    owner = desk.users[desk.customer]
    method = rng.choice(list(owner["payment_methods"].values()))
    question = f"What is the id of the {method['source'].replace('_', ' ')}?"
    return _answered(question, owner, method["id"])


def _answered(question: str, record: object, answer: str) -> list[Message]:
    # The question stands before the record, as a customer's wish stands before the look-up.
    return [
        QUIZ,
        {"role": "user", "content": question},
        {"role": "tool", "content": json.dumps(record)},
        {"role": "assistant", "content": answer},
    ]


__all__ = ["example_option", "questions", "routing_exercises"]
