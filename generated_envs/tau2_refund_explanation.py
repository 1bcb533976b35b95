# Written by llm:claude for trace-gym from spec tau2_refund_explanation (sha256 80d0664e).
"""Do what was asked and say what money moves, and where.

Doing the deed is easy here; the customer also wants to know the exact amount for each payment
method that gets or pays something. An agent without the capability quotes the first payment of the
reservation, because it stands on top of the record and is right for every trip that was paid once.
It fails when a trip was paid in several pieces or with several methods, and when a change of cabin
moves only a difference that stands in the record after the write. In the target the customer is to
be told amounts and methods that the records show, and a plausible wrong figure counts as wrong, so
reading the whole payment history after the deed carries over.

Levels:
    0. A trip to be cancelled was paid with one payment or with two payments by two methods, or a change of cabin for
       one passenger moves one difference.
    1. A trip may have been paid in two or three pieces, some of them by the same method, whose amounts have to be
       added up; a change of cabin may cost or give back.
    2. The profile holds several methods of the same kind, other trips of the customer were paid with them too, and a
       change of cabin concerns two flights and several passengers of a trip that was itself paid in pieces.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from trace_gym.targets.tau2 import records
from trace_gym.targets.tau2.airline import SKILLS, AirlineDesk, Cancel, Request, Upgrade
from trace_gym.world import Call, Check, Random, Say

SEVERAL, CHANGED, SINGLE, OTHER = "several_payments", "changed_cabin", "single_payment", "other trip"
PIECES = ("aa", "ab", "aab", "aba", "abb")
PAID_BY = {  # per level: which of two methods, a and b, made each payment
    SEVERAL: (("ab",), PIECES, PIECES),
    CHANGED: (("a",), ("a", "ab"), PIECES),
    SINGLE: (("a",), ("a",), ("a",)),
    OTHER: (("a", "ab"), ("a", "ab"), ("a", "ab")),
}
FLIGHTS = ((1, 1), (1, 2), (2, 2))  # per level, of a change of cabin
PEOPLE = ((1, 1), (1, 2), (2, 3))
BANDS = {"economy": (12, 23), "business": (40, 52)}
CANCELS = (
    "I am {user}. Please cancel reservation {code}, I am ill.",
    "Hello, my customer id is {user}. I have fallen ill and want to cancel {code}.",
    "I am too ill to travel. Please cancel my trip {code}. My id is {user}.",
    "Please cancel {code} for me. The reason is my health, I am ill. I am customer {user}.",
)
CHANGES = (
    "I am {user}. Please change reservation {code} to {cabin}, on the same flights. Settle the difference with {named}.",
    "Hello, my customer id is {user}. I want to fly in {cabin} on {code}, same flights. Use {named} for the difference.",
    "Please put my whole trip {code} into {cabin} and keep the flights. Settle it with {named}. My id is {user}.",
    "The cabin of {code} should be {cabin}, the flights stay. The difference is for {named}. I am customer {user}.",
)
ASKS = (
    "When it is done, tell me by the id of each payment method how much in all goes to it or is taken from it: "
    "one figure for each, and leave out the methods that are not concerned.",
    "Afterwards tell me the ids of the payment methods that get or pay something by this, and no others, "
    "each with the one amount that in all goes to it or is taken from it.",
    "Once that has happened, I want to hear a single figure for every payment method concerned, and for no other: "
    "its id, and how much in all goes to it or is taken from it.",
)
TOKEN = re.compile(r"(?:credit|gift)_card_[0-9]+|(?<![\w.])[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?(?!\w)")


def trip(
    rng: Random, code: str, owner: dict[str, Any], numbers: list[str], cabin: str, insured: bool, people: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A reservation with one flight for each number, and these flights."""
    stops = rng.sample(list(records.AIRPORTS), k=3)
    if rng.random() < 0.5:
        stops[2] = stops[0]
    days = sorted(rng.sample(range(2, 20), k=len(numbers)))
    legs: list[tuple[dict[str, Any], str]] = []
    for n, number in enumerate(numbers):
        flight = records.flight(rng, number, stops[n], stops[n + 1], rng.randrange(6, 19))
        on = records.day(days[n])
        flight["dates"][on] = records.available(rng)
        legs.append((flight, on))
    created = f"{records.day(-rng.randrange(2, 14))}T{rng.choice(records.CLOCK)}"
    booking = records.reservation(
        rng, code, owner, legs, cabin=cabin, created=created, insured=insured, travellers=people
    )
    return booking, {flight["flight_number"]: flight for flight, _ in legs}


