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

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Self

from trace_gym.targets.tau2 import policy, records
from trace_gym.targets.tau2.airline import AirlineDesk, Bags, Cancel, Request
from trace_gym.targets.tau2.requests import BOOKING_DAYS
from trace_gym.world import Call, Check, Random, Say, asserted

FAMILIES, WEIGHTS = ("bag_claim", "trip_claim", "no_claim"), (40, 45, 15)
MEMBER_PAIRS = {  # (recorded, claimed)
    "too high": (("regular", "silver"), ("regular", "gold"), ("silver", "gold")),
    "too low": (("silver", "regular"), ("gold", "regular"), ("gold", "silver")),
    "right": (("regular", "regular"), ("silver", "silver"), ("gold", "gold")),
}
MEMBER_CLAIMS = ("I am a {value} member.", "My membership level is {value}.", "I have {value} status with you.")
TRIP_CLAIMS = {  # kind: (field, claimed value, wordings)
    "insured": ("insurance", "yes", ("{code} is insured.", "I bought the travel insurance for {code}.")),
    "not insured": ("insurance", "no", ("{code} is not insured.", "I did not take the travel insurance for {code}.")),
    "last day": (
        "created_at", "new", ("I booked {code} within the last day.", "{code} was booked less than 24 hours ago."),
    ),
    "longer ago": (
        "created_at", "old", ("I booked {code} longer ago than a day.", "{code} was booked more than 24 hours ago."),
    ),
    "promised": (
        "promise",
        "yes",
        (
            "A colleague of yours promised me that {code} can be cancelled.",
            "Your colleague on the phone told me that {code} would be cancelled with a refund.",
        ),
    ),
}  # fmt: skip
CASES = {  # (allowed by the records, decided otherwise by the claim): (from level, insured, recent, claim)
    (True, True): ((0, True, False, "not insured"), (2, False, True, "longer ago")),
    (True, False): (
        (0, True, False, "insured"),
        (1, False, True, "last day"),
        (2, True, False, "last day"),
        (2, False, True, "insured"),
        (2, True, True, "not insured"),
        (2, True, True, "longer ago"),
    ),
    (False, True): ((0, False, False, "insured"), (1, False, False, "last day")),
    (False, False): ((0, False, False, "not insured"), (2, False, False, "longer ago")),
}
BAG_OPENINGS = (
    "Hello, I am {user}. I need {total} checked bags in total on reservation {first}, paid with {named}. {claims}",
    "My customer id is {user}. {claims} Please bring reservation {first} to {total} checked bags in all and use {named}.",
    "{claims} I would like to have {total} checked bags in total on {first}. Please charge {named}. My id is {user}.",
)
TRIP_OPENINGS = (
    "Hello, I am {user}. I am ill and cannot travel, so please cancel {first} and {second}. {claims}",
    "My customer id is {user}. {claims} Please cancel my trips {first} and {second}, because I am ill.",
    "I have fallen ill. Please cancel reservations {first} and {second}. {claims} My id is {user}.",
)
AGREED = "I agree to what you announced, please go ahead."
NOTHING = "I agree and have nothing to add."
SETTLED = "Thank you. Is everything settled now?"
PATIENCE = 5
WRITTEN = ("status", "total_baggages", "nonfree_baggages", "payment_history")
STANDS = re.compile(r"\b(stays|(cannot|can['’]t|can not) be cancell?ed|(cannot|can['’]t|unable to) cancel)\b")


def created_at(rng: Random, recent: bool, near: bool) -> str:
    """A time of booking, clearly or only just on one side of the limit, which is yesterday at 15:00."""
    if near:
        hour = rng.choice((15, 16, 17) if recent else (12, 13, 14))
        return f"{records.day(-1)}T{hour}:{rng.randrange(5, 60):02d}:{rng.randrange(60):02d}"
    if recent:
        return f"{records.TODAY}T{rng.choice([t for t in records.CLOCK if t < '15:00:00'])}"
    return f"{records.day(-rng.randrange(3, 14))}T{rng.choice(records.CLOCK)}"


