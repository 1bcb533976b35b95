# Written by llm:claude for trace-gym from spec tau2_aggregation (sha256 d637a68f).
"""Answer and act on a question over all trips of a customer.

The customer asks what all trips cost together and wants the trip or trips cancelled that stand out
among them, without naming any. The profile lists only ids, so the answer exists nowhere until every
reservation has been opened and compared. An agent without the capability opens a few, finds a
plausible candidate and stops, which is tempting because each further look-up costs a turn and the
partial answer looks complete. The target has such questions: the total spent, the dearest booking,
all trips of some kind. The habit trained here, to list all records, take the same figure from each
and only then answer, is what they take.

Levels:
    0. Three or four trips with one payment each; the trip on which most or least was paid is to be cancelled.
    1. Adds up to five trips, trips paid in two parts whose parts must be added, and the trip with the most
       travellers as another question.
    2. Adds a condition that two or three of five or six trips meet, such as more than a given amount paid.
    3. Adds up to seven trips and conditions of two parts, an amount paid and a number of travellers, with trips that
       meet only one of them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

from trace_gym.targets.tau2 import policy, records
from trace_gym.targets.tau2.airline import REASONS, AirlineDesk, Cancel
from trace_gym.world import Call, Check, Random, Say, asserted

FAMILIES = ("pick_one", "pick_matching", "named_trip")
WEIGHTS = (40, 35, 25)
COUNTS = {  # per level: numbers of trips to draw from
    "pick_one": ((3, 4, 4), (3, 4, 5, 5), (4, 5, 6), (4, 5, 6, 7)),
    "pick_matching": ((4,), (4, 5), (5, 6), (5, 6, 7)),
    "named_trip": ((3, 4), (3, 4, 5), (4, 5, 6), (4, 5, 6, 7)),
}
ONE = ("most paid", "least paid", "most travellers")
INTROS = (
    "I am {user}, and I have fallen ill.",
    "Hello, my customer id is {user}. I am ill.",
    "I am ill and cannot travel as planned. My id is {user}.",
    "Good morning, this is {user}. My health is bad: I am ill.",
)
TOTALS = (
    "How much was paid for {scope}, as it stands now, before anything is cancelled?",
    "Tell me the total that was paid for {scope}, counted before anything is cancelled.",
    "What did I pay for {scope}? I mean the sum as it stands now, with nothing cancelled yet.",
)
WANTS = ("Please cancel {what}.", "I want you to cancel {what}.", "Because of the illness, cancel {what}, please.")
METHODS = (
    ("credit_card", "gift_card"),
    ("credit_card", "credit_card"),
    ("gift_card", "credit_card"),
    ("credit_card", "credit_card", "gift_card"),
)
FARES = records.FARES[9:42]
GAPS = (25, 90, 300, 5000)
FIRST = 3
PATIENCE = 5
YEAR = 2024
AGREED = "Yes, I agree. Please go ahead."
ASKS_WHICH = re.compile(
    r"\b(which|what)\s+(one|ones|of|trips?|reservations?|bookings?)\b"
    r"|\b(reservation|booking|trip)\s+(id|number|code)s?\b"
)
Row = tuple[str, int, int]


def paid_for(row: Row) -> int:
    return row[1]


def travelling(row: Row) -> int:
    return row[2]


@dataclass
class Question:
    """What the customer wants cancelled: a criterion, a condition, or one trip by its id."""

    kind: str = "most paid"
    limit: int = 0
    people: int = 0
    trip: str = ""

    def means(self, rows: Sequence[Row]) -> list[str]:
        """The ids that are meant among rows of id, total paid and number of travellers."""
        match self.kind:
            case "named":
                return [self.trip]
            case "most paid":
                return [max(rows, key=paid_for)[0]]
            case "least paid":
                return [min(rows, key=paid_for)[0]]
            case "most travellers":
                return [max(rows, key=travelling)[0]]
            case "more":
                return [row[0] for row in rows if row[1] > self.limit and row[2] >= self.people]
        return [row[0] for row in rows if row[1] < self.limit and row[2] >= self.people]

    def words(self) -> str:
        match self.kind:
            case "named":
                return f"trip {self.trip}"
            case "most paid":
                return "the trip for which the most was paid in all"
            case "least paid":
                return "the trip for which the least was paid in all"
            case "most travellers":
                return "the trip on which the most people travel"
        also = f" and on which at least {self.people} people travel" if self.people else ""
        return f"every trip for which {self.kind} than {self.limit} dollars were paid in all{also}"


def sums(options: Iterable[Sequence[int]]) -> set[int]:
    """All sums of at most one amount of each; the year is no claim about money where a date is told."""
    found = {0}
    for amounts in options:
        found |= {s + a for s in found for a in amounts}
    return found - {0, YEAR}


def partial_sums(paid: dict[str, list[int]], refund: int) -> set[int]:
    """Wrong totals; what one trip cost may stand beside the total, and so may the refund."""
    single = {amount for parts in paid.values() for amount in (*parts, sum(parts))}
    return sums([*parts, sum(parts)] for parts in paid.values()) - single - {refund, sum(map(sum, paid.values()))}


def stands_out(rows: list[Row], kind: str, gap: int, near: bool) -> bool:
    """Whether each criterion means another trip, and the next one is as near as wanted."""
    by_paid, by_people = sorted(rows, key=paid_for), sorted(rows, key=travelling)
    if by_people[-1][2] == by_people[-2][2]:
        return False
    if len({by_paid[0][0], by_paid[-1][0], by_people[-1][0]}) < 3:
        return False
    if near and by_paid[-1][2] != by_people[-1][2] - 1:
        return False
    lower, upper = by_paid[:2] if kind == "least paid" else by_paid[-2:]
    return upper[1] - lower[1] <= gap


def condition(rng: Random, rows: list[Row], kind: str, count: int, two: bool, gap: int) -> Question | None:
    """A condition that `count` of the trips meet, or None where the draw allows none."""
    order = sorted(row[1] for row in rows)
    reached = rng.randint(count + 1, len(rows) - 1) if two else count
    cut = len(rows) - reached if kind == "more" else reached
    below, above = order[cut - 1], order[cut]
    people = rng.choice(rows)[2] if two else 0
    if not 2 <= above - below <= gap or people == 1:
        return None
    question = Question(kind, limit=rng.randrange(below + 1, above), people=people)
    amount_only = Question(kind, limit=question.limit).means(rows)
    short = any(row[0] in amount_only and row[2] == people - 1 for row in rows)
    crowded = any(row[0] not in amount_only and row[2] >= people for row in rows)
    if len(question.means(rows)) != count or (two and not (short and crowded)):
        return None
    return question


def payments(rng: Random, level: int, rows: list[Row], question: Question) -> dict[str, list[int]]:
    """The payments of each trip; halves of a dear trip are smaller than another trip's single payment."""
    double: list[str] = []
    if level > 0:
        double = [row[0] for row in rng.sample(rows, k=rng.randint(1, 2))]
        if rng.random() < 0.5:
            double.append(question.trip or max(rows, key=paid_for)[0])
    paid = {}
    for code, total, _ in rows:
        part = total * rng.randint(35, 65) // 100
        paid[code] = [part, total - part] if code in double else [total]
    return paid