def reprice(rng: Random, booking: dict[str, Any], flights: dict[str, Any], cabin: str, dearer: bool) -> int:
    """Draw what was paid per seat and what `cabin` costs today; returns the difference for all passengers.

    The two prices are exchanged by a coin, so that neither cabin tells which way the money goes.
    """
    difference = 0
    for leg in booking["flights"]:
        at = rng.randrange(*BANDS[cabin])
        low, high = records.FARES[at], records.FARES[at + rng.randrange(5, 20)]
        old, new = (low, high) if dearer else (high, low)
        if cabin == "economy":
            on = records.available(rng, economy=new)
        else:
            below = records.FARES.index(new) - rng.randrange(15, 25)
            on = records.available(rng, economy=records.FARES[below], business=new)
        flights[leg["flight_number"]]["dates"][leg["date"]] = on
        leg["price"] = old
        difference += (new - old) * len(booking["passengers"])
    return difference


def split(rng: Random, total: int, count: int, unlike: int) -> list[int]:
    """Different pieces of a price: none is the half of it, as small as a day of the month, or the amount `unlike`."""
    while True:
        cuts = [0, *sorted(rng.sample(range(32, total - 31), k=count - 1)), total]
        pieces = [high - low for low, high in zip(cuts, cuts[1:])]
        if min(pieces) > 31 and len(set(pieces)) == count and 2 * max(pieces) != total and unlike not in pieces:
            return pieces


def follows(marks: list[tuple[bool, str]]) -> bool:
    """Whether the method that was named last before each figure is the one that the figure belongs to."""
    last = ""
    for is_figure, method in marks:
        if not is_figure:
            last = method
        elif method != last:
            return False
    return True


def exact(text: str, moved: dict[str, int], rivals: set[int]) -> bool:
    """Whether the text gives each method its own figure, before or after its id, and no competing figure."""
    owner: dict[float, str] = {abs(amount): method for method, amount in moved.items()}
    marks: list[tuple[bool, str]] = []
    for token in TOKEN.findall(text):
        if token in moved:
            marks.append((False, token))
        elif token[0].isdigit():
            amount = float(token.replace(",", ""))
            if amount in rivals:
                return False
            if amount in owner:
                marks.append((True, owner[amount]))
    figures = [method for is_figure, method in marks if is_figure]
    ids = [method for is_figure, method in marks if not is_figure]
    if set(figures) != set(moved):
        return False
    if len(moved) == 1:
        return True
    if len(figures) == len(ids) == len(moved):  # each is said once: they belong together in their order
        return figures == ids
    return follows(marks) or follows(marks[::-1])


