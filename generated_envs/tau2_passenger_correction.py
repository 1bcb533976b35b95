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
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

from trace_gym.targets.tau2 import records
from trace_gym.targets.tau2.airline import AirlineDesk
from trace_gym.world import Call, Check, Random, Say

LABELS = {"first_name": "first name", "last_name": "last name", "dob": "date of birth"}
KEYS = ("first_name", "last_name", "dob")
STANDS, WRONG, BOTH = "first_name_stands", "first_name_wrong", "two_travellers"
SIZES = ((3, 4, 4, 4), (4, 5, 5), (4, 5), (4, 5))
PATIENCE = 6
# fmt: off
FIRST = (  # as it should read, a letter off, a short form
    ("Agneta", "Agnete", "Netty"), ("Anne-Maj", "Annemaj", "Majken"), ("Anselm", "Ansalm", "Selmo"),
    ("Bertrand", "Bertrant", "Bertie"), ("Birgitta", "Birgita", "Gittan"), ("Balthasar", "Balthazar", "Balzer"),
    ("Cathrine", "Catrine", "Trinka"), ("Clementia", "Clemencia", "Menzi"), ("Cornelis", "Cornelus", "Krelis"),
    ("D'Arcy", "Darcy", "Dax"), ("Dorothea", "Dorotea", "Dotty"), ("Dietmar", "Ditmar", "Didi"),
    ("Eleonore", "Elenore", "Nora"), ("Eberhard", "Eberhart", "Ebbo"), ("Emerentia", "Emerencia", "Renske"),
    ("Ferdinand", "Ferdinant", "Nando"), ("Friederike", "Friderike", "Rikka"), ("Florentin", "Florentyn", "Flori"),
    ("Gwendolyn", "Gwendolin", "Wendy"), ("Gottfried", "Gotfried", "Friedel"), ("Genevieve", "Genevive", "Ginny"),
    ("Hjalmar", "Hjalmer", "Jalle"), ("Henrietta", "Henriette", "Hetty"), ("Hieronymus", "Hieronimus", "Ronny"),
    ("Jean-Loup", "Jeanloup", "Loupy"), ("Josephina", "Josefina", "Jossy"), ("Joachim", "Joakim", "Jochen"),
    ("Kathryne", "Kathrine", "Kitty"), ("Konstantin", "Constantin", "Kostya"), ("Karolyna", "Karolina", "Lynka"),
    ("Mechthild", "Mechtild", "Metta"), ("Maximilian", "Maximillian", "Milo"), ("Marguerite", "Margerite", "Peggy"),
    ("Theophil", "Teophil", "Filo"), ("Thorvald", "Torvald", "Valdo"), ("Tatyana", "Tatiana", "Tanya"),
)
LAST = (  # as it should read, a letter off
    ("Aldersey", "Aldersley"), ("Arkwryght", "Arkwright"), ("Abendroth", "Abentroth"),
    ("Bjornstad", "Bjornsted"), ("Brandt-Lowe", "Brandtlowe"), ("Blythe", "Blithe"),
    ("Cavanaugh", "Cavanagh"), ("Coghlan", "Coughlan"), ("Cholmondley", "Cholmonley"),
    ("D'Aubigny", "Daubigny"), ("Dahlgren", "Dalgren"), ("Drozdowicz", "Drozdovicz"),
    ("Eisenhart", "Eisenhard"), ("Eklund-Ros", "Eklundros"), ("Evershed", "Eversled"),
    ("Faircloth", "Fairclough"), ("Fjeldstad", "Fjelstad"), ("Fitzroy-Hale", "Fitzroyhale"),
    ("Gallagher", "Gallager"), ("Grzybowski", "Grzibowski"), ("Guillaumet", "Guilaumet"),
    ("Hallqvist", "Hallquist"), ("Hohenfels", "Hohenfelz"), ("Hruschka", "Hruska"),
    ("Kjellberg", "Kjelberg"), ("Krzeminski", "Krzemanski"), ("Kaltenbach", "Kaltenback"),
    ("Lindqvist", "Lindquist"), ("Loughran", "Lochran"), ("Lefebure", "Lefebvre"),
    ("MacTaggart", "McTaggart"), ("Maunsell", "Mansell"), ("Mitterer", "Miterer"),
    ("O'Dowdall", "ODowdall"), ("O'Shaughran", "OShaughran"), ("Ostrander", "Ostlander"),
    ("Szczepan", "Sczepan"), ("Schwyzer", "Schweizer"), ("Smythson", "Smithson"),
    ("Wojtowicz", "Woitowicz"), ("Whytelaw", "Whitelaw"), ("Weyland", "Wayland"),
)
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)
PROPOSALS = (  # what the customer takes for a proposal, in words made plain
    "confirm", "proceed", "go ahead", "shall i", "should i", "agree", "approve", "would you like", "want me to", "yes",
    "i will", "i'll", "may i make", "may i change", "may i correct", "may i update",
    "is that ok", "is that okay", "is that right", "is that correct", "is that fine",
    "is this ok", "is this okay", "is this right", "is this correct", "is this fine",
    "is it ok", "is it okay", "is it right", "is it correct", "is it fine",
)
# fmt: on
OPENINGS = (
    "I am {user}, and it is about reservation {code}. For {count}, one of first name, last name and date of birth is "
    "wrong there, while the other two are right. It should read: {rows}. Everyone else stays as booked. Please tell "
    "me as well how {entry} reads at present.",
    "Hello, my customer id is {user}. This is how it should read on reservation {code}: {rows}. At the moment one of "
    "first name, last name and date of birth is wrong for {count}; the other two are right. Please put that right, "
    "leave all the others as booked, and tell me how {entry} reads now.",
    "{rows}: so it should read on my reservation {code}, but for {count} one of the three, first name, last name or "
    "date of birth, is wrong, and the other two are right. Please correct it, change nobody else, and let me know "
    "how {entry} reads at present. My customer id is {user}.",
    "Customer {user} here, with a correction to {code}. How does {entry} read at present? For {count}, one of first "
    "name, last name and date of birth is not right, though the other two are. Correct is: {rows}. All others should "
    "stay exactly as booked.",
    "Please look at reservation {code}; my id is {user}. Correctly it reads: {rows}. For {count}, one of first name, "
    "last name and date of birth is wrong on it, and the other two are right. I want that corrected, everybody else "
    "kept as booked, and to hear how {entry} reads today.",
)
ROWS = (
    "{first} {last}, born {dob}",
    "first name {first}, last name {last}, date of birth {dob}",
    "{last} (last name), {first} (first name), {dob} (date of birth)",
)


