# Written by llm:claude for trace-gym from spec tau2_handover_judgement (sha256 77f17e7e).
"""Cancel, refuse or hand over a trip, as its records demand.

The same plea to be rid of a trip must end in a cancellation, a refusal or a handover, and only the
flight statuses together with the cabin and the insurance tell which. An agent without the judgement
takes the handover for a polite way to say no and overlooks that a trip with a flown flight is no
longer its to cancel. Both shortcuts are tempting because the tool cancels flown trips without
complaint and the customer always asks for somebody else if the agent cannot do it. In the target a
needless handover ends the task at once and a cancellation that only a human may make spoils the
final state, so drawing this line exactly carries over.

Levels:
    0. The trip has two flights; a flown flight lies days in the past, and all other flights lie days in the future.
    1. One flight of every trip is dated today, and only its status tells whether it has landed or is merely delayed
       or on time.
    2. The trip has three or four flights with changes of planes, some of them today, of which at most one has
       landed, and trips with a flown flight are as often in business class or insured as neither.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self

from trace_gym.targets.tau2 import policy, records
from trace_gym.targets.tau2.airline import AirlineDesk, Cancel
from trace_gym.targets.tau2.requests import BOOKING_DAYS, OTHER_PRICES
from trace_gym.world import Call, Check, Random, Say, asserted, tool

FAMILIES = ("flown", "forbidden", "cancellable")
WEIGHTS = (34, 33, 33)
ABLE = (("business", False), ("business", True), ("economy", True), ("basic_economy", True))
UNABLE = (("economy", False), ("basic_economy", False))
BOOKED = BOOKING_DAYS[:9]  # older than every flight, so that no flight's date competes with the day of booking
WAITING = ("delayed", "on time")
LEGS = ((2, 2), (2, 3), (3, 4))
HOURS = {"landed": (6, 7, 8, 9, 10), "delayed": (12, 13, 14), "on time": (16, 17)}
LONGEST = 2000
OPENINGS = (
    "I am {user} and I have fallen ill. On which day did I book trip {code}? Please cancel it. If you cannot do it, "
    "somebody else should.",
    "Hello, my customer id is {user}. Please cancel reservation {code}, since I am ill, and tell me on which day it "
    "was booked. If it is not for you to do, somebody else should do it.",
    "For reasons of health I cannot travel. Cancel {code} for me, and if you cannot, let somebody else do it. I would "
    "also like to know on which day I booked it. My id is {user}.",
    "My doctor tells me to stay at home because of my illness. I want {code} cancelled, by somebody else if you cannot "
    "do it. And which day was it booked on? I am {user}.",
    "Which day was {code} booked on? I am too ill to go, so please cancel it; somebody else should if you cannot. "
    "This is {user}.",
    "This is {user}. Please cancel my trip {code}: I am ill. Should you be unable to, somebody else should do it. "
    "I also need to know the day on which I booked.",
)
ANSWERS = (
    "I must be rid of it, by you or by someone else. Please do what your rules provide.",
    "Whether by you or by someone else, I must be rid of it. Do what your rules provide.",
    "Do what your rules provide, please. I must be rid of it, by you or by someone else.",
)


def schedule(rng: Random, level: int, family: str) -> list[tuple[int, str]]:
    """Day and status of each flight of a trip, in the order of flying."""
    count = rng.randint(*LEGS[level])
    if level == 0:
        plan = [(rng.randrange(-5, -1), "landed") if family == "flown" else (rng.randrange(2, 5), "on time")]
    else:
        plan = [(0, "landed" if family == "flown" else rng.choice(WAITING))]
    if level == 2 and rng.random() < 0.5:
        plan.append((0, rng.choice(WAITING)))
    while len(plan) < count:
        on = plan[-1][0]
        gap = rng.randrange(2, 5) if on <= 0 else rng.randrange(1, 4)
        plan.append((max(on, 0) + gap, "on time"))
    return plan


def trip(
    rng: Random, owner: dict[str, Any], code: str, booked: str, numbers: list[str], level: int, family: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A reservation of a family, and its flights by number."""
    able = family == "cancellable" or (family == "flown" and rng.random() < 0.5)
    cabin, insured = rng.choice(ABLE if able else UNABLE)
    plan = schedule(rng, level, family)
    stops = rng.sample(list(records.AIRPORTS), k=len(plan) + 1)
    back = rng.random() < 0.5
    if back:
        stops[-1] = stops[0]
    legs: list[tuple[dict[str, Any], str]] = []
    for at, (on, status) in enumerate(plan):
        hours = HOURS[status] if at == 0 else (19, 20) if on == 0 else (7, 9, 11, 14, 17)
        leg = records.flight(rng, numbers[at], stops[at], stops[at + 1], rng.choice(hours))
        leg["dates"][records.day(on)] = {"status": status}
        legs.append((leg, records.day(on)))
    booking = records.reservation(
        rng,
        code,
        owner,
        legs,
        cabin=cabin,
        created=f"{booked}T{rng.choice(records.CLOCK)}",
        insured=insured,
        travellers=rng.randint(1, 3),
        paid_with=rng.choice(list(owner["payment_methods"])),
    )
    if back:
        booking["destination"] = stops[(len(plan) + 1) // 2]
    rng.shuffle(booking["flights"])  # in the order of flying, the flown flight would always be the first
    return booking, {leg["flight_number"]: leg for leg, _ in legs}


def plain(text: str) -> str:
    """A message with its days, cabins and amounts spelt as in the records."""
    text = " ".join(text.lower().split())
    text = re.sub(
        r"\bmay ([0-9]{1,2})(?:st|nd|rd|th)?\b|(?<![\w.-])([0-9]{1,2})(?:st|nd|rd|th)?(?: of)? may\b",
        lambda found: f"2024-05-{int(found[1] or found[2]):02d}",
        text,
    )
    text = re.sub(r"(?<=[0-9])\.00\b", "", text)
    text = re.sub(r"\bbasic[ -]economy\b", "basic_economy", text)
    # A refusal may say that the trip is not in business class without telling another cabin.
    text = re.sub(r"\b(?:not|only|nor|non|neither|for|if)[ -](?:in |a |it is |it were )?business\b", " ", text)
    return text.replace("-class", " class")


def named_as_flown(texts: Iterable[str]) -> set[str]:
    """The flights that are named, except where the next word on their state says that they are still ahead."""
    named: set[str] = set()
    for text in texts:
        parts = re.split(r"\bhat[ -]?([0-9]{3})\b", plain(text))
        for number, after in zip(parts[1::2], parts[2::2]):
            state = re.search(
                r"\b(?:(on time|delayed|upcoming|not yet|not been|not flown|not landed|yet to)"
                r"|landed|flown|departed|taken|left)\b",
                after,
            )
            if not (state and state[1]):
                named.add(f"HAT{number}")
    return named


def kept(now: dict[str, Any], start: dict[str, Any], want: dict[str, Any]) -> bool:
    """Whether every record is as at the start or as it was asked to be, and none was added."""
    return now.keys() == start.keys() and all(record in (start[key], want[key]) for key, record in now.items())


@dataclass(kw_only=True)
class Tau2HandoverJudgement(AirlineDesk):
    """Cancel, refuse or hand over a trip, as its records demand."""

    id = "tau2_handover_judgement"
    capability = "handover_judgement"
    levels = range(3)
    answer: str = ""
    answered: bool = False
    left: bool = False
    handed: str = ""

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        kinds = tuple(rng.sample(("credit_card", "credit_card", "gift_card"), k=rng.randint(1, 3)))
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), kinds)
        count = rng.randint(2, 4)
        codes = rng.sample(records.CODES, k=count)
        days = rng.sample(BOOKED, k=count)
        numbers = rng.sample(records.FLIGHT_NUMBERS, k=4 * count)
        named = rng.randrange(count)
        family = rng.choices(FAMILIES, weights=WEIGHTS)[0]
        reservations: dict[str, Any] = {}
        flights: dict[str, Any] = {}
        for at, code in enumerate(codes):
            case = family if at == named else rng.choice(FAMILIES)
            booking, legs = trip(rng, owner, code, days[at], numbers[4 * at : 4 * at + 4], level, case)
            reservations[code] = booking
            flights.update(legs)
        return cls(
            users={owner["user_id"]: owner},
            reservations=reservations,
            flights=flights,
            requests=[Cancel(codes[named], reason="health")],
            customer=owner["user_id"],
            wording=rng.choice(OPENINGS).format(user="{user}", code=codes[named]),
            answer=rng.choice(ANSWERS),
        )

    def reply(self, text: str) -> str | None:
        if self.answered or self.asked_trip["status"] == "cancelled":
            self.left = True
            return None
        self.answered = True
        return self.answer

    @property
    def asked_trip(self) -> dict[str, Any]:
        return self.reservations[self.requests[0].reservation]

    @tool(kind="generic")
    def transfer_to_human_agents(self, summary: str) -> str:
        """Transfer the user to a human agent, with a summary of the user's issue.

        Args:
            summary: A summary of the user's issue.
        """
        first = not self.transferred
        result = super().transfer_to_human_agents(summary)
        if first:
            self.handed = str(summary)[:LONGEST]
        return result

    def landed_flight(self) -> str:
        """The number of the flown flight; empty where there is none."""
        for leg in self.asked_trip["flights"]:
            if self.status(leg["flight_number"], leg["date"]) == "landed":
                return str(leg["flight_number"])
        return ""

    def look_ups(self) -> Iterator[Call]:
        yield Call("get_user_details", {"user_id": self.customer})
        yield Call("get_reservation_details", {"reservation_id": self.requests[0].reservation})
        for leg in self.asked_trip["flights"]:
            yield Call("get_flight_status", {"flight_number": leg["flight_number"], "date": leg["date"]})

    def booked_words(self) -> str:
        booking = self.asked_trip
        return f"Reservation {booking['reservation_id']} was booked on {booking['created_at'][:10]}."

    def flights_words(self) -> str:
        return " and ".join(leg["flight_number"] for leg in self.asked_trip["flights"])

    def refusal_words(self) -> str:
        cabin = self.asked_trip["cabin"]
        return (
            f"{self.booked_words()} The trip with {self.flights_words()} is in {cabin} and has no insurance, "
            "so the rules forbid a cancellation."
        )

    def cancels(self) -> Iterator[Call | Say]:
        code, amount = self.requests[0].reservation, policy.refund(self.asked_trip)
        yield Say(f"{self.booked_words()} I am going to cancel it, with {self.flights_words()}. Do you agree?")
        yield Call("cancel_reservation", {"reservation_id": code})
        yield Say(f"Reservation {code} is cancelled, and {amount} dollars come back to you.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        request, booking = start.requests[0], start.asked_trip
        code, verdict = request.reservation, request.verdict(start)
        heard = [plain(text) for text in said]
        standing = self.asked_trip["status"] != "cancelled"
        day = asserted(booking["created_at"][:10], BOOKED, heard)
        yield Check.goal(f"the customer was told on which day {code} was booked", day)
        if verdict.transfer:
            flown = {start.landed_flight()}
            named = named_as_flown([*said, self.handed]) == flown
            yield Check.goal(f"the flown flight of {code} was named, and no other as flown", named)
            over = self.transferred and standing and named_as_flown([self.handed]) == flown
            yield Check.goal(f"{code} stands and was handed over, with its flown flight named", over)
        elif verdict.allowed:
            own = {leg["price"] for leg in booking["flights"]}
            totals = {policy.refund(other) for other in start.reservations.values()}
            told = asserted(policy.refund(booking), (OTHER_PRICES | totals) - own, heard)
            yield Check.goal(f"{code} is cancelled", not standing)
            yield Check.goal(f"{code} is cancelled and the customer was told what comes back", not standing and told)
        else:
            cabin = asserted(booking["cabin"], records.CABINS, heard)
            yield Check.goal(f"the customer was told the cabin of {code}, and no other", cabin)
            closed = self.left and standing and day and cabin
            yield Check.goal(f"the customer left with {code} standing, told its cabin and day of booking", closed)
        want = start.served()
        unmoved = kept(self.users, start.users, want.users)
        alone = verdict.transfer or not self.transferred
        yield Check.guard("the customer was not handed over unless a flight of the trip was flown", alone)
        yield Check.guard("the trip was not cancelled against the rules", verdict.allowed or standing)
        rest = unmoved and kept(self.reservations, start.reservations, want.reservations)
        yield Check.guard("nothing else was cancelled, changed, booked or sent", rest)

    def oracle(self) -> Iterator[Call | Say]:
        code, flown, refusal = self.requests[0].reservation, self.landed_flight(), self.refusal_words()
        allowed = self.requests[0].verdict(self).allowed
        yield from self.look_ups()
        if flown:
            yield Say(f"{self.booked_words()} Its flight {flown} has been flown, so a colleague has to take over.")
            summary = f"{code}: the customer asks to cancel the trip, of which flight {flown} has been flown."
            yield Call("transfer_to_human_agents", {"summary": summary})
        elif allowed:
            yield from self.cancels()
        else:
            yield Say(refusal)
            yield Say(refusal)

    def ablated(self) -> Iterator[Call | Say]:
        booking = self.asked_trip
        code, refusal = booking["reservation_id"], self.refusal_words()
        yield from self.look_ups()
        if booking["cabin"] == "business" or booking["insurance"] == "yes":
            yield from self.cancels()
        else:
            yield Say(refusal)
            yield Call("transfer_to_human_agents", {"summary": f"{code}: the customer asks to cancel the trip."})

    def needs(self) -> frozenset[str]:
        return frozenset() if self.requests[0].verdict(self).allowed else frozenset({self.capability})