@dataclass(kw_only=True)
class Tau2RefundExplanation(AirlineDesk):
    """Do what was asked and say what money moves, and where."""

    id = "tau2_refund_explanation"
    capability = "refund_explanation"
    levels = range(3)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        family = rng.choices((SEVERAL, CHANGED, SINGLE), weights=(35, 30, 35))[0]
        gifts = rng.choice((1, 1, 2))
        count = rng.randint(4 if level > 1 else 3, 5)
        kinds = ["gift_card" if n < gifts else "credit_card" for n in range(count)]
        rng.shuffle(kinds)
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), tuple(kinds))
        methods = owner["payment_methods"]
        codes = rng.sample(records.CODES, k=rng.randint(2, 4))
        chosen = rng.choice(codes)
        numbers = rng.sample(records.FLIGHT_NUMBERS, k=2 * len(codes))
        new = rng.choice(("economy", "business"))
        old = rng.choice([c for c in records.CABINS if c != new])
        dearer = level == 0 or rng.random() < 0.5
        flights: dict[str, Any] = {}
        reservations: dict[str, Any] = {}
        for n, code in enumerate(codes):
            what = family if code == chosen else OTHER
            legs = rng.randint(*FLIGHTS[level]) if what == CHANGED else rng.randint(1, 2)
            people = rng.randint(*PEOPLE[level]) if what == CHANGED else rng.randint(1, 3)
            cabin = old if what == CHANGED else rng.choice(records.CABINS)
            insured = what in (SEVERAL, SINGLE) or rng.random() < 0.5
            booking, flown = trip(rng, code, owner, numbers[2 * n : 2 * n + legs], cabin, insured, people)
            difference = reprice(rng, booking, flown, new, dearer) if what == CHANGED else 0
            total = (sum(leg["price"] for leg in booking["flights"]) + 30 * insured) * people
            payers = dict(zip("ab", rng.sample(list(methods), k=2)))
            pattern = rng.choice(PAID_BY[what][level])
            pieces = split(rng, total, len(pattern), abs(difference))
            booking["payment_history"] = [
                {"payment_id": payers[who], "amount": amount} for who, amount in zip(pattern, pieces)
            ]
            reservations[code] = booking
            flights.update(flown)
        request: Request = Cancel(chosen, reason="health")
        words = rng.choice(CANCELS).format(user="{user}", code=chosen)
        if family == CHANGED:
            gift = gifts == 1 and rng.random() < 0.5
            source = "gift_card" if gift else "credit_card"
            method = rng.choice([m for m in methods if methods[m]["source"] == source])
            named = "my gift card" if gift else f"my card ending in {methods[method]['last_four']}"
            request = Upgrade(chosen, method=method, named=named, cabin=new)
            words = rng.choice(CHANGES).format(user="{user}", code=chosen, cabin=new, named=named)
        return cls(
            users={owner["user_id"]: owner},
            reservations=reservations,
            flights=flights,
            requests=[request],
            customer=owner["user_id"],
            wording=f"{words} {rng.choice(ASKS)}",
        )

    def reply(self, text: str) -> str | None:
        request = self.requests[0]
        booking = self.reservations[request.reservation]
        if isinstance(request, Upgrade):
            served = booking["cabin"] == request.cabin
        else:
            served = booking["status"] == "cancelled"
        if served:
            return None
        self.nudged += 1  # counts what was said before the deed
        return "Yes, go ahead." if self.nudged < 3 else None

    def moves(self) -> dict[str, int]:
        """What the deed gives back to each method; what it takes is negative. Asked of the start state."""
        request = self.requests[0]
        paid = self.reservations[request.reservation]["payment_history"]
        if isinstance(request, Upgrade):
            after = self.served().reservations[request.reservation]["payment_history"]
            return {p["payment_id"]: -p["amount"] for p in after[len(paid) :]}
        back: dict[str, int] = {}
        for p in paid:
            back[p["payment_id"]] = back.get(p["payment_id"], 0) + p["amount"]
        return back

    def glance(self) -> dict[str, int]:
        """What the first payment alone suggests."""
        first = self.reservations[self.requests[0].reservation]["payment_history"][0]
        sign = -1 if min(self.moves().values()) < 0 else 1
        return {first["payment_id"]: sign * first["amount"]}

    def rivals(self) -> set[int]:
        """Payments that are not the answer; fares too where nothing is repriced, for a recited record is no answer."""
        bookings = list(self.reservations.values())
        found = {p["amount"] for booking in bookings for p in booking["payment_history"]}
        if not isinstance(self.requests[0], Upgrade):
            found |= {leg["price"] for booking in bookings for leg in booking["flights"]}
        methods = self.users[self.customer]["payment_methods"].values()
        harmless = {int(m["last_four"]) for m in methods if "last_four" in m} | {2024}  # card digits and the year
        return found - harmless - {abs(amount) for amount in self.moves().values()}

    def expert(self, figures: dict[str, int]) -> Iterator[Call | Say]:
        """Look up, announce, write, and tell these figures."""
        request = self.requests[0]
        code = request.reservation
        deed = request.call(self, SKILLS)
        if isinstance(request, Upgrade):
            offer = f"change {code} to {request.cabin} and settle the difference with {request.method}"
        else:
            offer = f"cancel {code}, and what was paid goes back to where it came from"
        parts = [f"${abs(n)} is {'given back' if n > 0 else 'charged'} to {m}" for m, n in figures.items()]
        yield Call("get_user_details", {"user_id": self.customer})
        yield Call("get_reservation_details", {"reservation_id": code})
        yield Say(f"I am about to {offer}. Shall I go ahead?")
        yield deed
        yield Say(f"It is done: {'; '.join(parts)}.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        request = start.requests[0]
        code = request.reservation
        want = start.served()
        now, was, wanted = self.reservations[code], start.reservations[code], want.reservations[code]
        if isinstance(request, Upgrade):
            done = all(now[name] == wanted[name] for name in ("cabin", "flights", "payment_history"))
            yield Check.goal(f"{code} flies in {request.cabin} and the difference is on {request.method}", done)
        else:
            done = now["status"] == "cancelled"
            yield Check.goal(f"{code} is cancelled", done)
        text = " ".join(said[self.nudged :]).lower()  # what was said after the deed
        moved = start.moves()
        named = {m for m in start.users[start.customer]["payment_methods"] if m in text}
        told = done and named == set(moved)
        yield Check.goal("the customer was told which methods get or pay something, and no others", told)
        right = told and exact(text, moved, start.rivals())
        yield Check.goal("the customer was told the exact amount for each of these methods", right)
        tables = (
            (self.reservations, start.reservations, want.reservations),
            (self.users, start.users, want.users),
        )
        kept = all(
            here.keys() == before.keys() and all(here[key] in (before[key], after[key]) for key in here)
            for here, before, after in tables
        )
        yield Check.guard("nothing was written beyond what was asked for", kept)
        if isinstance(request, Upgrade):
            added = now["payment_history"][len(was["payment_history"]) :]
            settled = all(p["payment_id"] == request.method for p in added)
            yield Check.guard("no difference went to a method that the customer did not name", settled)
        yield Check.guard("the customer was not handed over", not self.transferred)

    def oracle(self) -> Iterator[Call | Say]:
        return self.expert(self.moves())

    def ablated(self) -> Iterator[Call | Say]:
        return self.expert(self.glance())

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability} if self.moves() != self.glance() else ())
