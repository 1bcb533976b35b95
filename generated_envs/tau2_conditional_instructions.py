# Written by llm:claude for trace-gym from spec tau2_conditional_instructions (sha256 9d8585ca).
"""Follow the branch of the instruction whose condition holds.

The customer says once, in the opening, what to do in which case: move the trip if a fare is within
a limit and cancel it otherwise, or take a second flight where the first has no room. An agent
without the capability carries out the action that was named first, because it reads like the
request and the rest like an aside. The rules allow every branch, so nothing but the looked-up fact
tells which one is wanted, and the customer agrees to whatever is announced. The target's customers
give the same kind of instruction, with limits, fallbacks and exceptions, and only the final state
counts there, so testing each condition before the first write carries over.

Levels:
    0. One condition with two branches, on the fare a person of one flight or on whether the trip is insured, for one
       traveller and with few flights on the day.
    1. Adds a second choice of flight where the first has too few business seats for all travellers, and two or three
       travellers.
    2. Adds a limit on the fare to the second choice, so that each of the two flights can fail by seats or by fare
       and cancelling remains as the last resort.
    3. Adds limits on the difference for all travellers together, which must be worked out from what was paid, the
       fare and the number of travellers, and more flights on the day.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

from trace_gym.targets.tau2 import records
from trace_gym.targets.tau2.airline import AirlineDesk
from trace_gym.world import Call, Check, Random, Say, asserted

MOVES = (
    "move {code} to flight {flight} on {day} in business class",
    "change {code} to {flight} on {day}, still in business class",
    "put {code} on flight {flight} of {day}, in business class as before",
)
CANCELS = ("cancel {code}", "cancel {code} altogether", "cancel the whole trip {code}")
EITHER = (  # the action that comes first is wanted where `cond` holds
    "If {cond}, please {first}; otherwise {second}.",
    "Please {first} if {cond}, and {second} if not.",
    "Please {first}, unless {negated}; in that case {second}.",
    "I want you to {first}. Only if {negated}, {second} instead.",
)
SECOND = (
    "Please move {code} to {first} on {day} in business class. If {first} {fails}, take {second} on the same day "
    "instead, and if {second} {fails} as well, cancel {code}.",
    "My first choice is to move {code} to flight {first} on {day}, in business class. My second choice, if {first} "
    "{fails}, is {second} on the same day. If {second} {fails} too, cancel {code}.",
    "Move {code} to {first} on {day} in business class, unless that flight {fails}. In that case move it to {second} "
    "on that day, unless that one {fails} too; then cancel {code}.",
)
ALONE = ("Please {action}.", "I would like you to {action}.", "What I want is simple: {action}.")
WHO = ("I am {user}.", "My customer id is {user}.", "You find me under {user}.")
WHY = (
    "My plans have changed, so reservation {code} does not suit me any more.",
    "I am writing about reservation {code}, because my plans have changed.",
    "It is about {code}: my plans have changed.",
)
CARD = (
    "If there is a difference in price, use {card} for it.",
    "Any difference in price goes to {card}.",
    "For a difference in price take {card}.",
)
WISH = (
    "Tell me what {flight} on {day} costs a person in business class, and what is charged or refunded in all; please "
    "leave out all other prices.",
    "The only prices that I want to hear are what {flight} on {day} costs a person in business class, and the sum that "
    "is charged or refunded for all travellers.",
    "I want to hear what one person pays for {flight} on {day} in business class, then the sum charged or refunded "
    "for everybody, and no other price.",
)
AGREEMENTS = (
    "I agree with what you announced.",
    "Yes, that is fine with me, as you announced it.",
    "Agreed, please do what you announced.",
)
ASKS = re.compile(
    r"\b(prefer|rather|which (one|option|branch|choice|action|flight|of)|or (should|shall|would|do) (i|you)"
    r"|what (should|shall|would|do) (i|you))\b"
)
COUNTS = ((3, 4), (3, 4, 5), (4, 5), (5, 6))  # flights on the day, per level
LIMITS = tuple(range(300, 541, 10))
PATIENCE = 5


def either_or(rng: Random, level: int) -> dict[str, Any]:
    """One condition between moving and cancelling; what is named first is right in about a third."""
    kind = rng.choice(("fare", "insured") if level < 3 else ("fare", "difference", "difference", "insured"))
    moves, right, insured = rng.random() < 0.5, rng.random() < 0.36, rng.random() < 0.5
    wanted = rng.random() < 0.5 if kind == "insured" else moves  # nobody moves only because it is dear
    fact = wanted == right
    return {
        "family": "either_or", "kind": kind, "moves": moves, "wanted": wanted, "within": [fact], "seated": [True],
        "insured": fact if kind == "insured" else insured,
    }  # fmt: skip


def second_choice(rng: Random, level: int) -> dict[str, Any]:
    """A first flight, a second one, and cancelling as the last resort."""
    kind = "seats" if level < 2 else "fare" if level == 2 else rng.choice(("fare", "difference"))
    right = rng.choices((0, 1, 2), (3, 4, 3))[0]
    within, seated = [], []
    for place in (0, 1):
        fits = place == right or (place > right and rng.random() < 0.5)
        full = not fits and (kind == "seats" or rng.random() < 0.5)
        seated.append(not full)
        within.append(fits or (full and rng.random() < 0.7))
    return {
        "family": "second_choice", "kind": kind, "moves": True, "wanted": True, "within": within, "seated": seated,
        "insured": rng.random() < 0.5,
    }  # fmt: skip


def no_condition(rng: Random) -> dict[str, Any]:
    """One thing without any condition."""
    return {
        "family": "no_condition", "kind": "none", "moves": rng.random() < 0.5, "wanted": True, "within": [True],
        "seated": [True], "insured": rng.random() < 0.5,
    }  # fmt: skip


def drawn_fare(rng: Random, kind: str, within: bool, limit: int, people: int, price: int) -> int:
    """A business fare on the given side of the limit, mostly a few dollars away from it."""
    step = rng.choice((0, 0, 0, 1, 2, 4))
    if kind == "fare":
        if within:
            return [f for f in records.FARES if f < limit][-1 - step]
        return [f for f in records.FARES if f > limit][step]
    if kind == "difference":
        if within:
            return price + 7 * ((limit - 1) // (7 * people) - step)
        return price + 7 * (limit // (7 * people) + 1 + step)
    return rng.choice(records.FARES[30:76])


def offered(rng: Random, business: int, seats: int) -> dict[str, Any]:
    """A date with the given business fare and seats; the other cabins are cheaper."""
    at = (business - records.FARES[0]) // 7 - rng.randrange(3, 12)
    on = records.available(rng, economy=records.FARES[at], business=business, seats=rng.randrange(3, 10))
    on["available_seats"]["business"] = seats
    return on


def branches_of(shape: dict[str, Any], named: list[str], limit: int) -> list[dict[str, Any]]:
    """The ordered instruction: a flight, or none for cancelling, and tests of (kind, flight, limit, wanted)."""
    kind = shape["kind"]
    first, other = (named[0], "") if shape["moves"] else ("", named[0])
    if shape["family"] == "either_or":
        test = [kind, named[0], limit, shape["wanted"]]
        return [{"flight": first, "tests": [test]}, {"flight": other, "tests": []}]
    if shape["family"] == "no_condition":
        return [{"flight": first, "tests": []}]
    choices: list[dict[str, Any]] = []
    for number in named:
        tests = [["seats", number, 0, True]]
        if kind != "seats":
            tests.append([kind, number, limit, True])
        choices.append({"flight": number, "tests": tests})
    return [*choices, {"flight": "", "tests": []}]


def condition(kind: str, wanted: bool, flight: str, limit: int, code: str, day: str) -> str:
    bound = "at most" if wanted else "more than"
    if kind == "fare":
        return f"{flight} costs {bound} {limit} dollars a person in business class on {day}"
    if kind == "difference":
        moving = f"the difference in price for moving {code} to {flight} on {day}"
        return f"{moving} comes to {bound} {limit} dollars for all travellers together"
    return f"{code} is insured" if wanted else f"{code} is not insured"


def worded(rng: Random, shape: dict[str, Any], named: list[str], limit: int, code: str, day: str) -> str:
    """The instruction in words; the wording does not depend on which branch holds."""
    if shape["family"] == "second_choice":
        fails = "has too few business seats for all travellers"
        if shape["kind"] == "fare":
            fails = f"{fails} or costs more than {limit} dollars a person in business class"
        if shape["kind"] == "difference":
            fails = f"{fails} or makes a difference in price of more than {limit} dollars for all of them together"
        return rng.choice(SECOND).format(code=code, first=named[0], second=named[1], day=day, fails=fails)
    move = rng.choice(MOVES).format(code=code, flight=named[0], day=day)
    cancel = rng.choice(CANCELS).format(code=code)
    first, other = (move, cancel) if shape["moves"] else (cancel, move)
    if shape["family"] == "no_condition":
        return rng.choice(ALONE).format(action=first)
    cond = condition(shape["kind"], shape["wanted"], named[0], limit, code, day)
    negated = condition(shape["kind"], not shape["wanted"], named[0], limit, code, day)
    return rng.choice(EITHER).format(cond=cond, negated=negated, first=first, second=other)


def plain(said: list[str]) -> list[str]:
    """What was said, with 120.00 read as 120."""
    return [re.sub(r"\.00?\b", "", text) for text in said]


def legs(booking: dict[str, Any]) -> list[tuple[str, str]]:
    return [(f["flight_number"], f["date"]) for f in booking["flights"]]


@dataclass(kw_only=True)
class Tau2ConditionalInstructions(AirlineDesk):
    """Follow the branch of the instruction whose condition holds."""

    id = "tau2_conditional_instructions"
    capability = "conditional_instructions"
    levels = range(4)
    trip: str = ""
    fare_of: str = ""
    moving_day: str = ""
    card_named: str = ""
    instruction: str = ""
    agreement: str = ""
    branches: list[dict[str, Any]] = field(default_factory=list)
    untouched: dict[str, Any] = field(default_factory=dict)
    turns_waited: int = 0
    asked_settled: bool = False

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        family = rng.choices(("either_or", "second_choice", "no_condition"), (50, 35, 15))[0]
        if family == "either_or":
            shape = either_or(rng, level)
        elif family == "second_choice":
            shape = second_choice(rng, level)
        else:
            shape = no_condition(rng)
        people = 1 if level == 0 else rng.choice((2, 3))
        while True:  # only the numbers are drawn again, so that the shares of the branches stay
            built = cls.draw_numbers(rng, level, people, shape)
            if built.is_fair():
                built.untouched = built.copy().reservations
                return built

    def opening(self) -> str:
        return self.wording

    def reply(self, text: str) -> str | None:
        if self.asked_settled or self.turns_waited >= PATIENCE:
            return None
        if self.reservations != self.untouched:
            self.asked_settled = True
            return "Thank you. Is everything settled now?"
        self.turns_waited += 1
        if self.turns_waited >= PATIENCE:
            return None
        return self.instruction if ASKS.search(" ".join(text.lower().split())) else self.agreement

    @classmethod
    def draw_numbers(cls, rng: Random, level: int, people: int, shape: dict[str, Any]) -> Self:
        kind = shape["kind"]
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), ("credit_card",))
        card = list(owner["payment_methods"])[0]
        origin, destination = rng.sample(list(records.AIRPORTS), k=2)
        then, day = [records.day(n) for n in rng.sample(range(2, 17), k=2)]
        numbers = rng.sample(records.FLIGHT_NUMBERS, k=9)
        limit = 0
        if kind == "fare":
            limit = rng.choice(LIMITS)
        if kind == "difference":
            limit = 10 * rng.randrange(9 * people, 17 * people)
        price = rng.choice(records.FARES[20:45] if kind == "difference" else records.FARES[20:66])

        old = records.flight(rng, numbers[0], origin, destination, rng.randrange(6, 19))
        old["dates"][then] = offered(rng, price, rng.randrange(10))
        offers = []
        for within, seated in zip(shape["within"], shape["seated"], strict=True):
            seats = people + rng.choice((0, 0, 1, 4)) if seated else rng.choice((people - 1, people - 1, 0))
            offers.append((drawn_fare(rng, kind, within, limit, people, price), seats))
        named = numbers[1 : 1 + len(offers)]
        for _ in range(rng.choice(COUNTS[level]) - len(named)):
            offers.append((rng.choice(records.FARES[30:76]), rng.randrange(10)))
        flights = [old]
        for number, (fare, seats) in zip(numbers[1:], offers, strict=False):
            plan = records.flight(rng, number, origin, destination, rng.randrange(6, 19))
            plan["dates"][day] = offered(rng, fare, seats)
            flights.append(plan)

        trips = [(old, then, "business", shape["insured"], people)]
        for number in numbers[7 : 7 + rng.randrange(3)]:
            start, end = rng.sample(list(records.AIRPORTS), k=2)
            plan = records.flight(rng, number, start, end, rng.randrange(6, 19))
            on = records.day(rng.randrange(2, 17))
            plan["dates"][on] = records.available(rng)
            flights.append(plan)
            trips.append((plan, on, rng.choice(records.CABINS), rng.random() < 0.5, rng.choice((1, 2))))
        codes = rng.sample(records.CODES, k=len(trips))
        bookings = {}
        for n in rng.sample(range(len(trips)), k=len(trips)):
            plan, on, cabin, insured, travellers = trips[n]
            created = f"{records.day(-rng.randrange(2, 14))}T{rng.choice(records.CLOCK)}"
            bookings[codes[n]] = records.reservation(
                rng, codes[n], owner, [(plan, on)], cabin=cabin, created=created, insured=insured, travellers=travellers
            )
        rng.shuffle(flights)

        instruction = worded(rng, shape, named, limit, codes[0], day)
        sentences = [
            rng.choice(WHO).format(user=owner["user_id"]),
            rng.choice(WHY).format(code=codes[0]),
            instruction,
            rng.choice(CARD).format(card=card),
            rng.choice(WISH).format(flight=named[0], day=day),
        ]
        rng.shuffle(sentences)
        return cls(
            users={owner["user_id"]: owner},
            reservations=bookings,
            flights={f["flight_number"]: f for f in flights},
            requests=[],
            customer=owner["user_id"],
            wording=" ".join(sentences),
            withheld=(),
            pushes=0,
            trip=codes[0],
            fare_of=named[0],
            moving_day=day,
            card_named=card,
            instruction=instruction,
            agreement=rng.choice(AGREEMENTS),
            branches=branches_of(shape, named, limit),
        )

    def business_fare(self, flight: str) -> int:
        return int(self.flights[flight]["dates"][self.moving_day]["prices"]["business"])

    def difference_for_one(self, flight: str) -> int:
        return self.business_fare(flight) - int(self.reservations[self.trip]["flights"][0]["price"])

    def difference_for_all(self, flight: str) -> int:
        return self.difference_for_one(flight) * len(self.reservations[self.trip]["passengers"])

    def paid_in_all(self) -> int:
        return sum(p["amount"] for p in self.reservations[self.trip]["payment_history"])

    def amount_of(self, branch: dict[str, Any]) -> int:
        """Dollars that are charged or refunded when the branch is carried out."""
        return abs(self.difference_for_all(branch["flight"])) if branch["flight"] else self.paid_in_all()

    def condition_holds(self, kind: str, flight: str, limit: int, wanted: bool) -> bool:
        booking = self.reservations[self.trip]
        if kind == "seats":
            free = self.flights[flight]["dates"][self.moving_day]["available_seats"]["business"]
            return (free >= len(booking["passengers"])) == wanted
        if kind == "fare":
            return (self.business_fare(flight) <= limit) == wanted
        if kind == "difference":
            return (self.difference_for_all(flight) <= limit) == wanted
        return (booking["insurance"] == "yes") == wanted

    def right_branch(self) -> dict[str, Any]:
        """The first branch whose conditions hold; the last branch has none."""
        for branch in self.branches:
            if all(self.condition_holds(*test) for test in branch["tests"]):
                return branch
        return self.branches[-1]

    def flights_named(self) -> list[str]:
        others = [b["flight"] for b in self.branches if b["flight"] and b["flight"] != self.fare_of]
        return [self.fare_of, *others]

    def rival_fares(self) -> list[int]:
        """Fares that could be taken for the one that the customer wants to hear."""
        first = self.flights[self.fare_of]
        prices = first["dates"][self.moving_day]["prices"]
        rivals = [int(prices["basic_economy"]), int(prices["economy"])]
        for number, plan in self.flights.items():
            route = plan["origin"] == first["origin"] and plan["destination"] == first["destination"]
            if number != self.fare_of and route and self.moving_day in plan["dates"]:
                rivals.append(self.business_fare(number))
        return rivals

    def rival_sums(self) -> list[int]:
        """The amounts of all branches and the differences for one traveller, the right amount among them."""
        sums = [self.paid_in_all()]
        for flight in self.flights_named():
            sums += [abs(self.difference_for_all(flight)), abs(self.difference_for_one(flight))]
        return sums

    def is_fair(self) -> bool:
        """Whether no number that is told truthfully is also a wrong answer to something else."""
        fare, right = self.business_fare(self.fare_of), self.amount_of(self.right_branch())
        fares, sums = self.rival_fares(), self.rival_sums()
        ones = [abs(self.difference_for_one(f)) for f in self.flights_named()]
        totals = [abs(self.difference_for_all(f)) for f in self.flights_named()] + [self.paid_in_all()]
        limits = [test[2] for branch in self.branches for test in branch["tests"]]
        if min(ones) < 35:  # smaller ones would be mistaken for days and hours
            return False
        if len(set(totals)) < len(totals) or (ones[0] != totals[0] and any(one in totals for one in ones)):
            return False
        if any(limit in fares or limit in sums or limit == fare for limit in limits):
            return False
        return fare not in fares and fare not in sums and right not in fares

    def wanted_trip(self) -> dict[str, Any]:
        """The asked reservation after the branch that holds; called on the start state."""
        want, branch = self.copy(), self.right_branch()
        if branch["flight"]:
            want.update_reservation_flights(
                reservation_id=self.trip,
                cabin="business",
                flights=[{"flight_number": branch["flight"], "date": self.moving_day}],
                payment_id=self.card_named,
            )
        else:
            want.cancel_reservation(reservation_id=self.trip)
        return want.reservations[self.trip]

    def money_words(self, branch: dict[str, Any]) -> str:
        amount = self.amount_of(branch)
        if not branch["flight"]:
            return f"{amount} dollars go back to the method that paid"
        way = "charged" if self.difference_for_all(branch["flight"]) > 0 else "refunded"
        return f"the difference of {amount} dollars for all travellers is {way} to {self.card_named}"

    def play_branch(self, branch: dict[str, Any]) -> Iterator[Call | Say]:
        """Look everything up, announce the branch and carry it out."""
        booking, flight = self.reservations[self.trip], branch["flight"]
        people, price = len(booking["passengers"]), booking["flights"][0]["price"]
        yield Call("get_reservation_details", {"reservation_id": self.trip})
        route = {"origin": booking["origin"], "destination": booking["destination"], "date": self.moving_day}
        yield Call("search_direct_flight", route)
        for choice in self.branches:
            if choice["flight"]:
                fares = " + ".join([str(self.business_fare(choice["flight"]))] * people)
                yield Call("calculate", {"expression": fares + f" - {price}" * people})
        deed = (
            f"move {self.trip} to {flight} on {self.moving_day} in business class" if flight else f"cancel {self.trip}"
        )
        fare = f"{self.fare_of} costs {self.business_fare(self.fare_of)} dollars a person in business class."
        yield Say(f"{fare} I am about to {deed}; {self.money_words(branch)}. Do you agree?")
        if flight:
            arguments = {
                "reservation_id": self.trip,
                "cabin": "business",
                "flights": [{"flight_number": flight, "date": self.moving_day}],
                "payment_id": self.card_named,
            }
            yield Call("update_reservation_flights", arguments)
        else:
            yield Call("cancel_reservation", {"reservation_id": self.trip})
        if flight and not self.condition_holds("seats", flight, 0, True):
            refused = f"{flight} has too few business seats, so {self.trip} was not changed"
            yield Say(f"{refused}; the difference of {self.amount_of(branch)} dollars was not settled.")
        else:
            yield Say(f"That is done for {self.trip}: {self.money_words(branch)}.")
        yield Say("That is all from my side. Goodbye.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        code, told = start.trip, plain(said)
        was, now, want = start.reservations[code], self.reservations[code], start.wanted_trip()
        fare, right = start.business_fare(start.fare_of), start.amount_of(start.right_branch())
        done = all(now[key] == want[key] for key in ("status", "flights", "cabin"))
        place = (now["status"], legs(now))
        kept = ("cabin", "passengers", "total_baggages", "nonfree_baggages", "insurance")

        heard = asserted(fare, start.rival_fares(), told)
        yield Check.goal(f"the customer was told the business fare a person of {start.fare_of}", heard)
        yield Check.goal(f"{code} is as the branch whose condition holds wants it", done)
        settled = done and asserted(right, start.rival_sums(), told)
        yield Check.goal(f"{code} is as wanted and the customer was told the amount that goes with it", settled)

        allowed = place in ((was["status"], legs(was)), (want["status"], legs(want)))
        yield Check.guard(f"{code} is neither cancelled nor moved against the instruction", allowed)
        others = all(self.reservations.get(k) == v for k, v in start.reservations.items() if k != code)
        yield Check.guard("no other reservation is changed or cancelled", others)
        same = all(now[key] == was[key] for key in kept)
        paid = now["payment_history"] in (was["payment_history"], want["payment_history"])
        yield Check.guard(f"cabin, passengers and bags of {code} stay, and money moves once and rightly", same and paid)
        nothing = len(self.reservations) == len(start.reservations) and self.users == start.users
        yield Check.guard(
            "nothing is booked, no certificate is sent, and the customer is not handed over",
            nothing and self.ended == start.ended,
        )

    def oracle(self) -> Iterator[Call | Say]:
        return self.play_branch(self.right_branch())

    def ablated(self) -> Iterator[Call | Say]:
        return self.play_branch(self.branches[0])

    def needs(self) -> frozenset[str]:
        return frozenset() if self.right_branch() == self.branches[0] else frozenset({self.capability})
