# Written by llm:claude for trace-gym from spec tau2_baggage_allowance (sha256 cedb4897).
"""Add checked bags and charge only those beyond the allowance.

A customer wants more checked bags and says neither the membership nor the cabin nor how many people
travel; the allowance follows from all three, which stand in the profile and on the reservation. The
tool takes any number of paid bags and charges for it without asking, so a wrong number goes through
unnoticed. The shortcut is the usual allowance of one bag for each traveller, which is right often
enough to feel safe. An agent without the capability charges silver and gold members or business
travellers for bags that are free, or gives free bags where there are none; an agent that charges
for everything to be safe fails as well. In the target every booking with bags and every added bag
needs this same sum.

Levels:
    0. One reservation for one or two travellers that has no bags yet.
    1. Adds bags that are booked already and use up part or all of the allowance, sometimes with some of them paid,
       and larger parties; the customer asks for a number more or for a number in all.
    2. Adds a second reservation of the same customer with its own party and, where the family allows it, its own
       cabin, on which bags are wanted too.
    3. All of it together with four or five travellers and totals that end just below, at or just beyond an
       allowance.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

from trace_gym.targets.tau2 import policy, records
from trace_gym.targets.tau2.airline import AirlineDesk
from trace_gym.world import Call, Check, Random, Say

USUAL, LARGER, NONE = "usual_allowance", "larger_allowance", "no_allowance"
FAMILIES = (USUAL, LARGER, NONE)
WEIGHTS = (35, 45, 20)
MEMBERS = {USUAL: ("regular", "silver"), LARGER: ("regular", "silver", "gold"), NONE: ("regular",)}
FREE, PARTLY, PAID = "free", "partly", "paid"
KINDS = (FREE, PARTLY, PAID)
SHARES = ((2, 3, 0), (5, 5, 2), (5, 5, 2), (5, 5, 2))  # per level; no_allowance adds problems in which all is paid
PARTIES = ((1, 2), (1, 4), (1, 4), (4, 5))
PRICE = 50
UNIT = re.compile(
    r"(?<![a-z])[x*\u00d7] ?\$? ?50(?:\.00)?\b"
    r"|\$? ?\b50(?:\.00)?(?: us)?(?: dollars?| usd)? ?(?:[*/\u00d7]|x\b|each\b|apiece\b|per\b|a bag\b|for (?:each|every)\b)"
)
AMOUNT = re.compile(r"(?<![\w.-])((?:us)?\$ ?)?([0-9]{1,6})(?:\.00)?(?![\w-])( us dollars?| dollars?| usd)?")
OPENINGS = (
    "I am {user}. I want {bags}. Whatever they cost goes to {card}. Tell me in figures how many dollars are charged "
    "for the added bags in all, 0 if nothing is.",
    "Hello, my customer id is {user} and this is about luggage: {bags}, please. Use {card} for whatever they cost. I "
    "would like one figure, the dollars charged for the added bags in all, 0 if nothing is.",
    "Please see to it that I have {bags}. My id is {user}. Let me know in figures how many dollars are charged for "
    "the added bags in all (0 if nothing is), and use {card} for whatever they cost.",
    "For whatever my bags cost, take {card}. It should be {bags}. How many dollars are charged for the added bags in "
    "all? Give it in figures, 0 if nothing is. I am {user}.",
)
MORE = ("{bags} more on {code}", "{bags} added to {code}", "another {bags} on {code}")
TOTAL = ("{bags} in all on {code}", "a total of {bags} on {code}")


def dollars_in(said: list[str]) -> set[int]:
    """The amounts that an agent named, as far as bags can cost them; the price of a single bag is no amount."""
    found = set()
    for text in said:
        plain = UNIT.sub(" ", " ".join(text.lower().replace("**", "").split()))
        for sign, figure, word in AMOUNT.findall(plain):
            amount = int(figure)
            if amount % PRICE == 0 and (amount or sign or word):  # a bare 0 may count bags
                found.add(amount)
    return found


def suits(family: str, free: int, at: int, bare: int) -> bool:
    """Whether the reservation at a place may have this many free bags for each traveller."""
    if family == USUAL:
        return free == 1
    if family == LARGER:
        return free >= (1 if at else 2)
    return free == 0 or at != bare


def kind_of(allowance: int, held: int, total: int) -> str:
    if total <= allowance:
        return FREE
    return PAID if held >= allowance else PARTLY


def added(case: dict[str, Any], free: int) -> int:
    """Paid bags to be added if so many are free."""
    return max(0, max(0, case["total"] - free) - max(0, case["held"] - case["allowance"]))


def draft(rng: Random, level: int, family: str, kinds: list[str], bare: int) -> list[dict[str, Any]]:
    """The reservations in which bags are wanted, one for each of `kinds`; empty if what was drawn does not fit."""
    member = rng.choice(MEMBERS[family])
    cases: list[dict[str, Any]] = []
    for at, kind in enumerate(kinds):
        cabin = rng.choice([c for c in records.CABINS if suits(family, policy.free_bags(member, c, 1), at, bare)])
        party = rng.randint(*PARTIES[level])
        allowance = policy.free_bags(member, cabin, party)
        pairs = [
            (held, held + more)
            for held in range(allowance + 3 if level else 1)
            for more in range(1, 5)
            if kind_of(allowance, held, held + more) == kind
            and (at > 0 or family != LARGER or held + more > party)
            and (level < 3 or any(-1 <= held + more - edge <= 2 for edge in (allowance, party)))
        ]
        if not pairs:
            return []
        held, total = rng.choice(pairs)
        cases.append(
            {"member": member, "cabin": cabin, "party": party, "held": held, "total": total, "allowance": allowance}
        )
    right = sum(added(case, case["allowance"]) for case in cases)
    usual = sum(added(case, case["party"]) for case in cases)
    # Errors on two reservations must not cancel out: the sum that is told has to show them.
    return cases if (right == usual) == (family == USUAL) else []


def booked(
    rng: Random, owner: dict[str, Any], code: str, numbers: list[str], case: dict[str, Any]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A reservation with the bags of a case, and its flights."""
    origin, destination = rng.sample(list(records.AIRPORTS), k=2)
    begin = rng.randrange(2, 12)
    legs: list[tuple[dict[str, Any], str]] = []
    for at, route in enumerate(((origin, destination), (destination, origin))[: rng.randint(1, 2)]):
        plan = records.flight(rng, numbers.pop(), route[0], route[1], rng.randrange(6, 19))
        on = records.day(begin + at * rng.randrange(1, 8))
        plan["dates"][on] = records.available(rng)
        legs.append((plan, on))
    booking = records.reservation(
        rng,
        code,
        owner,
        legs,
        cabin=case["cabin"],
        created=f"{records.day(-rng.randrange(2, 14))}T{rng.choice(records.CLOCK)}",
        insured=rng.random() < 0.5,
        travellers=case["party"],
    )
    booking["total_baggages"] = case["held"]
    booking["nonfree_baggages"] = max(0, case["held"] - case["allowance"])
    booking["payment_history"][0]["amount"] += PRICE * booking["nonfree_baggages"]
    return booking, [plan for plan, _ in legs]


