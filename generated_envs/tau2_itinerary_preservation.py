# Written by llm:claude for trace-gym from spec tau2_itinerary_preservation (sha256 a7c604ce).
"""Move one flight of a trip and keep all the others as they are.

A customer asks to move one flight and speaks of that one only, while the tool takes the list it is
given as the whole new itinerary and checks nothing about it. The shortcut is to send just what the
request names: it looks exact, and the tool accepts it. An agent without the capability thereby
deletes the way back or the flight after a stop, and the customer learns of it at the airport. An
agent that adds flights to be safe fails as well, because some reservations hold nothing beyond what
is named and the way back stands on another one. In the target every change of a flight goes through
this same call, so an itinerary has to be read, changed in one place and sent whole.

Levels:
    0. Reservations with one or two flights, of which one is moved.
    1. Adds round trips with stops, of three or four flights, of which any one may be moved, so that flights before
       and after it have to be carried over in order.
    2. Adds requests that move two flights at once: both flights of a short trip, or two of the three or four of a
       longer one.
    3. Adds a second reservation of the same customer over the same airports on near days, whose flights belong to no
       change.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

from trace_gym.targets.tau2 import records
from trace_gym.targets.tau2.airline import AirlineDesk
from trace_gym.world import Call, Check, Random, Say

NAMED, BACK, STOPS = "all_named", "way_back_stays", "stops_stay"
FAMILIES = (NAMED, BACK, STOPS)
WEIGHTS = (35, 30, 35)
# A trip is told by its directions, each with a stop or without.
ONE_WAY, ONE_WAY_STOP, ROUND = (False,), (True,), (False, False)
LONG = ((True, False), (False, True), (True, True))
# One message to propose the moves, with some to spare for questions.
PATIENCE = 5
# The policy speaks of 15:00, 24 hours and of 30, 50 and 100 dollars: no departure is made of such a number, as it has
# to be found out. Flights arrive five minutes off these minutes, so that no arrival reads as a departure.
HOURS = (6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 18, 19, 20)
MINUTES = ("07", "22", "37", "52")
CLOCKS = tuple(f"{hour:02d}:{minute}" for hour in HOURS for minute in MINUTES)
PAID = tuple(fare + 2 for fare in records.FARES[6:50])
TIME = re.compile(r"\b([0-9]{1,2}):([0-9]{2})(?::[0-9]{2})?(?: ?([ap])\.?m\b)?")
# The customer never tells a number or a day, in the opening or later: what stands at which place of the new list has
# to be found out. The day is that of the flight booked, and the flight wanted is told by its place among those of the
# day, so the reservation reveals the one and the search the other.
ENDS = (("first", 0), ("last", -1))
OPENINGS = (
    "I am {user} and want to change reservation {code}. Please move {moves}. The difference goes to {card}. Once that "
    "is done, tell me when each new flight leaves.",
    "Hello, my customer id is {user}. On {code}, please move {moves}. As soon as it is changed I would like to hear at "
    "what time each new flight leaves. Use {card} for the difference.",
    "My plans have changed: on reservation {code}, move {moves}. Settle the difference with {card} and, after the "
    "change, let me know the departure of each new flight. My id is {user}.",
    "Use {card} for the difference, please. What I want on {code} is to move {moves}. When you have done so, say when "
    "each new flight leaves. I am {user}.",
)
MOVES = (
    "the flight from {origin} to {destination} to the {which} direct one of the same day",
    "my flight that goes from {origin} to {destination} to the direct one that leaves {which} on that day",
    "{origin} to {destination} over to the {which} direct flight of its day",
)


def times_in(text: str) -> set[str]:
    """The times of day that a message names, as HH:MM on the clock of 24 hours."""
    found = set()
    for hour, minute, half in TIME.findall(" ".join(text.lower().split())):
        hours = int(hour) % 12 + (12 if half == "p" else 0) if half else int(hour)
        found.add(f"{hours:02d}:{minute}")
    return found


def shape_of(rng: Random, level: int, family: str) -> tuple[bool, ...]:
    """The directions of a trip, and in each whether it has a stop."""
    if family == BACK:
        return ROUND
    if family == NAMED:
        return rng.choice((ONE_WAY, ONE_WAY_STOP, ROUND)) if level > 1 else ONE_WAY
    return rng.choice((ONE_WAY_STOP, *LONG)) if level else ONE_WAY_STOP


def moved_of(rng: Random, level: int, family: str, count: int) -> list[int]:
    """The places of the flights to be moved, in the order of the trip."""
    if family == NAMED:
        return list(range(count))
    return sorted(rng.sample(range(count), k=2 if level > 1 and count > 2 and rng.random() < 0.6 else 1))


def departing(rng: Random, pools: dict[str, list[Any]], route: tuple[str, str], day: int) -> dict[str, Any]:
    """A flight of one day, with a number, a departure and prices that no other flight of the problem has."""
    clock = pools["clocks"].pop()
    plan = records.flight(rng, pools["numbers"].pop(), route[0], route[1], 6)
    plan["scheduled_departure_time_est"] = f"{clock}:00"
    plan["scheduled_arrival_time_est"] = f"{int(clock[:2]) + rng.choice((2, 3)):02d}:{int(clock[3:]) + 5:02d}:00"
    plan["dates"][records.day(day)] = records.available(
        rng, pools["economy"].pop(), pools["business"].pop(), rng.randrange(2, 10)
    )
    return plan


def legs_of(rng: Random, shape: tuple[bool, ...], airports: list[str], begin: int) -> list[tuple[tuple[str, str], int]]:
    """The route and the day of each flight of a trip between the first two airports.

    No two flights share a day, so that the trip stays possible at whatever time one of them leaves.
    """
    legs = []
    day = begin
    for way, stop in enumerate(shape):
        origin, destination = (airports[1], airports[0]) if way else (airports[0], airports[1])
        day += way * rng.randrange(4, 7)
        if stop:
            via = airports[2 + way]
            legs.append(((origin, via), day))
            day += rng.randrange(1, 4)
            legs.append(((via, destination), day))
        else:
            legs.append(((origin, destination), day))
    return legs


def wanted_of(rng: Random, booked: dict[str, Any], found: list[dict[str, Any]]) -> tuple[str, str]:
    """The flight that leaves first or last among those of a day, and is not booked already: its place and number."""
    order = sorted((plan["scheduled_departure_time_est"], plan["flight_number"]) for plan in (booked, *found))
    ends = [(which, order[at][1]) for which, at in ENDS]
    return rng.choice([(which, number) for which, number in ends if number != booked["flight_number"]])


def move_in_words(rng: Random, move: dict[str, str]) -> str:
    return rng.choice(MOVES).format(origin=move["origin"], destination=move["destination"], which=move["which"])


@dataclass(kw_only=True)
class Tau2ItineraryPreservation(AirlineDesk):
    """Move one flight of a trip and keep all the others as they are."""

    id = "tau2_itinerary_preservation"
    capability = "itinerary_preservation"
    levels = range(4)
    code: str = ""
    card: str = ""
    booked: list[tuple[str, str]] = field(default_factory=list)
    moves: list[dict[str, str]] = field(default_factory=list)
    asked: str = ""
    told: tuple[str, ...] = ()

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        family = rng.choices(FAMILIES, weights=WEIGHTS)[0]
        shape = shape_of(rng, level, family)
        party = rng.randint(1, 2)
        airports = rng.sample(list(records.AIRPORTS), k=6)
        pools: dict[str, list[Any]] = {
            "numbers": rng.sample(records.FLIGHT_NUMBERS, k=28),
            "clocks": rng.sample(CLOCKS, k=28),
            "economy": rng.sample(records.FARES[12:40], k=28),
            "business": rng.sample(records.FARES[41:79], k=28),
        }
        legs = legs_of(rng, shape, airports, rng.randrange(4, 8))
        moved = moved_of(rng, level, family, len(legs))
        held: list[tuple[dict[str, Any], str]] = []
        plans: list[dict[str, Any]] = []
        moves: list[dict[str, str]] = []
        near: list[tuple[tuple[str, str], int]] = []
        for at, (route, day) in enumerate(legs):
            plan, on = departing(rng, pools, route, day), records.day(day)
            held.append((plan, on))
            near += [(route, n) for n in range(day - 3, day + 4) if n != day]
            if at in moved:
                # At least one flight beside the booked and the wanted one, whose departure would be the wrong one.
                found = [departing(rng, pools, route, day) for _ in range(rng.randrange(2, 4))]
                plans += found
                which, number = wanted_of(rng, plan, found)
                move = {"origin": route[0], "destination": route[1], "on": on, "which": which}
                moves.append({**move, "old": plan["flight_number"], "number": number})
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), ("credit_card",))
        code, second = rng.sample(records.CODES, k=2)
        booking = cls.reserved(rng, code, owner, held, party)
        booking["destination"] = airports[1]
        for leg in booking["flights"]:
            leg["price"] = rng.choice(PAID)
        paid = sum(leg["price"] for leg in booking["flights"]) + 30 * (booking["insurance"] == "yes")
        booking["payment_history"][0]["amount"] = paid * party
        booking["total_baggages"] = rng.randrange(party + 1)
        reservations = {code: booking}
        if level > 2 or rng.random() < 0.4:
            route, day = rng.choice(near) if level > 2 else ((airports[4], airports[5]), rng.randrange(2, 16))
            if len(shape) == 1 and rng.random() < 0.5:  # the way back stands on a reservation of its own
                route, day = (airports[1], airports[0]), legs[-1][1] + rng.randrange(3, 8)
            other = departing(rng, pools, route, day)
            plans.append(other)
            reservations[second] = cls.reserved(rng, second, owner, [(other, records.day(day))], rng.randint(1, 2))
            rng.shuffle(owner["reservations"])
        plans += [plan for plan, _ in held]
        rng.shuffle(plans)
        rng.shuffle(moves)
        asked = ", and ".join(move_in_words(rng, move) for move in moves)
        card = next(iter(owner["payment_methods"]))
        return cls(
            users={owner["user_id"]: owner},
            reservations=reservations,
            flights={plan["flight_number"]: plan for plan in plans},
            customer=owner["user_id"],
            wording=rng.choice(OPENINGS).format(user=owner["user_id"], code=code, moves=asked, card=card),
            code=code,
            card=card,
            booked=[(plan["flight_number"], on) for plan, on in held],
            moves=moves,
            asked=asked,
        )

    def opening(self) -> str:
        return self.wording

    def reply(self, text: str) -> str | None:
        self.nudged = min(self.nudged + 1, 9)
        if self.holds_now() != self.booked:
            known = {self.departure(number) for number in self.flights}
            self.told = self.told or tuple(sorted(times_in(text) & known))
            return None if self.told or self.nudged > PATIENCE else "When does each new flight leave?"
        if self.nudged > PATIENCE:
            return None
        if "?" in text and self.hears(text) != "confirmation":
            return f"Move {self.asked}. There is nothing else that I want."
        # Agents ask for details in the words of a confirmation too, so the moves are told with the agreement.
        return f"Yes, I agree. Please see to it: move {self.asked}. There is nothing else that I want."

    @staticmethod
    def reserved(
        rng: Random, code: str, owner: dict[str, Any], legs: list[tuple[dict[str, Any], str]], party: int
    ) -> dict[str, Any]:
        return records.reservation(
            rng,
            code,
            owner,
            legs,
            cabin=rng.choice(("economy", "business")),
            created=f"{records.day(-rng.randrange(2, 14))}T{rng.choice(records.CLOCK)}",
            insured=rng.random() < 0.5,
            travellers=party,
        )

    def holds_now(self) -> list[tuple[str, str]]:
        return [(leg["flight_number"], leg["date"]) for leg in self.reservations[self.code]["flights"]]

    def itinerary(self, whole: bool) -> list[tuple[str, str]]:
        """Number and day of each flight to be sent: the trip with its moves made, or the new flights alone."""
        new = {(move["old"], move["on"]): (move["number"], move["on"]) for move in self.moves}
        return [new.get(leg, leg) for leg in self.booked if whole or leg in new]

    def departure(self, number: str) -> str:
        clock: str = self.flights[number]["scheduled_departure_time_est"][:5]
        return clock

    def rivals(self, move: dict[str, str]) -> set[str]:
        """Departures of the flights that a customer could be told of in the place of the new one."""
        known = {m["number"] for m in self.moves} | {number for number, _ in self.booked}
        return {
            self.departure(number)
            for number, plan in self.flights.items()
            if number not in known
            and (plan["origin"], plan["destination"]) == (move["origin"], move["destination"])
            and move["on"] in plan["dates"]
        }

    def plan(self, sent: list[tuple[str, str]]) -> Iterator[Call | Say]:
        """Look up, name the new flights and their departures, send the list once, and repeat the departures."""
        yield Call("get_reservation_details", {"reservation_id": self.code})
        for move in self.moves:
            route = {"origin": move["origin"], "destination": move["destination"], "date": move["on"]}
            yield Call("search_direct_flight", route)
        new = self.itinerary(False)
        named = " and ".join(f"{number} on {on}, which leaves at {self.departure(number)}" for number, on in new)
        yield Say(f"I would move you on {self.code} to {named}, with the difference on {self.card}. Do you agree?")
        arguments = {
            "reservation_id": self.code,
            "cabin": self.reservations[self.code]["cabin"],
            "flights": [{"flight_number": number, "date": on} for number, on in sent],
            "payment_id": self.card,
        }
        yield Call("update_reservation_flights", arguments)
        yield Say(f"The change of {self.code} is made. You are now on {named}.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        now, then = self.reservations[start.code], start.reservations[start.code]
        held, wanted = self.holds_now(), start.itinerary(True)
        moved = all(
            (move["number"], move["on"]) in held and (move["old"], move["on"]) not in held for move in start.moves
        )
        whole = moved and sorted(held) == sorted(wanted)
        prices = {(leg["flight_number"], leg["date"]): leg["price"] for leg in then["flights"]}
        ordered = whole and held == wanted
        ordered = ordered and all(
            leg["price"] == prices.get((leg["flight_number"], leg["date"]), leg["price"]) for leg in now["flights"]
        )
        yield Check.goal(f"the flights named are off {start.code} and those wanted in their place are on it", moved)
        yield Check.goal(f"with that, {start.code} holds all its other flights and none that was not asked for", whole)
        yield Check.goal(f"with that, {start.code} is in order and each flight kept has the price it had", ordered)
        for move in start.moves:  # what was told once the change had been made, as the customer asked
            told = ordered and start.departure(move["number"]) in self.told
            told = told and not start.rivals(move) & set(self.told)
            yield Check.goal(f"with that, the customer was told when {move['number']} leaves, and no other time", told)
        known = len(then["payment_history"])
        added = now["payment_history"][known:]
        once = now["payment_history"][:known] == then["payment_history"] and len(added) <= 1
        once = once and all(payment["payment_id"] == start.card for payment in added)
        yield Check.guard(f"{start.code} was changed at most once, with the difference on {start.card}", once)
        changing = ("flights", "payment_history")
        kept = all(now.get(name) == value for name, value in then.items() if name not in changing)
        yield Check.guard(f"cabin, passengers, bags and insurance of {start.code} are as they were", kept)
        others = {code: booking for code, booking in self.reservations.items() if code != start.code}
        alone = others == {code: booking for code, booking in start.reservations.items() if code != start.code}
        yield Check.guard("no other reservation and no profile was changed", alone and self.users == start.users)
        yield Check.guard("the customer was not handed over", not self.transferred)

    def oracle(self) -> Iterator[Call | Say]:
        return self.plan(self.itinerary(True))

    def ablated(self) -> Iterator[Call | Say]:
        return self.plan(self.itinerary(False))

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability} if self.itinerary(True) != self.itinerary(False) else ())
