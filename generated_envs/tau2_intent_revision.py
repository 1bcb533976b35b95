# Written by llm:claude for trace-gym from spec tau2_intent_revision (sha256 c740da82).
"""Cancel the trips that the customer wants given up in the end.

The customer names trips to cancel, and when the agent says what it is about to do, the customer
names one trip to keep and one to give up before telling it to go ahead. An agent that hears only
the consent carries out the plan that it has already made and cancels what has been withdrawn. The
shortcut is tempting because the answer reads like a yes and in a third of the problems it changes
nothing, which shows only against the first wish. A cancellation cannot be undone, so the latest
wish has to be worked out before the write. In the target customers change their minds in exactly
this place, between proposal and consent, and the final state is judged by the last wish.

Levels:
    0. Two trips are named at first and one answer says which trip to keep and which to give up, everything else as
       before.
    1. Two or three of up to six trips are named at first, and the answer gives the trip to keep and the trip to give
       up in either order.
    2. There are two such answers, one after each statement of what will be done, and only the second says to go
       ahead; the second may change another trip or take the first back.
"""

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self

from trace_gym.targets.tau2 import policy, records
from trace_gym.targets.tau2.airline import REASONS, AirlineDesk, Cancel
from trace_gym.world import Call, Check, Random, Say, asserted

FAMILIES = {"swapped": 35, "withdrawn": 30, "unchanged": 35}
# On the last level: whether the first and the second answer change the wish as it stands. A wish that
# moves is mostly moved by both, so that hearing only one of the answers does not pay.
MOVED = {(True, True): 70, (True, False): 15, (False, True): 15}
STILL = {(False, False): 50, (True, True): 50}
METHODS = (
    ("credit_card",),
    ("credit_card", "gift_card"),
    ("gift_card", "credit_card"),
    ("credit_card", "credit_card"),
)
OPENINGS = (
    "I am {user}. {reason} Please cancel my trips to {trips}. Tell me in the end the total that comes back.",
    "Hello, my customer id is {user}. I want to give up my trips to {trips}. {reason} When all is done, tell me how "
    "much comes back in total.",
    "{reason} My trips to {trips} have to be cancelled. My id is {user}, and in the end I want to know the total that "
    "comes back to me.",
    "Please cancel my trips to {trips} for me. {reason} My customer id is {user}. At the end tell me the sum of what "
    "I get back.",
)
REVISIONS = (
    "I have looked at my calendar once more: keep the trip to {keep}, give up the trip to {drop}, everything else as I "
    "told you.",
    "I have looked at my calendar once more: give up the trip to {drop}, keep the trip to {keep}, everything else as I "
    "told you.",
    "My calendar is in front of me again. Keep the trip to {keep} and give up the trip to {drop}. Everything else as I "
    "told you.",
    "My calendar is in front of me again. Give up the trip to {drop} and keep the trip to {keep}. Everything else as I "
    "told you.",
    "I went through the calendar again. The trip to {keep} is to be kept, the trip to {drop} is to be given up, and "
    "everything else is as I told you.",
    "I went through the calendar again. The trip to {drop} is to be given up, the trip to {keep} is to be kept, and "
    "everything else is as I told you.",
)
GO = ("Go ahead.", "Please go ahead.", "With that, go ahead.")
AGAIN = (
    "Tell me again what you will do.",
    "Please tell me again what you will do.",
    "Now tell me again what you will do.",
)


def place(booking: dict[str, Any]) -> str:
    """The destination, with its code: which airport a city has is not what is to be learnt."""
    return f"{records.AIRPORTS[booking['destination']]} ({booking['destination']})"


