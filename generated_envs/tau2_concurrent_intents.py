# Written by llm:claude for trace-gym from spec tau2_concurrent_intents (sha256 e54cd945).
"""Serve each request of one message by its own facts.

One message asks for another cabin on two or three trips. Each trip has its own cabin and its own payment
method, and some trips may have been flown already and cannot be changed. An agent without the capability
reads the first request correctly and applies its cabin, its payment method and its decision to all trips.
This is tempting, because the requests look alike, the first answer is often right for all of them, and the
tool accepts any cabin and any stored payment method. The environment does not test whether every part is
done, but whether every part is done with its own record, terms and decision. Customers of the target often
put several wishes into one message.

Levels:
    0. Two requests, each complete in a sentence of its own; they differ in one thing at most: the cabin, the card,
       or whether the trip has been flown.
    1. Two requests that may differ in several of these at once, and the cards come in a separate sentence after the
       cabins.
    2. Three requests; the cards are given in another order than the trips, each with the id of its trip.
    3. Three requests, of which up to two have been flown, on trips with the same route or neighboring dates; the
       message lists first the trips, then the cabins, then the cards, each in its own order and each with the
       id of its trip.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from trace_gym.statements import states_pattern
from trace_gym.targets.tau2 import records
from trace_gym.targets.tau2.airline import SKILLS, AirlineDesk, Request, Upgrade
from trace_gym.world import Call, Check, Random, Say

BOTH = ("cabin", "card", "cabin and card", "cabin and card")
DIFFER = {  # family: in what the terms differ on level 0, where one thing differs at most, and above
    "own_record": (("",), ("cabin and card", *BOTH)),
    "own_terms": (("cabin", "card"), BOTH),
    "alike": (("",), ("",)),
}
WEIGHTS = ((25, 49, 26), (54, 20, 26))  # on level 0 and above
NAMES = ("I am {user}.", "My customer id is {user}.", "You can find me under the id {user}.")
TRIPS = ("It is about my trips {codes}.", "I am writing because of {codes}.", "Please change {codes} for me.")
CABIN = ("Please put {code} in {cabin}", "I want all flights of {code} in {cabin}", "For {code} I would like {cabin}")
PAID = ("with the difference on my {card}", "paid with my {card}", "and please use my {card} there")
CARD = ("Please use my {card} for {code}.", "For {code} take my {card}.", "Put {code} on my {card}.")
FLOWN = (
    "flown|flew|landed|departed|t(?:aken|ook) (?:off|place)|in the past|has (?:already )?passed|"
    "(?:is|was|has been) (?:already )?(?:over|completed?)"
)
CABIN_NAMES = {"basic_economy": "basic economy", "economy": "economy", "business": "business class"}
MOVING = ("cabin", "flights", "payment_history")
BOOKED = 2  # payments of every booking at the start


@dataclass(kw_only=True)
class Tau2ConcurrentIntents(AirlineDesk):
    """Serve each request of one message by its own facts."""

    id = "tau2_concurrent_intents"
    capability = "concurrent_intents"
    levels = range(4)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        family = rng.choices(list(DIFFER), weights=WEIGHTS[min(level, 1)])[0]
        differ = rng.choice(DIFFER[family][min(level, 1)])
        count = 2 if level < 2 else 3
        codes = rng.sample(records.CODES, count + rng.choice((1, 2)))
        flown = [code for code in codes[count:] if rng.random() < 0.4]
        if family == "own_record":
            flown += rng.sample(codes[:count], rng.choice((1, 2)) if level > 2 else 1)

        kinds = rng.sample(("credit_card", "credit_card", "gift_card"), k=3)
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), tuple(kinds))
        methods = owner["payment_methods"]
        gift = next(m for m in methods.values() if m["source"] == "gift_card")
        gift["amount"] = rng.randrange(6000, 9000, 50)  # covers three trips of two flights for three

        odd = [rng.sample(range(count), rng.randrange(1, count)) if t in differ else [] for t in ("cabin", "card")]
        cabins = rng.sample(records.CABINS, k=2)
        card, *others = rng.sample(list(methods), k=3)
        requests: list[Request] = []
        for i, code in enumerate(codes[:count]):
            method = methods[others.pop() if i in odd[1] else card]
            named = f"{method['brand']} ending in {method['last_four']}" if "brand" in method else "gift card"
            requests.append(Upgrade(code, method=method["id"], named=named, cabin=cabins[int(i in odd[0])]))

        body: list[str] = []
        for r in rng.sample(requests, count) if level > 2 else requests:
            text = rng.choice(CABIN).format(code=r.reservation, cabin=CABIN_NAMES[r.cabin])
            body.append(f"{text}." if level > 0 else f"{text}, {rng.choice(PAID).format(card=r.named)}.")
        if level > 0:
            paid = rng.choice(list(itertools.permutations(requests))[int(level > 1) :])
            body += [rng.choice(CARD).format(code=r.reservation, card=r.named) for r in paid]
        if level > 2:
            body.insert(0, rng.choice(TRIPS).format(codes=", ".join(r.reservation for r in requests)))
        body.insert(rng.choice((0, len(body))), rng.choice(NAMES))
        wording = " ".join(body)

        me = owner["user_id"]
        desk = cls(users={me: owner}, reservations={}, flights={}, requests=requests, customer=me, wording=wording)
        wanted = {r.reservation: r.cabin for r in requests}
        cards = [m for m in methods if m != gift["id"]]
        past, ahead = rng.sample(range(-5, 0), 5), rng.sample(range(1, 11 if level > 2 else 17), 10)
        numbers = rng.sample(records.FLIGHT_NUMBERS, 10)
        route: list[str] = []
        for code in rng.sample(codes, len(codes)):
            if not route or level < 3 or rng.random() < 0.4:
                route = rng.sample(list(records.AIRPORTS), k=2)
            days = [past.pop()] if code in flown else sorted(ahead.pop() for _ in range(rng.choice((1, 2))))
            legs = []
            for (begin, end), offset in zip((route, route[::-1]), days, strict=False):
                plan = records.flight(rng, numbers.pop(), begin, end, rng.randrange(6, 19))
                on = records.day(offset)
                plan["dates"][on] = {"status": "landed"} if code in flown else records.available(rng)
                desk.flights[plan["flight_number"]] = plan
                legs.append((plan, on))
            cabin = rng.choice([c for c in records.CABINS if c != wanted.get(code)])
            created = f"{records.day(-rng.randrange(6, 14))}T{rng.choice(records.CLOCK)}"
            trip = records.reservation(
                rng, code, owner, legs, cabin=cabin, created=created, insured=False, travellers=rng.randrange(1, 4)
            )
            # Paid in two parts, so that the card used by a write stands at any place among the methods it shows.
            part, whole = rng.randrange(20, 60), trip["payment_history"][0]["amount"]
            parts = zip(rng.sample([gift["id"], rng.choice(cards)], 2), (part, whole - part), strict=True)
            trip["payment_history"] = [{"payment_id": payer, "amount": amount} for payer, amount in parts]
            desk.reservations[code] = trip
        return desk

    def tells(self, topic: str) -> str:
        if topic == "payment":
            return " ".join(f"Please use my {r.named} for {r.record}." for r in self.requests if isinstance(r, Upgrade))
        return super().tells(topic)

    def course(self, apart: bool) -> Iterator[Call | Say]:
        """Both experts; without `apart` the cabin, card and verdict of the first request stand for all."""
        yield Call("get_user_details", {"user_id": self.customer})
        words: list[str] = []
        deeds: list[Call] = []
        for r in self.requests:
            trip = self.reservations[r.reservation]
            yield Call("get_reservation_details", {"reservation_id": r.reservation})
            for leg in trip["flights"]:
                yield Call("get_flight_status", {"flight_number": leg["flight_number"], "date": leg["date"]})
            lead = r if apart else self.requests[0]
            if not lead.verdict(self).allowed:
                on = self.reservations[lead.reservation]["flights"][0]["date"]
                words.append(f"I cannot change {r.reservation}: its flight on {on} has been flown.")
                continue
            words.append(f"{r.reservation} goes to {lead.cabin} with your {lead.named}.")
            # The tool refuses a landed flight, and the present cabin changes nothing: neither is tried.
            if r.verdict(self).allowed and trip["cabin"] != lead.cabin:
                change = Upgrade(r.reservation, method=lead.method, named=lead.named, cabin=lead.cabin)
                deeds.append(change.call(self, SKILLS))
        if not deeds:
            yield Say(" ".join(words))
            return
        yield Say(f"{' '.join(words)} Shall I go ahead?")
        yield from deeds
        yield Say("That is done.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        want = start.served()
        todo = [r for r in start.requests if r.verdict(start).allowed]
        moved = any(self.reservations[r.reservation]["cabin"] == r.cabin for r in todo)
        for r in start.requests:
            now, then = (world.reservations[r.reservation] for world in (self, start))
            if r not in todo:
                grounds = states_pattern(FLOWN, said, r.record, start.reservations)
                told = start.refused(r.record, said, grounds)
                held = moved and now == then and told and not r.claimed_done(start, said)
                yield Check.goal(f"{r.reservation} stays, and the customer was told that it cannot be changed", held)
                continue
            yield from r.checks(self, start, want, said)
            legs = r.call(self, SKILLS) == r.call(start, SKILLS)
            same = legs and all(now[key] == value for key, value in then.items() if key not in MOVING)
            once = len(now["payment_history"]) <= BOOKED + 1
            yield Check.guard(f"{r.reservation} was changed at most once, in its cabin only", same and once)
        yield from self.untouched(start, start.customer, *(r.reservation for r in todo))
        mine, before = (world.users[start.customer]["payment_methods"].keys() for world in (self, start))
        yield Check.guard("no certificate was sent", mine == before)

    def oracle(self) -> Iterator[Call | Say]:
        return self.course(True)

    def ablated(self) -> Iterator[Call | Say]:
        return self.course(False)

    def needs(self) -> frozenset[str]:
        facts = {(r.cabin, r.method, r.verdict(self).allowed) for r in self.requests}
        return frozenset({self.capability} if len(facts) > 1 else ())
