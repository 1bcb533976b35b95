"""Ask for missing information, or refuse an impossible request, instead of inventing facts.

A request may lack a fact that only the user knows, give a name that two contacts have, or ask for
something that no tool of the phone supports. Usually, the wording does not reveal this: two
contacts, one contact or no contact may have the name, and the search may or may not know the
company. Half of the requests are complete. In these scenarios, an agent that asks for a known fact
or refuses a possible request fails; in the others, an agent that guesses fails. An agent that
invents a number, or takes the first contact of a list, does something that the user did not
request. The tools and records are those of the target, where tasks with insufficient information
are a separate category and every call that needs the missing information is a failure.

Levels:
    0. A first name that one contact, two contacts or no contact has. In the last case, the user knows the
       number.
    1. Also companies, only some of which the search knows.
    2. Also reminders without a time, and messages without a text.
    3. Numbers that the user does not know either, forecasts after the last available day, and requests that no
       tool supports.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from trace_gym.targets.toolsandbox.assistant import GREETINGS, SKILLS, Assistant, PhoneRequest, records
from trace_gym.targets.toolsandbox.lookups import StockPrice, Weather
from trace_gym.targets.toolsandbox.random_requests import date, person, random_time, reminder_text, stranger
from trace_gym.targets.toolsandbox.requests import Text, UnsupportedContact
from trace_gym.targets.toolsandbox.schedule import Remind
from trace_gym.world import Call, Random, Say

OPENINGS = (
    "Please {wish}.",
    "Could you {wish}?",
    "I want you to {wish}.",
    "Good day, please {wish}.",
)
KINDS = (  # per level: kinds of requests
    ("person",),
    ("person", "person", "person", "person", "person", "stock"),
    ("person", "person", "time", "content", "stock"),
    ("person", "person", "person", "time", "content", "weather", "reach"),
)
WAYS = ("call", "email", "video call")


@dataclass(kw_only=True)
class ToolsandboxInsufficientInformation(Assistant):
    """Ask for missing information, or refuse an impossible request, instead of inventing facts."""

    id = "toolsandbox_insufficient_information"
    capability = "insufficient_information"
    levels = range(4)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        return cls.sample_with_need(rng, level, needed=rng.random() < 0.5)

    @classmethod
    def sample(cls, rng: Random, level: int) -> Self:
        """Return a random scenario in which information is missing or not."""
        world = cls(**records.phone(rng))
        request = world.request(rng, rng.choice(KINDS[level]), level)
        world.requests = [request]
        world.wording = rng.choice(OPENINGS).format(wish=request.wish)
        world.greeting = rng.choice(GREETINGS) if rng.random() < 0.25 else ""
        return world

    def request(self, rng: Random, kind: str, level: int) -> PhoneRequest:
        """Return a request for which a fact or a tool may be missing."""
        withheld = rng.random() < 0.5
        match kind:
            case "person":
                return self.text(rng, known=level < 3 or rng.random() < 0.5)
            case "time":
                return Remind(reminder_text(rng, self), random_time(rng, on=date(self, rng.randint(2, 40))), withheld)
            case "stock":
                return StockPrice(rng.choice(list(records.COMPANIES)))
            case "weather":
                return Weather(rng.randrange(1, 7), "max_temperature")
            case "reach" if withheld:
                return UnsupportedContact(person(rng, self), rng.choice(WAYS))
        name = person(rng, self)
        return Text(name, rng.choice(records.TEXTS), withheld and kind == "content", meant=name)

    def text(self, rng: Random, known: bool) -> Text:
        """Return a request to text a first name that one contact, two contacts or no contact has."""
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