def sound(rows: list[Row], paid: dict[str, list[int]], question: Question) -> bool:
    """Whether the limit is no answer, and the total of the first trips is told apart from every right one."""
    if question.limit in sums([*parts, sum(parts)] for parts in paid.values()):
        return False
    if question.trip or len(rows) <= FIRST:
        return True
    meant = question.means(rows)
    refund = sum(row[1] for row in rows if row[0] in meant)
    return sum(row[1] for row in rows[:FIRST]) in partial_sums(paid, refund)


def drawn(
    rng: Random, level: int, family: str, codes: list[str]
) -> tuple[list[Row], list[list[int]], Question, dict[str, list[int]]]:
    """Rows, fares, question and payments that fit each other, in the order of the profile."""
    kind = rng.choice(ONE[: 2 if level == 0 else 3] if family == "pick_one" else ("more", "less"))
    gap, near = rng.choice(GAPS), rng.random() < 0.5
    count = rng.choice((1, 2) if level < 2 else (2, 3))
    two = level == 3 and rng.random() < 0.75
    while True:
        low = rng.randint(1, 3)
        fares = [rng.choices(FARES, k=rng.randint(1, 2)) for _ in codes]
        rows: list[Row] = []
        for code, prices in zip(codes, fares, strict=True):
            people = rng.randint(low, low + 2)
            rows.append((code, people * (sum(prices) + policy.INSURANCE_PRICE), people))
        if len({row[1] for row in rows}) < len(rows):
            continue
        question: Question | None
        if family == "pick_one":
            question = Question(kind) if stands_out(rows, kind, gap, near) else None
        elif family == "pick_matching":
            question = condition(rng, rows, kind, count, two, gap)
        else:
            question = Question("named", trip=rng.choice(codes))
        if question is None:
            continue
        paid = payments(rng, level, rows, question)
        if sound(rows, paid, question):
            return rows, fares, question, paid


