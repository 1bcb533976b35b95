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
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from trace_gym.targets.tau2 import policy, records
from trace_gym.targets.tau2.airline import AirlineDesk, Cancel
from trace_gym.targets.tau2.requests import BOOKING_DAYS
from trace_gym.world import Call, Check, Random, Say, asserted

# "Name just that" is asked in every family: it makes the flown flight or the cabin an answer to a question.
OPENINGS = (
    "I am {user}. On which day was my trip {code} booked, as your records write it? I am ill, please cancel it. "
    "If you cannot do it, somebody else should. If something stands in the way, name just that.",
    "Hello, my customer id is {user}. I have fallen ill and want to cancel {code}. If you cannot, then let somebody "
    "else do it. Tell me the day of booking as it stands in your records, and if something is in the way, just that.",
    "Please cancel my trip {code}, I am ill. My id is {user}. First tell me the date on which it was booked, as your "
    "records have it. If there is an obstacle, name only that one, and if it is not for you, find me someone else.",
    "My health does not let me travel, so trip {code} has to go. If not by you, then by somebody else. My customer "
    "id is {user}. Which date of booking do your records show? Should anything stand in the way, name only that.",
    "This is {user}. I need to know the date, as your records write it, on which {code} was booked, and I need it "
    "cancelled because I am ill. Should you be unable to, another person must do it. Name any obstacle, no more.",
)
ANSWER = "I must be rid of it, by you or by someone else. Do what your rules provide, I agree to that."
FAMILIES = ("flown", "forbidden", "cancellable")
CLAUSES = {  # whether a clause allows to cancel -> (cabin, insured)
    True: (("business", False), ("business", True), ("economy", True), ("basic_economy", True)),
    False: (("economy", False), ("basic_economy", False)),
}
LEGS = ((2,), (2, 3), (3, 4))
METHODS = (("credit_card",), ("gift_card",), ("credit_card", "gift_card"), ("gift_card", "credit_card"))
# Flown flights lie on later days than these, so that telling their dates is no claim about the booking.
DAYS = BOOKING_DAYS[:8]
# An agent may well say that a trip is not business class, so that only these two compete with each other.
REFUSED_CABINS = ("basic_economy", "economy")


