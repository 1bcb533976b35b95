# Written by llm:claude for trace-gym from spec tau2_connection_feasibility (sha256 828f74ef).
"""Move a first flight so that the connection can still be made.

A customer with a trip of two flights asks for another first flight, and the request names only that
flight. The shortcut is to swap it in and keep the onward flight as booked: the tool accepts this,
because it checks no connection, and the customer agrees to whatever is proposed. An agent without
the capability therefore leaves travellers with an onward flight that has left before they land,
that leaves on the wrong day, or that lacks seats for them. An agent that replaces every onward
flight to be safe fails as well, because often the booked one can still be made and must stay. The
same reading of landing, departure, date and seats across two search results decides every change
and booking with a stop in the target.

Levels:
    0. Everything happens on one day and seats are plenty: one landing time has to be compared with the departures of
       a few onward flights.
    1. Adds seats: the party has one to three passengers, and some flight that fits by its time, a first choice or an
       onward one, has too few seats in the cabin of the reservation.
    2. Adds days: first flights may land on the next day, the last date for the onward flight may be the next day
       too, and the booked onward flight may be on either, so that clock times without their dates mislead.
    3. All of it together, with more onward flights, so that time, date and seats each rule out a cheaper one in the
       same problem.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Self

from trace_gym.targets.tau2 import records
from trace_gym.targets.tau2.airline import AirlineDesk
from trace_gym.world import Call, Check, Random, Say

FARES = {"basic_economy": records.FARES[:12], "economy": records.FARES[12:40], "business": records.FARES[45:]}


def times(text: str) -> frozenset[str]:
    """The times of day in a text; those half a day apart are alike, so that 16:37 may be told as 4:37 PM."""
    return frozenset(f"{int(hour) % 12}:{minute}" for hour, minute in re.findall(r"(\d{1,2}):(\d\d)", text))


@dataclass(kw_only=True)
class Tau2ConnectionFeasibility(AirlineDesk):
    """Move a first flight so that the connection can still be made."""

    id = "tau2_connection_feasibility"
    capability = "connection_feasibility"
    levels = range(4)
    code: str = ""
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
            f"Only if there is no way to make the trip with the first flight that I want, use {second} in its place.",
            rng.choice(("The difference in price goes to", "Please settle the difference with")) + f" {card}.",
            f"The onward flight has to leave on {last} at the latest.",
            "Change no more than needed; a different onward flight, if used, must be the cheapest in the same cabin.",
            rng.choice(("Tell me", "I want to hear")) + " at what time the onward flight lands at the destination.",
        ]
        fits = [legs[i] for i in range(by) if room[i] and slots[i] > firsts[chosen]]
        return cls(
            users={user: owner}, reservations={code: booking}, customer=user, code=code, last=last, card=card,
            flights={p["flight_number"]: p for p in rng.sample(plans, k=len(plans))},
            wording=" ".join(rng.sample(wishes, k=len(wishes))), tempting=[legs[n + 1], legs[k]],
            right=[legs[n + chosen], legs[best if family == "rebooks" else k]], fits=fits,
        )  # fmt: skip

    def reply(self, text: str) -> str | None:
        self.nudged += 1
        if len(self.reservations[self.code]["payment_history"]) > 1 or self.nudged > 6:
            return None
        if self.hears(text) == "confirmation" and " or " not in text.lower():
            return "Yes, please."
        return f"Go ahead with what fits my wishes; the choice is yours. {self.opening()}"

    def steps(self, flights: list[dict[str, str]]) -> Iterator[Call | Say]:
        booking = self.reservations[self.code]
        cabin, party, (one, two) = booking["cabin"], len(booking["passengers"]), booking["flights"]
        yield Call("get_reservation_details", {"reservation_id": self.code})
        for leg, date in [(one, one["date"]), *((two, date) for date in sorted({one["date"], self.last}))]:
            route = {"origin": leg["origin"], "destination": leg["destination"], "date": date}
            yield Call("search_direct_flight", route)
        trip = " and ".join(f"{f['flight_number']} on {f['date']}" for f in flights)
        yield Say(f"I will put {self.code} on {trip}, in {cabin}, the difference on {self.card}. Shall I proceed?")
        change = {"reservation_id": self.code, "cabin": cabin, "flights": flights, "payment_id": self.card}
        yield Call("update_reservation_flights", change)
        first, onward = (self.flights[f["flight_number"]] for f in flights)
        if first["dates"][one["date"]]["available_seats"][cabin] < party:
            yield Say("The change was refused, so I stop here.")
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
        lands = {n: times(f["scheduled_arrival_time_est"]) for n, f in start.flights.items() if f["origin"] == stop}
        known = {t for at in lands.values() for t in at}
        spoken = [t for text in said if (t := times(text) & known)]  # the last word on it counts
        told = done and spoken[-1:] == [lands[want[1]["flight_number"]]]
        yield Check.goal("the customer was told when the onward flight of that pair lands", told)
        added = now["payment_history"][1:]
        once = len(added) < 2 and all(p["payment_id"] == start.card for p in added)
        yield Check.guard("the reservation was changed at most once, with the difference on the named card", once)
        kept = all(now[key] == then[key] for key in then if key not in ("flights", "payment_history"))
        yield Check.guard("cabin, passengers, bags, insurance and status are as they were", kept)
        yield from self.untouched(start, start.code)

    def oracle(self) -> Iterator[Call | Say]:
        return self.steps(self.right)

    def ablated(self) -> Iterator[Call | Say]:
        return self.steps(self.tempting)

    def needs(self) -> frozenset[str]:
        return frozenset() if self.right == self.tempting else frozenset({self.capability})
