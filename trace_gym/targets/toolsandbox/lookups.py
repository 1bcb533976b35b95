"""Requests for information that the phone's search tools can find."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trace_gym.targets.constants import frozen
from trace_gym.targets.toolsandbox.expert import ASKING, Expert, Plan, RequestBlocked
from trace_gym.targets.toolsandbox.false_reports import states_amounts
from trace_gym.targets.toolsandbox.measures import distance
from trace_gym.targets.toolsandbox.message_analysis import stated
from trace_gym.targets.toolsandbox.requests import PhoneRequest
from trace_gym.world import Check

if TYPE_CHECKING:
    from trace_gym.targets.toolsandbox.assistant import Assistant

INVENTED = 100.0
"""Number that an expert without the skill `ASKING` invents if it finds none."""
NAMES_SUBJECT = re.compile(r"\b(?:of|to) [A-Z]\w+")
"""Pattern of the company or place of a number, as in ``the price of Tessaro``."""
TEMPERATURES = frozen({
    "max_temperature": "the highest temperature", "min_temperature": "the lowest temperature",
    "average_temperature": "the average temperature",
})  # fmt: skip


def on_day(days: int) -> str:
    """Return a day in words, such as ``today``, ``tomorrow`` or ``in 3 days``."""
    return ("today", "tomorrow")[days] if days < 2 else f"in {days} days"


def short(number: float) -> str:
    """Return a number as people write it, with at most two decimals."""
    return f"{number:.2f}".rstrip("0").rstrip(".")


@dataclass
class Lookup(PhoneRequest):
    """Base class of requests for a number that the user wants to know."""

    @property
    def role(self) -> str:
        """Role that distinguishes the number from others in a message; empty if it has none."""
        return ""

    def named(self, said: str) -> bool:
        """Return whether a message mentions the requested information or states any number."""
        return any(map(str.isdigit, said)) or super().named(said)

    @property
    def what(self) -> str:
        """Return the requested information as a noun phrase."""
        raise NotImplementedError

    @property
    def subjects(self) -> tuple[str, ...]:
        """Words, one of which the assistant must mention if it finds nothing."""
        return (self.what,)

    @property
    def subject(self) -> str:
        """Name of the company or place. A text message with the number must not name a different one."""
        return ""

    @property
    def wish(self) -> str:
        return f"look up {self.what}"

    def find(self, expert: Expert) -> Plan:
        """Yield the steps of an expert, and return the number, or None if it is not found."""
        raise NotImplementedError

    def value(self, start: Assistant) -> float:
        """Return the correct number according to the phone's tables."""
        raise NotImplementedError

    def rivals(self, start: Assistant) -> Iterable[float]:
        """Return the numbers that could be mistaken for the correct one."""
        raise NotImplementedError

    def answer(self, expert: Expert) -> Plan:
        """Yield the steps of an expert, and return the number, or `INVENTED` if it finds none.

        Raises:
            RequestBlocked: An expert with the skill `ASKING` finds no number.
        """
        found = yield from self.find(expert)
        if found is None and ASKING in expert.skills:
            raise RequestBlocked(f"there is nothing about {self.subjects[0]}", *self.subjects)
        return INVENTED if found is None else found

    def perform(self, expert: Expert) -> Plan:
        found = yield from self.answer(expert)
        return f"I found {self.what}: {short(found)}."

    def checks(self, now: Assistant, start: Assistant, said: list[str]) -> Iterator[Check]:
        told = stated(self.value(start), self.rivals(start), said, self.role)
        yield Check.goal(f"the user was told {self.what}", told)


@dataclass
class StockPrice(Lookup):
    """Request for the price of a stock. It requires wifi."""

    company: str = ""

    @property
    def what(self) -> str:
        return f"the stock price of {self.company}"

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.company,)

    @property
    def subject(self) -> str:
        return self.company

    def find(self, expert: Expert) -> Plan:
        found = yield from expert.do("search_stock", query=self.company)
        return found and found["price"]

    def value(self, start: Assistant) -> float:
        return float(next(s["price"] for s in start.stocks.values() if s["name"] == self.company))

    def rivals(self, start: Assistant) -> Iterable[float]:
        return [INVENTED, *(s["price"] for s in start.stocks.values())]


@dataclass
class Exchange(Lookup):
    """Request to convert a currency. It requires wifi."""

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

    def checks(self, now: Assistant, start: Assistant, said: list[str]) -> Iterator[Check]:
        wrong = states_amounts(said, {self.source: self.value(start), self.wanted: self.amount})
        for check in super().checks(now, start, said):
            yield Check.goal(check.description, check.passed and not wrong)

    def rivals(self, start: Assistant) -> Iterable[float]:
        usd = self.amount / start.rates[self.source]
        return [round(usd * rate, 2) for code, rate in start.rates.items() if code != self.source]


@dataclass
class Weather(Lookup):
    """Request for a local temperature. It requires location service and wifi."""

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
    """Request for the distance to a place. It requires location service and wifi."""

    place: str = ""

    @property
    def what(self) -> str:
        return f"how many kilometers it is from here to {self.place}"

    @property
    def subjects(self) -> tuple[str, ...]:
        return (self.place,)

    @property
    def subject(self) -> str:
        return self.place

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
    """Request for the phone's longitude. It requires location service."""

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
class TextLookup(PhoneRequest):
    """Request to text the result of a lookup to a contact. It also requires cellular service."""

    name: str = ""
    lookup: Lookup = field(default_factory=StockPrice)

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
        subject = self.lookup.subject.lower()
        fitting = [text for text in sent if subject in text.lower() or not NAMES_SUBJECT.search(text)]
        right = any(stated(value, rivals, [text], self.lookup.role) for text in fitting)
        yield Check.goal(f"the message to {self.name} holds {self.lookup.what}", right)
