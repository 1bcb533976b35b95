"""Random requests of each kind about the data on a phone."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from trace_gym.targets.constants import frozen
from trace_gym.targets.toolsandbox import records
from trace_gym.targets.toolsandbox.calendar import moment
from trace_gym.targets.toolsandbox.lookups import (
    TEMPERATURES,
    Distance,
    Exchange,
    Lookup,
    Position,
    StockPrice,
    TextLookup,
    Weather,
)
from trace_gym.targets.toolsandbox.requests import NewNumber, PhoneRequest, Text
from trace_gym.targets.toolsandbox.schedule import Remind, When

if TYPE_CHECKING:
    from trace_gym.targets.toolsandbox.assistant import Assistant

NEEDED = frozen(
    {
        "text": ("cellular",),
        "price": ("wifi",),
        "exchange": ("wifi",),
        "position": ("location_service",),
        "weather": ("location_service", "wifi"),
        "distance": ("location_service", "wifi"),
        "report": ("wifi", "cellular"),
        "remind": (),
        "number": (),
    }
)
"""Services that each kind of request requires."""


def random_request(rng: Random, phone: Assistant, kind: str) -> PhoneRequest:
    """Return a random request of a kind that the phone can fulfill when its services are on."""
    if kind == "text":
        name = person(rng, phone)
        return Text(name, rng.choice(records.TEXTS), meant=name)
    if kind == "report":
        return TextLookup(person(rng, phone), lookup(rng, phone, rng.choice(("price", "exchange"))))
    if kind == "number":
        return NewNumber(person(rng, phone), records.number(rng))
    if kind == "remind":
        return Remind(reminder_text(rng, phone), random_time(rng, on=date(phone, rng.randint(2, 60))))
    return lookup(rng, phone, kind)


def lookup(rng: Random, phone: Assistant, kind: str) -> Lookup:
    """Return a random lookup of a kind that the phone's tables can answer."""
    match kind:
        case "price":
            return StockPrice(rng.choice([s["name"] for s in phone.stocks.values()]))
        case "exchange":
            source, wanted = rng.sample(list(phone.rates), k=2)
            digits = len(str(int(phone.rates[source])))  # so much that no two currencies come to nearly the same
            return Exchange(rng.randrange(20, 900, 10) * 10 ** (digits - 1), source, wanted)
        case "weather":
            return Weather(rng.randrange(4), rng.choice(list(TEMPERATURES)))
        case "distance":
            return Distance(rng.choice(phone.places)["name"])
    return Position()


def person(rng: Random, phone: Assistant) -> str:
    """Return the name of a random contact other than the user."""
    return str(rng.choice([c["name"] for c in phone.contacts.values() if not c["is_self"]]))


def stranger(rng: Random, phone: Assistant) -> str:
    """Return a random first name that no contact has."""
    known = {c["name"].split()[0] for c in phone.contacts.values()}
    return rng.choice([n for n in records.FIRST_NAMES if n not in known])


def reminder_text(rng: Random, phone: Assistant) -> str:
    """Return a random reminder text that is not on the phone yet."""
    known = {r["content"] for r in phone.reminders.values()}
    return rng.choice([c for c in records.CHORES if c not in known])


def random_time(rng: Random, **day: int | str) -> When:
    """Return a random time on a day that is given by arguments of `When`."""
    return When(rng.randint(7, 21), rng.choice((0, 15, 30, 45)), **day)  # type: ignore[arg-type]


def date(phone: Assistant, days: int) -> str:
    """Return the ISO date that is this number of days after today."""
    return moment(phone.now + days * records.DAY).date().isoformat()
