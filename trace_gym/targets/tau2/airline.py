"""Base world of the tau2 airline domain: tools, answers of the scripted customer, and rules."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from trace_gym.targets.constants import filled, frozen
from trace_gym.targets.dialogue import Act
from trace_gym.targets.dialogue.refusals import claims_all
from trace_gym.targets.tau2 import policy, records
from trace_gym.targets.tau2.concessions import concedes, gives_away
from trace_gym.targets.tau2.consent import names_other_flights, names_other_method
from trace_gym.targets.tau2.desk import PRECONDITION, SKILLS, Desk
from trace_gym.targets.tau2.prices import wrong_fares
from trace_gym.targets.tau2.profile import pays
from trace_gym.targets.tau2.requests import Bags, Cancel, ChangeFlights, PaidReservationChange, Request, Upgrade
from trace_gym.targets.tau2.tools import AirlineTools
from trace_gym.targets.users.phrases import BEYOND
from trace_gym.world import Call, Check, Event, Random, Say

__all__ = ["SKILLS", "AirlineDesk", "Bags", "Cancel", "Request", "ChangeFlights", "Upgrade", "records"]

REASONS = frozen(
    {
        "change of plans": "My plans have changed.",
        "health": "I am ill.",
        "weather": "The weather is too bad.",
        "airline": "The airline cancelled the flight.",
    }
)


_cabin = re.compile(r"\b(?:cabin|class)\b")
_date = re.compile(r"\b(?:dates?|days?|(?:original|same|other|new|different|another) (?:flights?|trip))\b")
_flights = re.compile(
    r"\b(?:original|same|booked|current|existing) flights?\b.* or |\bor\b.*\b(?:original|same) flights?\b"
)
_others = re.compile(
    r"\b(?:now|current\w*|at the moment|booked|flights?|ways?|directions?|account|price|cost|difference|amount|"
    r"total|person|paid)\b"
)
_ways = re.compile(
    r"\b(?:(?:only|just) (?:for |on )?(?:the )?(?:outbound|return|way out|one way|first leg|one leg)|"
    r"(?:outbound|return|one) "
    r"(?:(?:flight|leg|way) )?only|both (?:ways|legs|directions)(?=.*\b(?:only|just|one way)\b))\b"
)
_flight = re.compile(r"\b(?:outbound|return|onward|first) flight|\bflights? (?:from|out|there|back)\b|\bflies\b")
_entire = re.compile(r"\b(?:cancel|drop|call off|upgrade|bags?|business|economy)\b")
"""Pattern of words in a request that concerns a trip as a whole."""
_party = re.compile(
    r"\b(?:both|all|everyone|everybody|each|whole|entire|only|just|alone)\b.*\b(?:travell?ers?|passengers?|people|persons?|"
    r"of you|yourself)\b|\b(?:travell?ers?|passengers?|people)\b.*\b(?:both|all|everyone|everybody|only|just|alone)\b|"
    r"\b(?:do|does|will|are|is|should) (?:both of (?:them|you)|all of (?:them|you)|everyone|"
    r"everybody)\b.*\b(?:move|fly|travel|go|come|coming)\b"
)
"""Pattern of a question that asks whether a request concerns all travelers."""
_details = re.compile(r"\b(?:detail|changed|behind|more|exactly|happened)\b")
"""Pattern of a question that asks for more details than the stated reason."""


@dataclass(kw_only=True)
class AirlineDesk(Desk[Request], AirlineTools):
    """Base world of every tau2 airline environment.

    In `wording`, the template of the customer's first message, ``{user}`` is replaced by the customer's id.
    """

    checks_seats: ClassVar[bool] = False
    """Whether consent to a change does not count after the agent has tried to book sold-out seats."""
    questions: ClassVar[Mapping[str, re.Pattern[str]]] = frozen(
        {
            "user_id": re.compile(
                r"\b(?:user|customer|profile|account|member(?:ship)?|passenger)(?:'s)?[ -]?(?:id|number|name)\b|"
                r"\bids? (?:on|of) (?:your|the) "
                r"(?:profile|account)\b|\bwho (?:am i|i am|i'm|you are|are you|is asking|'s asking)\b|\bidentif|"
                r"\byour id\b|\b(?:customer|user) (?:profile|account)\b|\bwhich profile\b|\bwho i(?:'m| am|"
                r" have)\b|\b(?:speaking|talking) (?:with|to)\b|"
                r"\blog-?in (?:id|"
                r"name)\b|\bwho(?:se)? (?:the |this )?(?:account|profile)\b|"
                r"\b(?:account|profile) holder\b|"
                r"\byourself\b|"
                r"\byour (?:full )?names?\b|\be-?mail\b|\bcustomer\b.{0,20}\b(?:registered|known)\b|\bverify you\b|"
                r"\b(?:customer|user) ids?\b|^ids?\?|\b(?:last|first|full) name\b|\bthe id\b.{0,30}\bregistered\b"
            ),
            "reason": re.compile(
                r"\b(?:reasons?|cause|why|what (?:has |have )?(?:made|caused)|what makes|what happened|"
                r"what(?:'s)? changed|"
                r"what has changed|purpose|behind|motiv\w+|"
                r"what led|prompt(?:s|ed|ing)|what brings)\b|"
                r"\bhow come\b|\b(?:is|was) it (?:\w+ ){0,3}(?:health|illness|weather)\b|\b(?:health|illness|"
                r"weather)\b.*\?"
            ),
            "reservation": re.compile(
                r"\b(?:reservations?|bookings?|trips?|confirmation|record locator)(?:'s)? ?(?:ids?|numbers?|codes?|#|"
                r"references?|locator)\b|"
                r"\bwhich (?:of your |one of your |of the )?(?:reservations?|bookings?|trips?|"
                r"flights?)\b(?! number)|\b(?:which|"
                r"what) (?:booking|trip) "
                r"(?:is|do|would|should)\b|\b(?:number|code|id|reference)s? of (?:the|your|this|that) (?:\w+ )?"
                r"(?:reservation|booking|trip)\b|\bthe (?:reservation|booking|trip) (?:that )?you(?:'d|"
                r" would) like\b|"
                r"\bsix[- ](?:character|digit|letter)|\bconfirmation (?:code|number|mail)\b|"
                r"\b(?:reservation|booking|trip)\b.{0,40}\b(?:talking about|mean|meant|this about|concern)"
            ),
            "personal": re.compile(
                r"\b(?:zip|postal code|phone number|reach you|date of birth|birthday|passport|address)\b"
            ),
            "payment": re.compile(
                r"\b(?:payments?|pays?|paying|charge[ds]?|cards?|methods?|bill(?:ed)?|certificate|refund(?:ed)? (?:to|"
                r"go)|money|"
                r"settle[ds]?)\b|\bwhere (?:do|should|would).{0,30}\b(?:refund|difference)|\bwhich account do\b"
            ),
        }
    )
    guarded: ClassVar[Mapping[str, str]] = frozen({"reservations": "reservation", "users": "profile"})

    def opening(self) -> str:
        return filled(self.wording, user=self.customer)

    def tells(self, topic: str) -> str:
        match topic:
            case "user_id":
                return f"My customer id is {self.customer}."
            case "reservation":
                named = [key for key in self.reservations if key in self.opening()]
                return f"It is {' and '.join(named)}." if named else ""
            case "reason":
                reasons = dict.fromkeys(REASONS[r.reason] for r in self.requests if isinstance(r, Cancel))
                return " ".join(reasons)
            case "payment":
                return pays([(r.record, r.named) for r in self.requests if isinstance(r, PaidReservationChange)])
        return ""

    def answer_on(self, topic: str, asked: str) -> str:
        """Return the answer on a topic. If trips are cancelled for different reasons, name the trip of each reason."""
        cancels = [r for r in self.requests if isinstance(r, Cancel)]
        if topic != "reason" or len({r.reason for r in cancels}) < 2:
            return super().answer_on(topic, asked)
        meant = [r for r in cancels if r.reservation.lower() in asked.lower()]
        if len(meant) == 1:
            return REASONS[meant[0].reason]
        return " ".join(f"{r.reservation}: {REASONS[r.reason]}" for r in cancels)

    def beyond(self, kind: str, asked: str) -> str:
        """Return the answer to a question that matches no known topic.

        If the customer wants an upgrade, the answer contains the cabin, and states that the flights stay the same.
        """
        upgrade = next((r for r in self.requests if isinstance(r, Upgrade)), None)
        if upgrade is not None and kind in ("fact", "preference", "wish") and _cabin.search(asked.lower()):
            return f"I want {upgrade.cabin}."
        if kind in ("polar", "either", "both", "meaning", "wish") and _party.search(asked.lower()):
            return self.varied(BEYOND["party"])
        if upgrade is not None and kind in ("fact", "preference", "either", "wish") and _date.search(asked.lower()):
            return "On the same flights as booked."
        return super().beyond(kind, asked)

    def _informs(self, text: str, heard: Sequence[Act], proposed: bool) -> str:
        said = super()._informs(text, heard, proposed)
        asked = " ".join(act.text.lower() for act in heard if act.kind in ("request", "choice"))
        again = said in REASONS.values() and said in self.opening() and _details.search(asked)
        return f"{said} I would rather not say more about it." if again else said

    def recalls(self, text: str, asked: str, kind: str, choice: bool) -> str:
        """Return the answer to a question that the customer's first message already answers.

        For an upgrade, the customer states the cabin and adds that the flights stay the same.
        """
        if choice and _party.search(asked.lower()) and not _others.search(asked.lower()):
            return self.varied(BEYOND["party"])
        way = choice and _ways.search(text.lower()) and not _flight.search(self.opening())
        if way and _entire.search(self.opening()):
            return self.varied(BEYOND["entire"])
        upgrades = [r for r in self.requests if isinstance(r, Upgrade)]
        cabin = _cabin.search(asked.lower()) and not _others.search(asked.lower())
        if cabin and len(upgrades) == 1 and kind in ("fact", "preference", "wish", "either"):
            return f"I want {upgrades[0].cabin}."
        kept = _flights.search(asked.lower()) and bool(upgrades)
        return "On the same flights as booked." if kept else super().recalls(text, asked, kind, choice)

    def book(
        self, rng: Random, cabin: str, *, code: str = "", number: str = "", created: str = "", insured: bool = False,
        travellers: int = 1, paid_with: str | None = None,
    ) -> str:  # fmt: skip
        """Add a reservation of the customer on a new direct flight that can still be booked, and return its id.

        If they are not given, the reservation code and the flight number are random unused ones, and the booking date
        is a random date in the past two weeks.
        """
        code = code or rng.choice([c for c in records.CODES if c not in self.reservations])
        number = number or rng.choice([n for n in records.FLIGHT_NUMBERS if n not in self.flights])
        origin, destination = rng.sample(list(records.AIRPORTS), k=2)
        plan = self.flights[number] = records.flight(rng, number, origin, destination, rng.randrange(6, 19))
        on = records.day(rng.randrange(2, 14))
        plan["dates"][on] = records.available(rng)
        created = created or f"{records.day(-rng.randrange(2, 14))}T{rng.choice(records.CLOCK)}"
        self.reservations[code] = records.reservation(
            rng, code, self.users[self.customer], [(plan, on)], cabin=cabin, created=created, insured=insured,
            travellers=travellers, paid_with=paid_with,
        )  # fmt: skip
        return code

    def _agreed(self, start: Self, before: Sequence[Event], write: Call | Say) -> bool:
        if not super()._agreed(start, before, write):
            return False
        if self.checks_seats and any(event.refused and "seats left" in event.answer for event in before):
            return False
        booked = start.reservations.get(str(write.arguments.get("reservation_id"))) if isinstance(write, Call) else None
        kept = {leg["flight_number"] for leg in booked["flights"]} if booked else set()
        methods = start.users[start.customer]["payment_methods"]
        return isinstance(write, Say) or not (
            names_other_flights(write, kept, before) or names_other_method(write, methods, before)
        )

    def broken(self, write: Call) -> list[str]:
        """Return the rules that a write call would break, considering the customer's reason for a cancellation."""
        booking = write.arguments.get("reservation_id")
        reasons = (r.reason for r in self.requests if isinstance(r, Cancel) and r.reservation == booking)
        return policy.violations(self, write.tool, write.arguments, next(reasons, "change of plans"))

    def refused(self, record: str, said: list[str], grounds: bool = False) -> bool:
        """Return whether the agent refused to change this record and promised nothing instead; see `concedes`."""
        alone = {r.record for r in self.requests} <= {record}
        served = any(r.verdict(self).allowed for r in self.requests if r.record == record)
        if concedes(record, said, {*self.reservations, record}, alone=alone, refundable=served):
            return False
        return super().refused(record, said, grounds)

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from super().verify(start, said)
        yield Check.guard("nothing was given away", start.certificate_due() is not None or not gives_away(said))

    def misstates_amounts(self, start: Self, said: list[str], changed: Collection[str]) -> bool:
        return wrong_fares(start, self, said, [code for code in changed if code in start.reservations])

    def promises_gift(self, said: list[str]) -> bool:
        """Return whether messages promise a gift, such as a certificate or a change free of charge.

        Use this method in environments with a custom `verify` method in which no request leads to a free change.
        """
        return gives_away(said, changes=True)

    def claims_all_cancelled(self, said: list[str]) -> bool:
        """Return whether messages state that both or all trips were cancelled."""
        return claims_all(said)

    def begins(self, skills: frozenset[str]) -> Iterator[Call | Say]:
        if "reason" in self.withheld and PRECONDITION in skills:
            yield Say("What is the reason for the cancellation?")
