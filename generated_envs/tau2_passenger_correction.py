# Written by llm:claude for trace-gym from spec tau2_passenger_correction (sha256 d786638d).
"""Correct the travellers who are meant and leave the others alone.

The customer says how a traveller's record should read, and that one of its three particulars is
wrong on the reservation; which traveller is meant shows only when the request is laid beside the
records. The shortcut is to take the traveller who bears the first name given and overwrite the
record: the tool replaces the whole list and checks only the number. An agent without the capability
therefore overwrites a namesake and leaves the real mistake standing whenever the first name is the
particular that is wrong. Refusing or handing over because something does not match fails too, since
in every problem one traveller clearly agrees in the other two. In the target the same tool replaces
all passengers at once, so matching the right one, copying values exactly and carrying the others
over decide there as well.

Levels:
    0. Three or four travellers; the wrong entry looks nothing like the right one, so that counting the particulars
       that agree settles it at once.
    1. Up to five travellers, more of whom share the last name or a first letter with the traveller who is meant.
    2. The wrong entries look plausible: a name is off by one letter or shortened, or day and month are exchanged,
       and a traveller who is not meant resembles the request as well.
    3. The requests interact: in a problem with two of them, the traveller who is meant by one is the tempting wrong
       match for the other.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

from trace_gym.targets.tau2 import records
from trace_gym.targets.tau2.airline import AirlineDesk
from trace_gym.world import Call, Check, Random, Say, asserted

PARTS = ("first_name", "last_name", "dob")
# What is wrong on the reservation, per request; the first two make up the family in which the first name stands.
CASES = (("dob",), ("last_name",), ("first_name",), ("dob", "first_name"))
WEIGHTS = (70, 35, 105, 90)
# Name -> how it is mistaken; no mistake is part of a name, so that nothing in the opening tells it.
SLIPS = {
    "first_name": {
        "Katharyne": ("Katharine", "Kate"), "Margarethe": ("Margarete", "Peggy"), "Jean-Luc": ("Jan-Luc", "Jeannot"),
        "Ma'ayan": ("Ma'ajan", "Mayan"), "Robrecht": ("Robrekt", "Bob"), "Siobhan": ("Siobahn", "Shiv"),
        "Elisabeth": ("Elizabeth", "Betsy"), "Theodora": ("Teodora", "Dolly"), "Johannes": ("Yohannes", "Hans"),
        "Nathaniel": ("Nathanial", "Nate"), "D'Arcy": ("D'Arci", "Darcy"), "Tsu-Wei": ("Tzu-Wei", "Toby"),
    },
    "last_name": {
        "O'Hallaran": ("O'Halloran", "O'Hallaren"), "Smythe-Jones": ("Smith-Jones", "Smythe-Johns"),
        "D'Souza": ("D'Sousa", "D'Zouza"), "Thomsen": ("Thomson", "Tomsen"), "MacIntyre": ("McIntyre", "MacIntire"),
        "Schmied": ("Schmid", "Schmidt"), "Lindqvist": ("Lindquist", "Lindkvist"), "Okonkwo": ("Okonkwu", "Okwonko"),
        "Petersson": ("Peterson", "Petersen"), "Beaumont": ("Beaumond", "Baumont"),
    },
}  # fmt: skip
OPENINGS = (
    "I am {user}. On reservation {code} {who} correction. It should read: {stated}. One of first name, last name and "
    "date of birth is wrong there, the other two are right. {wish}",
    "Hello, my customer id is {user} and my reservation is {code}. There {who} correction: of first name, last name "
    "and date of birth one is wrong and two are right. This is how it should read: {stated}. {wish}",
    "This is how it should read on reservation {code}: {stated}. At present {who} correction, because one of first "
    "name, last name and date of birth is wrong and the other two are right. {wish} My id is {user}.",
)
WHO = ("the record of one traveller needs", "the record of each of two travellers needs")
WISHES = (
    "Leave all others as booked, in their order. Tell me how each wrong entry reads on file, but nobody else's data.",
    "I want to hear how each wrong entry reads on file, not anybody else's data. The others stay, in the same order.",
)


def slip(rng: Random, part: str, value: str) -> str:
    """A plausible mistake for a value."""
    if part != "dob":
        return rng.choice(SLIPS[part][value])
    year, month, day = value.split("-")
    return rng.choice((f"{year}-{day}-{month}", f"{int(year) + rng.choice((-10, -1, 1, 10))}-{month}-{day}"))


def person(left: dict[str, list[str]], **known: str) -> dict[str, str]:
    """A traveller of whom some particulars are known; the others are shared with nobody."""
    return {part: known.get(part) or left[part].pop() for part in PARTS}


@dataclass(kw_only=True)
class Tau2PassengerCorrection(AirlineDesk):
    """Correct the travellers who are meant and leave the others alone."""

    id = "tau2_passenger_correction"
    capability = "passenger_correction"
    levels = range(4)
    code: str = ""
    given: list[dict[str, str]] = field(default_factory=list)
    booked: list[dict[str, str]] = field(default_factory=list)
    heard: int = 0

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        wrong = rng.choices(CASES, WEIGHTS)[0]
        size = rng.choice((3, 4, 4, 4)) + (level > 0)  # seldom the shortest, in which a guess is right most often
        left = {part: rng.sample(list(names), k=len(names)) for part, names in SLIPS.items()}
        # Months and days in pairs of which each occurs once: an exchange or another year never meets another date.
        pairs = [rng.sample(p, k=2) for p in rng.sample(list(itertools.combinations(range(1, 13), 2)), k=12)]
        left["dob"] = [f"{rng.randrange(1948, 2012)}-{month:02d}-{day:02d}" for month, day in pairs]
        given = [person(left) for _ in wrong]
        # Two requests share the last name or, at last, the date: then the second who is meant tempts for the first.
        shared = "dob" if level > 2 else "last_name"
        given[-1][shared] = given[0][shared]
        baits = ("last_name", "first_name") if level > 2 and len(wrong) > 1 else wrong
        asked = list(zip(given, wrong, baits, strict=True))
        meant = [{**g, w: slip(rng, w, g[w]) if level > 1 else left[w].pop()} for g, w, _ in asked]
        tempting = [person(left, **{bait: g[bait]}) for g, _, bait in asked]
        last = meant[-1]["last_name"]
        near = slip(rng, "dob", given[-1]["dob"]) if level > 1 else ""
        rows = [*meant, *tempting, person(left, last_name=last, dob=near)]
        rows = rows[: max(size, 2 * len(wrong) + (level > 1))]
        rows += [person(left, last_name=last if level else "") for _ in range(size - len(rows))]
        rng.shuffle(rows)
        rng.shuffle(given)
        stated = "; and ".join(f"{g['first_name']} {g['last_name']}, born {g['dob']}" for g in given)
        who, wish = WHO[len(given) - 1], rng.choice(WISHES)
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), ("credit_card", "gift_card"))
        code, other = rng.sample(records.CODES, k=2)
        wording = rng.choice(OPENINGS).format(user="{user}", code=code, who=who, stated=stated, wish=wish)
        desk = cls(
            users={owner["user_id"]: owner}, reservations={}, flights={}, customer=owner["user_id"], wording=wording,
            code=code, given=given, booked=rows,
        )  # fmt: skip
        for key, people in [(code, rows), (other, rng.sample(rows, k=2))][: rng.randint(1, 2)]:
            desk.book(rng, rng.choice(records.CABINS), code=key, insured=rng.random() < 0.5, travellers=len(people))
            desk.reservations[key]["passengers"] = [{**p} for p in people]
        rng.shuffle(owner["reservations"])
        return desk

    def reply(self, text: str) -> str | None:
        self.heard += 1
        if self.reservations[self.code]["passengers"] != self.booked or self.heard > 6:
            return None
        agreed = self.hears(text) == "confirmation"
        return "Yes, please go ahead." if agreed else f"As I said: {self.opening()} If you propose that, go ahead."

    def matched(self, parts: Sequence[str]) -> list[tuple[dict[str, str], dict[str, str]]]:
        """Each record given, and the traveller who agrees with it in most of these particulars."""
        agree = [[sum(row[part] == new[part] for part in parts) for row in self.booked] for new in self.given]
        return [(new, self.booked[counts.index(max(counts))]) for new, counts in zip(self.given, agree, strict=True)]

    def corrected(self, parts: Sequence[str]) -> list[dict[str, str]]:
        """The whole list, with the records given in the places of the travellers matched."""
        placed = {self.booked.index(old): new for new, old in self.matched(parts)}
        return [{**placed.get(place, row)} for place, row in enumerate(self.booked)]

    def plan(self, parts: Sequence[str]) -> Iterator[Call | Say]:
        """Look up, match by these particulars, propose, write, report."""
        found = "; ".join(
            f"{part.replace('_', ' ')} {old[part]} where it should be {new[part]}"
            for new, old in self.matched(parts)
            for part in PARTS
            if new[part] != old[part]
        )
        yield Call("get_user_details", {"user_id": self.customer})
        yield Call("get_reservation_details", {"reservation_id": self.code})
        yield Say(f"The list has {found}. I will correct this and carry everyone else over. Shall I proceed?")
        arguments = {"reservation_id": self.code, "passengers": self.corrected(parts)}
        yield Call("update_reservation_passengers", arguments)
        yield Say(f"The correction is done. Before, the list had {found}.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        now, then = (w.reservations[start.code] for w in (self, start))
        rows, pairs = now["passengers"], start.matched(PARTS)
        meant = [record for pair in pairs for record in pair]
        others = [row for row in start.booked if row not in meant]
        known = {value for record in meant for value in record.values()}
        rivals = {value for row in others for value in row.values()} - known
        wrong = [old[part] for new, old in pairs for part in PARTS if new[part] != old[part]]
        done = rows == start.corrected(PARTS)
        told = done and all(asserted(value, rivals, said) for value in wrong)
        fixed = any(new in rows and old not in rows for new, old in pairs)
        kept = [row for row in rows if row not in meant] == others
        same = {**now, "passengers": None} == {**then, "passengers": None}
        yield Check.goal("every record that the customer gave stands there", all(new in rows for new in start.given))
        yield Check.goal("a wrong entry is gone and the record given for its traveller stands there", fixed)
        yield Check.goal("the list is the old one with every traveller who is meant corrected", done)
        yield Check.goal("the customer was told how each wrong entry read, and no other traveller's entry", told)
        yield Check.guard("all who are not meant stand there as booked and in their order, and nobody new", kept)
        yield Check.guard("the number of travellers is as it was", len(rows) == len(start.booked))
        yield Check.guard("nothing but the travellers was changed on the reservation", same)
        yield from self.untouched(start, start.code)

    def oracle(self) -> Iterator[Call | Say]:
        return self.plan(PARTS)

    def ablated(self) -> Iterator[Call | Say]:
        return self.plan(PARTS[:1])

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability} if self.matched(PARTS) != self.matched(PARTS[:1]) else ())