def wording_of(rng: Random, code: str, case: dict[str, Any]) -> str:
    in_all = rng.random() < 0.5
    count = case["total"] if in_all else case["total"] - case["held"]
    bags = f"{count} checked bag{'s' if count > 1 else ''}"
    return rng.choice(TOTAL).format(bags=bags, code=code) if in_all else rng.choice(MORE).format(bags=bags, code=code)


@dataclass(kw_only=True)
class Tau2BaggageAllowance(AirlineDesk):
    """Add checked bags and charge only those beyond the allowance."""

    id = "tau2_baggage_allowance"
    capability = "baggage_allowance"
    levels = range(4)
    card: str = ""
    wishes: list[dict[str, Any]] = field(default_factory=list)
    asked: str = ""

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        family = rng.choices(FAMILIES, weights=WEIGHTS)[0]
        count = 2 if level > 1 and rng.random() < 0.75 else 1
        bare = rng.randrange(count)
        kinds = rng.choices(KINDS, weights=SHARES[level], k=count)
        if family == NONE:
            kinds[bare] = PAID
        cases: list[dict[str, Any]] = []
        while not cases:
            cases = draft(rng, level, family, kinds, bare)
        member = cases[0]["member"]
        owner = records.user(rng, member, ("credit_card",))
        codes = rng.sample(records.CODES, k=3)
        to_book = list(zip(codes, cases))
        if rng.random() < 0.4:
            cabin, party = rng.choice(records.CABINS), rng.randint(1, 4)
            spare = {"cabin": cabin, "party": party, "held": rng.randrange(3)}
            spare["allowance"] = policy.free_bags(member, cabin, party)
            to_book.append((codes[-1], spare))
        rng.shuffle(to_book)
        numbers = rng.sample(records.FLIGHT_NUMBERS, k=8)
        reservations: dict[str, dict[str, Any]] = {}
        flights: dict[str, dict[str, Any]] = {}
        for code, case in to_book:
            reservations[code], plans = booked(rng, owner, code, numbers, case)
            for plan in plans:
                flights[plan["flight_number"]] = plan
        asked = " and ".join(wording_of(rng, code, case) for code, case in zip(codes, cases))
        card = next(iter(owner["payment_methods"]))
        return cls(
            users={owner["user_id"]: owner},
            reservations=reservations,
            flights=flights,
            customer=owner["user_id"],
            wording=rng.choice(OPENINGS).format(user=owner["user_id"], bags=asked, card=card),
            card=card,
            wishes=[{"code": c, "held": case["held"], "total": case["total"]} for c, case in zip(codes, cases)],
            asked=asked,
        )

    def opening(self) -> str:
        return self.wording

    def reply(self, text: str) -> str | None:
        if all(self.reservations[w["code"]]["total_baggages"] != w["held"] for w in self.wishes):
            return None
        self.nudged += 1
        if self.nudged > 4:
            return None
        if "?" in text and self.hears(text) != "confirmation":
            return f"I want {self.asked}. The rest you can look up."
        return "Yes, I agree. Please see to it."

    def reckoned(self, careful: bool) -> list[tuple[str, int, int]]:
        """Code, total and paid bags of each reservation named; without care one bag is free for each traveller."""
        member = self.users[self.customer]["membership"]
        found = []
        for w in self.wishes:
            booking = self.reservations[w["code"]]
            party = len(booking["passengers"])
            free = policy.free_bags(member, booking["cabin"], party) if careful else party
            found.append((w["code"], w["total"], max(0, w["total"] - free)))
        return found

    def charges(self, careful: bool) -> list[int]:
        """Dollars charged on each reservation named."""
        return [
            PRICE * max(0, paid - self.reservations[code]["nonfree_baggages"])
            for code, _, paid in self.reckoned(careful)
        ]

    def settled(self, start: Self, code: str) -> bool:
        """Whether a reservation was charged once at most, with the card, for the paid bags that it now has beyond."""
        now, then = self.reservations[code], start.reservations[code]
        known = len(then["payment_history"])
        new = now["payment_history"][known:]
        owed = PRICE * max(0, now["nonfree_baggages"] - then["nonfree_baggages"])
        once = now["payment_history"][:known] == then["payment_history"] and len(new) <= 1
        return once and sum(p["amount"] for p in new) == owed and all(p["payment_id"] == start.card for p in new)

    def plan(self, bags: list[tuple[str, int, int]], dollars: int) -> Iterator[Call | Say]:
        """Look up, tell the bags and their sum, change each reservation once, and repeat the sum."""
        yield Call("get_user_details", {"user_id": self.customer})
        for code, _, _ in bags:
            yield Call("get_reservation_details", {"reservation_id": code})
        words = "; ".join(f"{code} with {total} bags in all, {paid} of them paid" for code, total, paid in bags)
        yield Say(
            f"I would book {words}. The added bags come to {dollars} dollars in all, on {self.card}. Do you agree?"
        )
        for code, total, paid in bags:
            arguments = {
                "reservation_id": code,
                "total_baggages": total,
                "nonfree_baggages": paid,
                "payment_id": self.card,
            }
            yield Call("update_reservation_baggages", arguments)
        yield Say(f"The bags are booked. You are charged {dollars} dollars for the added bags in all.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        right = start.reckoned(True)
        codes = [code for code, _, _ in right]
        bags = {c: (self.reservations[c]["total_baggages"], self.reservations[c]["nonfree_baggages"]) for c in codes}
        code, total, paid = right[0]
        every = all(bags[c] == (t, p) for c, t, p in right)
        parts, usual = start.charges(True), sum(start.charges(False))
        wanted = sum(parts)
        # The parts of the sum may be told beside it, unless one of them is what the usual allowance would charge.
        fair = {wanted} | {part for part in parts if part != usual}
        amounts = dollars_in(said)
        yield Check.goal(
            "each reservation named has the bags that were asked for", all(bags[c][0] == t for c, t, _ in right)
        )
        yield Check.goal(f"{code} has {total} bags, {paid} of them paid", bags[code] == (total, paid))
        yield Check.goal("each reservation named pays for the bags beyond its allowance only", every)
        yield Check.goal(
            f"with all of that, the customer was told of {wanted} dollars and of no other sum",
            every and wanted in amounts and amounts <= fair,
        )
        once = all(self.settled(start, c) for c in codes)
        yield Check.guard(f"bags were charged once at most for each reservation, and to {start.card} only", once)
        changing = ("total_baggages", "nonfree_baggages", "payment_history")
        kept = all(
            self.reservations[c].get(name) == value
            for c in codes
            for name, value in start.reservations[c].items()
            if name not in changing
        )
        yield Check.guard("flights, cabin, passengers and insurance are as they were", kept)
        others = {c: booking for c, booking in self.reservations.items() if c not in codes}
        alone = others == {c: booking for c, booking in start.reservations.items() if c not in codes}
        yield Check.guard("no other reservation and no profile was changed", alone and self.users == start.users)
        yield Check.guard("the customer was not handed over", not self.transferred)

    def oracle(self) -> Iterator[Call | Say]:
        return self.plan(self.reckoned(True), sum(self.charges(True)))

    def ablated(self) -> Iterator[Call | Say]:
        return self.plan(self.reckoned(False), sum(self.charges(False)))

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability} if self.reckoned(True) != self.reckoned(False) else ())
