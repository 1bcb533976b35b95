# Written by llm:claude for trace-gym from spec tau2_numerical_payment_reasoning (sha256 57631459).
"""Work out what a change costs and charge the card that fits.

The customer wants more bags or another cabin on a trip, and the sum decides about the card: the
gift card if enough stays on it, otherwise the credit card. The shortcut is to take the number at
hand, which is the price of every added bag or the price difference for one traveler. It is tempting
because it is right for a trip of one traveler and for a trip whose free bags are used up, and
because the tool accepts either card. An agent that takes it names a wrong total, enters a wrong
number of paid bags or charges the wrong card. The gift card always covers the charge, so no error
of the tool shows which card is right. The target asks for the same sums over travelers, free bags
and balances, so the habit of computing them from the records carries over.

Levels:
    0. Small numbers: at most two travelers, no bags on the trip yet unless the free ones are used up, one flight
       for a cabin change, and balances far from the limit.
    1. Three or four travelers, bags that are already on the trip and take up a part of the free ones, and every
       membership and cabin.
    2. A cabin change covers two flights, out and back, each with its own prices, and paid bags may be on the trip
       already.
    3. Up to five travelers, and the gift card is left with exactly the sum asked for, or just misses it, so that one
       bag or one traveler more or less would change the choice.
"""

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from trace_gym.statements import normalize
from trace_gym.targets.tau2 import policy, records
from trace_gym.targets.tau2.airline import AirlineDesk
from trace_gym.targets.tau2.requests import wrong_fares
from trace_gym.world import Call, Check, Random, Say, asserted

FAMILIES = ("part free",) * 18 + ("group",) * 10 + ("used up",) * 6 + ("single",) * 6
PEOPLE = ((1, 2), (3, 4), (3, 4), (2, 3, 4, 5))
GAPS = (range(100, 200), range(10, 90), range(10, 90), (0,) * 8 + tuple(range(1, 9)))
AMOUNT = re.compile(r"(?:\$|\busd)[\s*]*\d|\d[\s*]*(?:\$|usd\b|dollars?\b)")
CARD = "my gift card if at least {floor} dollars stay on it afterwards, otherwise my credit card."
TERMS = (
    "Before you change anything, tell me what it comes to in all. Then take my gift card if at least {floor} dollars "
    "stay on it afterwards, otherwise my credit card."
)
ASKS = ("What does it come to in all?", "Please tell me first what it comes to in all.")
AGREES = ("Yes, that is fine. Please go ahead as I asked.", "Yes, please go ahead as I asked.")
COSTS = ("charge", "difference", "fare", "fee")
OPENINGS = (
    "I am {user}. I want {wish} for reservation {code}. {terms}",
    "Hello, my customer id is {user}. Please arrange {wish} for my trip {code}. {terms}",
    "My trip {code} needs a change: {wish}. {terms} My id is {user}.",
    "I would like {wish}. It is about reservation {code}, and I am {user}. {terms}",
)


