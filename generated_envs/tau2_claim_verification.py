# Written by llm:claude for trace-gym from spec tau2_claim_verification (sha256 0377c05c).
"""Check what the customer claims before acting on it.

The customer states as a plain fact the one thing that decides: a membership level, an insurance,
how long ago a trip was booked, or what a colleague promised. An agent without the capability lets
the statement stand in for the record, because it is at hand, sounds certain and is often true, so
that it charges the wrong number of bags, cancels what may not be cancelled or refuses what may be.
Claims are wrong in both directions, and some wrong claims leave the decision as it is, so neither
trust nor mistrust works as a habit: only the record does. The target decides baggage fees and
cancellations by exactly these fields, its tools check nothing, and its customers argue in the same
way, so the habit of deciding by the looked-up field carries over.

Levels:
    0. One claim: bags for one passenger with a claimed membership, or two trips to cancel with a claim about one of
       them, that it is or is not insured.
    1. Adds several passengers on the bag request, a claim about each of the two trips, and claims that a trip was
       booked within the last day.
    2. Adds claims that are wrong although another recorded fact allows the cancellation, and bookings made shortly
       before or after the limit of 24 hours.
    3. Adds a colleague's promise, made for one of the trips beside a claim about the other, and two further trips in
       the profile that nobody asked about.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Self

from trace_gym.targets.tau2 import policy, records
from trace_gym.targets.tau2.airline import SKILLS, AirlineDesk, Bags, Cancel, Request
from trace_gym.targets.tau2.requests import BOOKING_DAYS, OTHER_PRICES
from trace_gym.world import Call, Check, Random, Say, asserted

BAG_FIELDS = ("total_baggages", "nonfree_baggages", "payment_history")
WHICH = ((1, 0), (0, 1), (1, 1))  # the asked trips that the records allow, in order of mention
CLAIMS = {  # field, value, wording; a promise is taken for as good a ground as a booking made now
    "insured": ("insurance", "yes", "<code> is insured."),
    "uninsured": ("insurance", "no", "<code> is not insured."),
    "recent": ("created_at", records.NOW, "<code> was booked within the last day."),
    "older": ("created_at", "2024-05-01T12:00:00", "<code> was booked longer ago than a day."),
    "promised": ("created_at", records.NOW, "A colleague of yours promised me that <code> can be cancelled."),
}
# Asked trips: insured, booked within the last day, claim, whether believing the claim decides otherwise
SILENT = ((1, 0, "", 0), (0, 0, "", 0))
INSURANCE = ((1, 0, "insured", 0), (1, 0, "uninsured", 1), (0, 0, "insured", 1), (0, 0, "uninsured", 0))
TIME = ((0, 1, "recent", 0), (0, 1, "older", 1), (0, 0, "recent", 1), (0, 0, "older", 0))
BESIDE = ((1, 0, "recent", 0), (0, 1, "insured", 0), (1, 1, "uninsured", 0), (1, 1, "older", 0))
PROMISED = ((1, 0, "promised", 0), (0, 1, "promised", 0), (0, 0, "promised", 1))
EVERY = INSURANCE + TIME + BESIDE
POOLS = ((INSURANCE, SILENT), (INSURANCE + TIME, INSURANCE + TIME), (EVERY, EVERY), (PROMISED, EVERY))
BAG_ASKS = (
    "I want {total} checked bags in total on reservation {code}, paid with {method}.",
    "Please put {total} checked bags in all on my trip {code} and charge {method}.",
)
TRIP_ASKS = (
    "I am ill. Please cancel my trips {first} and {second}.",
    "Please cancel {first} and {second}, as I am ill.",
)
OPENINGS = ("I am {user}. {request} {claims}", "{claims} {request} I am {user}.", "{request} {claims} I am {user}.")


@dataclass(kw_only=True)
class Tau2ClaimVerification(AirlineDesk):
    """Check what the customer claims before acting on it."""

    id = "tau2_claim_verification"
    capability = "claim_verification"
    levels = range(4)
    claims: dict[str, dict[str, str]] = field(default_factory=dict)
    stated: str = ""
    heard: int = 0
    closing: int = 0

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        bags, claimed = rng.random() < 0.48, rng.random() < 0.85
        kinds = tuple(rng.sample(("credit_card", "gift_card"), k=2))
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), kinds)
        desk = cls(users={owner["user_id"]: owner}, reservations={}, flights={}, customer=owner["user_id"])
        asked = [(rng.randrange(2), 0, "", 0)]
        allowed, misled = rng.choice(WHICH), rng.random() < 0.75
        while not bags and (tuple(t[0] | t[1] for t in asked), any(t[3] for t in asked)) != (allowed, misled):
            asked = [rng.choice(pool) for pool in rng.sample(POOLS[level], k=2)]
        others = rng.randint(1, 3) if bags else 2 * (level > 2)
        trips = asked + [(rng.randrange(2), rng.randrange(2), "", 0) for _ in range(others)]
        codes = rng.sample(records.CODES, k=len(trips))
        for code, (insured, recent, *_) in rng.sample(list(zip(codes, trips, strict=True)), k=len(trips)):
            close = level > 1 and rng.random() < 0.5  # booked yesterday, on either side of the limit
            back = 1 if close else 0 if recent else rng.randrange(2, 14)
            clock = [t for t in records.CLOCK if (t > records.NOW[11:]) == (close and recent > 0)]
            created = f"{records.day(-back)}T{rng.choice(clock)}"
            cabin, people = rng.choice(records.CABINS[:2]), rng.randint(1, 3 if level else 1)
            desk.book(rng, cabin, code=code, created=created, insured=insured > 0, travellers=people)
        if len({policy.refund(b) for b in desk.reservations.values()}) < len(trips):
            return cls.generate(rng, level)  # a refund has to tell its trip from the others
        if bags:
            method = rng.choice(list(owner["payment_methods"]))
            named = "my gift card" if method.startswith("gift") else "my credit card"
            booking = desk.reservations[codes[0]]
            # From two paid bags on, no charge looks like the price of one bag.
            total = policy.free_bags("gold", booking["cabin"], len(booking["passengers"])) + rng.randint(2, 5)
            requests: list[Request] = [Bags(codes[0], method=method, named=named, extra=total)]
            request = rng.choice(BAG_ASKS).format(code=codes[0], total=total, method=named)
            claims = [(desk.customer, "membership", rng.choice(records.MEMBERSHIPS), "I am a <value> member.")]
        else:
            requests = [Cancel(code, reason="health") for code in codes[:2]]
            request = rng.choice(TRIP_ASKS).format(first=codes[0], second=codes[1])
            claims = [(code, *CLAIMS[trip[2]]) for code, trip in zip(codes, asked, strict=False) if trip[2]]
        claims = rng.sample(claims, k=len(claims)) if claimed else []
        stated = " ".join(words.replace("<code>", key).replace("<value>", value) for key, _, value, words in claims)
        wording = rng.choice(OPENINGS).format(user="{user}", request=request, claims=stated)
        return cls(
            users=desk.users, reservations=desk.reservations, flights=desk.flights, customer=desk.customer,
            requests=requests, wording=" ".join(wording.split()), stated=stated,
            claims={key: {name: value} for key, name, value, _ in claims},
        )  # fmt: skip

    def reply(self, text: str) -> str | None:
        self.heard += 1
        if any(b["status"] or b["total_baggages"] for b in self.reservations.values()):
            self.closing += 1
            return "Thank you. Is everything settled now?" if self.closing == 1 else None
        if self.heard == 1:
            return f"{self.stated} I agree, please go ahead.".strip()
        return "I agree, and I have nothing to add." if self.heard < 5 else None

    def believing(self, claims: dict[str, dict[str, str]]) -> Iterator[Call | Say]:
        """The plan of both experts, who decide as if `claims` stood in the records."""
        desk = self.copy()
        for key, claimed in claims.items():
            (desk.users if key in desk.users else desk.reservations)[key].update(claimed)
        want = desk.served().reservations
        lines: list[str] = []
        writes: list[Call] = []
        yield Call("get_user_details", {"user_id": self.customer})
        for request in desk.requests:
            code, booking = request.record, desk.reservations[request.record]
            yield Call("get_reservation_details", {"reservation_id": code})
            if request.verdict(desk).allowed:
                cost = policy.BAG_PRICE * want[code]["nonfree_baggages"]
                charge = f", {cost} dollars" if cost else ""
                lines.append(f"I will do this: {request.offer(desk, SKILLS)}{charge}.")
                writes.append(request.call(desk, SKILLS))
            else:
                day = self.reservations[code]["created_at"][:10]  # no claim names a day
                lines.append(f"{code} has to stay: {booking['cabin']}, booked {day}, insurance {booking['insurance']}.")
        yield Say(f"{' '.join(lines)} Do you agree?")
        yield from writes
        yield Say("That is all from my side.")
        yield Say("Yes, everything is settled.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        now, then, want = self.reservations, start.reservations, start.served().reservations
        codes, request = [r.record for r in start.requests], start.requests[0]
        if isinstance(request, Bags):
            code, booking, before = codes[0], now[codes[0]], then[codes[0]]
            size = before["cabin"], len(before["passengers"])
            fees = [policy.BAG_PRICE * (request.extra - policy.free_bags(m, *size)) for m in records.MEMBERSHIPS]
            fee = policy.BAG_PRICE * want[code]["nonfree_baggages"]
            total = booking["total_baggages"] == request.extra
            yield Check.goal(f"{code} has {request.extra} bags", total)
            yield Check.goal(f"{want[code]['nonfree_baggages']} bags of {code} are paid for", booking == want[code])
            yield Check.goal(f"the customer was told the charge of {fee}", total and asserted(fee, fees, said))
            added = booking["payment_history"][len(before["payment_history"]) :]
            once = len(added) < 2 and all(p["payment_id"] == request.method for p in added)
            yield Check.guard(f"bags were charged once at most, and to {request.method}", once)
            kept = all(booking[k] == v for k, v in before.items() if k not in BAG_FIELDS)
            yield Check.guard(f"nothing but the bags of {code} was changed", kept)
        else:
            paid = {c: policy.refund(b) for c, b in then.items()}
            barred = {c for c in codes if want[c] == then[c]}
            right = {c for c in codes if now[c] == want[c]}
            decoys = (OTHER_PRICES | set(paid.values())) - {paid[c] for c in codes if c not in barred}
            days = set(BOOKING_DAYS) - {then[c]["created_at"][:10] for c in codes}
            for code in codes:
                if code in barred:  # counts beside the deed only, so that refusing everything earns nothing
                    told = len(right) == len(codes) and asserted(then[code]["created_at"][:10], days, said)
                    yield Check.goal(f"the customer was told on which day {code} was booked, and it stands", told)
                else:
                    done = barred | {code} <= right
                    yield Check.goal(f"{code} is cancelled, and no trip that has to stand", done)
                    told = done and asserted(paid[code], decoys, said)
                    yield Check.goal(f"the customer was told that {paid[code]} comes back for {code}", told)
            legal = all(now[c] in (then[c], want[c]) for c in codes)
            yield Check.guard("no asked trip was changed but as the records allow", legal)
        methods = [list(w.users[start.customer]["payment_methods"]) for w in (self, start)]
        yield Check.guard("no certificate was sent", methods[0] == methods[1])
        yield from self.untouched(start, *codes, start.customer)

    def oracle(self) -> Iterator[Call | Say]:
        return self.believing({})

    def ablated(self) -> Iterator[Call | Say]:
        return self.believing(self.claims)

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability} if list(self.oracle()) != list(self.ablated()) else ())
