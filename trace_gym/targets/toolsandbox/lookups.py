"""Requests for something that the phone's searches know, and what may be done with the answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trace_gym.targets.constants import frozen
from trace_gym.targets.toolsandbox.expert import ASKING, Expert, Plan, Stuck
from trace_gym.targets.toolsandbox.hearing import stated
from trace_gym.targets.toolsandbox.measures import distance
from trace_gym.targets.toolsandbox.requests import Request
from trace_gym.world import Check

if TYPE_CHECKING:
    from trace_gym.targets.toolsandbox.assistant import Assistant

INVENTED = 100.0
"""The number that an expert makes up who does not say that there is none."""
TEMPERATURES = frozen({
    "max_temperature": "the highest temperature", "min_temperature": "the lowest temperature",
    "average_temperature": "the average temperature",
})  # fmt: skip


def on_day(days: int) -> str:
    """``today``, ``tomorrow`` or ``in 3 days``."""
    return ("today", "tomorrow")[days] if days < 2 else f"in {days} days"


def short(number: float) -> str:
    """Return a number as people write it, with at most two decimals."""
    return f"{number:.2f}".rstrip("0").rstrip(".")


@dataclass
class Lookup(Request):
    """A number that the user wants to know."""

    @property
    def role(self) -> str:
        """The role of the number among others that may be told with it; empty where it has none."""
        return ""

    def named(self, said: str) -> bool:
        """Return whether a message mentions what is looked up, or tells a number."""
        return any(map(str.isdigit, said)) or super().named(said)

    @property
    def what(self) -> str:
        """Return the requested information as a noun phrase."""
        raise NotImplementedError

    @property
    def subjects(self) -> tuple[str, ...]:
        """Words of which the user must hear one when nothing is found."""
        return (self.what,)

    @property
    def wish(self) -> str:
        return f"look up {self.what}"

    def find(self, expert: Expert) -> Plan:
        """Return the steps of an expert, which come to the number, or to None where there is none."""
        raise NotImplementedError

    def value(self, start: Assistant) -> float:
        """Return the number as the phone's tables have it."""
        raise NotImplementedError

    def rivals(self, start: Assistant) -> Iterable[float]:
        """Numbers that might be taken for it."""
        raise NotImplementedError

    def answer(self, expert: Expert) -> Plan:
        """Return the number; an expert who does not own up to not knowing makes one up.

        Raises:
            Stuck: There is none.
        """
        found = yield from self.find(expert)
        if found is None and ASKING in expert.skills:
            raise Stuck(f"there is nothing about {self.subjects[0]}", *self.subjects)
        return INVENTED if found is None else found

    def perform(self, expert: Expert) -> Plan:
        found = yield from self.answer(expert)
        return f"I found {self.what}: {short(found)}."

    def checks(self, now: Assistant, start: Assistant, said: list[str]) -> Iterator[Check]:
        told = stated(self.value(start), self.rivals(start), said, self.role)
        yield Check.goal(f"the user was told {self.what}", told)


@dataclass
class Price(Lookup):
    """The price of a stock; needs wifi."""

    company: str = ""

    @property
    def what(self) -> str:
        return f"the stock price of {self.company}"

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.company,)

    def find(self, expert: Expert) -> Plan:
        found = yield from expert.do("search_stock", query=self.company)
        return found and found["price"]

    def value(self, start: Assistant) -> float:
        return float(next(s["price"] for s in start.stocks.values() if s["name"] == self.company))

    def rivals(self, start: Assistant) -> Iterable[float]:
        return [INVENTED, *(s["price"] for s in start.stocks.values())]


@dataclass
class Exchange(Lookup):
    """An amount in another currency; needs wifi."""

    amount: int = 100
    source: str = "USD"
    wanted: str = "EUR"

    @property
    def what(self) -> str:
        return f"what {self.amount} {self.source} are in {self.wanted}"

    def find(self, expert: Expert) -> Plan:
        codes = {"from_currency_code": self.source, "to_currency_code": self.wanted}
        return (yield from expert.do("convert_currency", amount=self.amount, **codes))

    def value(self, start: Assistant) -> float:
        return round(self.amount / start.rates[self.source] * start.rates[self.wanted], 2)

    def rivals(self, start: Assistant) -> Iterable[float]:
        usd = self.amount / start.rates[self.source]
        return [round(usd * rate, 2) for code, rate in start.rates.items() if code != self.source]