def particulars(rng: Random) -> dict[str, list[tuple[str, ...]]]:
    """What a problem draws from: each particular as it should read, and then as it is easily mistaken."""
    years = rng.sample(range(1951, 2005, 3), k=16)
    # No two dates have the same pair of day and month, so that no mistaken date meets another one.
    pairs = rng.sample(list(itertools.combinations(range(1, 13), 2)), k=16)
    dates: list[tuple[str, ...]] = []
    for year, pair in zip(years, pairs, strict=True):
        month, day = rng.sample(pair, k=2)
        other = year + rng.choice((-10, -1, 1, 10))
        dates.append(
            (f"{year}-{month:02d}-{day:02d}", f"{year}-{day:02d}-{month:02d}", f"{other}-{month:02d}-{day:02d}")
        )
    return {"first_name": rng.sample(FIRST, k=len(FIRST)), "last_name": rng.sample(LAST, k=len(LAST)), "dob": dates}


def drawn(pool: dict[str, list[tuple[str, ...]]], key: str, initial: str = "") -> tuple[str, ...]:
    """Take a particular out of the pool; one with this initial where some is left."""
    chosen = next((s for s in pool[key] if s[0].startswith(initial)), pool[key][0])
    pool[key].remove(chosen)
    return chosen


def traveller(pool: dict[str, list[tuple[str, ...]]], fixed: dict[str, str], initial: str = "") -> dict[str, str]:
    """A record with these particulars, and fresh ones for the rest."""
    return {
        key: fixed[key] if key in fixed else drawn(pool, key, initial if key == "first_name" else "")[0] for key in KEYS
    }


def assembled(rng: Random, level: int, wrong: list[str]) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """The records as they should read, and all travellers as booked; `wrong` names each request's particular."""
    pool = particulars(rng)
    spelt = [{key: drawn(pool, key) for key in KEYS} for _ in wrong]
    two = len(wrong) > 1
    linked = two and level > 2
    if linked:  # whoever goes by what is wrong on the first meets the second
        spelt[1][wrong[0]] = spelt[0][wrong[0]]
    given = [{key: s[key][0] for key in KEYS} for s in spelt]
    meant = []
    for record, s, key in zip(given, spelt, wrong, strict=True):
        mistaken = rng.choice(s[key][1:]) if level > 1 else drawn(pool, key)[0]
        meant.append({**record, key: mistaken})
    others = []
    for at, key in enumerate(wrong):
        if linked and at == 0:
            continue
        fixed = {key: given[at][key]}
        if level > 1 and not two:
            near = rng.choice([k for k in KEYS if k != key])
            fixed[near] = rng.choice(spelt[at][near][1:])
        elif level > 1 and at == 1:
            fixed["last_name"] = spelt[at]["last_name"][1]
        elif two and "last_name" not in (key, wrong[1 - at]):
            fixed["last_name"] = given[1 - at]["last_name"]
        others.append(traveller(pool, fixed))
    # A last name that is wrong on the traveller who is meant is borne by one other alone.
    barred = [record["last_name"] for record, key in zip(given, wrong, strict=True) if key == "last_name"]
    for record in given:
        last = record["last_name"]
        if last not in barred and sum(p["last_name"] == last for p in meant + others) < 2:
            others.append(traveller(pool, {"last_name": last}))
    shared = [p["last_name"] for p in meant if p["last_name"] not in barred]
    size = rng.choice(SIZES[level])
    while len(meant) + len(others) < size:
        if level and rng.random() < 0.5:
            others.append(traveller(pool, {"last_name": rng.choice(shared)}))
        else:
            others.append(traveller(pool, {}, rng.choice(meant)["first_name"][:1] if level else ""))
    cast = meant + others
    rng.shuffle(cast)
    rng.shuffle(given)
    return given, cast