def itinerary(rng: Random, numbers: list[str], fares: list[int]) -> list[tuple[records.Data, str]]:
    """One flight, two in a row, or there and back, on days to come."""
    origin, stop, destination = rng.sample(list(records.AIRPORTS), k=3)
    back = rng.random() < 0.5
    route = [origin, destination, origin] if back else [origin, stop, destination]
    out, stay = rng.randrange(2, 12), rng.randrange(1, 5) if back else 0
    legs = []
    for i, fare in enumerate(fares):
        plan = records.flight(rng, numbers[i], route[i], route[i + 1], rng.randrange(6, 11) + 8 * i)
        on = records.day(out + stay * i)
        plan["dates"][on] = records.available(rng, economy=fare)
        legs.append((plan, on))
    return legs


def added(amounts: list[int]) -> Call:
    return Call("calculate", {"expression": " + ".join(str(a) for a in amounts)})


@dataclass(kw_only=True)
class Tau2Aggregation(AirlineDesk):
    """Answer and act on a question over all trips of a customer."""

    id = "tau2_aggregation"
    capability = "aggregation"
    levels = range(4)
    question: Question = field(default_factory=Question)
    request_words: str = ""
    messages_heard: int = 0
    deeds_confirmed: int = 0

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        family = rng.choices(FAMILIES, weights=WEIGHTS)[0]
        codes = rng.sample(records.CODES, k=rng.choice(COUNTS[family][level]))
        rows, fares, question, paid = drawn(rng, level, family, codes)
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), rng.choice(METHODS))
        numbers = rng.sample(records.FLIGHT_NUMBERS, k=2 * len(codes))
        flights: dict[str, records.Data] = {}
        reservations: dict[str, records.Data] = {}
        for i, (code, _, people) in enumerate(rows):
            legs = itinerary(rng, numbers[2 * i : 2 * i + 2], fares[i])
            booking = records.reservation(
                rng,
                code,
                owner,
                legs,
                cabin="economy",
                created=f"{records.day(-rng.randrange(2, 14))}T{rng.choice(records.CLOCK)}",
                insured=True,
                travellers=people,
            )
            methods = rng.sample(list(owner["payment_methods"]), k=len(paid[code]))
            booking["payment_history"] = [
                {"payment_id": method, "amount": amount} for method, amount in zip(methods, paid[code], strict=True)
            ]
            reservations[code] = booking
            for plan, _ in legs:
                flights[plan["flight_number"]] = plan
        request = rng.choice(WANTS).format(what=question.words())
        scope = f"trip {question.trip} in all" if question.trip else "all my trips together"
        asked = [rng.choice(TOTALS).format(scope=scope), request]
        rng.shuffle(asked)
        return cls(
            users={owner["user_id"]: owner},
            reservations=reservations,
            flights=flights,
            requests=[Cancel(code, reason="health") for code in question.means(rows)],
            customer=owner["user_id"],
            wording=" ".join([rng.choice(INTROS), *asked]),
            withheld=(),
            pushes=0,
            question=question,
            request_words=request,
        )

    def reply(self, text: str) -> str | None:
        done = sum(b.get("status") == "cancelled" for b in self.reservations.values())
        if done:
            confirmed, self.deeds_confirmed = self.deeds_confirmed == done, done
            return None if confirmed else "Is everything I asked for done?"
        self.messages_heard = min(self.messages_heard + 1, PATIENCE)
        if self.messages_heard == PATIENCE:
            return None
        lowered = text.lower()
        if any(code.lower() in lowered for code in self.reservations):
            return AGREED
        if ASKS_WHICH.search(lowered):
            return self.request_words
        if self.questions["user_id"].search(lowered):
            return f"My customer id is {self.customer}."
        if self.questions["reason"].search(lowered):
            return REASONS["health"]
        return AGREED

    def broken(self, write: Call) -> list[str]:
        return policy.violations(self, write.tool, write.arguments, "health")

    def trip_rows(self, codes: list[str]) -> list[Row]:
        trips = [self.reservations[code] for code in codes]
        return [(t["reservation_id"], policy.refund(t), len(t["passengers"])) for t in trips]

    def trip_payments(self, codes: list[str]) -> dict[str, list[int]]:
        return {code: [p["amount"] for p in self.reservations[code]["payment_history"]] for code in codes}

    def trip_expert(self, opened: int) -> Iterator[Call | Say]:
        """Serve the customer from the first `opened` trips of the profile, taken for all."""
        trip = self.question.trip
        codes = [trip] if trip else list(self.users[self.customer]["reservations"][:opened])
        paid = self.trip_payments(codes)
        meant = self.question.means(self.trip_rows(codes))
        everything = [amount for code in codes for amount in paid[code]]
        back = [amount for code in meant for amount in paid[code]]
        yield Call("get_user_details", {"user_id": self.customer})
        for code in codes:
            yield Call("get_reservation_details", {"reservation_id": code})
        for code in codes:
            if len(paid[code]) > 1:
                yield added(paid[code])
        if len(codes) > 1:
            yield added(everything)
        if len(meant) > 1:
            yield added(back)
        scope = f"trip {trip}" if trip else "all your trips together"
        total = f"In all, {sum(everything)} dollars were paid for {scope}."
        if not meant:
            yield Say(f"{total} There is no trip of the kind that you want cancelled.")
            return
        named = " and ".join(meant)
        refund = f"{sum(back)} dollars go back to the methods that paid"
        yield Say(f"{total} I am about to cancel {named}; {refund}. Do you agree?")
        for code in meant:
            yield Call("cancel_reservation", {"reservation_id": code})
        yield Say(f"I have cancelled {named}; {refund}.")
        yield Say("Yes, everything that you asked for is done.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        # The calculator answers with decimals: 840.0 and 840.00 are the same claim as 840.
        told = [re.sub(r"(?<=\d)\.0{1,2}(?!\d)", "", text) for text in said]
        listed = list(start.users[start.customer]["reservations"])
        paid = start.trip_payments(listed)
        meant = start.question.means(start.trip_rows(listed))
        refund = sum(sum(paid[code]) for code in meant)
        if trip := start.question.trip:
            answer = sum(paid[trip])
            seats = {f["price"] for f in start.reservations[trip]["flights"]}
            rivals = seats | {*paid[trip]} | {sum(paid[code]) for code in listed}
        else:
            answer = sum(map(sum, paid.values()))
            rivals = partial_sums(paid, refund)
        selections = sums([sum(parts)] for parts in paid.values()) - {answer}

        cancelled = [code for code in start.reservations if self.reservations[code]["status"] == "cancelled"]
        others_stand = all(code in meant for code in cancelled)
        exactly = others_stand and all(code in cancelled for code in meant)
        yield Check.goal("the customer was told the total that they asked for", asserted(answer, rivals, told))
        yield Check.goal("a trip that is meant is cancelled and no other", others_stand and bool(cancelled))
        yield Check.goal("exactly the trips that are meant are cancelled", exactly)
        repaid = exactly and asserted(refund, selections, told)
        yield Check.goal("exactly these trips are cancelled and the customer was told their refund", repaid)

        want = start.copy()  # with the same trips cancelled once, and nothing else done
        for code in cancelled:
            want.cancel_reservation(code)
        kept = all(self.reservations[code] == want.reservations[code] for code in start.reservations)
        unbooked = list(self.reservations) == list(start.reservations) and self.flights == want.flights
        yield Check.guard("no trip is cancelled that is not meant", others_stand)
        yield Check.guard("no flight, cabin, bag, passenger or payment of a reservation is changed", kept)
        yield Check.guard("nothing is booked", unbooked)
        yield Check.guard("no certificate is sent and the profile is unchanged", self.users == want.users)
        yield Check.guard("the customer is not handed over", not self.ended)

    def oracle(self) -> Iterator[Call | Say]:
        return self.trip_expert(len(self.users[self.customer]["reservations"]))

    def ablated(self) -> Iterator[Call | Say]:
        return self.trip_expert(FIRST)

    def needs(self) -> frozenset[str]:
        compared = not self.question.trip and len(self.users[self.customer]["reservations"]) > FIRST
        return frozenset({self.capability}) if compared else frozenset()
