# Written by llm:claude for trace-gym from spec tau2_baggage_allowance (sha256 cedb4897).
"""Add checked bags and charge only those beyond the allowance.

A customer wants more checked bags. The allowance follows from the membership, the cabin and the
number of travelers, which the customer does not mention; they are in the profile and on the
reservation. The tool takes any number of paid bags and charges for them, so a wrong number is not
noticed. The shortcut is the usual allowance of one bag for each traveler, which is often right. An
agent without the capability charges silver and gold members or business travelers for bags that
are free, or gives away bags that cost money. An agent that charges for every bag fails as well. In
the target, every booking with bags and every added bag needs the same computation.

Levels:
    0. One reservation for one or two travelers that has no bags yet.
    1. Adds bags that are booked already and use up part or all of the allowance, sometimes with some of them paid,
       and larger parties. The customer asks for a number more, or for a number in all.
    2. Adds a second reservation of the same customer, with its own party and sometimes its own cabin, on which bags
       are wanted too.
    3. All of it together, with four or five travelers and totals that end just below, at or just beyond an allowance.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from trace_gym.targets.tau2 import policy, records
from trace_gym.targets.tau2.airline import AirlineDesk
from trace_gym.world import Call, Check, Random, Say, asserted

PRICE = 50
PARTIES = ((1, 2), (1, 2, 3, 4), (1, 2, 3, 4), (4, 5))  # numbers of travelers, per level
SHARES = (2, 4, 1)  # added bags all free, partly free, all paid; without any allowance they are all paid anyway
BAGS = ("total_baggages", "nonfree_baggages", "payment_history")
FAMILIES = (  # weight, bags for each traveler that the first total exceeds, (membership, cabins of one, of another)
    (35, 0, (("regular", ("economy",), ("economy",)), ("silver", ("basic_economy",), ("basic_economy",)))),
    (
        18,
        1,
        (
            ("regular", ("business",), ("economy", "business")),
            ("silver", ("economy",), records.CABINS),
            ("gold", ("basic_economy",), records.CABINS),
        ),
    ),
    (
        32,
        2,
        (
            ("silver", ("business",), records.CABINS),
            ("gold", ("economy",), records.CABINS),
            ("gold", ("business",), records.CABINS),
        ),
    ),
    (15, 0, (("regular", ("basic_economy",), ("economy",)),)),
)
OPENINGS = (
    "I am {user}. I would like {bags}. Whatever that costs goes on {card}. Please tell me how many dollars I pay for "
    "the added bags in all, even if it is 0.",
    "Hello, I want {bags}. My customer id is {user}, and for whatever they cost you can use {card}. How many dollars "
    "do I pay for the added bags in all? Please tell me even if it is 0.",
    "Please use {card} for whatever my bags cost: I need {bags}. My id is {user}. Let me know how many dollars the "
    "added bags cost me in all, even if it is 0.",
    "Customer {user} here. I need {bags}. If there is anything to pay, take it from {card}, and tell me how many "
    "dollars the added bags come to in all, even if it is 0.",
)
TOTAL = re.compile(
    r"(?<!bags in )(?<!bag in )\b(?:total(?! (?:of \d+ )?(?:checked )?bags?\b)|all in all|altogether|together|both|"
    r"overall|sum)\b|(?<!bags )(?<!bag )\bin all\b",
    re.IGNORECASE,
)
"""Words of a total price, not of a total number of bags."""
AMOUNT = re.compile(r"\d ?(?:dollars?|usd)|(?:\$|usd) ?\d", re.IGNORECASE)
FREE = (
    re.compile(
        r"\b(?:free of charge|(?:no|without|zero) (?:extra |additional |further )?(?:charge|cost|fee|payment)s?|"
        r"at no (?:\w+ )?(?:charge|cost)|complimentary)\b",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:costs? (?:you )?nothing|nothing (?:to pay|extra|is (?:due|charged|owed))|"
        r"(?:pay|owe|owing|charged?) (?:you )?nothing|(?:nothing|no \w+) (?:was|will be|has been) charged)\b",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:(?:not|n't|never) (?:need to |have to )?(?:owe|pay)(?: us)? anything|"
        r"\w*(?:not|n't) (?:be |have been )?charged|(?:are|is) (?:all |both )?(?:free|included|covered))\b",
        re.IGNORECASE,
    ),
)
ALL = re.compile(r"\b(?:both|all|total|everything|together|reservations|trips|bookings)\b", re.IGNORECASE)
PAST = re.compile(r"\b(?:was|were|(?:has|have)(?: now| just| also)? been) (charged|billed|debited)\b", re.IGNORECASE)
SAVED = re.compile(
    r"\b(?:you|that|which|and)(?:'ve| have)?(?: \w+)? sav(?:ed|es?|ing)(?: you)? \$?\d[\d.,]*\d", re.IGNORECASE
)
CLAIM = re.compile(r"(?<![\d.])(\d{0,3}[05]0|0)(?:\.00?)?\s+(?:dollars\s+|usd\s+)?in\s+(?:all|total)\b")


def is_free(text: str) -> bool:
    """Return whether a message says that nothing is to be paid."""
    return any(pattern.search(text) for pattern in FREE)


def draw(rng: Random, level: int, member: str, cabins: Sequence[str], low: int = 0) -> tuple[str, int, int, int]:
    """Return cabin, travelers, bags booked and bags to add, with a total of more than `low` for each traveler."""
    found = []
    for cabin, people, more in itertools.product(cabins, PARTIES[level], range(1, 5 if level else 8)):
        free = policy.free_bags(member, cabin, people)
        for had in range(1, min(13, free + 3)) if level else (0,):
            near = -2 < had + more - max(free, people) < 3
            if had + more > low * people and (near or level < 3):
                found.append(((had + more > free) + (had >= free), cabin, people, had, more))
    kinds = sorted({f[0] for f in found})
    kind = rng.choices(kinds, [SHARES[k] for k in kinds])[0]
    parties = sorted({f[1:3] for f in found if f[0] == kind})
    party = rng.choices(parties, [people**2 for _, people in parties])[0]
    return rng.choice([f[1:] for f in found if f[0] == kind and f[1:3] == party])


def payments(booking: dict[str, Any]) -> list[dict[str, Any]]:
    return list(booking["payment_history"])


def priced(charged: int, shares: set[int], said: list[str]) -> bool:
    """Return whether messages state what the added bags cost, and no other sum.

    The price of one bag and the share of each reservation may be told beside it.
    """
    said = [
        PAST.sub(r"is \1", SAVED.sub("", text)) for text in said
    ]  # of added bags, the passive is no charge of the past
    others = set(range(2 * PRICE, 1000, PRICE)) - shares - {charged}
    told = any(asserted(charged, others, said, role) for role in ("charge", "fee", "fare"))
    told = told and asserted(charged, others, said)
    if not charged and any(map(is_free, said)):
        told = not any(asserted(other, (), said, role) for other in others for role in ("charge", "fee", "fare"))
    return told and set(CLAIM.findall(" ".join(said).lower())) <= {str(n) for n in (charged, *shares)}


@dataclass(kw_only=True)
class Tau2BaggageAllowance(AirlineDesk):
    """Add checked bags and charge only those beyond the allowance."""

    id = "tau2_baggage_allowance"
    capability = "baggage_allowance"
    levels = range(4)
    questions: ClassVar[Mapping[str, re.Pattern[str]]] = {
        **AirlineDesk.questions,
        "bags": re.compile(r"\b(?:bags?|baggages?|luggage|suitcases?|pieces?)\b(?! (?:allowance|fees?))"),
        "records": re.compile(r"\b(?:membership|member|status|tier|cabin|class|travell?ers?|passengers|people)\b"),
    }

    wanted: dict[str, int] = field(default_factory=dict)
    card: str = ""
    asked: str = ""
    informed: bool = False
    """Whether the agent has said anything about the price."""

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        _, low, cases = rng.choices(FAMILIES, [f[0] for f in FAMILIES])[0]
        member, first, second = rng.choice(cases)
        named = [draw(rng, level, member, first, low), draw(rng, level, member, second)][: 1 + (level > 1)]
        if not low:  # the one without an allowance stands at either place
            rng.shuffle(named)
        trips = named + [draw(rng, level, member, records.CABINS) for _ in range(rng.randrange(2))]
        owner = records.user(rng, member, ("credit_card",))
        desk = cls(users={owner["user_id"]: owner}, reservations={}, flights={}, customer=owner["user_id"])
        codes = {}
        for place in rng.sample(range(len(trips)), k=len(trips)):  # the profile lists them in any order
            cabin, people, had, _ = trips[place]
            codes[place] = desk.book(rng, cabin, travellers=people, insured=rng.random() < 0.5)
            paid = max(0, had - policy.free_bags(member, cabin, people))
            desk.reservations[codes[place]].update(total_baggages=had, nonfree_baggages=paid)
        asked = []
        for place, (_, _, had, more) in enumerate(named):
            total = had + more
            desk.wanted[codes[place]] = total
            forms = (f"{more} more checked bag{'s' * (more > 1)}", f"{total} checked bag{'s' * (total > 1)} in all")
            asked.append(f"{rng.choice(forms)} on reservation {codes[place]}")
        desk.card = next(iter(owner["payment_methods"]))
        desk.asked = " and ".join(asked)
        desk.wording = rng.choice(OPENINGS).format(user=desk.customer, bags=desk.asked, card=desk.card)
        return desk

    def reply(self, text: str) -> str | None:
        self.informed = self.informed or self.states_price(text)
        return super().reply(text)

    def states_price(self, text: str) -> bool:
        """Return whether a message states a price that is not only the one of a single reservation out of several."""
        named = [code for code in self.wanted if code.lower() in text.lower()]
        partial = len(named) == 1 < len(self.wanted) and not TOTAL.search(text)
        return not partial and (bool(AMOUNT.search(text)) or is_free(text))

    def tells(self, topic: str) -> str:
        match topic:
            case "bags" | "reservation":
                return f"I would like {self.asked}."
            case "payment":
                return f"Please use {self.card}."
            case "records":
                return "You can look that up; it is on file."
        return super().tells(topic)

    def unfinished(self, text: str, refusal: bool = False) -> bool:
        """Return whether a report names some of the customer's reservations, and others were not named yet."""
        named = [code for code in self.wanted if code.lower() in text.lower()]
        self.settled_records += named
        if refusal or (not named and ALL.search(text)):
            return False
        self.unnamed += not named  # of one reservation, unless the words say otherwise
        return len({*self.settled_records}) + self.unnamed < len(self.wanted)

    def outstanding(self) -> str:
        return "" if self.informed else "And how much do I pay for the added bags in all?"

    def bill(self, usual: bool = False) -> dict[str, tuple[int, int, int]]:
        """Return bags in all, paid bags and dollars of each reservation; `usual` is one free bag for each traveler."""
        due = {}
        for code, total in self.wanted.items():
            trip = self.reservations[code]
            people, before = len(trip["passengers"]), trip["nonfree_baggages"]
            member = self.users[self.customer]["membership"]
            free = people if usual else policy.free_bags(member, trip["cabin"], people)
            paid = max(before, total - free)
            due[code] = (total, paid, PRICE * (paid - before))
        return due

    def expert(self, usual: bool) -> Iterator[Call | Say]:
        """Look up what the customer names, in that order, add up, confirm, write and report."""
        for name in sorted([self.customer, *self.wanted], key=self.opening().index):
            if name == self.customer:
                yield Call("get_user_details", {"user_id": name})
            else:
                yield Call("get_reservation_details", {"reservation_id": name})
        due = self.bill(usual)
        dollars = sum(sums[2] for sums in due.values())
        bags = "; ".join(f"{code} gets {sums[0]} checked bags, {sums[1]} of them paid" for code, sums in due.items())
        yield Say(f"To confirm: {bags}. That is {dollars} dollars in all, charged to {self.card}. Shall I proceed?")
        for code, (total, paid, _) in due.items():
            bag_counts = {"total_baggages": total, "nonfree_baggages": paid}
            yield Call("update_reservation_baggages", {"reservation_id": code, **bag_counts, "payment_id": self.card})
        yield Say(f"The bags are booked. The added ones cost you {dollars} dollars in all.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        due = start.bill()
        trips = {code: (self.reservations[code], start.reservations[code]) for code in due}
        has = {code: (now["total_baggages"], now["nonfree_baggages"]) for code, (now, _) in trips.items()}
        right = [has[code] == sums[:2] for code, sums in due.items()]
        charged = sum(sums[2] for sums in due.values())
        told = priced(charged, {sums[2] for sums in due.values()}, said)
        paid = {code: payments(self.reservations[code])[len(payments(start.reservations[code])) :] for code in due}
        once = all(
            {p["payment_id"] for p in paid[code] if p["amount"]} <= {start.card}
            and sum(p["amount"] for p in paid[code])
            == PRICE * max(0, now["nonfree_baggages"] - then["nonfree_baggages"])
            for code, (now, then) in trips.items()
        )
        kept = all(now[key] == then[key] for now, then in trips.values() for key in then if key not in BAGS)
        totals = all(has[code][0] == sums[0] for code, sums in due.items())
        yield Check.goal("every reservation named has as many bags as the customer asked for", totals)
        yield Check.goal("the reservation named first has the right number of paid bags among them", right[0])
        yield Check.goal("every reservation named has the right number of paid bags among them", all(right))
        yield Check.goal("the customer was told what the added bags of all reservations cost", all(right) and told)
        yield Check.guard("paid bags were charged at their price and to the card named", once)
        yield Check.guard("all but the bags of the reservations named is as it was", kept)
        yield from self.untouched(start, *start.wanted)

    def oracle(self) -> Iterator[Call | Say]:
        return self.expert(usual=False)

    def ablated(self) -> Iterator[Call | Say]:
        return self.expert(usual=True)

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability} if self.bill(usual=True) != self.bill() else ())