def agreement(person: dict[str, str], record: dict[str, str]) -> int:
    return sum(person[key] == record[key] for key in KEYS)


def plain(text: str) -> str:
    """The words of a message, whatever their case, spacing and punctuation."""
    lower = text.lower().replace("\u2019", "'").replace("\u2011", "-")
    words = [w.strip("'-_").removesuffix("'s") for w in re.findall(r"[\w'-]+", lower)]
    return " " + " ".join(words) + " "


def mentions(note: str, value: str) -> bool:
    """Whether a message, made plain, holds a name or a date; a date may be written out."""
    forms = [value]
    if value[:1].isdigit():
        year, month, day = value.split("-")
        name = MONTHS[int(month) - 1]
        forms += [f"{name} {int(day)} {year}", f"{int(day)} {name} {year}"]
    return any(plain(form) in note for form in forms)


def informed(said: list[str], rights: list[str], others: list[dict[str, str]], rivals: list[str]) -> bool:
    """Whether every wrong entry was told, and none of another traveller in its place."""
    notes = [plain(text) for text in said]
    # A date of somebody else is no claim where the whole list is shown; a namesake always differs in the date.
    claims = [
        n for n in notes
        if any(mentions(n, rival) for rival in rivals)
        and not all(mentions(n, value) for person in others for value in person.values())
    ]  # fmt: skip
    return all(any(mentions(n, r) for n in notes) and all(mentions(n, r) for n in claims) for r in rights)