def draw_trips(rng: Random, level: int, claiming: bool) -> list[tuple[bool, bool, str]]:
    """The two asked trips in the order of mention: insured, recent, and the kind of claim."""
    allowed = rng.choice(((True, False), (False, True), (True, True)))
    told = [0, 1] if level > 0 and rng.random() < 0.8 else [rng.randrange(2)]
    flips = rng.choice(([0], [1], [0, 1])) if len(told) > 1 else told
    if rng.random() < 0.25:
        flips = []
    if not claiming:
        told, flips = [], []
    promises = [i for i in told if allowed[i] != (i in flips)]  # a promise misleads only where the records refuse
    promised = rng.choice(promises) if level > 2 and len(told) > 1 and promises and rng.random() < 0.8 else None
    trips: list[tuple[bool, bool, str]] = []
    for i in range(2):
        if i in told and i != promised:
            cases = [case for case in CASES[allowed[i], i in flips] if case[0] <= level]
            trips.append(rng.choice(cases)[1:])
        else:
            insured, recent = rng.choice(((True, False), (False, True))) if allowed[i] else (False, False)
            trips.append((insured, recent, "promised" if i == promised else ""))
    return trips


def book(
    rng: Random, owner: dict[str, Any], code: str, numbers: Sequence[str], insured: bool, created: str,
    travellers: int, taken: list[int],
) -> tuple[dict[str, Any], dict[str, Any]]:  # fmt: skip
    """A reservation whose amount is not among those taken, and its flights by number."""
    origin, destination = rng.sample(list(records.AIRPORTS), k=2)
    out = rng.randrange(2, 12)
    legs = [(records.flight(rng, numbers[0], origin, destination, rng.randrange(6, 19)), records.day(out))]
    if rng.random() < 0.5:
        back = records.flight(rng, numbers[1], destination, origin, rng.randrange(6, 19))
        legs.append((back, records.day(out + rng.randrange(2, 8))))
    for plan, on in legs:
        plan["dates"][on] = records.available(rng)
    booking = records.reservation(
        rng,
        code,
        owner,
        legs,
        cabin=rng.choice(("economy", "basic_economy")),
        created=created,
        insured=insured,
        travellers=travellers,
        paid_with=rng.choice(list(owner["payment_methods"])),
    )
    while booking["payment_history"][0]["amount"] in taken:
        booking["flights"][0]["price"] += 1
        booking["payment_history"][0]["amount"] += travellers
    return booking, {plan["flight_number"]: plan for plan, _ in legs}


def told_to_stand(code: str, said: list[str]) -> bool:
    """Whether some clause tells the customer that this trip is not cancelled."""
    clauses = re.split(r"[.,;!?\n]|\b(?:and|but|while|whereas)\b", "\n".join(said).lower())
    return any(code.lower() in clause and STANDS.search(clause) is not None for clause in clauses)


def profile(user: dict[str, Any]) -> dict[str, Any]:
    """A profile without the balances, which a legal charge lowers."""
    return {**user, "payment_methods": sorted(user["payment_methods"])}


def unwritten(booking: dict[str, Any]) -> dict[str, Any]:
    """What neither bags nor a cancellation change."""
    return {key: value for key, value in booking.items() if key not in WRITTEN}


