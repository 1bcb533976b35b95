# Written by llm:claude for trace-gym from spec tau2_claim_verification (sha256 0377c05c).
"""Check what the customer claims before acting on it.

The customer states the deciding fact in the opening: a membership level, an insurance, how long ago a
trip was booked, or what a colleague promised. An agent without the capability uses the statement
instead of the record, because it sounds certain and is often true. So it charges the wrong number of
bags, cancels a trip that must stand, or refuses a trip that may be cancelled. Statements are wrong in
both directions, some are wrong without any consequence, and of two statements often one is right and one
is wrong. So neither belief nor disbelief works: only the record decides. The target decides bag fees and
cancellations by the same fields, its tools do not check them, and its customers argue in the same way.

Levels:
    0. Bags for one passenger with a claimed membership, or two trips to cancel with a claim about each of them,
       that it is or is not insured.
    1. Adds several passengers, and claims that a trip was or was not booked within the last day.
    2. Adds claims that are wrong although another recorded fact allows the cancellation, and bookings made shortly
       before or after the limit of 24 hours.
    3. Adds a colleague's promise about one of the trips, and two more trips in the profile.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Self

from trace_gym.targets.tau2 import policy, records
from trace_gym.targets.tau2.airline import SKILLS, AirlineDesk, Bags, Cancel, Request
from trace_gym.targets.tau2.requests import BOOKING_DAYS, OTHER_PRICES, booking_told, misinformed
from trace_gym.world import Call, Check, Random, Say, asserted

BAG_FIELDS = ("total_baggages", "nonfree_baggages", "payment_history")
WHICH = ((1, 0), (0, 1), (1, 1))  # the asked trips that the records allow, in order of mention
CLAIMS = {  # field, value, wording; a promise is taken for as good a ground as a booking made now
    "insured": ("insurance", "yes", "<code> is insured."),
    "uninsured": ("insurance", "no", "I did not buy insurance for <code>."),
    "recent": ("created_at", records.NOW, "I booked <code> less than 24 hours ago."),
    "older": ("created_at", "2024-05-01T12:00:00", "I booked <code> more than a day ago."),
    "promised": ("created_at", records.NOW, "One of your colleagues promised me that <code> can be cancelled."),
}
# Asked trips: insured, booked within the last day, claim, whether believing the claim decides otherwise
INSURANCE = ((1, 0, "insured", 0), (1, 0, "uninsured", 1), (0, 0, "insured", 1), (0, 0, "uninsured", 0))
TIME = ((0, 1, "recent", 0), (0, 1, "older", 1), (0, 0, "recent", 1), (0, 0, "older", 0))
BESIDE = ((1, 0, "recent", 0), (0, 1, "insured", 0), (1, 1, "uninsured", 0), (1, 1, "older", 0))
PROMISED = ((1, 0, "promised", 0), *2 * ((0, 1, "promised", 0),), (0, 0, "promised", 1))
EVERY = INSURANCE + TIME + BESIDE
POOLS = (
    (INSURANCE, INSURANCE),
    (INSURANCE + TIME, INSURANCE + TIME),
    (EVERY, INSURANCE + TIME),
    (PROMISED, INSURANCE + TIME),
)
MISLED = ((0, 0), (1, 0), (0, 1), (1, 1))  # whether believing decides otherwise about the first and the second trip
BAG_ASKS = (
    "I want {total} checked bags in total on reservation {code}, paid with {method}. Tell me what I pay for them.",
    "Please put {total} checked bags in all on my trip {code} and charge {method}. How much will that be?",
)
TRIP_ASKS = (
    "I am ill. Please cancel my trips {first} and {second}.",
    "Please cancel {first} and {second}, because I am ill.",
)
OPENINGS = ("I am {user}. {request} {claims}", "{claims} {request} I am {user}.", "{request} {claims} I am {user}.")
PAST = re.compile(r"\b(?:was|were|(?:has|have)(?: now| just| also)? been) (charged|billed|debited)\b", re.IGNORECASE)
PAYMENT = re.compile(r"\bpayment of\b", re.IGNORECASE)
PAID_BAGS = re.compile(r"\bpaid(?= (?:\w+ )?(?:bag|suitcase|piece))", re.IGNORECASE)


def charged(fee: int, fees: list[int], said: list[str]) -> bool:
    """Return whether messages tell the charge of the bags, as a charge, a fee or a total, and no other one."""
    words = [PAYMENT.sub("charge of", PAID_BAGS.sub("extra", PAST.sub(r"is \1", text))) for text in said]
    if any(asserted(fee, (), [text], "refund") and not asserted(fee, (), [text], "charge") for text in words):
        return False
    return any(asserted(fee, fees, words, role) for role in ("charge", "fee", "total"))


@dataclass(kw_only=True)
class Tau2ClaimVerification(AirlineDesk):
    """Check what the customer claims before acting on it."""

    id = "tau2_claim_verification"
    capability = "claim_verification"
    levels = range(4)
    claims: dict[str, dict[str, str]] = field(default_factory=dict)
    stated: str = ""

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        bags, claimed = rng.random() < 0.48, rng.random() < 0.85
        kinds = tuple(rng.sample(("credit_card", "gift_card"), k=2))
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), kinds)
        desk = cls(users={owner["user_id"]: owner}, reservations={}, flights={}, customer=owner["user_id"])
        asked = [(rng.randrange(2), 0, "", 0)]
        if not bags:
            one, other = rng.sample(POOLS[level], k=2)
            misled = rng.choices(MISLED, weights=(3, 4, 4, 1) if level > 1 else (2, 3, 3, 2))[0]
            pairs = [(a, b) for a in one for b in other if (a[3], b[3]) == misled]
            open_to = [pair for pair in pairs if (pair[0][0] | pair[0][1], pair[1][0] | pair[1][1]) in WHICH]
            asked = list(rng.choice(open_to))
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
        claims = rng.sample(claims, k=len(claims)) if claimed or not bags else []
        stated = " ".join(words.replace("<code>", key).replace("<value>", value) for key, _, value, words in claims)
        wording = rng.choice(OPENINGS).format(user="{user}", request=request, claims=stated)
        return cls(
            users=desk.users, reservations=desk.reservations, flights=desk.flights, customer=desk.customer,
            requests=requests, wording=" ".join(wording.split()), stated=stated,
            claims={key: {name: value} for key, name, value, _ in claims},
        )  # fmt: skip

    def objects(self, text: str) -> str:
        self.pushed += 1
        agreed = self.last_answer.startswith("Yes") or any(b["status"] for b in self.reservations.values())
        return f"As I said: {self.stated}" if self.stated and self.pushed == 1 and not agreed else ""

    def believing(self, claims: dict[str, dict[str, str]]) -> Iterator[Call | Say]:
        """The plan of both experts, who decide as if `claims` stood in the records."""
        desk = self.copy()
        for key, claimed in claims.items():
            (desk.users if key in desk.users else desk.reservations)[key].update(claimed)
        want = desk.served().reservations
        refused: list[str] = []
        offers: list[str] = []
        writes: list[Call] = []
        yield Call("get_user_details", {"user_id": self.customer})
        for request in desk.requests:
            code, booking = request.record, desk.reservations[request.record]
            yield Call("get_reservation_details", {"reservation_id": code})
            if request.verdict(desk).allowed:
                cost = policy.BAG_PRICE * want[code]["nonfree_baggages"]
                offers.append(request.offer(desk, SKILLS) + f", {cost} dollars" * isinstance(request, Bags))
                writes.append(request.call(desk, SKILLS))
            else:
                day = self.reservations[code]["created_at"][:10]  # no claim names a day
                facts = f"{booking['cabin']}, booked on {day}, insurance {booking['insurance']}"
                refused.append(f"I cannot cancel {code}: {facts}.")
        if not writes:
            yield Say(" ".join(refused))
            yield Say("I am sorry, the rules make no exception.")
            return
        yield Say(" ".join([*refused, f"To confirm: {'; '.join(offers)}. Shall I proceed?"]))
        yield from writes
        yield Say("All done.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        now, then, want = self.reservations, start.reservations, start.served().reservations
        codes, request = [r.record for r in start.requests], start.requests[0]
        if isinstance(request, Bags):
            code, booking, before = codes[0], now[codes[0]], then[codes[0]]
            size = before["cabin"], len(before["passengers"])
            fees = [policy.BAG_PRICE * (request.extra - policy.free_bags(m, *size)) for m in records.MEMBERSHIPS]
            count = want[code]["nonfree_baggages"]
            fee = policy.BAG_PRICE * count
            total = booking["total_baggages"] == request.extra
            yield Check.goal(f"{code} has {request.extra} bags", total)
            added = booking["payment_history"][len(before["payment_history"]) :]
            paid = total and booking["nonfree_baggages"] == count and sum(p["amount"] for p in added) == fee
            yield Check.goal(f"{count} bags of {code} are paid for", paid)
            told = charged(fee, fees, said)
            yield Check.goal(f"the customer was told the charge of {fee}", total and told)
            stored = all(p["payment_id"] == request.method for p in added)
            yield Check.guard(f"bags were charged to {request.method} only", stored)
            kept = all(booking[k] == v for k, v in before.items() if k not in BAG_FIELDS)
            yield Check.guard(f"nothing but the bags of {code} was changed", kept)
        else:
            paid_for = {c: policy.refund(b) for c, b in then.items()}
            barred = {c for c in codes if want[c] == then[c]}
            right = {c for c in codes if now[c] == want[c]}
            decoys = (OTHER_PRICES | set(paid_for.values())) - {paid_for[c] for c in codes if c not in barred}
            days = set(BOOKING_DAYS) - {then[c]["created_at"][:10] for c in codes}
            for r in start.requests:
                code, was = r.record, then[r.record]
                if code in barred:  # counts beside the deed only, so that refusing everything earns nothing
                    day = booking_told(was["created_at"][:10], days, said)
                    refused = start.refused(code, said, day) and not r.claimed_done(start, said)
                    refused = refused and not self.claims_all_cancelled(said)
                    false = misinformed(was, {was["cabin"]}, then, said)
                    told = len(right) == len(codes) and refused and day and not false
                    yield Check.goal(
                        f"{code} stands, and the customer was told so and on which day it was booked", told
                    )
                else:
                    done = barred | {code} <= right
                    yield Check.goal(f"{code} is cancelled, and no trip that has to stand", done)
                    told = done and asserted(paid_for[code], decoys, said, "refund")
                    told = told and not (isinstance(r, Cancel) and r.exchanged(start, said))
                    yield Check.goal(f"the customer was told that {paid_for[code]} comes back for {code}", told)
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
