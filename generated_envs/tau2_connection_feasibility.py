"""Move a first flight so that the connection can still be made.

A customer with a trip of two flights asks for another first flight and names only that flight. The
tool accepts any pair of flights, because it checks no connection, and the customer agrees to
whatever is proposed. An agent without the capability replaces the first flight and keeps the onward
flight as booked. The travelers then have an onward flight that leaves before they land, leaves on
the wrong day, or lacks seats for them. An agent that always replaces the onward flight fails too,
because often the booked one can still be made and must stay. In the target, every booking and
change with a stop requires the same comparison of landing, departure, date and seats in two search
results.

Levels:
    0. Everything happens on one day and there are enough seats: one landing time has to be compared with the
       departures of a few onward flights.
    1. Adds seats: the party has one to three passengers, and some flight that fits by its time, a first choice or an
       onward one, has too few seats in the cabin of the reservation.
    2. Adds days: first flights may land on the next day, the last date for the onward flight may be the next day
       too, and the booked onward flight may be on either, so clock times have to be read with their dates.
    3. All of it together, with more onward flights, so that time, date and seats each rule out a cheaper one in the
       same scenario.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Self

from trace_gym.statements import find_values, mentions
from trace_gym.targets.tau2 import records
from trace_gym.targets.tau2.airline import AirlineDesk
from trace_gym.world import Call, Check, Random, Say, asserted

FARES = {"basic_economy": records.FARES[:12], "economy": records.FARES[12:40], "business": records.FARES[45:]}


LANDS = re.compile(r"\b(?:land|arriv|gets? (?:you )?(?:in|there)|reach|touch)")
ASKS_AGAIN = "And at what time does the onward flight land?"


@dataclass(kw_only=True)
class Tau2ConnectionFeasibility(AirlineDesk):
    """Move a first flight so that the connection can still be made."""

    id = "tau2_connection_feasibility"
    capability = "connection_feasibility"
    levels = range(4)
    questions = {
        **AirlineDesk.questions,
        "date": re.compile(r"\b(?:dates?|days?|latest|when)\b"),
        "cabin": re.compile(r"\b(?:cabin|class)\b"),
    }
    code: str = ""
    waits: int = 0
    last: str = ""
    card: str = ""
    right: list[dict[str, str]] = field(default_factory=list)  # the pair that the wishes lead to
    tempting: list[dict[str, str]] = field(default_factory=list)  # the first choice with the booked onward flight
    fits: list[dict[str, str]] = field(default_factory=list)  # onward flights that can be made in the right pair

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        family = rng.choices(("keeps", "rebooks", "second_choice"), weights=(35, 40, 25))[0]
        short = family == "second_choice" and level > 0 and rng.random() < 1 / 3
        late, place, party = level > 1 and rng.random() < 0.5, rng.randrange(3), rng.randint(1, 3)
        cabin, offset = rng.choice(("economy", "business")), rng.randrange(3, 13)
        kinds = 3 - late if level > 2 else 1
        while True:  # slots of 100 minutes: onward flights leave as they begin, first flights land in their middle
            today = rng.sample(range(5, 15 if level > 1 else 13), k=rng.randint(4, 6) + (level > 2))
            slots = sorted(today + rng.sample(range(15, 27), k=rng.randint(2, 4) * (level > 1)))
            by = len(slots if late else today)
            k, a = rng.randrange(by), rng.randrange(4, 18 if level > 1 else 14)
            room = [i == k or level < 1 or rng.random() < 0.6 for i in range(len(slots))]
            fares = rng.sample(FARES[cabin], k=len(slots))
            after = [i for i in range(by) if slots[i] > a]
            new = sorted((fares[i], i) for i in after if room[i] and i != k)
            price, best = new[0] if new else (9999, k)
            why = {"date" if i >= by else "seats" if i in after else "time" for i, f in enumerate(fares) if f < price}
            spot = (best > after[0]) + (best == after[-1]) if after else 0
            fine = {
                "keeps": k in after and price < fares[k],
                "rebooks": k not in after and len(new) > 1 and spot == place and len(why) >= kinds,
                "second_choice": (k in after) == short and (short or not new),
            }
            if fine[family] and (level != 1 or short or not all(room[i] for i in after)):
                break
        n, chosen = len(slots), 1 + (family == "second_choice")
        firsts = rng.choices(range(4, min(slots[k], 14)), k=rng.randint(3, 4))  # the booked one and both choices lead
        firsts[1] = a
        fares += [rng.choice(FARES[cabin]) + i for i in range(4)]  # no two pairs cost the same: each change is paid
        room += [True, not short, True, True]
        origin, stop, destination = rng.sample(list(records.AIRPORTS), k=3)
        numbers = rng.sample(records.FLIGHT_NUMBERS, k=len(slots + firsts))
        marks = rng.sample([m for m in range(60) if m % 5], k=n)  # minutes that no other time has
        plans, legs = [], []
        for i, slot in enumerate(slots + firsts):
            if i < n:
                ends, leaves = (stop, destination), 100 * slot + rng.choice((0, 5, 10))
                lands = (leaves // 60 + rng.randint(2, 3)) * 60 + marks[i]
            else:
                ends, lands = (origin, stop), 100 * slot + rng.choice((50, 55, 60))
                leaves = min(lands - rng.randrange(70, 250, 5), rng.randrange(1320, 1440, 5))
            plan = records.flight(rng, numbers[i], ends[0], ends[1], 0)
            day, over = leaves // 1440, "+1" * (lands // 1440 - leaves // 1440)
            plan["scheduled_departure_time_est"] = f"{leaves // 60 % 24:02d}:{leaves % 60:02d}:00"
            plan["scheduled_arrival_time_est"] = f"{lands // 60 % 24:02d}:{lands % 60:02d}:00{over}"
            date = records.day(offset + day)
            seats = rng.randint(party, 9) if room[i] else rng.randrange(party)
            plan["dates"][date] = {
                "status": "available",
                "available_seats": {c: rng.randrange(10) for c in records.CABINS} | {cabin: seats},
                "prices": {c: rng.choice(grid) for c, grid in FARES.items()} | {cabin: fares[i]},
            }
            plans.append(plan)
            legs.append({"flight_number": numbers[i], "date": date})
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), ("credit_card",))
        [card] = owner["payment_methods"]
        code, user, last = rng.choice(records.CODES), owner["user_id"], records.day(offset + late)
        first, second = (f"{number} on {records.day(offset)}" for number in numbers[n + 1 : n + 3])
        booking = records.reservation(
            rng, code, owner, [(plans[i], legs[i]["date"]) for i in (n, k)], cabin=cabin, travellers=party,
            insured=rng.random() < 0.5, created=f"{records.day(-rng.randrange(2, 14))}T{rng.choice(records.CLOCK)}",
        )  # fmt: skip
        wishes = [
            rng.choice(("I am", "My customer id is")) + f" {user}, and my reservation is {code}.",
            rng.choice(("I want", "Please give me")) + f" {first} as my first flight.",
            f"Only if the trip cannot be made with that first flight, use {second} instead.",
            rng.choice(("The difference in price goes to", "Please settle the difference with")) + f" {card}.",
            f"The onward flight has to leave on {last} at the latest.",
            "Keep my onward flight if I can still make it; otherwise take the cheapest one in the same cabin.",
            rng.choice(("Tell me", "I want to hear")) + " at what time the onward flight lands at the destination.",
        ]
        order = rng.sample(range(len(wishes)), k=len(wishes))
        one, two = sorted((order.index(1), order.index(2)))  # the second choice is named after the first one
        order[one], order[two] = 1, 2
        fits = [legs[i] for i in range(by) if room[i] and slots[i] > firsts[chosen]]
        return cls(
            users={user: owner}, reservations={code: booking}, customer=user, code=code, last=last, card=card,
            flights={p["flight_number"]: p for p in rng.sample(plans, k=len(plans))},
            wording=" ".join(wishes[i] for i in order), tempting=[legs[n + 1], legs[k]],
            right=[legs[n + chosen], legs[best if family == "rebooks" else k]], fits=fits,
        )  # fmt: skip

    def reply(self, text: str) -> str | None:
        if LANDS.search(text.lower()) and any(v.kind == "time" for v in find_values(text.lower())):
            self.nudged = 1  # the agent has told a landing time, whether right or wrong
        return super().reply(text)

    def changed(self) -> bool:
        return len(self.reservations[self.code]["payment_history"]) > 1

    def tells(self, topic: str) -> str:
        match topic:
            case "reservation":
                return f"It is {self.code}."
            case "payment":
                return f"Please settle the difference with {self.card}."
            case "date":
                return f"The onward flight has to leave on {self.last} at the latest."
            case "cabin":
                return "In the same cabin as now."
        return super().tells(topic)

    def chooses(self, text: str) -> str:
        return f"Please take what fits my wishes. {self.restated()}"

    def objects(self, text: str) -> str:
        """Insist once, without saying which flights fit."""
        if self.changed() or self.pushed:
            return ""
        self.pushed = 1
        return f"I would still like to make this trip. {self.restated()}"

    def unfinished(self, text: str, refusal: bool = False) -> bool:
        """Wait while nothing has changed; a description of the booked flights is not a report."""
        self.waits += not refusal and not self.changed()
        return not refusal and not self.changed() and self.waits < 3

    def outstanding(self) -> str:
        return "" if self.nudged or not self.changed() else ASKS_AGAIN

    def steps(self, flights: list[dict[str, str]]) -> Iterator[Call | Say]:
        booking = self.reservations[self.code]
        cabin, party, (one, two) = booking["cabin"], len(booking["passengers"]), booking["flights"]
        yield Call("get_reservation_details", {"reservation_id": self.code})
        for leg, date in [(one, one["date"]), *((two, date) for date in sorted({one["date"], self.last}))]:
            route = {"origin": leg["origin"], "destination": leg["destination"], "date": date}
            yield Call("search_direct_flight", route)
        trip = " and ".join(f"{f['flight_number']} on {f['date']}" for f in flights)
        yield Say(
            f"I will move {self.code} to {trip}, in {cabin}. The difference goes to {self.card}. Shall I proceed?"
        )
        change = {"reservation_id": self.code, "cabin": cabin, "flights": flights, "payment_id": self.card}
        yield Call("update_reservation_flights", change)
        first, onward = (self.flights[f["flight_number"]] for f in flights)
        if first["dates"][one["date"]]["available_seats"][cabin] < party:
            yield Say(f"I am sorry, I cannot change {self.code}: there are not enough seats.")
        else:
            yield Say(f"Done. The onward flight lands at {onward['scheduled_arrival_time_est'][:5]}.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        now, then, want = self.reservations[start.code], start.reservations[start.code], start.right
        held = [{"flight_number": f["flight_number"], "date": f["date"]} for f in now["flights"]]
        moved, done = held[:1] == want[:1], held == want
        made = moved and len(held) == 2 and held[1] in start.fits
        yield Check.goal("the first flight is the choice from which the trip can go on", moved)
        yield Check.goal("the onward flight leaves after that landing, in time and with seats", made)
        yield Check.goal("the reservation holds exactly the pair that the wishes lead to", done)
        stop = then["flights"][1]["origin"]
        lands = {n: f["scheduled_arrival_time_est"][:5] for n, f in start.flights.items() if f["origin"] == stop}
        right, old = lands[want[1]["flight_number"]], lands[then["flights"][1]["flight_number"]]
        spoken = [
            text for text in said if any(mentions(at, [text]) for at in lands.values() if at != old or at == right)
        ]
        # The last message on it counts; the landing of the booked flight may be told next to the new one.
        told = done and asserted(right, set(lands.values()) - {old}, spoken[-1:], "arrival")
        yield Check.goal("the customer was told when the onward flight of that pair lands", told)
        added = now["payment_history"][1:]
        paid = all(p["payment_id"] == start.card for p in added)
        yield Check.guard("the difference is on the named card", paid)
        prices = [
            start.flights[new["flight_number"]]["dates"][new["date"]]["prices"][then["cabin"]] - old["price"]
            for new, old in zip(want, then["flights"], strict=True)
        ]
        parts = [price * len(then["passengers"]) for price in prices]  # one call may change both flights, or one each
        once = len(added) < 2 or [p["amount"] for p in added] in (parts, parts[::-1])
        yield Check.guard("each flight was changed at most once", once)
        kept = all(now[key] == then[key] for key in then if key not in ("flights", "payment_history"))
        yield Check.guard("cabin, passengers, bags, insurance and status are as they were", kept)
        yield from self.untouched(start, start.code)

    def oracle(self) -> Iterator[Call | Say]:
        return self.steps(self.right)

    def ablated(self) -> Iterator[Call | Say]:
        return self.steps(self.tempting)

    def needs(self) -> frozenset[str]:
        return frozenset() if self.right == self.tempting else frozenset({self.capability})
