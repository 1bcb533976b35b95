"""Ask for what is missing, or say that it cannot be done, instead of making it up.

A request may lack a fact that only the user knows, name somebody whom two contacts may be, or ask
for what no tool of the phone offers. Whether it does is mostly not to be seen from its words: the
contact book has one Amara, two or none, and the search knows the company or does not. Half of the
problems lack nothing, and who asks for what is known, or declines what can be done, fails there as
who guesses does in the others. An agent that fills the gap with an invented number or the first
name on a list does something that nobody asked for. The tools and records are those of the target,
where tasks without enough information are a category of their own and any such call is a failure.

Levels:
    0. A first name that one contact has, two, or none, whose number the user knows.
    1. Companies, too, of which the search knows some.
    2. Reminders without a time and messages without words, too.
    3. Numbers that the user does not know either, forecasts beyond the last day, and what no tool can do.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from trace_gym.targets.toolsandbox.assistant import GREETINGS, SKILLS, Assistant, Request, records
from trace_gym.targets.toolsandbox.errands import chore, clock, date, person, stranger
from trace_gym.targets.toolsandbox.lookups import Price, Weather
from trace_gym.targets.toolsandbox.requests import Reach, Text
from trace_gym.targets.toolsandbox.schedule import Remind
from trace_gym.world import Call, Random, Say

OPENINGS = (
    "Please {wish}.",
    "Could you {wish}?",
    "I want you to {wish}.",
    "Good day, please {wish}.",
)
KINDS = (  # per level: what is asked for
    ("person",),
    ("person", "person", "person", "person", "person", "stock"),
    ("person", "person", "time", "content", "stock"),
    ("person", "person", "person", "time", "content", "weather", "reach"),
)
WAYS = ("call", "email", "video call")


@dataclass(kw_only=True)
class ToolsandboxInsufficientInformation(Assistant):
    """Ask for what is missing, or say that it cannot be done, instead of making it up."""

    id = "toolsandbox_insufficient_information"
    capability = "insufficient_information"
    levels = range(4)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        return cls.sought(rng, level, needed=rng.random() < 0.5)

    @classmethod
    def drawn(cls, rng: Random, level: int) -> Self:
        """A problem in which something is missing, or nothing."""
        world = cls(**records.phone(rng))
        request = world.request(rng, rng.choice(KINDS[level]), level)
        world.requests = [request]
        world.wording = rng.choice(OPENINGS).format(wish=request.wish)
        world.greeting = rng.choice(GREETINGS) if rng.random() < 0.25 else ""
        return world

    def request(self, rng: Random, kind: str, level: int) -> Request:
        """Something to be done for which a fact, or a tool, may be missing."""
        withheld = rng.random() < 0.5
        match kind:
            case "person":
                return self.text(rng, known=level < 3 or rng.random() < 0.5)
            case "time":
                return Remind(chore(rng, self), clock(rng, on=date(self, rng.randint(2, 40))), withheld)
            case "stock":
                return Price(rng.choice(list(records.COMPANIES)))
            case "weather":
                return Weather(rng.randrange(1, 7), "max_temperature")
            case "reach" if withheld:
                return Reach(person(rng, self), rng.choice(WAYS))
        name = person(rng, self)
        return Text(name, rng.choice(records.TEXTS), withheld and kind == "content", meant=name)

    def text(self, rng: Random, known: bool) -> Text:
        """A message to a first name that one contact has, or two, or none, whose number the user may know."""
        name = person(rng, self).split()[0]
        bearers = [c for c in self.contacts.values() if c["name"].split()[0] == name]
        match rng.randrange(3):
            case 0:
                twin = rng.choice([c for c in self.contacts.values() if not c["is_self"] and c not in bearers])
                twin["name"] = f"{name} {twin['name'].split()[1]}"
                bearers.append(twin)
            case 1:
                name = stranger(rng, self)
                number = records.number(rng) if known else ""
                return Text(name, rng.choice(records.TEXTS), meant=name, number=number)
        return Text(name, rng.choice(records.TEXTS), meant=rng.choice(bearers)["name"])

    def oracle(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS)

    def ablated(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS - {self.capability})
