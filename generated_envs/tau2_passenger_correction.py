# Written by llm:claude for trace-gym from spec tau2_passenger_correction (sha256 d786638d).
"""Correct the travelers who are meant and leave the others alone.

The customer says how a traveler's record should read, and that one of first name, last name and
date of birth is wrong on the reservation. Which traveler is meant follows only from comparing all
three with every record. The shortcut is to take the traveler with the same first name and overwrite
the record; the tool replaces the whole list and checks only the number of travelers. An agent
without the capability overwrites a namesake whenever the first name is the wrong entry, and often
otherwise. Refusing because something does not match fails too, since one traveler always agrees in
the other two. In the target the same tool replaces all passengers at once, so finding the right one,
copying values exactly and carrying the others over decide there as well.

Levels:
    0. Four travelers, or five if two records are wrong. Other travelers agree with the request in one particular.
       The wrong entry looks nothing like the right one.
    1. Five travelers; another one shares the last name.
    2. The wrong entries look plausible: a name is off by one letter or shortened, or day and month are exchanged.
       Another traveler has a similar date of birth.
    3. Two requests share the date of birth, so the traveler who is meant by one also fits the other in part.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self

from trace_gym.targets.dialogue import acts
from trace_gym.targets.tau2 import records
from trace_gym.targets.tau2.airline import AirlineDesk
from trace_gym.targets.tau2.requests import wrong_fares
from trace_gym.world import Call, Check, Random, Say, asserted

PARTS = ("first_name", "last_name", "dob")
# What is wrong on the reservation, per request.
SINGLE = tuple((part,) for part in PARTS)
DOUBLE = (("dob", "first_name"), ("last_name", "first_name"), ("last_name", "dob"), ("last_name", "dob"))
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
WRONG = "one of first name, last name and date of birth is wrong there, and the other two are right"
OPENINGS = (
    "I am {user}. On reservation {code} {who} correction. It should read: {stated}. On file, {wrong}. {wish}",
    "Hello, my customer id is {user} and my reservation is {code}. There {who} correction: {wrong}. This is how it "
    "should read: {stated}. {wish}",
    "This is how it should read on reservation {code}: {stated}. At present {who} correction, because {wrong}. {wish} "
    "My id is {user}.",
)
WHO = ("the record of one traveler needs a", "the records of two travelers each need a")
WISHES = (
    "Leave everybody else as booked and in the same order. Please tell me what each wrong entry says now, but nothing "
    "about the other travelers.",
    "I would like to hear what each wrong entry says on file, without anybody else's data. The others stay as they "
    "are, in the same order.",
)
AGREES = (
    "Yes, please go ahead, as long as it then reads as I told you.",
    "Yes, go ahead, if it reads as I told you afterwards.",
)
CORRECTED = re.compile(
    r"\bshould (?:be|read|say|have been)\b|\bnow (?:reads?|is|says|shows?|has|listed as)\b|"
    r"\b(?:corrected|changed|updated|fixed)(?: it)? to\b|\bfrom [^.;]{2,40}? to\b"
)
"""What stands in front of the new entry."""
NEXT = re.compile(r"[.;()\n]|\b(?:and|where|instead|rather|but|while|it (?:was|said|read))\b")
CHANGED = re.compile(r"\bfrom (?=\S.{0,40}? to )")


def slip(rng: Random, part: str, value: str) -> str:
    """Return a plausible mistake for a value."""
    if part != "dob":
        return rng.choice(SLIPS[part][value])
    year, month, day = value.split("-")
    return rng.choice((f"{year}-{day}-{month}", f"{int(year) + rng.choice((-10, -1, 1, 10))}-{month}-{day}"))


def person(left: dict[str, list[str]], **known: str) -> dict[str, str]:
    """Return a traveler of whom some particulars are known; the others are shared with nobody."""
    return {part: known.get(part) or left[part].pop() for part in PARTS}


def written(record: dict[str, str]) -> str:
    """Return a record in the customer's words."""
    return f"{record['first_name']} {record['last_name']}, born {record['dob']}"


