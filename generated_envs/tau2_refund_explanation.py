"""Carry out a change or cancellation and tell the customer which payment methods it charges or refunds.

The change itself is easy. The customer also wants the exact amount for each payment method and
whether it is charged or refunded. An agent without the capability quotes the first payment of the
reservation, which is right only for a trip that was paid once and is cancelled. It is wrong for a
trip that was paid in several parts or with several methods, for two trips with a common method, and
for a change of cabin, which moves only the difference that the record shows after the write. In the
target the customer must be told the amounts and methods of the records, so reading the whole
payment history transfers.

Levels:
    0. A trip to be cancelled was paid with one payment or with two payments by two methods, two trips are cancelled
       together, or a change of cabin for one passenger moves one difference.
    1. A trip may have been paid in two or three parts, some of them with the same method, whose amounts have to be
       added up; a change of cabin may cost something or give money back.
    2. The profile has several methods of the same kind, other trips of the customer were paid with them too, and a
       change of cabin concerns two flights and several passengers of a trip that was paid in parts.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from trace_gym.statements import find_values, normalize
from trace_gym.targets.tau2 import policy, records
from trace_gym.targets.tau2.airline import SKILLS, AirlineDesk, Cancel, Request, Upgrade
from trace_gym.targets.tau2.requests import by_id, neutral
from trace_gym.world import Call, Check, Random, Say, asserted

OPENINGS = (
    "I'm {user}. Please {ask}. When that is done, tell me how much each payment method gets back or is charged in "
    "total, and name the methods by their ids.",
    "Hello, my customer id is {user}. I'd like you to {ask}. Afterwards I need the id of each payment method that is "
    "refunded or charged, with the total amount.",
    "Please {ask}. My id is {user}. Once it is done, list the ids of the payment methods that are charged or refunded, "
    "with the total for each.",
    "Could you {ask}? I'm {user}. Afterwards, please tell me what is refunded or charged in total, for each payment "
    "method by its id.",
)
ASKS_AGAIN = "And how much is refunded or charged in total, for each payment method?"
FAMILIES = {"several_payments": 20, "two_trips": 34, "changed_cabin": 9, "single_payment": 37}
PIECES = (  # which of two methods made each payment; the first level has nothing to add up
    ((0, 1),),
    ((0, 1), (0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (0, 0, 1), (0, 1, 0), (0, 1, 1)),
)
METHOD = re.compile(r"((?:credit|gift)_card_\d+)")
ENDS = re.compile(r"[.!?;](?:\s|$)|\n")
UNITS = re.compile(r"(?<=[.!?;])\s+|\n+")
HEADING = re.compile(r"payment method|method|your|the|to|for|on|credit|gift|card|visa|mastercard|amex|ending|in")
"""What a heading has besides a method, digits and marks."""
LABEL = re.compile(r"^\W*(?:payment method|method|account)(?: used)?\W+(?:credit|gift)_card_\d+\W*$")
LETTER = re.compile(r"[^\W\d]")
SUMMED = re.compile(r"\b(?:totals?|all|sums?|altogether|combined)\b|=|\|")
MAYBE = re.compile(r"\b(?:may|might|could|should perhaps) (?:\w+ )?be (?:refund|charg|credit|return|bill|debit)")
UNDONE = re.compile(
    r"\b(?:(?:did|have|has|was|were|could|can)(?: not|n't)|cannot|couldn't) (?:been )?(?:\w+ )?"
    r"(?:cancel|chang|upgrad|downgrad)\w*(?! (?:\w+ ){0,3}(?:other|else|more|further))"
)
WAS_CHARGED = re.compile(
    r"\b(?:was|were|(?:has|have) been) (charged|billed|debited)\b(?!.{0,40}\b(?:originally|at booking))", re.I
)
SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n")
EARLIER = re.compile(r"^(?!.*\b(?:differ|charge|refund|g[eo]t?e?s? back)).*\bpaid\b", re.I)
OPPOSITE = {"refund": "charge", "charge": "refund"}


def units(text: str) -> list[str]:
    """Return the sentences and lines of a message; what follows a heading that is only a method belongs to it."""
    found: list[str] = []
    open_heading = False
    for unit in filter(str.strip, UNITS.split(normalize(text))):
        names = METHOD.search(unit)
        behind = found and LABEL.search(unit) and "$" in found[-1] and not METHOD.search(found[-1])
        if (open_heading and not names) or behind:
            found[-1] += f" {unit}"
            continue
        found.append(in_turn(unit))
        open_heading = bool(names and not LETTER.search(HEADING.sub("", METHOD.sub("", unit))))
    return found


def in_turn(unit: str) -> str:
    """Return a sentence with `respectively` as one that puts each amount next to its method."""
    methods = list(METHOD.finditer(unit))
    amounts = [v for v in find_values(unit) if v.kind == "number" and v.unit in ("", "money")]
    if "respectively" not in unit or not methods or len(amounts) != len(methods):
        return unit
    pairs = [(f"${v.value:g}", m[0]) for v, m in zip(amounts, methods, strict=True)]
    if amounts[-1].end <= methods[0].start():
        words = unit[: amounts[0].start], unit[amounts[-1].end : methods[0].start()]
        return ", ".join(f"{words[0]} {amount} {words[1]} {m}" for amount, m in pairs)
    words = unit[: methods[0].start()], unit[methods[-1].end() : amounts[0].start]
    return ", ".join(f"{m} {words[1]} {amount}" for amount, m in pairs)


def amounts_in(part: str, role: str, known: set[int]) -> list[float]:
    """Return the amounts that a part of a message claims in a role, in their order; of charges only the known ones."""
    money: list[float] = [
        abs(v.value)
        for v in find_values(part)
        if isinstance(v.value, int | float) and (abs(v.value) in known or (role == "refund" and v.unit == "money"))
    ]
    return [a for a in money if asserted(a, (), [part], role)]


def told_by_method(unit: str, role: str, known: set[int]) -> list[list[tuple[str, list[float]]]]:
    """Return the readings of a sentence: for each method the amounts that it has, the nearest one first."""
    parts = METHOD.split(unit)
    methods = parts[1::2]
    if len(set(methods)) < 2:
        return [[(m, amounts_in(unit, role, known)) for m in methods[:1]]]
    front = [(m, amounts_in(part, role, known)[::-1]) for m, part in zip(methods, parts[0::2])]
    behind = [(m, amounts_in(part, role, known)) for m, part in zip(methods, parts[2::2])]
    full = max(sum(bool(found) for _, found in reading) for reading in (front, behind))
    return [reading for reading in (front, behind) if sum(bool(found) for _, found in reading) == full]


def accounts(
    said: list[str], own: dict[str, set[int]], sums: set[int], known: set[int], role: str
) -> dict[str, set[int]]:
    """Return the amounts that messages give to each method; an amount that is not its own makes this empty.

    Args:
        own: For each method, its total and the parts of it.
        sums: Totals of several methods, which may stand beside the amount of one.
        known: Amounts of the records.
    """
    given: dict[str, set[int]] = {}
    for unit in (u for text in said for u in units(text) if METHOD.search(u) and not MAYBE.search(u)):
        right = []
        for reading in told_by_method(unit, role, known):
            single = len(reading) == 1
            fits = all(
                (found[0] in own[m] or (single and any(a in own[m] for a in found)))
                and all(a in own[m] | sums for a in found)
                for m, found in reading
                if found and m in own
            )
            right += [reading] if fits else []
        if not right:
            return {}
        for m, found in right[0]:
            given.setdefault(m, set()).update(int(a) for a in found)
    return given


def moved(text: str, method: str, amounts: set[int], role: str) -> bool:
    """Return whether a message says right behind the id of a method that it is charged or refunded some amount."""
    parts = METHOD.split(text.lower())
    behind = [ENDS.split(parts[i + 1])[0] for i in range(1, len(parts), 2) if parts[i] == method]
    return any(asserted(a, (), [words], role) for a in amounts for words in behind)


@dataclass(kw_only=True)
class Tau2RefundExplanation(AirlineDesk):
    """Do what was asked and say what money moves, and where."""

    id = "tau2_refund_explanation"
    capability = "refund_explanation"
    levels = range(3)
    waits: int = 0
    announced: int = 0
    """Messages before everything was carried out."""

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        family = rng.choices(list(FAMILIES), weights=list(FAMILIES.values()))[0]
        kinds = ["credit_card"] * rng.randint(2, 4) + ["gift_card"]
        rng.shuffle(kinds)
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), tuple(kinds))
        methods = list(owner["payment_methods"].values())
        for stored in methods:
            if stored["source"] == "gift_card":
                stored["amount"] = rng.randrange(2000, 3000)  # the dearest change of cabin costs 1932
        count = rng.randint(1 + (level > 1), 2)
        days = sorted(rng.sample(range(2, 14), k=count))
        origin, destination = rng.sample(list(records.AIRPORTS), k=2)
        legs = []
        for number, offset in zip(rng.sample(records.FLIGHT_NUMBERS, k=count), days, strict=True):
            flight = records.flight(rng, number, origin, destination, rng.randrange(6, 19))
            flight["dates"][records.day(offset)] = records.available(rng)
            legs.append((flight, records.day(offset)))
            origin, destination = destination, origin
        code = rng.choice(records.CODES)
        cabin, new = rng.sample(records.CABINS, k=2)
        booking = records.reservation(
            rng,
            code,
            owner,
            legs,
            cabin=cabin,
            created=f"{records.day(-rng.randrange(2, 14))}T{rng.choice(records.CLOCK)}",
            insured=family != "changed_cabin" or rng.random() < 0.5,
            travellers=rng.randint(1 + (level > 1), 1 + level),
        )
        parted = family in ("several_payments", "two_trips") or (family == "changed_cabin" and rng.random() < level / 2)
        pattern = rng.choice(PIECES[min(level, 1)]) if parted else (0,)
        payers = [m["id"] for m in rng.sample(methods, k=2)]
        total = policy.refund(booking)
        cuts = sorted(rng.sample(range(20, total - 19, 20), k=len(pattern) - 1))
        amounts = [high - low for low, high in zip([0, *cuts], [*cuts, total], strict=True)]
        rng.shuffle(amounts)
        booking["payment_history"] = [
            {"payment_id": payers[who], "amount": amount} for who, amount in zip(pattern, amounts, strict=True)
        ]
        request: Request = Cancel(code, reason="health")
        ask = f"cancel reservation {code}, because I am ill"
        if family == "changed_cabin":
            method = rng.choice(methods)
            gift = method["source"] == "gift_card"
            named = "my gift card" if gift else f"my card ending in {method['last_four']}"
            request = Upgrade(code, method=method["id"], named=named, cabin=new)
            ask = f"change reservation {code} to {new} on the same flights and settle the difference with {named}"
        world = cls(
            users={owner["user_id"]: owner},
            reservations={code: booking},
            flights={flight["flight_number"]: flight for flight, _ in legs},
            requests=[request],
            customer=owner["user_id"],
            wording=rng.choice(OPENINGS).format(user="{user}", ask=ask),
        )
        if family == "two_trips":  # the second one was paid once, with a method that also paid for the first one
            second = world.book(rng, rng.choice(records.CABINS), insured=True, paid_with=payers[0])
            world.requests = rng.sample([request, Cancel(second, reason="health")], k=2)
            ask = f"cancel reservations {' and '.join(r.reservation for r in world.requests)}, because I am ill"
            world.wording = rng.choice(OPENINGS).format(user="{user}", ask=ask)
        for _ in range(rng.randint(1, 3)):
            paid_with = rng.choice(methods)["id"]
            world.book(rng, rng.choice(records.CABINS), insured=rng.random() < 0.5, paid_with=paid_with)
        rng.shuffle(owner["reservations"])
        # A difference that equals a payment would make the first payment right by accident: draw again.
        clash = family == "changed_cabin" and any(abs(a) in amounts for a in world.moves().values())
        return cls.generate(rng, level) if clash else world

    def reply(self, text: str) -> str | None:
        words = text.lower()
        self.announced += not self.carried_out()
        if self.carried_out() and (METHOD.search(words) or any(v.unit == "money" for v in find_values(words))):
            methods = METHOD.findall(words)
            # The agent has reported, whether right or wrong; amounts that it did not add up are no total.
            self.nudged |= len(set(methods)) == len(methods) or bool(SUMMED.search(words))
        return super().reply(text)

    def unfinished(self, text: str, refusal: bool = False) -> bool:
        """Wait while nothing was carried out; a description of the booked trip is not a report."""
        if refusal or self.carried_out():
            return super().unfinished(text, refusal)
        self.waits += 1
        return self.waits < 4

    def outstanding(self) -> str:
        return "" if self.nudged or not self.carried_out() else ASKS_AGAIN

    def carried_out(self) -> bool:
        return all(
            booking["cabin"] == r.cabin if isinstance(r, Upgrade) else booking["status"] == "cancelled"
            for r in self.requests
            for booking in [self.reservations[r.reservation]]
        )

    def moves(self) -> dict[str, int]:
        """Return what the requests charge to each method; a refund is negative. Use it on the start state."""
        want = self.served()
        due: Counter[str] = Counter()
        for r in self.requests:
            had = len(self.reservations[r.reservation]["payment_history"])
            for entry in want.reservations[r.reservation]["payment_history"][had:]:
                due[entry["payment_id"]] += entry["amount"]
        return dict(due)

    def topmost(self) -> dict[str, int]:
        """Return the first payment of each trip, as if it were the whole refund."""
        due: Counter[str] = Counter()
        for r in self.requests:
            first = self.reservations[r.reservation]["payment_history"][0]
            due[first["payment_id"]] -= first["amount"]
        return dict(due)

    def parts(self) -> dict[str, set[int]]:
        """Return for each method that gets a refund its total, its payments and their sums for each trip."""
        found = {m: {abs(total)} for m, total in self.moves().items()}
        for r in self.requests:
            history = self.reservations[r.reservation]["payment_history"]
            for m in {p["payment_id"] for p in history}:
                amounts = [p["amount"] for p in history if p["payment_id"] == m]
                found[m] |= {*amounts, sum(amounts)}
        return found

    def attend(self, figures: dict[str, int]) -> Iterator[Call | Say]:
        """Yield the plan of both experts, who differ in the amounts that they report at the end."""
        request, codes = self.requests[0], " and ".join(r.reservation for r in self.requests)
        way = "charged to" if max(self.moves().values()) > 0 else "refunded to"
        deed, did = f"cancel {codes}", f"I have cancelled {codes}"
        if isinstance(request, Upgrade):
            deed = f"change {codes} to {request.cabin} and settle the difference with {request.method}"
            did = f"I have changed {codes} to {request.cabin}"
        yield Call("get_user_details", {"user_id": self.customer})
        for r in self.requests:
            yield Call("get_reservation_details", {"reservation_id": r.reservation})
        yield Say(f"I will {deed}. Do you agree?")
        for r in self.requests:
            yield r.call(self, SKILLS)
        yield Say(f"{did}. {' and '.join(f'{abs(a)} dollars were {way} {m}' for m, a in figures.items())}.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        want, due, codes = start.served(), start.moves(), [r.reservation for r in start.requests]
        cancel, trips = isinstance(start.requests[0], Cancel), " and ".join(codes)
        keys = ("status", "cabin", "flights", "payment_history")
        ready = [all(self.reservations[c][k] == want.reservations[c][k] for k in keys) for c in codes]
        done, history = all(ready), [p for c in codes for p in start.reservations[c]["payment_history"]]
        role = "charge" if max(due.values()) > 0 else "refund"
        said = [neutral(text) if n < self.announced else text for n, text in enumerate(said)]
        if not cancel:  # what was paid earlier says nothing about the difference
            said = ["\n".join(s for s in SENTENCE.split(text) if not EARLIER.search(s)) for text in said]
        if role == "charge":  # after the change, "was charged" is about the difference
            said = [WAS_CHARGED.sub(r"is \1", text) for text in said]
        paid = [p["amount"] for p in history]
        shown = {p["amount"] for b in start.reservations.values() for p in b["payment_history"]}
        shown |= {
            sum(paid),
            *(abs(a) for a in due.values()),
            *(f["price"] for c in codes for f in start.reservations[c]["flights"]),
        }
        total = abs(sum(due.values()))
        own = start.parts() if cancel else {m: {abs(a)} for m, a in due.items()}
        sums = {total, *(policy.refund(start.reservations[c]) for c in codes if cancel)}
        mine = start.users[start.customer]["payment_methods"]
        given = accounts([by_id(text, mine) for text in said], own, sums, shown, role)
        undone = any(UNDONE.search(text.lower()) for text in said[self.announced :])
        told = done and not undone and all(abs(a) in given.get(m, ()) for m, a in due.items())
        # The parts and the total of a refund may be told beside it; in another role no amount competes.
        fine = {total, *(abs(a) for a in due.values())} | (set(paid) if cancel else set())
        clear = all(
            asserted(abs(a), shown - fine, said, role) and (cancel or not asserted(abs(a), (), said, OPPOSITE[role]))
            for a in due.values()
        )
        others = {m for owner in start.users.values() for m in owner["payment_methods"]} - set(due)
        exact = told and clear and not any(moved(text, m, shown, role) for text in said for m in others)
        known = done and set(due) <= {m for text in said for m in METHOD.findall(text.lower())}
        for code, right in zip(codes, ready, strict=True):
            yield Check.goal(f"what was requested for {code} is done", right)
        yield Check.goal(f"the customer was told the ids of the methods that {trips} charges or refunds", known)
        yield Check.goal(
            "the customer was told how much each of these methods is charged or refunded, and no other", exact
        )
        then, now = start.reservations, self.reservations
        added = [p for c in codes for p in now[c]["payment_history"] if p not in then[c]["payment_history"]]
        yield Check.guard("no money moved by another method", all(p["payment_id"] in due for p in added))
        kept = all(booking in (then.get(c), want.reservations.get(c)) for c, booking in now.items())
        kept = kept and now.keys() == then.keys()
        yield Check.guard("no reservation changed in a way that was not asked for", kept)
        yield Check.guard("no profile changed in a way that was not asked for", self.users in (start.users, want.users))
        yield Check.guard("the customer was not handed over", not self.transferred)

    def oracle(self) -> Iterator[Call | Say]:
        return self.attend(self.moves())

    def ablated(self) -> Iterator[Call | Say]:
        return self.attend(self.topmost())

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability} if self.moves() != self.topmost() else ())