@dataclass(kw_only=True)
class Tau2HandoverJudgement(AirlineDesk):
    """Cancel, refuse or hand over a trip, as its records demand."""

    id = "tau2_handover_judgement"
    capability = "handover_judgement"
    levels = range(3)
    hung_up: bool = False

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        family = rng.choices(FAMILIES, weights=(34, 33, 33))[0]
        flown = family == "flown"
        cabin, insured = rng.choice(CLAUSES[family == "cancellable" or (flown and rng.random() < 0.5)])
        count = rng.choice(LEGS[level])
        offsets = [0] * level + sorted(rng.sample(range(2, 14), k=count - level))
        if flown and level == 0:
            offsets[0] = -rng.randrange(2, 6)
        stops = rng.sample(list(records.AIRPORTS), k=count + 1)
        if rng.random() < 0.5:
            stops[-1] = stops[0]
        legs = []
        for i, number in enumerate(rng.sample(records.FLIGHT_NUMBERS, k=count)):
            waiting = "available" if offsets[i] > 0 else rng.choice(("delayed", "on time"))
            status = "landed" if flown and i == 0 else waiting
            hour = rng.randrange(6, 8) + (0 if status == "landed" else 9 + 4 * (i % 2))
            plan = records.flight(rng, number, stops[i], stops[i + 1], hour)
            on = records.day(offsets[i])
            plan["dates"][records.day(-1)] = {"status": "landed"}  # flights are daily: the date counts as well
            plan["dates"][on] = records.available(rng) if status == "available" else {"status": status}
            legs.append((plan, on))
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), rng.choice(METHODS))
        code = rng.choice(records.CODES)
        booked, *others = rng.sample(DAYS, k=rng.randrange(2, 5))
        trip = records.reservation(
            rng,
            code,
            owner,
            legs,
            cabin=cabin,
            created=f"{booked}T{rng.choice(records.CLOCK)}",
            insured=insured,
            travellers=rng.randrange(1, 4),
        )
        rng.shuffle(trip["flights"])  # otherwise the flown flight would always be the first one listed
        desk = cls(
            users={owner["user_id"]: owner},
            reservations={code: trip},
            flights={plan["flight_number"]: plan for plan, _ in legs},
            requests=[Cancel(code, reason="health")],
            customer=owner["user_id"],
            wording=rng.choice(OPENINGS).format(user="{user}", code=code),
        )
        for other in others:
            created = f"{other}T{rng.choice(records.CLOCK)}"
            desk.book(rng, rng.choice(records.CABINS), created=created, insured=rng.random() < 0.5)
        rng.shuffle(desk.users[desk.customer]["reservations"])
        return desk

    def reply(self, text: str) -> str | None:
        if self.pushed or self.reservations[self.requests[0].reservation]["status"] == "cancelled":
            self.hung_up = True
            return None
        self.pushed = 1
        return ANSWER

    def course(self, judges: bool) -> Iterator[Call | Say]:
        """The plan of both experts; the one without the judgement pays no heed to what the statuses say."""
        code = self.requests[0].reservation
        trip = self.reservations[code]
        legs = [(f["flight_number"], f["date"]) for f in trip["flights"]]
        flown = [number for number, on in legs if judges and self.status(number, on) == "landed"]
        booked = f"Trip {code} was booked on {trip['created_at'][:10]}."
        forbidden = f"{booked} It is {trip['cabin']} without insurance, so the rules do not let me cancel it."
        back = policy.refund(trip)
        # The same summary for both, as they are to differ only in what is decided and told.
        over = Call("transfer_to_human_agents", {"summary": f"The customer is ill and wants to cancel {code}."})
        yield Call("get_user_details", {"user_id": self.customer})
        yield Call("get_reservation_details", {"reservation_id": code})
        for number, on in legs:
            yield Call("get_flight_status", {"flight_number": number, "date": on})
        if flown:
            yield Say(f"{booked} Its flight {flown[0]} has been flown, so that a colleague has to take over.")
            yield over
        elif trip["cabin"] == "business" or trip["insurance"] == "yes":
            yield Say(f"{booked} I am going to cancel it. Do you agree?")
            yield Call("cancel_reservation", {"reservation_id": code})
            yield Say(f"{code} is cancelled, and {back} dollars come back.")
        else:
            yield Say(forbidden)
            yield Say(forbidden) if judges else over

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        request, want = start.requests[0], start.served()
        code, verdict = request.reservation, request.verdict(start)
        trip, was = self.reservations[code], start.reservations[code]
        day = asserted(was["created_at"][:10], DAYS, said)
        yield Check.goal(f"the customer was told on which day {code} was booked, and no other day of booking", day)
        if verdict.allowed:
            yield from request.checks(self, start, want, said)
        elif verdict.transfer:
            legs = [(f["flight_number"], f["date"]) for f in was["flights"]]
            flown = next(number for number, on in legs if start.status(number, on) == "landed")
            named = asserted(flown, records.FLIGHT_NUMBERS, said)
            yield Check.goal(f"the customer was told which flight of {code} has been flown, and no other one", named)
            handed = named and self.transferred and trip == was
            yield Check.goal(f"the customer was handed over with {code} standing and the flown flight told", handed)
        else:
            plain = [re.sub(r"basic[\s-]+economy", "basic_economy", s.lower()) for s in said]
            told = day and asserted(was["cabin"], REFUSED_CABINS, plain)  # a cabin alone could be guessed
            yield Check.goal(f"the customer was told the cabin of {code} along with the day of booking", told)
            left = told and self.hung_up and trip == was
            yield Check.goal(f"the customer hung up with {code} standing, told its cabin and day of booking", left)
        needless = self.transferred and not verdict.transfer
        yield Check.guard(f"the customer is not handed over unless a flight of {code} has been flown", not needless)
        kept = trip in (was, want.reservations[code])
        yield Check.guard(f"{code} is cancelled only if the rules allow it, and not changed otherwise", kept)
        now, then = ({k: v for k, v in w.reservations.items() if k != code} for w in (self, start))
        yield Check.guard("no other reservation was changed and none was booked", now == then)
        yield Check.guard("no profile was changed and no certificate was sent", self.users in (start.users, want.users))

    def oracle(self) -> Iterator[Call | Say]:
        return self.course(True)

    def ablated(self) -> Iterator[Call | Say]:
        return self.course(False)

    def needs(self) -> frozenset[str]:
        return frozenset() if self.requests[0].verdict(self).allowed else frozenset({self.capability})
