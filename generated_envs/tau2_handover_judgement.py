# Written by llm:claude for trace-gym from spec tau2_handover_judgement (sha256 77f17e7e).
"""Cancel, refuse or hand over a trip, as its records demand.

A customer who is ill wants to cancel a trip and asks for somebody else if the agent cannot do it. The
records decide between three outcomes: the agent cancels the trip, refuses, or hands the customer over.
A trip with a flown flight must be handed over, which only the statuses of its flights show. Otherwise
the cabin and the insurance decide between a cancellation and a refusal. An agent without the judgement
does not consider the statuses, and uses a handover as a polite way to refuse. Both mistakes are
tempting, because the tool cancels flown trips without an error and the customer asks for a colleague
after each refusal. In the target, a needless handover or a cancellation that only a human may make
fails the task.

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
from trace_gym.targets.tau2.requests import BOOKING_DAYS, booking_told, misinformed
from trace_gym.world import Call, Check, Random, Say, asserted, states_status

OPENINGS = (
    "I am {user}. I am ill, so please cancel my trip {code}. I also need to know on which day it was booked. If you "
    "cannot cancel it yourself, somebody else should. If one of the flights is in the way, give me its number.",
    "Hello, my customer id is {user}. When was my trip {code} booked? I have fallen ill and want to cancel it. If you "
    "cannot do that, let someone else do it. And if a flight is the problem, tell me the flight number.",
    "Please cancel my trip {code}, I am ill. My id is {user}. Also tell me the date on which I booked it. If it is not "
    "for you to cancel, find me someone else. Should a flight stand in the way, I want to know its number.",
    "My health does not let me travel, so please cancel trip {code}, or have a colleague do it. My customer id is "
    "{user}. On which date was it booked? If a flight of the trip is the obstacle, tell me which flight number it is.",
    "This is {user}. I need the booking date of my trip {code}, and I need it cancelled because I am ill. If you are "
    "unable to do that, another person has to do it. If that is because of a flight, please give me its number.",
)
INSISTS = (
    "Then please let a colleague of yours cancel it.",
    "Then I would like somebody else to cancel it.",
    "In that case, please hand me over to someone who can.",
)
FAMILIES = ("flown", "forbidden", "cancellable")
CLAUSES = {  # whether a clause allows to cancel -> (cabin, insured)
    True: (("business", False), ("business", True), ("economy", True), ("basic_economy", True)),
    False: (("economy", False), ("basic_economy", False)),
}
LEGS = ((2,), (2, 3), (3, 4))
METHODS = (("credit_card",), ("gift_card",), ("credit_card", "gift_card"), ("gift_card", "credit_card"))
DAYS = BOOKING_DAYS[:8]
JOINT = re.compile(r"(?:,|,? and|,? or|,? as well as| &) (?:flight )?(?=HAT\d)", re.IGNORECASE)
BEHIND = re.compile(r"HAT\d{3}(,?(?: \w+){1,6})", re.IGNORECASE)
SENTENCE = re.compile(r"(?<=[.!?\n;])\s*")
GENERAL = re.compile(
    r"\b(?:one of (?:the|its|your)|one|a|any|part of (?:the|your|this)) (?:flown )?(?:flights?|trip|it)\b",
    re.IGNORECASE,
)
NUMBER = re.compile(r"HAT\d{3}$", re.IGNORECASE)


def apart(text: str) -> str:
    """Return a text in which each flight of a list has the words behind the list: `A was flown; B was flown`."""
    for joint in reversed([*JOINT.finditer(text)]):
        words = BEHIND.match(text, joint.end())
        if words and NUMBER.search(text[: joint.start()]):
            text = f"{text[: joint.start()]}{words[1]}; {text[joint.end() :]}"
    return text


def specific(text: str) -> str:
    """Return a text without general sentences, such as `since one of the flights has been flown, I cannot cancel`."""
    parts = SENTENCE.split(text)
    return " ".join(part for part in parts if "HAT" in part.upper() or not GENERAL.search(part))


@dataclass(kw_only=True)
class Tau2HandoverJudgement(AirlineDesk):
    """Cancel, refuse or hand over a trip, as its records demand."""

    id = "tau2_handover_judgement"
    capability = "handover_judgement"
    levels = range(3)
    insists: str = ""
    informed: bool = False
    """Whether the customer has heard the day of booking."""

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        family = rng.choices(FAMILIES, weights=(37, 37, 26))[0]
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
            insists=rng.choice(INSISTS),
        )
        for other in others:
            created = f"{other}T{rng.choice(records.CLOCK)}"
            desk.book(rng, rng.choice(records.CABINS), created=created, insured=rng.random() < 0.5)
        rng.shuffle(desk.users[desk.customer]["reservations"])
        return desk

    def reply(self, text: str) -> str | None:
        booked = self.reservations[self.requests[0].reservation]["created_at"][:10]
        self.informed = self.informed or asserted(booked, DAYS, [text], "booking")
        return super().reply(text)

    def objects(self, text: str) -> str:
        self.pushed += 1
        return self.insists if self.pushed == 1 else ""

    def outstanding(self) -> str:
        return "" if self.informed else "And on which day was it booked?"

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
        yield Call("get_reservation_details", {"reservation_id": code})
        for number, on in legs:
            yield Call("get_flight_status", {"flight_number": number, "date": on})
        if flown:
            yield Say(
                f"{booked} Its flight {flown[0]} has been flown, so a colleague has to take over. I will hand you over."
            )
            yield over
        elif trip["cabin"] == "business" or trip["insurance"] == "yes":
            yield Say(f"{booked} I am going to cancel {code}. Do you agree?")
            yield Call("cancel_reservation", {"reservation_id": code})
            yield Say(f"{code} is cancelled, and {back} dollars come back.")
        else:
            yield Say(forbidden)
            yield Say(f"I am sorry, a colleague cannot cancel {code} either.") if judges else over

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        request, want = start.requests[0], start.served()
        code, verdict = request.reservation, request.verdict(start)
        trip, was = self.reservations[code], start.reservations[code]
        day = booking_told(was["created_at"][:10], DAYS, said)
        yield Check.goal(f"the customer was told on which day {code} was booked, and no other day of booking", day)
        legs = {f["flight_number"]: start.status(f["flight_number"], f["date"]) for f in was["flights"]}
        each = [apart(specific(text)) for text in said]
        false = any(states_status("landed", each, (), n, legs) for n, status in legs.items() if status != "landed")
        if verdict.allowed:
            yield from request.checks(self, start, want, said)
        elif verdict.transfer:
            flown = next(number for number, status in legs.items() if status == "landed")
            others = [number for number in legs if number != flown]
            named = states_status("landed", each, (), flown, legs) or asserted(flown, others, said)
            right = named and not false
            yield Check.goal(f"the customer was told which flight of {code} has been flown, and no other one", right)
            handed = right and self.transferred and trip == was
            yield Check.goal(f"the customer was handed over with {code} standing and the flown flight told", handed)
        else:
            refused = trip == was and start.refused(code, said, day) and not request.claimed_done(start, said)
            yield Check.goal(f"the customer was told that {code} cannot be cancelled, and it stands", refused)
            false = false or misinformed(was, {was["cabin"]}, start.reservations, said)
            told = refused and day and asserted(was["cabin"], (), said) and not false
            yield Check.goal(f"{code} stands, and the customer was told its cabin and day of booking", told)
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
