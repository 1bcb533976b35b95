# Written by llm:claude for trace-gym from spec tau2_relative_date_reasoning (sha256 7d184946).
"""Move a flight to the day that the customer only describes.

The customer names the new day only by its distance from a booked flight or from today, or as the
first such weekday after one of them, so the calendar date has to be worked out from the record
before anything is searched. An agent without the capability counts everything from today, since
that date stands in its rules while the other has to be looked up. The shortcut is tempting because
a flight leaves on nearly every day, so a search for the wrong day succeeds and the customer, who
has no calendar, agrees. In the target many requests are put this way, and a single day's error
searches, prices and writes the wrong flight, so anchoring the date first carries over.

Levels:
    0. A one-way trip is moved by a number of days or weeks, counted from its own booked day or from today, within
       one month.
    1. A round trip of which one flight is moved, counted from the other flight, from itself or from today; the day
       may also be the first of a named weekday after such a day, and the count may run past the end of the
       month.
    2. Both flights of a round trip are moved, and the day of the return is described by its distance from the new
       day of departure.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Self

from trace_gym.targets.tau2 import records
from trace_gym.targets.tau2.airline import AirlineDesk
from trace_gym.world import Call, Check, Random, Say, asserted

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
COUNTS = (("1 week", 7), ("2 weeks", 14), ("1 week and 3 days", 10), *((f"{n} days", n) for n in range(2, 14)))
AFTER = tuple((f"{words} after", n, 0) for words, n in COUNTS)  # words, days and, where these are 0, a weekday
BEFORE = tuple((f"{words} before", -n, 0) for words, n in COUNTS)
FIRST = tuple((f"the first {name} after", 0, n) for n, name in enumerate(WEEKDAYS))
FAMILIES = {"distance": AFTER + BEFORE, "weekday": FIRST, "today": AFTER + FIRST}
# One gift card each, so that "my gift card" is clear.
METHODS = (("credit_card", "gift_card"), ("gift_card", "credit_card"), ("credit_card", "gift_card", "credit_card"))
WINDOW = range(1, 36)
LEGS = ("the flight out", "the flight back")
ANCHORS = ("today", "the flight out as booked now", "the flight back as booked now", "the new flight out")
OPENINGS = (
    "I am {user}. In reservation {code}, please move {what}, all else as it is. The difference goes to {pay}.",
    "Hello, I am {user}. Please move {what} and nothing else. It is trip {code}; {pay} takes the difference.",
    "Please use {pay} for the difference when you change {code}. Move {what}; the rest stays. I am {user}.",
)
ASK = " Make it one change. Today is a Wednesday. Tell me the new date as YYYY-MM-DD, then the difference in dollars."
NUDGE = "I have no calendar at hand: the day is as I described it. Please name the date as YYYY-MM-DD."


@dataclass(kw_only=True)
class Tau2RelativeDateReasoning(AirlineDesk):
    """Move a flight to the day that the customer only describes."""

    id = "tau2_relative_date_reasoning"
    capability = "relative_date_reasoning"
    levels = range(3)
    code: str = ""
    method: str = ""
    legs: list[int] = field(default_factory=list)
    days: list[int] = field(default_factory=list)
    slips: list[int] = field(default_factory=list)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), rng.choice(METHODS))
        ends, numbers = rng.sample(list(records.AIRPORTS), k=2), rng.sample(records.FLIGHT_NUMBERS, k=6)
        plans = [records.flight(rng, numbers[i], ends[i % 2], ends[1 - i % 2], rng.randrange(6, 19)) for i in range(6)]
        daily = [{n: rng.choice(plans[way::2]) for n in WINDOW} for way in (0, 1)]
        fares = [dict(zip(WINDOW, rng.sample(records.FARES[9:44], k=35))) for _ in daily]
        for on, costs in zip(daily, fares):
            for n, plan in on.items():
                plan["dates"][records.day(n)] = records.available(rng, costs[n], costs[n] + 245)
        family, fits = rng.choice(("distance",) * 4 + ("weekday",) * 3 + ("today",) * 3), False
        how = [d for d in FAMILIES[family] if level or d[1]] or AFTER + BEFORE
        while not fits:
            booked = sorted(rng.sample(range(2, 26 if level else 15), k=1 + (level > 0)))
            legs = [[0], [rng.randrange(2)], [0, 1]][level]
            anchors = [0 if family == "today" else rng.choice((1, 2)[: len(booked)]), 3]
            moves = list(zip(legs, anchors, [rng.choice(how), rng.choice(AFTER)]))
            days, slips = [0, booked[0], booked[-1]], [0, 0, 0]
            for _, anchor, (_, shift, weekday) in moves:
                for known in (days, slips):  # day 0 is a Wednesday
                    known.append(known[anchor] + (shift or (weekday - known[anchor] - 3) % 7 + 1))
            trip = {**dict(enumerate(booked)), **dict(zip(legs, days[3:]))}
            old = sum(fares[leg][booked[leg]] for leg in legs)
            owed, slip = (sum(fares[leg].get(n, 0) for leg, n in zip(legs, on[3:])) - old for on in (days, slips))
            fits = (
                all(0 < n <= (35 if level else 16) and n != booked[leg] for leg, n in zip(legs, days[3:]))
                and list(trip.values()) == sorted(set(trip.values()))
                and abs(owed) > 35  # not to be mistaken for a number of days
                and (family == "today" or 0 != abs(slip) != abs(owed))
            )
        codes, methods = rng.sample(records.CODES, k=rng.randrange(2, 5)), list(owner["payment_methods"])
        code, method = rng.choice(codes), rng.choice(methods)
        reservations = {}
        for key in codes:
            stops = list(enumerate(booked)) if key == code else [(rng.randrange(2), rng.choice(WINDOW))]
            reservations[key] = records.reservation(
                rng,
                key,
                owner,
                [(daily[way][n], records.day(n)) for way, n in stops],
                created=f"{records.day(-rng.randrange(2, 14))}T{rng.choice(records.CLOCK)}",
                insured=rng.random() < 0.5,
                cabin=rng.choice(records.CABINS[1:]),
                travellers=rng.randrange(1, 4),
                paid_with=rng.choice(methods),
            )
        pay = "my gift card" if method.startswith("gift") else method
        what = ", and ".join(f"{LEGS[leg]} to the day that is {put[0]} {ANCHORS[anchor]}" for leg, anchor, put in moves)
        return cls(
            users={owner["user_id"]: owner},
            reservations=reservations,
            customer=owner["user_id"],
            flights={plan["flight_number"]: plan for plan in plans},
            wording=rng.choice(OPENINGS).format(user="{user}", code=code, what=what, pay=pay) + ASK,
            code=code,
            method=method,
            legs=legs,
            days=days[3:],
            slips=slips[3:],
        )

    def reply(self, text: str) -> str | None:
        changed = len(self.reservations[self.code]["payment_history"]) > 1
        dates = re.findall(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text)
        if dates and not changed:
            return f"You name {', '.join(dates[:4])}: if that is the day that I described, go ahead."
        self.nudged += 1
        return None if changed or self.nudged > 2 else NUDGE

    def change(self, days: list[int]) -> Call:
        """The write of an expert who takes these for the described days."""
        trip = self.reservations[self.code]
        legs = [{"flight_number": f["flight_number"], "date": f["date"]} for f in trip["flights"]]
        for leg, n in zip(self.legs, days):
            origin, on = trip["flights"][leg]["origin"], records.day(n)
            found = [k for k, f in self.flights.items() if f["origin"] == origin and on in f["dates"]]
            legs[leg] = {"flight_number": "".join(found), "date": on}
        arguments = {"reservation_id": self.code, "cabin": trip["cabin"], "flights": legs, "payment_id": self.method}
        return Call("update_reservation_flights", arguments)

    def after(self, write: Call) -> Self:
        want = self.copy()
        want.update_reservation_flights(**write.arguments)
        return want

    def expert(self, days: list[int]) -> Iterator[Call | Say]:
        write, trip = self.change(days), self.reservations[self.code]
        if self.method.startswith("gift"):  # the opening gives no id for it
            yield Call("get_user_details", {"user_id": self.customer})
        yield Call("get_reservation_details", {"reservation_id": self.code})
        deed = f"I will move {self.code} to what flies then, in the same cabin, and settle it with {self.method}."
        yield Say(f"What you describe is {' and '.join(records.day(n) for n in days)}. {deed} Do you agree?")
        for leg, n in zip(self.legs, days):
            old = trip["flights"][leg]
            route = {"origin": old["origin"], "destination": old["destination"], "date": records.day(n)}
            yield Call("search_direct_flight", route)
        if not all(f["flight_number"] for f in write.arguments["flights"]):
            yield from [Say("I am sorry, I found no flight.")] * 3
            return
        yield write
        amount = self.after(write).reservations[self.code]["payment_history"][-1]["amount"]
        yield Say(f"It is done, and {abs(amount)} dollars were {'charged' if amount > 0 else 'given back'}.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        want = start.after(start.change(start.days))
        now, was, goal = (w.reservations[start.code] for w in (self, start, want))
        dates, people = [records.day(n) for n in start.days], len(was["passengers"])
        rivals = {records.day(n) for n in WINDOW} - {*dates, *(f["date"] for f in was["flights"])}
        told = all(asserted(on, rivals, said) for on in dates)
        yield Check.goal("the customer was told the date of the described day", told)
        paid = all(p["payment_id"] == start.method for p in now["payment_history"][1:])
        moved = [paid and now["flights"][i : i + 1] == goal["flights"][i : i + 1] for i in start.legs]
        yield Check.goal("the flight is on the described day, settled with the named method", moved[0])
        for second in moved[1:]:
            yield Check.goal("the second flight is on the day that was described for it", second)
        gaps = [goal["flights"][i]["price"] - was["flights"][i]["price"] for i in start.legs]
        # Fares are no multiples of 7 but their differences are: only these compete with the one to be told.
        amounts = set(range(42, 1000, 7)) - {abs(gap * n) for gap in (*gaps, sum(gaps)) for n in (1, people)}
        settled = all(moved) and asserted(abs(sum(gaps)) * people, amounts, said)
        yield Check.goal("all is moved and the customer was told the difference", settled)
        for key in was:
            yield Check.guard(f"{key} of the trip is as booked or as asked for", now[key] in (was[key], goal[key]))
        owners = [w.users[start.customer] for w in (self, start, want)]
        yield Check.guard("the profile is untouched but for what the change costs", owners[0] in owners[1:])
        yield from self.untouched(start, start.code, start.customer)

    def oracle(self) -> Iterator[Call | Say]:
        return self.expert(self.days)

    def ablated(self) -> Iterator[Call | Say]:
        return self.expert(self.slips)

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability} if self.days != self.slips else ())
