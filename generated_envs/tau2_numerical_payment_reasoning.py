# Written by llm:claude for trace-gym from spec tau2_numerical_payment_reasoning (sha256 57631459).
"""Work out what a change costs and charge the card that fits.

The customer wants more bags or another cabin on a trip and lets the sum decide the card: the gift
card if enough stays on it, otherwise the credit card. An agent without the capability takes the
number that lies at hand, the price of every added bag or the difference for one traveller, and
names a wrong total, enters wrong paid bags or charges the wrong card. The shortcut is tempting
because it is right for a trip of one traveller and for a trip whose free bags are used up, and
because the tool accepts either card. The gift card always covers the charge itself, so no error of
the tool reveals the right choice and only the sum does. The target asks for the same sums over
travellers, free bags and balances, so the habit of counting them from the records carries over.

Levels:
    0. Small numbers: at most two travellers, no bags on the trip yet unless the free ones are used up, one flight
       for a cabin change, and balances far from the limit.
    1. Three or four travellers, bags that are already on the trip take up a part of the free ones, and every
       membership and cabin occurs.
    2. A cabin change covers two flights, out and back, each with its own prices, and paid bags may be on the trip
       already.
    3. Up to five travellers, and the gift card is left with exactly the sum asked for or just misses it, so that one
       bag or one traveller more or less would turn the choice.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from trace_gym.targets.tau2 import policy, records
from trace_gym.targets.tau2.airline import AirlineDesk
from trace_gym.world import Call, Check, Random, Say, asserted

BAG = 50
PATIENCE = 6
FAMILIES, WEIGHTS = ("bags_part_free", "cabin_group", "plain"), (35, 30, 35)
PARTIES = ((1, 2), (3, 4), (3, 4), (3, 4, 5))
RAISES = (("basic_economy", "economy"), ("basic_economy", "business"), ("economy", "business"))
OPENINGS = (
    "I am {user}. {wish} {condition} {ask}",
    "Hello, my customer id is {user}. {wish} {ask} {condition}",
    "{wish} My id is {user}. {condition} {ask}",
    "{wish} {ask} {condition} You find me under {user}.",
)
BAG_WISHES = (
    "Please add {added} more checked bags to reservation {code}.",
    "I want to check in {added} more bags on my trip {code}.",
    "For {code} we need {added} checked bags more than it has now.",
)
CABIN_WISHES = (
    "Please move reservation {code} to {cabin} on the same flights.",
    "I want {cabin} for my trip {code}, with the flights as they are.",
    "For {code} we would like to fly in {cabin}, on the same flights.",
)
CONDITION = "Take my gift card if at least {stay} dollars stay on it afterwards, otherwise my credit card."
ASKS = (
    "First tell me the one sum that the change comes to in all.",
    "Before you do it, name me just the one sum that it comes to in all.",
    "I want to hear first what it comes to in all, as one sum.",
)
ASK = "What does the change come to in all? Just the one sum, please."
DETAILS = "I am {user} and it is about reservation {code}. {condition} "
FINE = "That is fine. Please go ahead as I asked."
GO = "Please go ahead as I asked."
OPEN_FOR_BAGS = ("total_baggages", "nonfree_baggages", "payment_history")
OPEN_FOR_CABIN = ("cabin", "flights", "payment_history")


@dataclass
class Shape:
    """What the named trip is like, and what is asked for: added bags, or else a wanted cabin."""

    member: str
    cabin: str
    people: int
    carried: int
    paid: int
    added: int = 0
    wanted: str = ""


def bag_shape(rng: Random, level: int, plain: bool) -> Shape:
    """Added bags are spread alike in both families, so that their number tells nothing."""
    most = 20 if level else 3
    cases = [
        (m, c, n)
        for m in records.MEMBERSHIPS
        for c in records.CABINS
        for n in PARTIES[level]
        if policy.free_bags(m, c, n) <= most and (plain or policy.free_bags(m, c, n) > 0)
    ]
    member, cabin, people = rng.choice(cases)
    free = policy.free_bags(member, cabin, people)
    if plain:
        before = rng.randrange(3) if level > 1 else 0
        added = rng.randint(1, 3) + rng.randint(1, 3)
        return Shape(member, cabin, people, carried=free + before, paid=before, added=added)
    unused = rng.randint(1, min(3, free - 1)) if level else free
    added = unused + rng.randint(2 if level == 3 else 1, 3)
    return Shape(member, cabin, people, carried=free - unused, paid=0, added=added)


def cabin_shape(rng: Random, level: int, plain: bool) -> Shape:
    cabin, wanted = rng.choice(RAISES)
    member = rng.choice(records.MEMBERSHIPS)
    people = 1 if plain else rng.choice([n for n in PARTIES[level] if n > 1])
    free = policy.free_bags(member, cabin, people)
    paid = rng.randrange(3) if level > 1 else 0
    carried = free + paid if paid else rng.randint(0, free) if level else 0
    return Shape(member, cabin, people, carried=carried, paid=paid, wanted=wanted)


def flown_legs(
    rng: Random, flights: dict[str, Any], numbers: list[str], ends: list[str], there_and_back: bool, most: int
) -> list[tuple[dict[str, Any], str]]:
    """Legs with one to `most` direct flights on each route and day, of which any may be the one booked."""
    out = rng.randrange(2, 9)
    days = [out, out + rng.randrange(2, 7)] if there_and_back else [out]
    legs = []
    for turn, offset in enumerate(days):
        origin, destination = (ends[1], ends[0]) if turn else (ends[0], ends[1])
        on = records.day(offset)
        plans = []
        for _ in range(rng.randint(1, most)):
            plan = records.flight(rng, numbers.pop(), origin, destination, rng.randrange(6, 19))
            plan["dates"][on] = records.available(rng)
            flights[plan["flight_number"]] = plan
            plans.append(plan)
        legs.append((rng.choice(plans), on))
    return legs


def price_now(flights: dict[str, Any], leg: dict[str, Any], cabin: str) -> int:
    return int(flights[leg["flight_number"]]["dates"][leg["date"]]["prices"][cabin])


def settle(booking: dict[str, Any], carried: int, paid: int) -> None:
    """Put bags on a new booking and let its payment agree with its prices."""
    booking["total_baggages"], booking["nonfree_baggages"] = carried, paid
    seat = sum(f["price"] for f in booking["flights"]) + (30 if booking["insurance"] == "yes" else 0)
    booking["payment_history"][0]["amount"] = seat * len(booking["passengers"]) + BAG * paid


def method_of(owner: dict[str, Any], source: str) -> str:
    return next(key for key, m in owner["payment_methods"].items() if m["source"] == source)


def bill(
    booking: dict[str, Any], owner: dict[str, Any], flights: dict[str, Any], added: int, wanted: str, careful: bool
) -> tuple[int, int]:
    """The total and the paid bags after the change; without care the number at hand is taken."""
    people, paid = len(booking["passengers"]), booking["nonfree_baggages"]
    if added:
        free = policy.free_bags(owner["membership"], booking["cabin"], people)
        after = max(paid, booking["total_baggages"] + added - free) if careful else paid + added
        return BAG * (after - paid), after
    each = sum(price_now(flights, leg, wanted) - leg["price"] for leg in booking["flights"])
    return each * (people if careful else 1), paid


def competing(booking: dict[str, Any], flights: dict[str, Any], added: int, wanted: str) -> set[int]:
    """Totals that other ways of counting lead to, the right one among them."""
    if added:  # the price of one bag may be named beside the total
        return {BAG * n for n in range(2, added + 3)}
    new = [price_now(flights, leg, wanted) for leg in booking["flights"]]
    old = [leg["price"] for leg in booking["flights"]]
    rises = [n - o for n, o in zip(new, old, strict=True)]
    shown = {*new, *old, *rises, *(r * len(booking["passengers"]) for r in rises)}
    return {sum(rises)} | ({sum(rises) * n for n in range(2, 7)} - shown)


def margin(rng: Random, level: int, fits: bool, bags: bool) -> int:
    """What stays on the gift card beyond the sum asked for; steps are such that no remainder gives it away."""
    if level == 3:
        return 0 if fits else -BAG if bags else -rng.choice((7, 14, 21))
    far = rng.randrange(10, 100, 10) if level else rng.randrange(60, 210, 10)
    return far if fits else -far


def legs_of(booking: dict[str, Any]) -> list[tuple[str, str]]:
    return [(f["flight_number"], f["date"]) for f in booking["flights"]]


@dataclass(kw_only=True)
class Tau2NumericalPaymentReasoning(AirlineDesk):
    """Work out what a change costs and charge the card that fits."""

    id = "tau2_numerical_payment_reasoning"
    capability = "numerical_payment_reasoning"
    levels = range(4)
    named_trip: str = ""
    added_bags: int = 0
    wanted_cabin: str = ""
    must_stay: int = 0
    trip_before: str = ""
    messages_heard: int = 0
    sum_named: bool = False
    words_heard: str = ""

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        family = rng.choices(FAMILIES, weights=WEIGHTS)[0]
        plain = family == "plain"
        bags = rng.random() < 0.5 if plain else family == "bags_part_free"
        shape = bag_shape(rng, level, plain) if bags else cabin_shape(rng, level, plain)
        kinds = ["credit_card", "gift_card"] + ["certificate"] * rng.randrange(2)
        rng.shuffle(kinds)
        owner = records.user(rng, shape.member, tuple(kinds))
        gift, credit = method_of(owner, "gift_card"), method_of(owner, "credit_card")

        count = rng.randint(2, 4)
        place = rng.randrange(count)
        codes = rng.sample(records.CODES, k=count)
        ends = rng.sample(list(records.AIRPORTS), k=2 * count)
        numbers = rng.sample(records.FLIGHT_NUMBERS, k=40)
        flights: dict[str, Any] = {}
        bookings: dict[str, Any] = {}
        for at, code in enumerate(codes):
            mine = at == place
            back = rng.random() < 0.5
            if mine and (level == 0 or (not bags and level < 3)):
                back = level == 2
            cabin = shape.cabin if mine else rng.choice(records.CABINS)
            people = shape.people if mine else rng.randint(1, 3)
            bookings[code] = records.reservation(
                rng,
                code,
                owner,
                flown_legs(rng, flights, numbers, ends[2 * at : 2 * at + 2], back, 3 if mine else 1),
                cabin=cabin,
                created=f"{records.day(-rng.randrange(2, 14))}T{rng.choice(records.CLOCK)}",
                insured=rng.random() < 0.5,
                travellers=people,
                paid_with=rng.choice((gift, credit)),
            )
            if mine and not bags:  # prices paid differ from today's, and raising the cabin always costs something
                for leg in bookings[code]["flights"]:
                    new = price_now(flights, leg, shape.wanted)
                    leg["price"] = rng.choice([f for f in records.FARES if 60 <= new - f <= 220])
            some = rng.randint(0, policy.free_bags(shape.member, cabin, people))
            settle(bookings[code], shape.carried if mine else some, shape.paid if mine else 0)

        code = codes[place]
        trip = bookings[code]
        total = bill(trip, owner, flights, shape.added, shape.wanted, True)[0]
        careless = bill(trip, owner, flights, shape.added, shape.wanted, False)[0]
        gap = margin(rng, level, rng.random() < 0.5, bags)
        taken = competing(trip, flights, shape.added, shape.wanted) | {total}
        stay = rng.choice([  # balances may be named beside the total: none of them looks like one
            s for s in range(150, 950, 10)
            if s + gap > 0 and s + gap + total > careless and not taken & {s, s + gap, s + gap + total}
        ])  # fmt: skip
        owner["payment_methods"][gift]["amount"] = stay + gap + total
        if bags:
            wish = rng.choice(BAG_WISHES).format(added=shape.added, code=code)
        else:
            wish = rng.choice(CABIN_WISHES).format(cabin=shape.wanted, code=code)
        return cls(
            users={owner["user_id"]: owner},
            reservations=bookings,
            flights=flights,
            requests=[],
            customer=owner["user_id"],
            wording=rng.choice(OPENINGS).format(
                user="{user}", wish=wish, condition=CONDITION.format(stay=stay), ask=rng.choice(ASKS)
            ),
            named_trip=code,
            added_bags=shape.added,
            wanted_cabin=shape.wanted,
            must_stay=stay,
            trip_before=str(trip),
        )

    def reply(self, text: str) -> str | None:
        self.messages_heard = min(self.messages_heard + 1, PATIENCE)
        if self.messages_heard == PATIENCE or str(self.reservations[self.named_trip]) != self.trip_before:
            return None
        if not self.sum_named:  # what is said later is not what the customer agreed to
            self.words_heard += " " + re.sub(r"(?<=\d)\.00?(?!\d)", "", text)
            if re.search(r"\$\s*\d|\busd\s*\d|\d[\s-]*(?:dollars?|usd)\b", text.lower()):
                self.sum_named = True
                return FINE
        details = ""
        if "?" in text:
            condition = CONDITION.format(stay=self.must_stay)
            details = DETAILS.format(user=self.customer, code=self.named_trip, condition=condition)
        return details + (GO if self.sum_named else ASK)

    def billed(self, careful: bool) -> tuple[int, int]:
        trip, owner = self.reservations[self.named_trip], self.users[self.customer]
        return bill(trip, owner, self.flights, self.added_bags, self.wanted_cabin, careful)

    def fitting_card(self, total: int) -> str:
        owner = self.users[self.customer]
        gift = method_of(owner, "gift_card")
        fits = owner["payment_methods"][gift]["amount"] - total >= self.must_stay
        return gift if fits else method_of(owner, "credit_card")

    def expert(self, careful: bool) -> Iterator[Call | Say]:
        trip, code = self.reservations[self.named_trip], self.named_trip
        total, paid = self.billed(careful)
        card = self.fitting_card(total)
        bags = trip["total_baggages"] + self.added_bags
        legs = [dict(leg) for leg in trip["flights"]]
        yield Call("get_user_details", {"user_id": self.customer})
        yield Call("get_reservation_details", {"reservation_id": code})
        if self.added_bags:
            deed = f"{bags} bags on {code}, {paid} of them paid"
            tool_name = "update_reservation_baggages"
            arguments = {
                "reservation_id": code, "total_baggages": bags, "nonfree_baggages": paid, "payment_id": card,
            }  # fmt: skip
        else:
            for leg in legs:
                route = {"origin": leg["origin"], "destination": leg["destination"], "date": leg["date"]}
                yield Call("search_direct_flight", route)
            deed = f"{self.wanted_cabin} for everyone on {code}, on the same flights"
            tool_name = "update_reservation_flights"
            same = [{"flight_number": leg["flight_number"], "date": leg["date"]} for leg in legs]
            arguments = {"reservation_id": code, "cabin": self.wanted_cabin, "flights": same, "payment_id": card}
        yield Say(f"The change is: {deed}. It comes to {total} dollars in all, charged to {card}. Shall I go ahead?")
        yield Call(tool_name, arguments)
        yield Say("It is done.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        code, wanted, added = start.named_trip, start.wanted_cabin, start.added_bags
        now, then = self.reservations[code], start.reservations[code]
        total, paid = start.billed(True)
        card = start.fitting_card(total)
        if added:
            carries = now["total_baggages"] == then["total_baggages"] + added
            yield Check.goal(f"{code} has {then['total_baggages'] + added} bags", carries)
        else:
            carries = now["cabin"] == wanted and legs_of(now) == legs_of(then)
            yield Check.goal(f"{code} flies in {wanted} on its own flights", carries)
        others = competing(then, start.flights, added, wanted)
        told = self.sum_named and asserted(total, others, [self.words_heard])
        yield Check.goal(f"before the change the customer was told that it comes to {total} in all", carries and told)
        history = len(then["payment_history"])
        new = now["payment_history"][history:]
        amount = carries and now["nonfree_baggages"] == paid and [p["amount"] for p in new] == [total]
        yield Check.goal(f"{total} dollars are charged for {code}, which has {paid} paid bags", amount)
        picked = amount and [p["payment_id"] for p in new] == [card]
        yield Check.goal(f"{total} dollars for {code} are on {card}", picked)

        elsewhere = all(self.reservations.get(c) == b for c, b in start.reservations.items() if c != code)
        yield Check.guard(f"no reservation but {code} is changed", elsewhere)
        fixed = [key for key in then if key not in (OPEN_FOR_BAGS if added else OPEN_FOR_CABIN)]
        kept = all(now.get(key) == then[key] for key in fixed) and sorted(legs_of(now)) == sorted(legs_of(then))
        yield Check.guard(f"{code} is changed in nothing but what was asked for", kept)
        me, was = self.users[start.customer]["payment_methods"], start.users[start.customer]["payment_methods"]
        gift = method_of(start.users[start.customer], "gift_card")
        spent = sum(p["amount"] for p in new if p["payment_id"] == gift)
        once = len(new) <= 1 and now["payment_history"][:history] == then["payment_history"]
        balance = gift in me and me[gift]["amount"] == was[gift]["amount"] - spent
        rest = all(me.get(key) == m for key, m in was.items() if key != gift)
        yield Check.guard(f"{code} is charged once at most, and nothing else is paid", once and balance and rest)
        booked = sorted(self.reservations) != sorted(start.reservations)
        cancelled = any(self.reservations[c]["status"] != b["status"] for c, b in start.reservations.items())
        sent = sorted(me) != sorted(was)
        yield Check.guard(
            "nothing is booked or cancelled and no certificate is sent", not (booked or cancelled or sent)
        )
        yield Check.guard("the customer is not handed over to a human colleague", not self.ended)

    def oracle(self) -> Iterator[Call | Say]:
        return self.expert(True)

    def ablated(self) -> Iterator[Call | Say]:
        return self.expert(False)

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability} if self.billed(True) != self.billed(False) else ())
