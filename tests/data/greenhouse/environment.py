"""Sow only where a place stays free: an environment on the base world of the greenhouse."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

from trace_gym.targets.user.greenhouse_base import GreenhouseBase
from trace_gym.world import Call, Check, Random, Say, asserted

PLANTS = ("basil", "chard", "dill", "endive", "fennel", "garlic", "leek", "mint", "okra", "sage")
OPENINGS = (
    "I am {name}. Please sow {wishes}.",
    "Good morning, {name} here. I would like {wishes}.",
    "{name} is my name. Could you sow {wishes}?",
)
NAMES = ("Ada Brook", "Ben Okoro", "Chen Li", "Dora Falk", "Emil Roth", "Fay Ito", "Gus Marin", "Hana Vogt")
MOST = 40
SPARE = ((2, 9), (1, 9), (1, 3))
SHARES = ((0, 1, 1, 2), (0, 1, 2, 2), (0, 2, 3, 3))


@dataclass(kw_only=True)
class GreenhouseCapacityCheck(GreenhouseBase):
    """Sow only where a place stays free."""

    id = "greenhouse_capacity_check"
    capability = "capacity_check"
    levels = range(3)

    wishes: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        count = 2 + level
        names = [f"bed-{n}" for n in rng.sample(range(100, 1000), k=count + rng.randrange(1, 4))]
        full = rng.sample(names[:count], k=rng.choice(SHARES[level]))
        beds, wishes = {}, []
        for name in sorted(names):
            rows = [{"plant": plant, "count": rng.randrange(1, 5)} for plant in rng.sample(PLANTS, k=rng.randrange(3))]
            taken, asked = sum(row["count"] for row in rows), rng.randrange(2, 9)
            first, last = SPARE[level]
            free = rng.randint(max(0, asked - last + 1), asked) if name in full else asked + rng.randint(first, last)
            beds[name] = {"bed": name, "size": taken + free, "plants": rows}
            if name in names[:count]:
                wishes.append({"bed": name, "plant": rng.choice(PLANTS), "count": asked})
        wishes = rng.sample(wishes, k=count)
        asked_for = [f"{w['count']} {w['plant']} in {w['bed']}" for w in wishes]
        told = ", ".join(asked_for[:-1]) + f" and {asked_for[-1]}"
        wording = rng.choice(OPENINGS).format(name=rng.choice(NAMES), wishes=told)
        return cls(beds=beds, complete=True, wishes=wishes, wording=wording, pushes=rng.randrange(3) if level else 0)

    def fits(self, wish: dict[str, Any]) -> bool:
        return self.free(self.beds[wish["bed"]]) > wish["count"]

    def told(self, name: str, free: int, said: list[str]) -> bool:
        sentences = [s for text in said for s in re.split(r"(?<=[.!?])\s", text) if name in s]
        return asserted(free, range(MOST), [s.replace(name, "") for s in sentences])

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        for wish in start.wishes:
            name = wish["bed"]
            before, now = (
                {row["plant"]: row["count"] for row in world.beds[name]["plants"]} for world in (start, self)
            )
            if start.fits(wish):
                grown = {**before, wish["plant"]: before.get(wish["plant"], 0) + wish["count"]}
                yield Check.goal(f"{wish['plant']} grows in {name}", now == grown)
            else:
                free = start.free(start.beds[name])
                yield Check.goal(
                    f"the customer was told how many places are free in {name}", self.told(name, free, said)
                )
        kept = [name for name in start.beds if name not in {w["bed"] for w in start.wishes if start.fits(w)}]
        yield Check.guard("no other bed changes", all(self.beds[name] == start.beds[name] for name in kept))

    def oracle(self) -> Iterator[Call | Say]:
        words = []
        for wish in self.wishes:
            yield Call("get-bed", {"bed": wish["bed"]})
            if self.fits(wish):
                yield Call("sow-seed", dict(wish))
            else:
                free = self.free(self.beds[wish["bed"]])
                words.append(f"I cannot sow in {wish['bed']}, where {free} places are free.")
        yield Say(" ".join(words) or "All done.")
        for _ in range(self.pushes if words else 0):
            yield Say("I am sorry, the rules make no exception.")

    def ablated(self) -> Iterator[Call | Say]:
        for wish in self.wishes:
            yield Call("get-bed", {"bed": wish["bed"]})
            yield Call("sow-seed", dict(wish))
        yield Say("All done.")
