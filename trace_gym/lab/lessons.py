"""Pretraining exercises of the toy model: routing exercises and questions about records.

The exercises teach the toy model skills that a large pretrained model already has, such as inferring the capability
that a task needs, finding a value in a record, or finding the cheapest flight. GRPO can then build on these skills. The
exercises contain no tool calls, so they do not demonstrate how an agent should act.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from trace_gym import registry
from trace_gym.lab.demos import LEVELS, TARGET, demonstration
from trace_gym.route.prompt import LETTERS, NO_SKILL, Option, compact, routing_messages, shuffled
from trace_gym.targets.tau2.airline import SKILLS, AirlineDesk, Cancel, ChangeFlights
from trace_gym.targets.tau2.needs import DESCRIPTIONS
from trace_gym.targets.tau2.records import CODES, FARES, FIRST_NAMES, FLIGHT_NUMBERS
from trace_gym.types import Message, Scenario

ENVS = {registry_name: levels for registry_name, levels in LEVELS.items() if registry_name != TARGET}
TASKS = 6
"""Number of tasks that follow one routing prompt."""
PAIRS, RECALLS, OFFERS, FLIGHTS = 12, 8, 8, 3
"""Number of questions in a lesson: about prices, about trips in a sentence, about offers, and about search results."""
KINDS = ("prices", "offers", "flights", "profiles", "owners", "lists")
"""Subjects of the questions, from simple to complex."""
QUIZ = {"role": "system", "content": "# Questions about records"}


def routing_exercises(start: int, count: int) -> Iterator[list[Message]]:
    """Yield routing prompts, each followed by several tasks and the letter of the correct option for each task.

    About 40 % of the prompts list all capabilities in alphabetical order, which is the first of the orders in which the
    router presents its options. The others list a random subset in random order, with or without examples.
    """
    seeds = registry.SPLITS["pretrain"]
    for n in range(start, start + count):
        rng = Random(f"lab/route/{n}")
        offset = 50_000_000 + 16 * n
        every = rng.random() < 0.4
        names = sorted(ENVS) if every else rng.sample(sorted(ENVS), k=rng.randint(1, len(ENVS)))
        options = [example_option(rng, name, seeds[offset + i]) for i, name in enumerate(names)] + [NO_SKILL]
        if not every and rng.random() < 0.5:
            options = [replace(option, example="") for option in options]
        options = sorted(options, key=lambda o: o.capability) if every else shuffled(options, rng)
        chat: list[Message] = []
        for turn in range(TASKS):
            opening, needs = _task(rng, seeds[offset + 4 + turn])
            fitting = [o for o in options if o.capability in needs] or [NO_SKILL]
            # Multi-step completion has priority, because an agent without it does not start the other requests.
            fitting = [o for o in fitting if o.capability == "multi_step_completion"] or fitting
            asked = (
                routing_messages(opening, options) if not chat else [{"role": "user", "content": f"Task: {opening}"}]
            )
            letter = LETTERS[options.index(rng.choice(fitting))]
            chat += [*asked, {"role": "assistant", "content": letter}]
        yield chat


def _task(rng: Random, seed: int) -> tuple[str, frozenset[str]]:
    """Return the first user message of a random task, and the capabilities that can be inferred from it."""
    env = rng.choice([*ENVS, TARGET, TARGET, TARGET, TARGET])
    desk = registry.start_episode(Scenario(env=env, level=rng.choice(LEVELS[env]), seed=seed)).start
    assert isinstance(desk, AirlineDesk)
    needs = desk.needs()
    if not needs:  # the task succeeds without the capability by chance, but requests of this kind need it
        called_for = {Cancel: "precondition_verification", ChangeFlights: "structured_data_reasoning"}
        needs = frozenset(called_for[type(r)] for r in desk.requests if type(r) in called_for)
    return desk.opening(), needs


def example_option(rng: Random, env: str, seed: int) -> Option:
    """Return a routing option: a capability, with a successful conversation that required it as an example."""
    capability = registry.load_world(env).capability
    for attempt in range(20):
        scenario = Scenario(env=env, level=rng.choice(LEVELS[env]), seed=seed + 1_000_000 * attempt)
        episode = demonstration(scenario, SKILLS)
        assert isinstance(episode.start, AirlineDesk)
        if capability in episode.start.needs():
            return Option(capability, DESCRIPTIONS[capability], compact(episode.messages))
    return Option(capability, DESCRIPTIONS[capability])


def questions(start: int, count: int, kinds: Sequence[str] = KINDS) -> Iterator[list[Message]]:
    """Yield lessons of random kinds, such as comparing prices, choosing among offers, or reading records."""
    about = {
        "prices": _about_prices, "offers": _about_offers, "flights": _about_flights, "profiles": _about_profile,
        "owners": _about_owners, "lists": _about_list,
    }  # fmt: skip
    for n in range(start, start + count):
        rng = Random(f"lab/quiz/{n}")
        yield [QUIZ, *about[rng.choice(kinds)](rng, registry.SPLITS["pretrain"][100_000_000 + FLIGHTS * n])]


def _about_prices(rng: Random, seed: int) -> list[Message]:
    """Return questions about the lower of two prices, with the answers."""
    pairs = (rng.sample(FARES, k=2) for _ in range(PAIRS))
    return [turn for a, b in pairs for turn in (_user(f"Which is lower, {a} or {b}?"), _assistant(str(min(a, b))))]


def _about_owners(rng: Random, seed: int) -> list[Message]:
    """Return questions about the trip of one of several people, with the answers."""
    chat = []
    for _ in range(RECALLS):
        count = rng.choice((2, 3, 4))
        trips = dict(zip(rng.sample(FIRST_NAMES, k=count), rng.sample(CODES, k=count), strict=True))
        told = ", ".join(f"{name} has trip {code}" for name, code in trips.items())
        asked = rng.choice(list(trips))
        chat += [_user(f"{told}. Which trip has {asked}?"), _assistant(trips[asked])]
    return chat


def _about_list(rng: Random, seed: int) -> list[Message]:
    """Return questions about the trip that follows a given trip in a list, with the answers."""
    chat = []
    for _ in range(RECALLS):
        trips = rng.sample(CODES, k=rng.choice((2, 3, 4)))
        at = rng.randrange(1, len(trips))
        listed = ", ".join(trips[:-1]) + f" and {trips[-1]}"
        chat += [_user(f"{listed}. {trips[at - 1]} is done. Which trip is next?"), _assistant(trips[at])]
    return chat


def _about_offers(rng: Random, seed: int) -> list[Message]:
    """Return questions about the cheapest of two or three flights, with the answers."""
    chat = []
    for _ in range(OFFERS):
        count = rng.choice((2, 3))
        fares = rng.sample(FARES, k=count)
        offers = dict(zip(fares, rng.sample(FLIGHT_NUMBERS, k=count), strict=True))
        told = ", ".join(f"{flight} at {fare}" for fare, flight in offers.items())
        chat += [_user(f"{told}. Which is the cheapest?"), _assistant(offers[min(fares)])]
    return chat


def _about_flights(rng: Random, seed: int) -> list[Message]:
    """Return questions about the cheapest flight in search results, with the results and the answers."""
    chat = []
    for n in range(FLIGHTS):  # new records for each question, so that repeating the previous answer is wrong
        desk = _desk(rng, "tau2_structured_data", seed + n)
        booking, swap = next(iter(desk.reservations.values())), desk.requests[0]
        assert isinstance(swap, ChangeFlights)
        found = desk.search_direct_flight(booking["origin"], booking["destination"], swap.date)
        cabin = rng.choice(("economy", "business"))
        best = min(found, key=lambda f: f["prices"][cabin])["flight_number"]
        # The question precedes the search results, as a customer's request precedes the search in an episode.
        asked = _user(f"Which flight is the cheapest in {cabin}?")
        chat += [asked, {"role": "tool", "content": json.dumps(found)}, _assistant(best)]
    return chat


def _about_profile(rng: Random, seed: int) -> list[Message]:
    desk = _desk(rng, "tau2_tool_precision", seed)
    owner = desk.users[desk.customer]
    method = rng.choice(list(owner["payment_methods"].values()))
    question = f"What is the id of the {method['source'].replace('_', ' ')}?"
    return [_user(question), {"role": "tool", "content": json.dumps(owner)}, _assistant(method["id"])]


def _desk(rng: Random, env: str, seed: int) -> AirlineDesk:
    desk = registry.start_episode(Scenario(env=env, level=rng.choice(LEVELS[env]), seed=seed)).start
    assert isinstance(desk, AirlineDesk)
    return desk


def _user(content: str) -> Message:
    return {"role": "user", "content": content}


def _assistant(content: str) -> Message:
    return {"role": "assistant", "content": content}


__all__ = ["example_option", "questions", "routing_exercises"]
