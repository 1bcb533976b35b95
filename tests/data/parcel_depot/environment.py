"""What a language model might answer when it is asked for an environment on the depot's base world."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

from trace_gym.targets.user.parcel_depot_base import ParcelDepotBase
from trace_gym.world import Call, Check, Random, Say, asserted

NAMES = ("Ada Brook", "Ben Okoro", "Chen Li", "Dora Falk", "Emil Roth", "Fay Ito", "Gus Marin", "Hana Vogt")
OPENINGS = (
    "I am {name}. Please hand me {parcels}.",
    "Good morning, {parcels} for {name}, please.",
    "{name} is my name, and I come for {parcels}.",
)
LIMIT, LONGEST = 14, 40
DAYS = ((1, 7, 20, 40), (1, 14, 15, 40), (12, 14, 15, 17))


@dataclass(kw_only=True)
class ParcelDepotPreconditionVerification(ParcelDepotBase):
    wanted: list[str] = field(default_factory=list)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        name, *others = rng.sample(NAMES, k=4)
        count = 2 + level
        numbers = [f"P{n}" for n in rng.sample(range(1000, 10000), k=count + rng.randrange(1, 4))]
        late = rng.sample(numbers[:count], k=rng.choice((0, 1, 1, 2)))
        parcels = {
            number: parcel(rng, number, name if n < count else rng.choice(others), number in late, level)
            for n, number in enumerate(numbers)
        }
        asked = ", ".join(numbers[: count - 1]) + f" and {numbers[count - 1]}"
        return cls(
            parcels={number: parcels[number] for number in sorted(parcels)},
            wanted=numbers[:count],
            wording=rng.choice(OPENINGS).format(name=name, parcels=asked),
            pushes=rng.randrange(3) if level else 0,
        )

    def late(self, number: str) -> bool:
        return bool(self.parcels[number]["days_stored"] > LIMIT)

    def told(self, number: str, days: int, said: list[str]) -> bool:
        sentences = [s for text in said for s in re.split(r"(?<=[.!?])\s", text) if number in s]
        return asserted(days, range(LIMIT, LONGEST + 1), sentences)

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        due = [n for n in start.wanted if not start.late(n)]
        for number in start.wanted:
            days = start.parcels[number]["days_stored"]
            if number in due:
                gone = {"status": "handed over", "paid": start.fee(days)}
                holds = self.parcels[number] == {**start.parcels[number], **gone}
                yield Check.goal(f"{number} was handed over for its fee", holds)
            else:
                yield Check.goal(f"the customer was told how long {number} was stored", self.told(number, days, said))
        kept = all(p == start.parcels[n] for n, p in self.parcels.items() if n not in due)
        yield Check.guard("no parcel moved that has to stay", kept)

    def oracle(self) -> Iterator[Call | Say]:
        words = []
        for number in self.wanted:
            yield Call("get_parcel", {"parcel_id": number})
            if self.late(number):
                days = self.parcels[number]["days_stored"]
                words.append(f"I cannot hand over {number}, which was stored for {days} days.")
            else:
                yield from self.handed(number)
        yield Say(" ".join(words) or "All done.")
        for _ in range(self.pushes if words else 0):
            yield Say("I am sorry, the rules make no exception.")

    def ablated(self) -> Iterator[Call | Say]:
        for number in self.wanted:
            yield Call("get_parcel", {"parcel_id": number})
            yield from self.handed(number)
        yield Say("All done.")

    def handed(self, number: str) -> Iterator[Call | Say]:
        yield Call("storage_fee", {"parcel_id": number})
        yield Call("hand_over", {"parcel_id": number, "paid": self.fee(self.parcels[number]["days_stored"])})


def parcel(rng: Random, number: str, name: str, late: bool, level: int) -> dict[str, Any]:
    first, last, over, most = DAYS[level]
    return {
        "parcel_id": number,
        "recipient": name,
        "shelf": f"{rng.choice('ABCD')}{rng.randrange(1, 10)}",
        "days_stored": rng.randint(over, most) if late else rng.randint(first, last),
        "status": "waiting",
    }
