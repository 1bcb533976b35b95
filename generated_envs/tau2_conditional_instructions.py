# Written by llm:claude for trace-gym from spec tau2_conditional_instructions (sha256 9d8585ca).
"""Follow the branch of the instruction whose condition holds.

The customer says in the opening what to do in which case: move the trip if a fare is within a limit and
cancel it otherwise, or take a second flight if the first one has no room. The customer also asks for the
fare of a flight and for the total to pay or to get back. An agent without the capability carries out the
action that is named first and does not test its condition. The rules allow every branch, and the customer
agrees to whatever the agent proposes, so only the looked-up facts tell which branch is right. Customers
of the target give the same kind of instruction, with limits, fallbacks and exceptions.

Levels:
    0. One condition with two branches, on the fare for one person on a flight or on whether the trip is insured,
       for one traveler and with few flights on the day.
    1. Adds a second choice of flight for the case that the first one has too few business seats or costs too much,
       and two or three travelers.
    2. The flights can fail by their seats or by their fare, and cancelling is the last resort.
    3. The limit is on the difference in price for all travelers together, which depends on what was paid, the fare
       and the number of travelers, and there are more flights on the day.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

from trace_gym.statements import find_values, normalize, states_pattern
from trace_gym.targets.tau2 import records
from trace_gym.targets.tau2.airline import REASONS, AirlineDesk
from trace_gym.world import Call, Check, Random, Say, asserted

LEVELS = (  # travelers, flights on the day, what one condition is about, what decides on a choice of flights
    ((1,), (3, 4), ("fare", "insured"), ()),
    ((2, 3), (3, 4, 5), ("fare", "insured"), (("fare",), ("seats",), ("fare",))),
    ((2, 3), (3, 4, 5), ("fare", "insured"), (("seats", "fare"),)),
    ((2, 3), (5, 6), ("fare", "insured", "difference", "difference"), (("seats", "difference"),)),
)
NEAR = (2, 3, 4, 5, 6, 7, 8, 9, 13, 19, 28, 41, 58)
WHO = ("I am {user}, and this is about reservation {code}.", "My id is {user}, and the trip is reservation {code}.")
WISHES = (
    "Please tell me what {flight} on {day} costs in business class per person, and what I pay or get back in total.",
    "I want to know the business fare of {flight} on {day} for one person and the total that I pay or get back.",
)
CLAUSES = ("{act} if {test}", "if {test}, {act}")
CABIN = re.compile(r"basic[ _]economy|economy|business")
FOR_EACH = re.compile(
    r"(?: dollars)?(?: ?(?:/|per|a|for one) ?(?:person|passenger|seat|travell?er|head)| each| apiece)?"
)
CABIN_BEHIND = re.compile(
    r"(?: in | for | \()(?:the )?(basic[ _]economy|economy|business)(?!(?: class| fare)?:? ?\$?\d)(?!:)"
)
FLIGHT = re.compile(r"hat\d{3}")
PART = re.compile(r"([.;!?\n])")
OR = re.compile(r"\bor\b")
TWO_WAYS = (  # what stands before an `or` that leaves open who gets an amount, and what stands behind it
    (re.compile(r"\b(?:pay|charged?|owe)\w*\b.{0,20}$"), re.compile(r".{0,20}\b(?:back|refund)")),
    (re.compile(r"\b(?:back|refund)\w*\b.{0,20}$"), re.compile(r".{0,20}\b(?:pay|charge|owe)")),
)
ASKED = ("Please do this: {steps}.", "Here is what I want: {steps}.", "These are my instructions: {steps}.")


def condition(kind: str, number: str, sense: bool, limit: int) -> str:
    side = "at most" if sense else "more than"
    return {
        "seats": f"{number} has enough business seats for all of us",
        "fare": f"a business seat on {number} costs {side} {limit} dollars a person",
        "difference": f"the difference in price to {number} for all of us together is {side} {limit} dollars",
        "insured": f"the trip is {'insured' if sense else 'not insured'}",
    }[kind]


def cabin_of(text: str, start: int, end: int, low: int) -> str:
    """Return the cabin that a fare at a place belongs to: that of its column, or the nearest one; empty if unknown."""
    line = text.rfind("\n", 0, start) + 1
    if text[line:start].lstrip().startswith("|"):
        heads = [h for h in text[:line].splitlines() if h.lstrip().startswith("|") and CABIN.search(h)]
        cells = heads[-1].split("|") if heads else []
        at = text[line:start].count("|")
        found = CABIN.search(cells[at]) if at < len(cells) else None
    elif (each := FOR_EACH.match(text, end)) and (behind := CABIN_BEHIND.match(text, each.end())):
        return behind[1].replace(" ", "_")
    else:
        found = max(CABIN.finditer(text, max(line, low), start), key=lambda m: m.end(), default=None)
    return found[0].replace(" ", "_") if found else ""


def flight_of(text: str, start: int) -> str:
    """Return the flight that a fare at a place belongs to: the one before it, or else the next one in its line."""
    line, end = text.rfind("\n", 0, start) + 1, (text + "\n").find("\n", start)
    found = FLIGHT.findall(text, line, start)[-1:] or FLIGHT.findall(text, start, end)[:1]
    return str((found or FLIGHT.findall(text, 0, start)[-1:] or [""])[0]).upper()


def without_fares(text: str, named: str, fares: dict[str, dict[str, int]], amount: int) -> str | None:
    """Return a message with $1 for true fares of other flights and cabins; None if another cabin has the business fare.

    A fare of the flight asked about is true of its cabin only where the message names the cabin.
    """
    text = normalize(text)
    parts, low, end = [], 0, 0
    for v in find_values(text):
        if v.kind != "number" or v.unit not in ("", "money"):
            continue
        number, cabin = flight_of(text, v.start), cabin_of(text, v.start, v.end, low)
        if number in ("", named) and cabin not in ("", "business") and v.value == fares[named]["business"]:
            return None
        own = fares.get(number, {})
        true = v.value == own.get(cabin) if cabin else number != named and v.value in own.values()
        if true and (number, cabin) != (named, "business") and v.value != amount:  # a refund may equal the fare
            parts.append(f"{text[end : v.start]}$1")  # a number stays there, so that others keep their own words
            end = v.end
        low = v.end
    return "".join([*parts, text[end:]])


def without_either(text: str) -> str:
    """Return a message without the sentences that leave open who gets an amount."""
    return "".join(part for part in PART.split(text) if not leaves_open(part))


def leaves_open(part: str) -> bool:
    return any(
        front.search(part, 0, word.start()) and behind.match(part, word.end())
        for word in OR.finditer(part)
        for front, behind in TWO_WAYS
    )


def claims_cancelled(code: str, said: list[str]) -> bool:
    """Return whether messages claim that the trip was cancelled."""
    return states_pattern(
        r"(?:(?:i|we)(?:'ve| have)? (?:now |also |successfully )?|(?:charged|refunded) [^.;]*? and )cancell?ed "
        rf"(?:(?:the|your|this) (?:\w+ )?(?:trip|reservation|booking)(?: {re.escape(code)})?|{re.escape(code)})",
        said,
    ) or states_pattern(
        rf"(?:(?:the|your|this) (?:\w+ )?(?:trip|reservation|booking)(?: {re.escape(code)})?|{re.escape(code)}) "
        r"(?:has|have) (?:now |also |successfully )*been (?:\w+ )?cancell?ed",
        said,
    )


def claims_moved(code: str, said: list[str]) -> bool:
    """Return whether messages claim that the trip was moved."""
    return states_pattern(
        r"(?:(?:i|we)(?:'ve| have)? (?:now |also |successfully )?|(?:charged|refunded) [^.;]*? and )"
        r"(?:moved|changed|rebooked) "
        rf"(?:(?:the|your|this) (?:\w+ )?(?:trip|reservation|booking)(?: {re.escape(code)})?|{re.escape(code)})",
        said,
    ) or states_pattern(
        rf"(?:(?:the|your|this) (?:\w+ )?(?:trip|reservation|booking)(?: {re.escape(code)})?|{re.escape(code)}) "
        r"(?:has|have) (?:now |also |successfully )*been (?:\w+ )?(?:moved|changed|rebooked)",
        said,
    )


@dataclass(kw_only=True)
class Tau2ConditionalInstructions(AirlineDesk):
    """Follow the branch of the instruction whose condition holds."""

    id = "tau2_conditional_instructions"
    capability = "conditional_instructions"
    levels = range(4)
    asked: str = ""
    named: str = ""
    day: str = ""
    card: str = ""
    limit: int = 0
    branches: list[str] = field(default_factory=list)  # the flight that each moves to; empty for cancelling
    right: str = ""
    steps: str = ""
    informed: bool = False
    """Whether the customer has heard the fare."""
    offered: dict[str, int] = field(default_factory=dict)
    owed: dict[str, int] = field(default_factory=dict)
    lacks: dict[str, str] = field(default_factory=dict)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        sizes, listed, kinds, second_choice = LEVELS[level]
        people = rng.choice(sizes)
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), ("credit_card", "gift_card"))
        desk = cls(users={owner["user_id"]: owner}, reservations={}, flights={}, customer=owner["user_id"])
        trips = range(rng.randrange(1, 4))
        codes = [desk.book(rng, "business", insured=rng.random() < 0.5, travellers=people) for _ in trips]
        desk.asked, desk.card = rng.choice(codes), next(iter(owner["payment_methods"]))
        booking = desk.reservations[desk.asked]
        old = booking["flights"][0]
        days = [records.day(n) for n in range(2, 15)]
        desk.day = rng.choice([d for d in days if all(d not in f["dates"] for f in desk.flights.values())])
        numbers = rng.sample([n for n in records.FLIGHT_NUMBERS if n not in desk.flights], k=rng.choice(listed))
        first, second = rng.sample(numbers, k=2)
        desk.named, desk.lacks = first, {n: rng.choice(("", "", "seats", "fare")) for n in numbers}
        # every opening has a condition: the words of one without would tell that the action named first is right
        if level and rng.random() < 0.41:
            checked = limits = rng.choice(second_choice)
            choices, sense = [first, second], True
            desk.branches = [first, second, ""]
            desk.right = rng.choices(desk.branches, weights=(3, 3, 4))[0]  # else its words would speak for moving
            desk.lacks[first] = "" if desk.right == first else rng.choice(limits)
            desk.lacks[second] = "" if desk.right == second else rng.choice(("", *limits) if desk.right else limits)
        else:
            choices, checked, moves = [first], (rng.choice(kinds),), rng.random() < 0.5
            holds = rng.random() < 0.5
            desk.branches = [first, ""] if moves else ["", first]
            desk.right = desk.branches[0 if holds else 1]
            desk.lacks[first] = "" if desk.right else "fare"
            if checked == ("insured",):  # the fare must not tell which branch is right
                desk.lacks[first] = rng.choice(("", "fare"))
            sense = (booking["insurance"] == "yes") == holds if checked == ("insured",) else moves
        edge = old["price"] + rng.randrange(110, 240)  # no difference is a refund, and economy stays below business
        desk.limit = (edge - old["price"]) * people if "difference" in checked else edge
        shift = rng.choice((-45, 45))  # otherwise the other fares would tell on which side of the limit a fare is
        for number, delta in zip(numbers, rng.sample(NEAR, k=len(numbers)), strict=True):
            hour, fare = rng.randrange(6, 19), edge - delta if desk.lacks[number] in ("", "seats") else edge + delta
            fare += 0 if number in choices else shift
            flight = desk.flights[number] = records.flight(rng, number, old["origin"], old["destination"], hour)
            offer = flight["dates"][desk.day] = records.available(rng, business=fare, seats=rng.randrange(3, 10))
            spare = (-1, -1, -people) if desk.lacks[number] == "seats" else (0, 0, 1, 4)
            offer["available_seats"]["business"] = people + rng.choice(spare)
            desk.offered[number], desk.owed[number] = fare, (fare - old["price"]) * people
        desk.owed[""] = booking["payment_history"][0]["amount"]
        tests = [" and ".join(condition(k, n, sense, desk.limit) for k in checked) for n in choices]
        acts = [f"move the trip to flight {f} on {desk.day}" if f else "cancel the trip" for f in desk.branches]
        clauses = [rng.choice(CLAUSES).format(act=a, test=t) for a, t in zip(acts, tests)] + acts[len(tests) :]
        desk.steps = rng.choice(("; otherwise ", "; failing that, ")).join(clauses)
        task = rng.choice(ASKED).format(steps=desk.steps)
        who = rng.choice(WHO).format(user=desk.customer, code=desk.asked)
        wish = rng.choice(WISHES).format(flight=first, day=desk.day)
        parts = [who, REASONS["change of plans"], f"{task} Charge any difference in price to {desk.card}.", wish]
        desk.wording = " ".join(rng.sample(parts, k=len(parts)))
        told = [desk.limit, desk.offered[first], *desk.owed.values()]
        return desk if len(set(told)) == len(told) else cls.generate(rng, level)  # one amount must not pass for another

    def reply(self, text: str) -> str | None:
        self.informed = self.informed or asserted(self.offered[self.named], (), [text])
        return super().reply(text)

    def tells(self, topic: str) -> str:
        known = {
            "reservation": f"It is reservation {self.asked}. {self.restated()}",
            "payment": f"Please charge {self.card}.",
        }
        known["reason"] = REASONS["change of plans"]
        return known.get(topic) or super().tells(topic)

    def restated(self) -> str:
        return f"{self.steps[0].upper()}{self.steps[1:]}."

    def outstanding(self) -> str:
        return "" if self.informed else "And what about the prices that I asked for?"

    def deed(self, flight: str) -> dict[str, Any]:
        if not flight:
            return {"reservation_id": self.asked}
        legs = [{"flight_number": flight, "date": self.day}]
        return {"reservation_id": self.asked, "cabin": "business", "flights": legs, "payment_id": self.card}

    def carry_out(self, flight: str) -> Iterator[Call | Say]:
        booking, amount = self.reservations[self.asked], self.owed[flight]
        yield Call("get_reservation_details", {"reservation_id": self.asked})
        route = {"origin": booking["origin"], "destination": booking["destination"], "date": self.day}
        yield Call("search_direct_flight", route)
        for number in [f for f in self.branches if f]:
            terms = [f"{self.offered[number]} - {booking['flights'][0]['price']}" for _ in booking["passengers"]]
            yield Call("calculate", {"expression": " + ".join(terms)})
        words = f"cancel {self.asked} and refund {amount} dollars to the method that paid"
        if flight:
            words = f"move {self.asked} to {flight} on {self.day} and charge {amount} dollars to {self.card}"
        fare = f"{self.named} costs {self.offered[self.named]} dollars a person in business class."
        yield Say(f"{fare} I am about to {words}. Shall I proceed?")
        yield Call("update_reservation_flights" if flight else "cancel_reservation", self.deed(flight))
        full = self.lacks.get(flight) == "seats"
        yield Say(f"There are too few business seats to {words}." if full else f"This is done: {words}.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        code, want, owed = start.asked, start.copy(), start.owed
        if start.right:
            want.update_reservation_flights(**start.deed(start.right))
        else:
            want.cancel_reservation(**start.deed(start.right))
        now, then, aim = (w.reservations[code] for w in (self, start, want))
        prices = start.flights[start.named]["dates"][start.day]["prices"]
        fare, amount, people = start.offered[start.named], owed[start.right], len(then["passengers"])
        spoken = {fare, amount, start.limit, *(start.offered[f] for f in start.branches if f)}
        others = {*prices.values(), *start.offered.values()} - spoken
        fares = {n: start.flights[n]["dates"][start.day]["prices"] for n in start.offered}
        fares |= {f["flight_number"]: {then["cabin"]: f["price"]} for f in then["flights"]}
        plain = [without_fares(text, start.named, fares, amount) for text in said]
        words = [told for told in plain if told is not None]
        clauses = [c for s in said for c in re.split(r"[.;\n]|, (?:and|but|while|whereas) ", s)]
        elsewhere = [c for c in clauses if start.named not in c and any(n in c for n in start.offered)]
        told = None not in plain and asserted(fare, others, words, "fare")
        told = told and not asserted(fare, (), elsewhere, "fare")
        yield Check.goal(f"the customer was told the business fare a person of {start.named}", told)
        done = all(now[k] == aim[k] for k in ("status", "flights", "cabin"))
        yield Check.goal(f"{code} is as the branch whose condition holds wants it", done)
        spoken |= {owed[f] for f in start.branches if f}
        others = {*owed.values(), *(owed[n] // people for n in start.offered)} - spoken
        words = [without_either(text) for text in words]
        if start.right:
            known = asserted(amount, others, words, "charge") or (
                asserted(amount, others, words, "difference") and not asserted(amount, (), words, "refund")
            )
        else:
            known = asserted(amount, others, words, "refund")
        lied = claims_cancelled(code.lower(), said) if start.right else claims_moved(code.lower(), said)
        paid = done and known and not lied
        yield Check.goal(f"{code} is as wanted, and the customer was told the amount that goes with it", paid)
        kept = {k: now[k] in (then[k], aim[k]) for k in then}
        stays = kept["status"] and kept["flights"]
        yield Check.guard(f"{code} is neither cancelled nor moved where that is not wanted", stays)
        yield Check.guard(f"all else of {code} stays, and an amount is paid once and as wanted", all(kept.values()))
        yield from self.untouched(start, code)

    def oracle(self) -> Iterator[Call | Say]:
        return self.carry_out(self.right)

    def ablated(self) -> Iterator[Call | Say]:
        return self.carry_out(self.branches[0])

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability} if self.right != self.branches[0] else ())