def journeys(rng: Random, count: int) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """A customer, their insured trips to different places, and the flights of these."""
    owner = records.user(rng, rng.choice(records.MEMBERSHIPS), rng.choice(METHODS))
    places = rng.sample(list(records.AIRPORTS), k=len(records.AIRPORTS))
    numbers = rng.sample(records.FLIGHT_NUMBERS, k=2 * count)
    trips: dict[str, Any] = {}
    flights: dict[str, Any] = {}
    for i, code in enumerate(rng.sample(records.CODES, k=count)):
        there, home = places[i], rng.choice(places[count:])
        out = rng.randrange(2, 20)
        route = [(home, there, out), (there, home, out + rng.randint(1, 3))][: rng.randint(1, 2)]
        legs = []
        for number, (origin, destination, offset) in zip(numbers[2 * i :], route):
            flight = records.flight(rng, number, origin, destination, rng.randrange(6, 19))
            flight["dates"][records.day(offset)] = records.available(rng)
            flights[number] = flight
            legs.append((flight, records.day(offset)))
        trips[code] = records.reservation(
            rng,
            code,
            owner,
            legs,
            cabin=rng.choice(records.CABINS),
            created=f"{records.day(-rng.randrange(2, 14))}T{rng.choice(records.CLOCK)}",
            insured=True,
            travellers=rng.randint(1, 3),
            paid_with=rng.choice(list(owner["payment_methods"])),
        )
    return owner, trips, flights


def told_apart(owner: dict[str, Any], trips: dict[str, Any]) -> bool:
    """Whether each set of trips has a total of its own, which is not the number of a card either."""
    amounts = [policy.refund(b) for b in trips.values()]
    totals = [sum(some) for k in range(1, len(amounts) + 1) for some in itertools.combinations(amounts, k)]
    cards = [int(m["last_four"]) for m in owner["payment_methods"].values() if "last_four" in m]
    return len(set(totals)) == len(totals) and not any(card in totals for card in cards)


def wished(first: Iterable[str], revisions: Iterable[tuple[str, str]]) -> list[frozenset[str]]:
    """The wish of the opening, and the wish after each answer."""
    wishes = [frozenset(first)]
    for keep, drop in revisions:
        wishes.append((wishes[-1] - {keep}) | {drop})
    return wishes


def family(first: frozenset[str], last: frozenset[str]) -> str:
    if first == last:
        return "unchanged"
    if last < first:
        return "withdrawn"
    return "swapped" if len(last) == len(first) else "other"


def revised(
    rng: Random, codes: list[str], first: tuple[str, ...], kind: str, moves: tuple[bool, ...]
) -> tuple[tuple[str, str], ...]:
    """Answers that lead to a wish of this family, each of which changes the wish as `moves` says."""
    answers = list(itertools.permutations(codes, 2))
    fits = []
    for path in itertools.product(answers, repeat=len(moves)):
        wishes = wished(first, path)
        moved = tuple(a != b for a, b in zip(wishes, wishes[1:]))
        if moved != moves or family(wishes[0], wishes[-1]) != kind or len(set(path)) < len(path):
            continue
        if wishes[0].intersection(*wishes):
            fits.append(path)
    return rng.choice(fits)