@dataclass(kw_only=True)
class Tau2NumericalPaymentReasoning(AirlineDesk):
    """Work out what a change costs and charge the card that fits."""

    id = "tau2_numerical_payment_reasoning"
    capability = "numerical_payment_reasoning"
    levels = range(4)
    questions: ClassVar[Mapping[str, re.Pattern[str]]] = {
        **AirlineDesk.questions,
        "wish": re.compile(r"\b(?:bags?|baggages?|luggage|suitcases?|cabin|class|what change|how many)\b"),
        "records": re.compile(r"\b(?:membership|member|status|tier|balances?|travell?ers?|passengers|people)\b"),
    }

    trip: str = ""
    wish: str = ""
    extra: int = 0  # bags to add; none where the cabin is raised
    to_cabin: str = ""
    floor: int = 0  # dollars that must stay on the gift card
    before: str = ""  # the reservation as it was, to see whether it has been changed
    heard: list[str] = field(default_factory=list)
    """What the agent said before the change."""

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        family = rng.choice(FAMILIES)
        raised = family in ("group", "single")
        sizes = (1,) if family == "single" else [n for n in PEOPLE[level] if n > 1 or family != "group"]
        every = itertools.product(records.MEMBERSHIPS, records.CABINS[: 2 if raised else 3], sizes, (2, 3, 4))
        fits = [c for c in every if family != "part free" or 0 < policy.free_bags(*c[:3]) < c[3] + 99 * level]
        # One free bag for each traveler is what an agent guesses, so it is drawn less often.
        usual = [policy.free_bags(*c[:3]) == c[2] for c in fits]
        member, cabin, people, extra = rng.choices(fits, [1 if u else 4 for u in usual])[0]
        free = policy.free_bags(member, cabin, people)
        bags = free + (rng.randrange(3) if level > 1 else 0)
        if family == "part free":
            bags = free - rng.randrange(1, min(extra, free)) if level else 0
        kinds = ("credit_card", "gift_card", "certificate")[: rng.randint(2, 3)]
        owner = records.user(rng, member, tuple(rng.sample(kinds, k=len(kinds))))
        cards = {m["source"]: m for m in owner["payment_methods"].values()}
        ids = [cards["credit_card"]["id"], cards["gift_card"]["id"]]
        here, there = rng.sample(list(records.AIRPORTS), k=2)
        out = rng.randrange(2, 8)
        ways = [(here, there, records.day(out)), (there, here, records.day(out + rng.randrange(1, 6)))]
        both = level > 1 if raised else rng.random() < 0.5
        numbers = rng.sample(records.FLIGHT_NUMBERS, k=6)
        flights: dict[str, Any] = {}
        route: list[Any] = []
        for origin, destination, on in ways[: 2 if both else 1]:
            hours = rng.sample(range(6, 19), k=rng.randint(1, 3))
            plans = [records.flight(rng, numbers.pop(), origin, destination, hour) for hour in hours]
            for plan in plans:
                plan["dates"][on] = records.available(rng)
                flights[plan["flight_number"]] = plan
            route.append((rng.choice(plans), on))
        code = rng.choice(records.CODES)
        booking = records.reservation(
            rng, code, owner, route, cabin=cabin, insured=rng.random() < 0.5, travellers=people,
            created=f"{records.day(-rng.randrange(2, 14))}T{rng.choice(records.CLOCK)}", paid_with=rng.choice(ids),
        )  # fmt: skip
        booking["total_baggages"], booking["nonfree_baggages"] = bags, max(0, bags - free)
        booking["payment_history"][0]["amount"] += policy.BAG_PRICE * booking["nonfree_baggages"]
        for plan, on in route:  # seats cost more now than when they were paid for
            rise = rng.randrange(30)
            plan["dates"][on]["prices"] = {c: price + rise for c, price in plan["dates"][on]["prices"].items()}
        to_cabin = rng.choice(records.CABINS[records.CABINS.index(cabin) + 1 :]) if raised else ""
        wish = f"the {to_cabin} cabin on the same flights" if raised else f"{extra} more checked bags"
        desk = cls(
            users={owner["user_id"]: owner}, reservations={code: booking}, flights=flights, customer=owner["user_id"],
            trip=code, wish=wish, extra=0 if raised else extra, to_cabin=to_cabin, before=str(booking),
        )  # fmt: skip
        for _ in range(rng.randint(1, 3)):
            desk.book(rng, rng.choice(records.CABINS), travellers=rng.randint(1, 4), paid_with=rng.choice(ids))
        owner["reservations"] = rng.sample(owner["reservations"], k=len(owner["reservations"]))
        unit, count, _ = desk.deed()
        gap = rng.choice(GAPS[level])
        over = rng.choice((gap, -1 - gap))
        totals = {unit * k for k in range(1, 13)}  # neither the balance nor what stays may look like a total
        desk.floor = rng.choice([f for f in range(400, 1000) if not totals & {f, f + over, f + over + unit * count}])
        cards["gift_card"]["amount"] = desk.floor + over + unit * count
        terms = TERMS.format(floor=desk.floor)
        desk.wording = rng.choice(OPENINGS).format(user="{user}", wish=wish, code=code, terms=terms)
        return desk

    def reply(self, text: str) -> str | None:
        if str(self.reservations[self.trip]) == self.before:
            self.heard.append(text)
        return super().reply(text)

    def tells(self, topic: str) -> str:
        match topic:
            case "wish":
                return f"I want {self.wish}."
            case "reservation":
                return f"It is {self.trip}."
            case "payment":
                return f"Please take {CARD.format(floor=self.floor)}"
            case "records":
                return "You can look that up; it is on file."
        return super().tells(topic)

    def agrees(self, text: str) -> str:
        priced = any(map(AMOUNT.search, map(str.lower, self.heard)))
        return self.varied(AGREES if priced else ASKS)

    def priced(self, heard: list[str]) -> bool:
        """Return whether messages state the right total and no other one."""
        unit, count, _ = self.deed()  # the price of a single bag may be named beside the total
        others = {unit * k for k in range(2 if self.extra else 1, 13)} - {unit * count}
        if self.extra > count:  # what the bags would cost if none was free, and the discount, may be told as well
            heard = [self.without_discount(normalize(text), unit, count) for text in heard]
        told = any(asserted(unit * count, others, heard, role) for role in COSTS)
        return told and asserted(unit * count, others, heard)

    def without_discount(self, text: str, unit: int, count: int) -> str:
        """Return a message without the price of all bags and the discount for the free ones."""
        gross, free, each = str(unit * self.extra), str(unit * (self.extra - count)), str(unit)
        text = re.sub(
            r"\b(?:normally|usually|regularly|would|instead of|regular|full|list|without)\b[^.;!?\n]{0,30}?"
            rf"\$ ?{re.escape(gross)}\b",
            " ",
            text,
        )
        text = re.sub(
            rf"(?:x|\*|times|at) \$ ?{re.escape(each)}(?: each)? ?=\s?\$ ?{re.escape(gross)}\b",
            " ",
            text,
        )
        text = re.sub(rf"\$ ?{re.escape(gross)}(?= ?(?:minus|less|-))", " ", text)
        text = re.sub(rf"\bsub-?total: ?\$ ?{re.escape(gross)}\b", " ", text)
        return re.sub(rf"(?:[-=] ?-|minus|less|: ?-) ?\$ ?{re.escape(free)}\b", " ", text)

    def deed(self, skilled: bool = True) -> tuple[int, int, dict[str, Any]]:
        """Return the price of one bag or traveler, how many are counted, and the arguments of the write."""
        booking, owner = self.reservations[self.trip], self.users[self.customer]
        people, route = len(booking["passengers"]), booking["flights"]
        if self.extra:
            free = policy.free_bags(owner["membership"], booking["cabin"], people)
            bags, paid = booking["total_baggages"] + self.extra, booking["nonfree_baggages"]
            unit, count = policy.BAG_PRICE, max(0, bags - free - paid) if skilled else self.extra
            change: dict[str, Any] = {"total_baggages": bags, "nonfree_baggages": paid + count}
        else:
            now = [self.flights[f["flight_number"]]["dates"][f["date"]]["prices"][self.to_cabin] for f in route]
            unit, count = sum(now) - sum(f["price"] for f in route), people if skilled else 1
            change = {"cabin": self.to_cabin, "flights": [{k: f[k] for k in ("flight_number", "date")} for f in route]}
        cards = {m["source"]: m for m in owner["payment_methods"].values()}
        source = "gift_card" if cards["gift_card"]["amount"] - unit * count >= self.floor else "credit_card"
        return unit, count, {"reservation_id": self.trip, **change, "payment_id": cards[source]["id"]}

    def expert(self, skilled: bool) -> Iterator[Call | Say]:
        yield Call("get_user_details", {"user_id": self.customer})
        yield Call("get_reservation_details", {"reservation_id": self.trip})
        for leg in self.reservations[self.trip]["flights"] if self.to_cabin else ():
            yield Call("search_direct_flight", {k: leg[k] for k in ("origin", "destination", "date")})
        unit, count, change = self.deed(skilled)
        offer = f"{self.wish} for {self.trip} comes to {unit * count} dollars, charged to {change['payment_id']}"
        yield Say(f"To confirm: {offer}. Shall I go ahead?")
        yield Call("update_reservation_baggages" if self.extra else "update_reservation_flights", change)
        yield Say("All done.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        unit, count, gold = start.deed()
        want = start.copy()
        if start.extra:
            want.update_reservation_baggages(**gold)
        else:
            want.update_reservation_flights(**gold)
        booking, old, wanted = (w.reservations[start.trip] for w in (self, start, want))
        moved = all(booking[k] == wanted[k] for k in ("total_baggages", "cabin", "flights"))
        new = booking["payment_history"][len(old["payment_history"]) :]
        counted = moved and booking["nonfree_baggages"] == wanted["nonfree_baggages"]
        charged = counted and sum(p["amount"] for p in new) == unit * count
        yield Check.goal("the trip carries what was asked for", moved)
        told = moved and start.priced(self.heard) and not wrong_fares(start, want, said, [start.trip])
        yield Check.goal("the customer was told the right total before the change", told)
        yield Check.goal("the right amount was charged", charged)
        fits = charged and all(p["payment_id"] == gold["payment_id"] for p in new)
        yield Check.goal("the charge is on the right card", fits)
        kept = all(booking[k] == old[k] for k in old if old[k] == wanted[k])
        yield Check.guard("nothing else about the trip was changed", kept)
        now, then = (list(w.users[start.customer]["payment_methods"]) for w in (self, start))
        yield Check.guard("no payment method was added to the profile or taken from it", now == then)
        yield from self.untouched(start, start.trip, start.customer)

    def oracle(self) -> Iterator[Call | Say]:
        return self.expert(True)

    def ablated(self) -> Iterator[Call | Say]:
        return self.expert(False)

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability} if self.deed()[1] != self.deed(skilled=False)[1] else ())