@dataclass(kw_only=True)
class Tau2PassengerCorrection(AirlineDesk):
    """Correct the travellers who are meant and leave the others alone."""

    id = "tau2_passenger_correction"
    capability = "passenger_correction"
    levels = range(4)
    trip: str = ""
    corrections: list[dict[str, str]] = field(default_factory=list)
    as_booked: list[dict[str, str]] = field(default_factory=list)
    heard: int = 0

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        family = rng.choices((STANDS, WRONG, BOTH), weights=(35, 35, 30))[0]
        kept = rng.choice(("dob", "dob", "last_name"))
        if family == BOTH and level == 0:  # with the last name wrong, four travellers are too few
            kept = "dob"
        wrong = {STANDS: [kept], WRONG: ["first_name"], BOTH: [kept, "first_name"]}[family]
        given, cast = assembled(rng, level, wrong)
        owner = records.user(rng, rng.choice(records.MEMBERSHIPS), ("credit_card", "gift_card"))
        codes = rng.sample(records.CODES, k=rng.choice((1, 1, 2)))
        trip = rng.choice(codes)
        bookings = {}
        flights = {}
        for code, number in zip(codes, rng.sample(records.FLIGHT_NUMBERS, k=len(codes)), strict=True):
            people = cast if code == trip else rng.sample(cast, k=rng.randrange(1, len(cast)))
            origin, destination = rng.sample(list(records.AIRPORTS), k=2)
            plan = records.flight(rng, number, origin, destination, rng.randrange(6, 19))
            on = records.day(rng.randrange(2, 14))
            plan["dates"][on] = records.available(rng)
            booking = records.reservation(
                rng,
                code,
                owner,
                [(plan, on)],
                cabin=rng.choice(records.CABINS),
                created=f"{records.day(-rng.randrange(2, 14))}T{rng.choice(records.CLOCK)}",
                insured=rng.random() < 0.5,
                travellers=len(people),
            )
            booking["passengers"] = [{**person} for person in people]
            bookings[code] = booking
            flights[number] = plan
        rows = [rng.choice(ROWS).format(first=g["first_name"], last=g["last_name"], dob=g["dob"]) for g in given]
        wording = rng.choice(OPENINGS).format(
            user="{user}",
            code=trip,
            count="one traveller" if len(given) == 1 else "each of two travellers",
            entry="the wrong entry" if len(given) == 1 else "each wrong entry",
            rows="; ".join(rows),
        )
        return cls(
            users={owner["user_id"]: owner},
            reservations=bookings,
            flights=flights,
            customer=owner["user_id"],
            wording=wording,
            trip=trip,
            corrections=given,
            as_booked=[{**person} for person in cast],
        )

    def reply(self, text: str) -> str | None:
        if self.reservations[self.trip]["passengers"] != self.as_booked or self.heard >= PATIENCE:
            return None
        self.heard += 1
        note = plain(text)
        if any(f" {words} " in note for words in PROPOSALS):
            return "Yes, please go ahead."
        rows = "; ".join(f"{r['first_name']} {r['last_name']}, born {r['dob']}" for r in self.corrections)
        return (
            f"My customer id is {self.customer}, and the reservation is {self.trip}. It should read: {rows}. "
            "Two of the three particulars are right there in each case."
        )

    def besides_travellers(self) -> dict[str, Any]:
        return {key: value for key, value in self.reservations[self.trip].items() if key != "passengers"}

    def other_bookings(self) -> dict[str, Any]:
        return {code: booking for code, booking in self.reservations.items() if code != self.trip}

    def matching(self) -> list[int]:
        """For each request, the place of the traveller who agrees with it in two particulars."""
        return [
            next(at for at, person in enumerate(self.as_booked) if agreement(person, record) == 2)
            for record in self.corrections
        ]

    def namesakes(self) -> list[int]:
        """For each request, the place of the traveller who bears the first name given."""
        names = [person["first_name"] for person in self.as_booked]
        return [names.index(record["first_name"]) for record in self.corrections]

    def correcting(self, places: list[int]) -> Iterator[Call | Say]:
        """The plan of an expert who takes the travellers at these places to be meant."""
        people = [{**person} for person in self.as_booked]
        before = []
        after = []
        for at, record in zip(places, self.corrections, strict=True):
            was = self.as_booked[at]
            name = f"{was['first_name']} {was['last_name']}"
            for key in KEYS:
                if was[key] != record[key]:
                    entry = f"the {LABELS[key]} of {name}"
                    before.append(f"{entry} reads {was[key]} and will read {record[key]}")
                    after.append(f"{entry} read {was[key]} before and reads {record[key]} now")
            people[at] = {**record}
        yield Call("get_user_details", {"user_id": self.customer})
        yield Call("get_reservation_details", {"reservation_id": self.trip})
        yield Say(f"On {self.trip}, {'; '.join(before)}. Everyone else stays as booked. Shall I go ahead?")
        yield Call("update_reservation_passengers", {"reservation_id": self.trip, "passengers": people})
        yield Say(f"That is done: {'; '.join(after)}.")

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        old, given, meant = start.as_booked, start.corrections, start.matching()
        want = list(old)
        for at, record in zip(meant, given, strict=True):
            want[at] = record
        others = [person for at, person in enumerate(old) if at not in meant]
        now = self.reservations[start.trip]["passengers"]
        stands = [record in now for record in given]
        gone = any(old[at] not in now for at in meant) and any(stands)
        exact = now == want
        known = [record["dob"] for record in given] + [old[at]["dob"] for at in meant]
        rivals = [person["dob"] for person in others if person["dob"] not in known]
        rights = [
            next(old[at][key] for key in KEYS if old[at][key] != record[key])
            for at, record in zip(meant, given, strict=True)
        ]
        told = exact and informed(said, rights, others, rivals)
        yield Check.goal(f"every record that the customer gave stands on {start.trip}", all(stands))
        yield Check.goal(f"a wrong entry on {start.trip} has given way to a record that was given", gone)
        yield Check.goal(f"the travellers on {start.trip} are the old ones with the corrections made", exact)
        yield Check.goal("with the corrections made, the customer was told how each wrong entry read", told)
        yield Check.guard("no traveller who is not meant was lost or changed", all(p in now for p in others))
        yield Check.guard(f"the number of travellers on {start.trip} is as it was", len(now) == len(old))
        kept = self.besides_travellers() == start.besides_travellers()
        yield Check.guard(f"flights, cabin, bags, insurance and payments of {start.trip} are as they were", kept)
        alone = self.other_bookings() == start.other_bookings()
        yield Check.guard("no other reservation was made, changed or cancelled", alone)
        yield Check.guard("no certificate was sent and the profile is as it was", self.users == start.users)
        yield Check.guard("the customer was not handed over", not self.transferred)

    def oracle(self) -> Iterator[Call | Say]:
        return self.correcting(self.matching())

    def ablated(self) -> Iterator[Call | Say]:
        return self.correcting(self.namesakes())

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability} if self.matching() != self.namesakes() else ())