@dataclass
class Weather(Lookup):
    """A temperature where the phone is; needs location service and wifi."""

    days: int = 0
    kind: str = "max_temperature"

    @property
    def role(self) -> str:
        return TEMPERATURES[self.kind].split()[1]

    @property
    def what(self) -> str:
        return f"{TEMPERATURES[self.kind]} here {on_day(self.days)}"

    @property
    def subjects(self) -> tuple[str, ...]:
        return ("temperature", "forecast", "weather")

    def find(self, expert: Expert) -> Plan:
        found = yield from expert.do("search_weather_around_lat_lon", days=self.days)
        return found and found[self.kind]

    def value(self, start: Assistant) -> float:
        return float(start.weather_here()[self.days][self.kind])

    def rivals(self, start: Assistant) -> Iterable[float]:
        return [t for day in start.weather_here() for name, t in day.items() if name.endswith("temperature")]


@dataclass
class Distance(Lookup):
    """The way from the phone to a place; needs location service and wifi."""

    place: str = ""

    @property
    def what(self) -> str:
        return f"how many kilometers it is from here to {self.place}"

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.place,)

    def find(self, expert: Expert) -> Plan:
        found = yield from expert.do("search_location_around_lat_lon", location=self.place)
        if not found:
            return None
        here = yield from expert.do("get_current_location")
        there = {"latitude_1": found[0]["latitude"], "longitude_1": found[0]["longitude"]}
        ends = {"latitude_0": here["latitude"], "longitude_0": here["longitude"], **there}
        return (yield from expert.do("calculate_lat_lon_distance", **ends))

    def value(self, start: Assistant) -> float:
        return next(self._ways(start, self.place))

    def rivals(self, start: Assistant) -> Iterable[float]:
        return self._ways(start)

    @staticmethod
    def _ways(start: Assistant, name: str = "") -> Iterator[float]:
        for place in start.places:
            if name in ("", place["name"]):
                yield distance(start.latitude, start.longitude, place["latitude"], place["longitude"])


@dataclass
class Position(Lookup):
    """Request for the phone's longitude, which requires the location service."""

    @property
    def role(self) -> str:
        return "longitude"

    @property
    def what(self) -> str:
        return "the longitude of this phone"

    def find(self, expert: Expert) -> Plan:
        found = yield from expert.do("get_current_location")
        return found["longitude"]

    def value(self, start: Assistant) -> float:
        return start.longitude

    def rivals(self, start: Assistant) -> Iterable[float]:
        return [start.latitude]


@dataclass
class Report(Request):
    """Send a person what a look-up finds; needs cellular service besides."""

    name: str = ""
    lookup: Lookup = field(default_factory=Price)

    @property
    def wish(self) -> str:
        return f"text {self.name} {self.lookup.what}"

    def perform(self, expert: Expert) -> Plan:
        found = yield from self.lookup.answer(expert)
        person = (yield from expert.do("search_contacts", name=self.name))[0]
        content = f"{self.lookup.what} is {short(found)}"
        number = person["phone_number"]
        yield from expert.do("send_message_with_phone_number", phone_number=number, content=content)
        return f"I sent {self.name} the answer."

    def checks(self, now: Assistant, start: Assistant, said: list[str]) -> Iterator[Check]:
        number = next(c["phone_number"] for c in start.contacts.values() if c["name"] == self.name)
        sent = [m["content"] for m in now.sent(start) if m["recipient_phone_number"] == number]
        yield Check.goal(f"a message went to {self.name}", bool(sent))
        value, rivals = self.lookup.value(start), list(self.lookup.rivals(start))
        right = any(stated(value, rivals, [text], self.lookup.role) for text in sent)
        yield Check.goal(f"the message to {self.name} holds {self.lookup.what}", right)