def agreements(new: dict[str, str], rows: Sequence[dict[str, str]], parts: Sequence[str] = PARTS) -> list[int]:
    """Return in how many of these particulars each traveler agrees with a record."""
    return [sum(row[part] == new[part] for part in parts) for row in rows]


def party(rng: Random, level: int, wrong: Sequence[str]) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Return the records that the customer gives, each wrong in one particular on file, and the travelers on file."""
    left = {part: rng.sample(list(names), k=len(names)) for part, names in SLIPS.items()}
    # Months and days in pairs of which each occurs once: an exchange or another year never meets another date.
    pairs = [rng.sample(p, k=2) for p in rng.sample(list(itertools.combinations(range(1, 13), 2)), k=12)]
    left["dob"] = [f"{rng.randrange(1948, 2012)}-{month:02d}-{day:02d}" for month, day in pairs]
    given = [person(left) for _ in wrong]
    shared = "dob" if level > 2 else "last_name"
    given[-1][shared] = given[0][shared]
    rows = [{**g, w: slip(rng, w, g[w]) if level > 1 else left[w].pop()} for g, w in zip(given, wrong, strict=True)]
    if len(given) > 1:  # each of the others agrees with both requests, in different particulars
        one, other = (part for part in PARTS if part != shared)
        rows += [person(left, **{one: given[n][one], other: given[1 - n][other]}) for n in range(2)]
        rows += [person(left, **{shared: given[0][shared]})]
        for new, part in zip(given, wrong, strict=True):
            if part == "dob":  # nobody else has the first name; see below
                name = new["first_name"]
                others = [
                    {**r, "first_name": left["first_name"].pop()} if r["first_name"] == name else r for r in rows[2:]
                ]
                rows = [*rows[:2], *others]
        return given, rows
    # If the date is wrong, the first name alone finds the traveler: the right date stands in the opening, so that an
    # agent that places it wrongly would show that it was given away.
    baits = PARTS if wrong[0] != "dob" else PARTS[1:]
    rows += [person(left, **{bait: given[0][bait]}) for bait in baits]
    near = slip(rng, "dob", given[0]["dob"]) if level > 1 else ""
    size = 5 if level else 4
    rows += [person(left, last_name=rows[0]["last_name"] if level else "", dob=near) for _ in range(size - len(rows))]
    return given, rows


def exchanged(text: str, old: str, new: str) -> bool:
    """Return whether a report gives the wrong entry as the new one: `It now reads Smythe`."""
    if any(act.kind == "proposal" for act in acts(text)):  # before the change, the wrong entry is what it reads now
        return False
    for match in CORRECTED.finditer(text.lower()):
        words = NEXT.split(text[match.end() :])[0][:50]
        if asserted(old, (), [words]) and not asserted(new, (), [words]):
            return True
    return False


@dataclass(kw_only=True)
class Tau2PassengerCorrection(AirlineDesk):
    """Correct the travelers who are meant and leave the others alone."""

    id = "tau2_passenger_correction"
    capability = "passenger_correction"
    levels = range(4)
    questions: ClassVar[Mapping[str, re.Pattern[str]]] = {
        **AirlineDesk.questions,
        "traveler": re.compile(
            r"\b(?:travell?ers?|passengers?|persons?|people|who|names?|birth|born|spell\w*|entry|entries|record|"
            r"corrections?|wrong|details?)\b(?! (?:id|number))"
        ),
    }

    code: str = ""
    given: list[dict[str, str]] = field(default_factory=list)
    booked: list[dict[str, str]] = field(default_factory=list)
    informed: bool = False
    """Whether the agent has said how an entry of the list reads."""

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        wrong = rng.choice(SINGLE if rng.random() < 0.6 else DOUBLE)
        rows: list[dict[str, str]] = []
        given: list[dict[str, str]] = []
        while not rows or any(sorted(agreements(new, rows))[-2:] != [1, 2] for new in given):
            given, rows = party(rng, level, wrong)
        rng.shuffle(rows)
        rng.shuffle(given)
        stated = "; and ".join(map(written, given))
        who, wish = WHO[len(given) - 1], rng.choice(WISHES)
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), ("credit_card", "gift_card"))
        code, other = rng.sample(records.CODES, k=2)
        wording = rng.choice(OPENINGS).format(user="{user}", code=code, who=who, stated=stated, wish=wish, wrong=WRONG)
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
        known = {value for new in self.given for value in new.values()}
        on_file = {value for row in self.booked for value in row.values()} - known
        self.informed = self.informed or any(asserted(value, (), [text]) for value in on_file)
        return super().reply(text)

    def tells(self, topic: str) -> str:
        match topic:
            case "traveler":
                return f"It should read: {'; and '.join(map(written, self.given))}. On file, {WRONG}."
            case "reservation":
                return f"It is {self.code}."
        return super().tells(topic)

    def agrees(self, text: str) -> str:
        return self.varied(AGREES)

    def unfinished(self, text: str, refusal: bool = False) -> bool:
        """Return whether a report names some of the travelers whom the customer gave, and others were not named yet."""
        named = [n for n, new in enumerate(self.given) if any(asserted(v, (), [text]) for v in new.values())]
        self.settled_records += [self.given[n]["first_name"] for n in named]
        return bool(named) and not refusal and len(set(self.settled_records)) < len(self.given)

    def outstanding(self) -> str:
        return "" if self.informed else "And what did the list say before?"

    def matched(self, parts: Sequence[str]) -> list[tuple[dict[str, str], dict[str, str]]]:
        """Return each record given with the traveler who agrees with it in most of these particulars."""
        counts = [agreements(new, self.booked, parts) for new in self.given]
        return [(new, self.booked[count.index(max(count))]) for new, count in zip(self.given, counts, strict=True)]

    def corrected(self, parts: Sequence[str]) -> list[dict[str, str]]:
        """Return the whole list, with the records given in the places of the travelers matched."""
        placed = {self.booked.index(old): new for new, old in self.matched(parts)}
        return [{**placed.get(place, row)} for place, row in enumerate(self.booked)]

    def plan(self, parts: Sequence[str]) -> Iterator[Call | Say]:
        """Yield the steps: look up, match by these particulars, propose, write, report."""
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
        # `I changed it from 1980-04-03 to 1980-03-04` states what the entry was.
        heard = [CHANGED.sub("was ", text) for text in said]
        told = done and all(asserted(value, rivals, heard, "birth" if value[:1].isdigit() else "") for value in wrong)
        swapped = [(old[part], new[part]) for new, old in pairs for part in PARTS if old[part] not in new.values()]
        told = told and not wrong_fares(start, start, said, [start.code])
        told = told and not any(exchanged(text, *entries) for text in said for entries in swapped)
        fixed = any(new in rows and old not in rows for new, old in pairs)
        kept = [row for row in rows if row not in meant] == others
        same = {**now, "passengers": None} == {**then, "passengers": None}
        yield Check.goal("every record that the customer gave stands there", all(new in rows for new in start.given))
        yield Check.goal("a wrong entry is gone and the record given for its traveler stands there", fixed)
        yield Check.goal("the list is the old one with every traveler who is meant corrected", done)
        yield Check.goal("the customer was told how each wrong entry read, and no other traveler's entry", told)
        yield Check.guard("all who are not meant stand there as booked and in their order, and nobody new", kept)
        yield Check.guard("the number of travelers is as it was", len(rows) == len(start.booked))
        yield Check.guard("nothing but the travelers was changed on the reservation", same)
        yield from self.untouched(start, start.code)

    def oracle(self) -> Iterator[Call | Say]:
        return self.plan(PARTS)

    def ablated(self) -> Iterator[Call | Say]:
        return self.plan(PARTS[:1])

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability} if self.matched(PARTS) != self.matched(PARTS[:1]) else ())
