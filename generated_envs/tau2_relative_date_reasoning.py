"""Move a flight to a day that the customer only describes.

The customer names the new day by its distance from a booked flight, from the day of the booking or
from today, or as the first such weekday after one of them. The agent has to find that day in the
record and count from it before it searches. An agent without the capability counts everything from
today, because today's date is in the policy and the other dates have to be looked up. A flight
leaves on nearly every day, so a search for the wrong day succeeds, and the customer, who has no
calendar, agrees. In the target many requests are phrased like this, and an error of one day
searches, prices and writes the wrong flight.

Levels:
    0. A one-way trip is moved by a number of days or weeks, counted from its booked day, from the day on which it was
       booked or from today, within one month.
    1. A round trip of which one flight is moved, counted from either flight, from the day of the booking or from
       today; the day may also be the first of a named weekday after such a day, and the count may run past the end
       of the month.
    2. Both flights of a round trip are moved, and the day of the return is described by its distance from the new
       day of departure.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

from trace_gym.statements import find_values
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
LEGS = ("the outbound flight", "the return flight")
BOOKED, NEW = 3, 4
ANCHORS = (
    "today", "the outbound flight as it is booked now", "the return flight as it is booked now",
    "the day on which I booked the trip", "the new outbound flight",
)  # fmt: skip
SINGLE = ("today", "the day it is booked for now", "", "the day on which I booked it")  # of a one-way trip
OPENINGS = (
    "I'm {user}. In reservation {code}, please move {what}, and leave everything else as it is. The difference goes to "
    "{pay}.",
    "Hello, I'm {user}. Please move {what}, and nothing else. It's reservation {code}, and {pay} takes the difference.",
    "Please use {pay} for the difference when you change {code}. Move {what}; the rest stays as it is. I'm {user}.",
)
ASK = (
    " Today is Wednesday, if that helps. Tell me the date that you come to, and in the end the difference in dollars "
    "and whether I pay it or get it back."
)
ASKS_AGAIN = "And what is the difference, and do I pay it or get it back?"
SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n")
WAY = {
    "charge": (
        re.compile(
            r"\b(?:charg|bill(?:ed|s)\b|debit(?! card)|pays?\b|paid\b|paying|owe|due\b|more\b|additional|extra)"
        ),
        re.compile(
            r"\b(?:surcharge|taken|higher|deduct|comes? (?:out of|off)|settled? by|collect|went up|increase|on top)"
        ),
    ),
    "refund": (
        re.compile(r"\b(?:refund|back\b|credit(?!(?:ed)? ?_?card)|reimburs|returned|returns?\b(?! flight)|less\b)"),
        re.compile(r"\b(?:cheaper|lower|receive|added (?:back )?(?:to|onto)|in your favou?r|went down|dropped|drops)"),
    ),
}
"""Words that tell who gets the difference, where the words next to the amount leave it open."""
COMPARED = {
    "charge": re.compile(
        r"\d(?: dollars)? (?:more|higher|dearer)\b|\b(?:rise|rose|went up|up|increase|higher)\w* by (?=\S*\d)"
    ),
    "refund": re.compile(
        r"\d(?: dollars)? (?:less|lower|cheaper)\b|"
        r"\b(?:drop|fell|fall|went down|down|decrease|lower|cheaper)\w* by (?=\S*\d)"
    ),
}
"""Words next to an amount that say whether the new fare is higher or lower."""
PLAIN = {"charge": re.compile(r"\b(?:you pay|charged|you owe)\b"), "refund": re.compile(r"\b(?:refund|back\b)")}
DENIED = re.compile(
    r"\b(?:no|not|nothing|never|without|rather than|instead of|neither|nor|cannot|\w+n't)\b(?! (?:only|just))[^,.;:]*"
)
NEUTRAL = re.compile(
    r"\b(?:settl\w+|put|goes|go|going|appl(?:y|ied|ies))\b(?! back)(?: up)? (?:with|using|by|via|on|onto|to)\b",
    re.I,
)
"""Words for the way of an amount that do not say who gets it, as in `settled with your gift card`."""
WAS_CHARGED = re.compile(
    r"\b(?:was|were|(?:has|have)(?: now| just| also)? been) (charged|billed|debited|deducted|collected)\b", re.I
)


def direction(amount: int, part: str, behind: str) -> set[str]:
    """Return the ways in which a sentence says that an amount goes: its nearest words, its other ones, or the next."""
    if compared := {way for way, pattern in COMPARED.items() if pattern.search(part)}:
        stated = {way for way, pattern in PLAIN.items() if pattern.search(DENIED.sub("", part))}
        return compared | stated
    ways = {role for role in WAY if asserted(amount, (), [part], role)}
    if len(ways) == 1 and not asserted(amount, (), [part], "paid"):
        return ways
    for words in (DENIED.sub("", part), DENIED.sub("", behind)):
        if ways := {way for way, patterns in WAY.items() if any(p.search(words) for p in patterns)}:
            return ways
    return set()


def directed(amount: int, said: list[str], role: str) -> bool:
    """Return whether each statement of the amount, or else the sentence behind it, has this direction and no other."""
    found = []
    for text in said:
        parts = SENTENCE.split(text.lower())
        for part, behind in zip(parts, [*parts[1:], ""]):
            if asserted(amount, (), [part]):
                found.append(direction(amount, part, behind))
    return {role} in found and all(ways <= {role} for ways in found)


@dataclass(kw_only=True)
class Tau2RelativeDateReasoning(AirlineDesk):
    """Move a flight to the day that the customer only describes."""

    id = "tau2_relative_date_reasoning"
    capability = "relative_date_reasoning"
    levels = range(3)
    questions = {
        **AirlineDesk.questions,
        "date": re.compile(r"\b(?:dates?|days?|when|calendar|week(?:day)?)\b"),
    }
    code: str = ""
    what: str = ""
    pay: str = ""
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
        spot = rng.choice((0, 1, BOOKED) if level and family == "distance" else (0, 1))
        while not fits:
            created = -rng.randrange(2, 14)
            booked = sorted(rng.sample(range(2, 26 if level else 15), k=1 + (level > 0)))
            legs = [[0], [rng.randrange(2)], [0, 1]][level]
            # 0: the flight itself, 1: the other one, or the booking of a one-way trip
            own = 1 + legs[0] if spot == 0 else (2 - legs[0] if level else BOOKED)
            anchors = [0 if family == "today" else BOOKED if spot == BOOKED else own, NEW]
            moves = list(zip(legs, anchors, [rng.choice(how), rng.choice(AFTER)]))
            days, slips = [0, booked[0], booked[-1], created], [0, 0, 0, 0]
            for _, anchor, (_, shift, weekday) in moves:
                for known in (days, slips):  # day 0 is a Wednesday
                    known.append(known[anchor] + (shift or (weekday - known[anchor] - 3) % 7 + 1))
            trip = {**dict(enumerate(booked)), **dict(zip(legs, days[NEW:]))}
            old = sum(fares[leg][booked[leg]] for leg in legs)
            owed, slip = (sum(fares[leg].get(n, 0) for leg, n in zip(legs, on[NEW:])) - old for on in (days, slips))
            fits = (
                all(0 < n <= (35 if level else 16) and n != booked[leg] for leg, n in zip(legs, days[NEW:]))
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
                created=f"{records.day(created if key == code else -rng.randrange(2, 14))}T{rng.choice(records.CLOCK)}",
                insured=rng.random() < 0.5,
                cabin=rng.choice(records.CABINS[1:]),
                travellers=rng.randrange(1, 4),
                paid_with=rng.choice(methods),
            )
        pay = "my gift card" if method.startswith("gift") else method
        names, marks = (LEGS, ANCHORS) if level else (("my flight",), SINGLE)
        what = ", and ".join(f"{names[leg]} to the day that is {put} {marks[on]}" for leg, on, (put, _, _) in moves)
        return cls(
            users={owner["user_id"]: owner},
            reservations=reservations,
            customer=owner["user_id"],
            flights={plan["flight_number"]: plan for plan in plans},
            wording=rng.choice(OPENINGS).format(user="{user}", code=code, what=what, pay=pay) + ASK,
            code=code,
            what=what,
            pay=pay,
            method=method,
            legs=legs,
            days=days[NEW:],
            slips=slips[NEW:],
        )

    def reply(self, text: str) -> str | None:
        if self.changed() and any(v.unit == "money" for v in find_values(text.lower())):
            self.nudged = 1  # the agent has told a difference, whether right or wrong
        return super().reply(text)

    def changed(self) -> bool:
        return len(self.reservations[self.code]["payment_history"]) > 1

    def tells(self, topic: str) -> str:
        match topic:
            case "date":
                return f"I have no calendar at hand. Please move {self.what}."
            case "reservation":
                return f"It is {self.code}."
            case "payment":
                return f"Please use {self.pay}."
        return super().tells(topic)

    def restated(self) -> str:
        return f"Please move {self.what}."

    def agrees(self, text: str) -> str:
        """Agree without a calendar: the user cannot tell whether the date is right, and repeats it."""
        trip = self.reservations[self.code]
        known = {records.NOW[:10], trip["created_at"][:10], *(leg["date"] for leg in trip["flights"])}
        found: list[Any] = [v.value for v in find_values(text.lower()) if v.kind == "date"]
        full = (f"{year or 2024}-{month:02d}-{day:02d}" for year, month, day in found if month and day)
        days = [day for day in dict.fromkeys(full) if day not in known][: len(self.legs)]
        if days and not self.changed():
            verb = "is the day" if len(days) == 1 else "are the days"
            return f"Yes, if {' and '.join(days)} {verb} that I described, please go ahead."
        return self.varied(("Yes, please go ahead, if that is the day that I described.", "Yes, go ahead, please."))

    def unfinished(self, text: str, refusal: bool = False) -> bool:
        """Wait while nothing has changed; "it is booked for" the old day is not a report."""
        self.pushed += not refusal and not self.changed()
        return not refusal and not self.changed() and self.pushed < 3

    def outstanding(self) -> str:
        return "" if self.nudged or not self.changed() else ASKS_AGAIN

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
        dates = " and ".join(records.day(n) for n in days)
        deed = f"I will move {self.code} to what flies then, in the same cabin, settled with {self.method}"
        yield Say(f"The day that you describe is {dates}. {deed}. Shall I proceed?")
        for leg, n in zip(self.legs, days):
            old = trip["flights"][leg]
            route = {"origin": old["origin"], "destination": old["destination"], "date": records.day(n)}
            yield Call("search_direct_flight", route)
        if not all(f["flight_number"] for f in write.arguments["flights"]):
            yield Say(f"I am sorry, I found no flight on {dates}.")
            return
        yield write
        amount = self.after(write).reservations[self.code]["payment_history"][-1]["amount"]
        way = "charged" if amount > 0 else "refunded"
        yield Say(f"I have changed {self.code}. The difference of {abs(amount)} dollars was {way} to {self.method}.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        want = start.after(start.change(start.days))
        now, was, goal = (w.reservations[start.code] for w in (self, start, want))
        dates, people = [records.day(n) for n in start.days], len(was["passengers"])
        rivals = {records.day(n) for n in WINDOW} - {*dates, *(f["date"] for f in was["flights"])}
        told = all(asserted(on, rivals, said) for on in dates)
        yield Check.goal("the customer was told the date of the described day", told)
        added = now["payment_history"][1:]
        paid = all(p["payment_id"] == start.method for p in added)
        moved = [paid and now["flights"][i : i + 1] == goal["flights"][i : i + 1] for i in start.legs]
        yield Check.goal("the flight is on the described day, settled with the named method", moved[0])
        for second in moved[1:]:
            yield Check.goal("the second flight is on the day that was described for it", second)
        gaps = [goal["flights"][i]["price"] - was["flights"][i]["price"] for i in start.legs]
        # Fares are not multiples of 7, but their differences are: only these compete with the one to be told.
        amounts = set(range(42, 1000, 7)) - {abs(gap * n) for gap in (*gaps, sum(gaps)) for n in (1, people)}
        due, role = abs(sum(gaps)) * people, "charge" if sum(gaps) > 0 else "refund"
        words = [NEUTRAL.sub("handled with", WAS_CHARGED.sub(r"is \1", text)) for text in said]
        told = asserted(due, amounts, words) and directed(due, words, role)
        settled = all(moved) and told
        yield Check.goal("all is moved, and the customer was told the difference and who gets it", settled)
        for key in was:
            if key != "payment_history":
                yield Check.guard(f"{key} of the trip is as booked or as requested", now[key] in (was[key], goal[key]))
        parts = [gap * people for gap in gaps if gap]  # one call may move both flights, or one call each
        sums = [[], [sum(parts)], parts, parts[::-1], parts[:1], parts[1:]]
        once = [p["amount"] for p in added] in sums
        yield Check.guard(f"each flight was changed at most once, with the difference on {start.method}", paid and once)
        owner, before = self.users[start.customer], start.users[start.customer]
        if start.method.startswith("gift"):
            methods = before["payment_methods"]
            left = methods[start.method]["amount"] - sum(p["amount"] for p in added)
            card = {**methods[start.method], "amount": left}
            before = {**before, "payment_methods": {**methods, start.method: card}}
        yield Check.guard(
            "nothing in the profile but the balance of a gift card that pays has changed", owner == before
        )
        yield from self.untouched(start, start.code, start.customer)

    def oracle(self) -> Iterator[Call | Say]:
        return self.expert(self.days)

    def ablated(self) -> Iterator[Call | Say]:
        return self.expert(self.slips)

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability} if self.days != self.slips else ())