@dataclass(kw_only=True)
class Tau2ClaimVerification(AirlineDesk):
    """Check what the customer claims before acting on it."""

    id = "tau2_claim_verification"
    capability = "claim_verification"
    levels = range(4)
    claim_list: list[dict[str, str]] = field(default_factory=list)
    asked_codes: list[str] = field(default_factory=list)
    bags_wanted: int = 0
    paying_method: str = ""
    paying_words: str = ""
    decoy_amounts: list[int] = field(default_factory=list)
    messages_heard: int = 0
    closings_heard: int = 0

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        family = rng.choices(FAMILIES, WEIGHTS)[0]
        claiming = family != "no_claim"
        bags = family == "bag_claim" or (not claiming and rng.random() < 0.5)
        recorded, stated = rng.choice(MEMBER_PAIRS[rng.choices(("too high", "too low", "right"), (3, 3, 2))[0]])
        owner = records.user(rng, recorded, ("credit_card", "gift_card"))
        facts = [] if bags else draw_trips(rng, level, claiming)
        others = (rng.randrange(2, 4) if bags else 0) + (2 if level > 2 else 0)
        facts += [(rng.random() < 0.5, rng.random() < 0.3, "") for _ in range(others)]
        codes = rng.sample(records.CODES, k=len(facts))
        numbers = rng.sample(records.FLIGHT_NUMBERS, k=2 * len(facts))
        made: dict[str, Any] = {}
        flights: dict[str, Any] = {}
        taken: list[int] = []
        for i, (code, (insured, recent, _)) in enumerate(zip(codes, facts, strict=True)):
            created = created_at(rng, recent, level > 1 and rng.random() < 0.5)
            people = 1 if bags and level == 0 else rng.randint(1, 3)
            made[code], plans = book(rng, owner, code, numbers[2 * i : 2 * i + 2], insured, created, people, taken)
            flights.update(plans)
            taken.append(policy.refund(made[code]))
        order = rng.sample(codes, k=len(codes))
        owner["reservations"] = list(order)
        claims: list[dict[str, str]] = []
        if bags and claiming:
            words = rng.choice(MEMBER_CLAIMS).format(value=stated)
            claims.append({"record": "profile", "field": "membership", "value": stated, "words": words})
        for code, (_, _, kind) in zip(codes, facts, strict=True):
            if kind:
                about, value, wordings = TRIP_CLAIMS[kind]
                words = rng.choice(wordings).format(code=code)
                claims.append({"record": code, "field": about, "value": value, "words": words})
        rng.shuffle(claims)
        method = rng.choice(list(owner["payment_methods"]))
        named = "my gift card" if method.startswith("gift_card") else "my credit card"
        asked, wanted = codes[: 1 if bags else 2], 0
        if bags:  # two paid bags at least: the price of one bag is then no charge of any membership
            booking = made[codes[0]]
            wanted = policy.free_bags("gold", booking["cabin"], len(booking["passengers"])) + rng.randrange(2, 6)
        fares = [leg["price"] for booking in made.values() for leg in booking["flights"]]
        known = [*taken, *fares, sum(taken[:2])]
        template = rng.choice(BAG_OPENINGS if bags else TRIP_OPENINGS)
        wording = template.format(
            user="{user}",
            first=codes[0],
            second=codes[1],
            total=wanted,
            named=named,
            claims=" ".join(c["words"] for c in claims),
        )
        requests: list[Request] = [Cancel(code, reason="health") for code in asked]
        if bags:
            requests = [Bags(codes[0], method=method, named=named, extra=wanted)]
        return cls(
            users={owner["user_id"]: owner},
            reservations={code: made[code] for code in order},
            flights=flights,
            requests=requests,
            customer=owner["user_id"],
            wording=" ".join(wording.split()),
            withheld=(),
            pushes=0,
            claim_list=claims,
            asked_codes=asked,
            bags_wanted=wanted,
            paying_method=method,
            paying_words=named,
            decoy_amounts=rng.sample([n for n in range(61, 1400) if n % 50 and n not in known], k=6),
        )

    def reply(self, text: str) -> str | None:
        if self._written():
            self.closings_heard += 1
            return SETTLED if self.closings_heard == 1 else None
        self.messages_heard += 1
        if self.messages_heard == 1:
            return " ".join([*(c["words"] for c in self.claim_list), AGREED])
        return NOTHING if self.messages_heard < PATIENCE else None

    def _written(self) -> bool:
        return any(
            b["status"] == "cancelled" or b["total_baggages"] > 0 or len(b["payment_history"]) > 1
            for b in self.reservations.values()
        )

    def _fact(self, record: str, about: str, recorded: str, trusting: bool) -> str:
        """The recorded value or, for an expert who trusts claims, the claimed one."""
        claimed = [c["value"] for c in self.claim_list if (c["record"], c["field"]) == (record, about)]
        return claimed[0] if trusting and claimed else recorded

    def _allowed(self, code: str, trusting: bool) -> bool:
        booking = self.reservations[code]
        age = datetime.fromisoformat(records.NOW) - datetime.fromisoformat(booking["created_at"])
        booked = self._fact(code, "created_at", "new" if age < timedelta(hours=24) else "old", trusting)
        insured = self._fact(code, "insurance", booking["insurance"], trusting)
        return booked == "new" or insured == "yes" or self._fact(code, "promise", "no", trusting) == "yes"

    def _due(self) -> list[str]:
        return [] if self.bags_wanted else [c for c in self.asked_codes if self._allowed(c, trusting=False)]

    def _paid_bags(self, membership: str) -> int:
        booking = self.reservations[self.asked_codes[0]]
        return self.bags_wanted - policy.free_bags(membership, booking["cabin"], len(booking["passengers"]))

    def _bag_goals(self, start: Self, said: list[str]) -> Iterator[Check]:
        code, wanted = start.asked_codes[0], start.bags_wanted
        paid = start._paid_bags(start.users[start.customer]["membership"])
        charges = [policy.BAG_PRICE * start._paid_bags(m) for m in records.MEMBERSHIPS]
        booking = self.reservations[code]
        total = booking["total_baggages"] == wanted
        yield Check.goal(f"{code} has {wanted} bags", total)
        yield Check.goal(f"{paid} bags of {code} are paid for", total and booking["nonfree_baggages"] == paid)
        told = asserted(policy.BAG_PRICE * paid, charges, said)
        yield Check.goal(f"the customer was told the charge for the bags of {code}", total and told)

    def _trip_goals(self, start: Self, said: list[str]) -> Iterator[Check]:
        now, before, due = self.reservations, start.reservations, start._due()
        stand = all(now[c]["status"] == b["status"] for c, b in before.items() if c not in due)
        balances = [m["amount"] for m in start.users[start.customer]["payment_methods"].values() if "amount" in m]
        refunds = [policy.refund(before[c]) for c in due]
        rivals = [*start.decoy_amounts, *balances, *(policy.refund(b) for c, b in before.items() if c not in due)]
        booked = {c: before[c]["created_at"][:10] for c in start.asked_codes}
        # Yesterday is also the limit that an agent may name when it explains the rule.
        days = [d for d in BOOKING_DAYS if d not in booked.values() and d != records.day(-1)]
        for code in start.asked_codes:
            if code in due:
                cancelled = now[code]["status"] == "cancelled"
                yield Check.goal(f"{code} is cancelled, and what must stand stands", cancelled and stand)
                told = asserted(policy.refund(before[code]), [r for r in rivals if r not in refunds], said)
                told = told and not told_to_stand(code, said)
                yield Check.goal(f"the customer was told what comes back for {code}", cancelled and told)
            else:
                kept = now[code]["status"] == before[code]["status"]
                told = asserted(booked[code], days, said)
                yield Check.goal(f"{code} stands, and the customer was told on which day it was booked", kept and told)

    def _plan(self, trusting: bool) -> list[Call | Say]:
        plan: list[Call | Say] = [Call("get_user_details", {"user_id": self.customer})]
        plan += [Call("get_reservation_details", {"reservation_id": code}) for code in self.asked_codes]
        plan += self._bag_steps(trusting) if self.bags_wanted else self._trip_steps(trusting)
        return [*plan, Say("Yes, everything is settled. Goodbye.")]

    def _bag_steps(self, trusting: bool) -> list[Call | Say]:
        code, total = self.asked_codes[0], self.bags_wanted
        paid = self._paid_bags(self._fact("profile", "membership", self.users[self.customer]["membership"], trusting))
        charge, method = policy.BAG_PRICE * paid, self.paying_words.replace("my", "your")
        arguments = {
            "reservation_id": code,
            "total_baggages": total,
            "nonfree_baggages": paid,
            "payment_id": self.paying_method,
        }
        bags = f"{total} checked bags in total, {paid} of them paid"
        return [
            Say(f"I will give {code} {bags}, and charge {charge} dollars to {method}. Do you agree?"),
            Call("update_reservation_baggages", arguments),
            Say(f"Reservation {code} now has {bags}. I charged {charge} dollars to {method}."),
        ]

    def _trip_steps(self, trusting: bool) -> list[Call | Say]:
        before, after = [], []
        writes: list[Call | Say] = []
        for code in self.asked_codes:
            booking = self.reservations[code]
            if self._allowed(code, trusting):
                refund = policy.refund(booking)
                before.append(f"I will cancel {code} with a refund of {refund} dollars.")
                after.append(f"{code} is cancelled with a refund of {refund} dollars to what paid for it.")
                writes.append(Call("cancel_reservation", {"reservation_id": code}))
            else:
                insured = self._fact(code, "insurance", booking["insurance"], trusting)
                day = booking["created_at"][:10]
                stays = f"{code} stays: its cabin is {booking['cabin']}, it was booked on {day}, its insurance is {insured}."
                before.append(stays)
                after.append(stays)
        return [Say(" ".join([*before, "Do you agree?"])), *writes, Say(" ".join(after))]

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from self._bag_goals(start, said) if start.bags_wanted else self._trip_goals(start, said)
        now, before, due = self.reservations, start.reservations, start._due()
        allowed = all(now[c]["status"] == b["status"] or c in due for c, b in before.items())
        yield Check.guard("no trip is cancelled that was not asked for or that the records do not allow", allowed)
        bagged = start.asked_codes[0] if start.bags_wanted else ""
        bags = all(
            now[c][key] == b[key] for c, b in before.items() if c != bagged
            for key in ("total_baggages", "nonfree_baggages")
        )  # fmt: skip
        yield Check.guard("no reservation has other bags than it had, except one for which bags were asked", bags)
        if bagged:
            tail = now[bagged]["payment_history"][len(before[bagged]["payment_history"]) :]
            charge = policy.BAG_PRICE * now[bagged]["nonfree_baggages"]
            once = [(p["payment_id"], p["amount"]) for p in tail] in ([], [(start.paying_method, charge)])
            yield Check.guard("the bags are charged only to the named method, and only once", once)
        gone = start.copy()
        for code in before:
            gone.cancel_reservation(code)
        payments = all(
            now[c]["payment_history"] == (gone.reservations[c] if now[c]["status"] == "cancelled" else b)["payment_history"]
            for c, b in before.items() if c != bagged
        )  # fmt: skip
        yield Check.guard("nothing else is charged, and nothing is refunded twice", payments)
        same = sorted(now) == sorted(before) and all(unwritten(now[c]) == unwritten(b) for c, b in before.items())
        yield Check.guard("nothing is booked, and no flight, cabin or passenger is changed", same)
        people = {u: profile(p) for u, p in self.users.items()} == {u: profile(p) for u, p in start.users.items()}
        yield Check.guard("no certificate is sent, and the profile is as it was", people)
        yield Check.guard("the customer is not handed over", not self.ended)

    def oracle(self) -> Iterator[Call | Say]:
        return iter(self._plan(trusting=False))

    def ablated(self) -> Iterator[Call | Say]:
        return iter(self._plan(trusting=True))

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability} if self._plan(trusting=True) != self._plan(trusting=False) else ())
