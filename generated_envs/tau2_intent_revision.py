"""Cancel the trips that the customer wants to give up in the end.

The customer names trips to cancel. When the agent says what it is about to do and asks for consent,
the customer names one trip to keep and one to give up before telling it to go ahead. An agent
without the capability hears only the consent, carries out the plan that it has already made, and
cancels what was withdrawn. The answer reads like a yes, and in about a third of the scenarios it
changes nothing, which shows only by comparison with the first wish. A cancellation cannot be
undone, so the latest wish has to be worked out before the write. In the target, customers change
their minds between proposal and consent, and the final state is judged by the last wish.

Levels:
    0. Two trips are named at first, and one answer says which trip to keep and which to give up.
    1. Two or three of up to six trips are named at first, and the answer gives the trip to keep and the trip to give
       up in either order.
    2. There are two such answers, one after each statement of what will be done, and only the second says to go
       ahead; the second may change another trip or take the first back.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from trace_gym.statements import find_values
from trace_gym.targets.tau2 import policy, records
from trace_gym.targets.tau2.airline import AirlineDesk
from trace_gym.world import Call, Check, Random, Say, asserted

OPENINGS = (
    "I'm {user}. I'm ill, so please cancel my trips to {places}. When you are done, tell me the total that I get back.",
    "Hello, my customer id is {user}. For health reasons I want to cancel my trips to {places}. "
    "Once that is done, please tell me the total refund.",
    "My health does not allow me to fly. Please cancel my trips to {places}, and tell me in the end how much I get "
    "back for all of them together. My id is {user}.",
    "I have fallen ill and have to give up my trips to {places}. My customer id is {user}. "
    "Please cancel them, and tell me the sum of the refunds at the end.",
)
REVISIONS = (
    "Thanks. I have just checked my calendar again: please {one} and {two}. Everything else stays as I told you. {end}",
    "Thank you. Looking at my calendar once more, I'd like you to {one} and {two}, with everything else as I told you. "
    "{end}",
    "All right. I went over my calendar again. Please {one}, {two}, and leave everything else as I told you. {end}",
)
AGAIN, GO = "Then tell me again what you will do.", "Then go ahead."
AGREES = ("Yes, please, with the change that I told you.", "Yes, please go ahead, as I told you.")
ASKS_AGAIN = "And how much do I get back in total?"
OPEN = re.compile(r"\b(?:which|what(?! you(?:'d| would)? (?:want|like|have in mind|asked))|who|why|or)\b[^.!]*\?")
"""A question that the customer cannot take for the plan to be confirmed."""
PATIENCE = 4
SWAPPED, WITHDRAWN, UNCHANGED = (True, True), (True, False), (False, False)  # trips lost and won by the last wish
FAMILIES, WEIGHTS = (SWAPPED, WITHDRAWN, UNCHANGED), (52, 14, 34)


def follow(first: Sequence[Any], revisions: Sequence[tuple[Any, Any]]) -> list[set[Any]]:
    """Return the wish of the opening, and the wish after each answer."""
    wishes = [set(first)]
    for keep, up in revisions:
        wishes.append((wishes[-1] - {keep}) | {up})
    return wishes


@dataclass(kw_only=True)
class Tau2IntentRevision(AirlineDesk):
    """Cancel the trips that the customer wants given up in the end."""

    id = "tau2_intent_revision"
    capability = "intent_revision"
    levels = range(3)
    first: list[str] = field(default_factory=list)
    revisions: list[tuple[str, str]] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    places: str = ""
    heard: int = 0
    told: bool = False

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        family = rng.choices(FAMILIES, WEIGHTS)[0]
        # With two answers the first may change nothing, and a changed wish may be restored by the second.
        moves = rng.random() < 0.75 if level > 1 else family[0]
        count = rng.randint(4, 5 + (level > 0))
        first = rng.sample(range(count), k=rng.randint(2, 2 + (level > 0)))
        while True:
            revisions = [tuple(rng.sample(range(count), k=2)) for _ in range(1 + (level > 1))]
            wishes = follow(first, revisions)
            change = (bool(wishes[0] - wishes[-1]), bool(wishes[-1] - wishes[0]))
            fits = change == family and (wishes[1] != wishes[0]) == moves
            if fits and wishes[0].intersection(*wishes[1:]) and len({*revisions}) == len(revisions):
                break
        while True:
            owner = records.user(rng, rng.choice(records.MEMBERSHIPS), ("credit_card", "gift_card"))
            desk = cls(users={owner["user_id"]: owner}, reservations={}, flights={}, customer=owner["user_id"])
            for _ in range(count):
                desk.book(rng, rng.choice(records.CABINS), insured=True, travellers=rng.randint(1, 2))
            codes = list(desk.reservations)
            places = [records.AIRPORTS[b["destination"]] for b in desk.reservations.values()]
            sums = desk.totals()
            clear = all(sums.count(desk.total([codes[i] for i in wish])) == 1 for wish in wishes)
            # LaGuardia is left out because it can be taken for New York.
            if clear and len({*places}) == count and "LaGuardia" not in places:
                break
        desk.first = [codes[i] for i in first]
        desk.revisions = [(codes[keep], codes[up]) for keep, up in revisions]
        for turn, (keep, up) in enumerate(revisions, 1):
            parts = [f"keep the trip to {places[keep]}", f"give up the trip to {places[up]}"]
            rng.shuffle(parts)
            desk.changes.append(" and ".join(parts))
            end = GO if turn == len(revisions) else AGAIN
            desk.answers.append(rng.choice(REVISIONS).format(one=parts[0], two=parts[1], end=end))
        named = [places[i] for i in first]
        desk.places = f"{', '.join(named[:-1])} and {named[-1]}"
        desk.wording = rng.choice(OPENINGS).format(user="{user}", places=desk.places)
        return desk

    def reply(self, text: str) -> str | None:
        if self.heard < len(self.answers):
            self.nudged += 1  # counts the messages up to the last change of mind, for `verify`
        elif any(v.unit == "money" for v in find_values(text.lower())):
            self.told = True
        return super().reply(text)

    def agrees(self, text: str) -> str:
        """Revise the wish at the first proposals, then agree to each one."""
        if self.heard < len(self.answers):
            self.heard += 1
            return self.answers[self.heard - 1]
        return self.varied(AGREES)

    def tells(self, topic: str) -> str:
        match topic:
            case "reservation":
                return f"I do not have the codes at hand. {self.restated()}"
            case "reason":
                return "I am ill."
        return super().tells(topic)

    def chooses(self, text: str) -> str:
        """Take a question that names trips and offers no choice for a proposal, as in `Is that what you want?`."""
        named = any(code.lower() in text.lower() for code in self.reservations)
        return self.agrees(text) if named and not OPEN.search(text.lower()) else super().chooses(text)

    def restated(self) -> str:
        """Repeat the opening and the changes so far, without working out what follows from them."""
        changes = "".join(f" Then I asked you to {change}." for change in self.changes[: self.heard])
        return f"Please cancel my trips to {self.places}.{changes}"

    def unfinished(self, text: str, refusal: bool = False) -> bool:
        """Wait for the other cancellations after the report of one."""
        last = follow(self.first, self.revisions)[self.heard]
        self.pushed += 1
        open_trips = any(self.reservations[code]["status"] != "cancelled" for code in last)
        return open_trips and not refusal and self.pushed < PATIENCE

    def outstanding(self) -> str:
        return "" if self.told else ASKS_AGAIN

    def total(self, wish: Iterable[str]) -> int:
        """Return the refund for these trips, as long as they are not cancelled."""
        return sum(policy.refund(self.reservations[code]) for code in wish)

    def totals(self) -> list[int]:
        """Return the total of every set of trips."""
        sizes = range(1, len(self.reservations) + 1)
        return [self.total(some) for size in sizes for some in itertools.combinations(self.reservations, size)]

    def broken(self, write: Call) -> list[str]:
        return policy.violations(self, write.tool, write.arguments, "health")

    def plan(self, wish: set[str]) -> Iterator[Call | Say]:
        """Yield the steps of an expert who takes `wish` for the last one."""
        total = self.total(wish)
        yield Call("get_user_details", {"user_id": self.customer})
        for code in list(self.reservations):
            yield Call("get_reservation_details", {"reservation_id": code})
        places = {code: records.AIRPORTS[b["destination"]] for code, b in self.reservations.items()}
        offer = f"I will cancel {' and '.join(f'{code} to {places[code]}' for code in self.first)}"
        yield Say(f"{offer}. Shall I proceed?")
        # Told as a difference, so that the experts speak alike wherever they act alike.
        for keep, up in self.revisions[:-1]:
            yield Say(f"{offer}, with your change that {keep} is kept and {up} is given up. Shall I proceed?")
        for code in dict.fromkeys([*self.first, *(up for _, up in self.revisions)]):
            if code in wish:
                yield Call("cancel_reservation", {"reservation_id": code})
        yield Say(f"All done. In total {total} dollars are refunded to the original payment methods.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        wishes = follow(start.first, start.revisions)
        last, always = wishes[-1], wishes[0].intersection(*wishes[1:])
        want = start.copy()
        for code in start.reservations:
            if code in last:
                want.cancel_reservation(reservation_id=code)
        gone = {code for code, b in self.reservations.items() if b.get("status") == "cancelled"}
        yield Check.goal("a trip that was to be given up from first to last is cancelled", bool(gone & always))
        yield Check.goal("exactly the trips of the last wish are cancelled", gone == last)
        # Refunds of single trips may be told beside the total; what was said before the last answer was provisional.
        others = set(start.totals()) - {start.total([code]) for code in last}
        told = asserted(start.total(last), others, said[self.nudged :], "refund")
        yield Check.goal(
            "exactly they are cancelled, and after the last answer the customer was told their total and no other",
            gone == last and told,
        )
        yield Check.guard("no trip is cancelled that is not in the last wish", gone <= last)
        tables = (start.reservations, want.reservations)
        kept = all(self.reservations.get(code) in [table[code] for table in tables] for code in last)
        yield Check.guard("the trips of the last wish are changed by one cancellation at most", kept)
        yield from self.untouched(start, *sorted(last))

    def oracle(self) -> Iterator[Call | Say]:
        return self.plan(follow(self.first, self.revisions)[-1])

    def ablated(self) -> Iterator[Call | Say]:
        return self.plan(set(self.first))

    def needs(self) -> frozenset[str]:
        wishes = follow(self.first, self.revisions)
        return frozenset({self.capability} if wishes[-1] != wishes[0] else ())