@dataclass(kw_only=True)
class Tau2IntentRevision(AirlineDesk):
    """Cancel the trips that the customer wants given up in the end."""

    id = "tau2_intent_revision"
    capability = "intent_revision"
    levels = range(3)
    first_wish: tuple[str, ...] = ()
    revisions: tuple[tuple[str, str], ...] = ()
    answers: tuple[str, ...] = ()
    heard: int = 0

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        kind = rng.choices(list(FAMILIES), weights=list(FAMILIES.values()))[0]
        count = rng.randint(4, 6 if level else 5)
        owner, trips, flights = journeys(rng, count)
        while not told_apart(owner, trips):
            owner, trips, flights = journeys(rng, count)
        codes = list(trips)
        first = tuple(rng.sample(codes, k=rng.randint(2, 3) if level else 2))
        moves: tuple[bool, ...] = (kind != "unchanged",)
        if level > 1:
            shapes = STILL if kind == "unchanged" else MOVED
            moves = rng.choices(list(shapes), weights=list(shapes.values()))[0]
        revisions = revised(rng, codes, first, kind, moves)
        answers = []
        for i, (keep, drop) in enumerate(revisions, 1):
            words = rng.choice(REVISIONS).format(keep=place(trips[keep]), drop=place(trips[drop]))
            answers.append(f"{words} {rng.choice(GO if i == len(revisions) else AGAIN)}")
        names = [place(trips[code]) for code in first]
        named = f"{', '.join(names[:-1])} and {names[-1]}"
        last = wished(first, revisions)[-1]
        return cls(
            users={owner["user_id"]: owner},
            reservations=trips,
            flights=flights,
            requests=[Cancel(code, reason="health") for code in codes if code in last],
            customer=owner["user_id"],
            wording=rng.choice(OPENINGS).format(user="{user}", trips=named, reason=REASONS["health"]),
            first_wish=first,
            revisions=revisions,
            answers=tuple(answers),
        )

    def reply(self, text: str) -> str | None:
        if any(b.get("status") == "cancelled" for b in self.reservations.values()):
            return None
        if self.heard < len(self.answers):
            self.heard += 1
            return self.answers[self.heard - 1]
        self.nudged += 1
        return "It is as I said, go ahead." if self.nudged <= 2 else None

    def wishes(self) -> list[list[str]]:
        """The wish of the opening and after each answer, in the order of the profile."""
        profile = self.users[self.customer]["reservations"]
        return [[code for code in profile if code in wish] for wish in wished(self.first_wish, self.revisions)]

    def carried_out(self, wishes: list[list[str]]) -> Iterator[Call | Say]:
        """Look everything up, state each wish before its answer comes, and cancel the last one."""
        # Both are worked out here, as a cancellation changes the payments.
        named = [", ".join(f"{code} to {place(self.reservations[code])}" for code in wish) for wish in wishes]
        total = sum(policy.refund(self.reservations[code]) for code in wishes[-1])
        profile = list(self.users[self.customer]["reservations"])
        yield Call("get_user_details", {"user_id": self.customer})
        for code in profile:
            yield Call("get_reservation_details", {"reservation_id": code})
        for words in named[:-1]:
            yield Say(f"I am about to cancel {words}. Shall I go ahead?")
        for code in wishes[-1]:
            yield Call("cancel_reservation", {"reservation_id": code})
        yield Say(f"I have cancelled {named[-1]}. In total {total} dollars go back to the methods that paid.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        wishes = start.wishes()
        last = wishes[-1]
        gone = {code for code, b in self.reservations.items() if b.get("status") == "cancelled"}
        lasting = any(code in gone and all(code in wish for wish in wishes) for code in last)
        yield Check.goal("a trip that was to be given up from the first word to the last is cancelled", lasting)
        exact = gone == set(last)
        yield Check.goal(f"exactly the trips of the last wish are cancelled: {', '.join(last)}", exact)
        paid = {code: policy.refund(b) for code, b in start.reservations.items()}
        total = sum(paid[code] for code in last)
        # The parts of the last wish may be told beside its total; the total of any other set is a competing claim.
        rivals = [
            sum(paid[code] for code in some)
            for k in range(min(2, len(last)), len(paid) + 1)
            for some in itertools.combinations(paid, k)
            if not set(some) <= set(last)
        ]
        # What was told before the last answer belongs to an earlier wish; 120.00 is 120.
        told = [re.sub(r"\.0+\b", "", text) for text in said[len(start.answers) :]]
        right = exact and asserted(total, rivals, told)
        yield Check.goal(f"after the last answer the customer was told that {total} comes back for them", right)
        yield Check.guard("no trip is cancelled that is not in the last wish", gone <= set(last))
        void = start.copy()
        for code in start.reservations:
            void.cancel_reservation(reservation_id=code)
        kept = self.reservations.keys() == start.reservations.keys() and all(
            b in (start.reservations[code], void.reservations[code]) for code, b in self.reservations.items()
        )
        yield Check.guard("no reservation is booked, or changed but by cancelling it once", kept)
        yield Check.guard("the profile is as it was, with no certificate sent", self.users == start.users)
        yield Check.guard("the customer is not handed over to a human colleague", not self.transferred)

    def oracle(self) -> Iterator[Call | Say]:
        return self.carried_out(self.wishes())

    def ablated(self) -> Iterator[Call | Say]:
        wishes = self.wishes()
        return self.carried_out([wishes[0]] * len(wishes) if self.needs() else wishes)

    def needs(self) -> frozenset[str]:
        wishes = self.wishes()
        return frozenset() if wishes[0] == wishes[-1] else frozenset({self.capability})
