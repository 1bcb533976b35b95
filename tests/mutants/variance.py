"""Mutants whose rewards do not vary within groups, with one defect each and the property that must reject it."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Self

from mutants.hotel import Hotel, mutants

from trace_gym.generated_envs.tau2_precondition import Tau2Precondition
from trace_gym.generated_envs.tau2_structured_data import Tau2StructuredData
from trace_gym.validation import ValidationInputs
from trace_gym.world import Call, Check, Say


class PaysNobody(Hotel):
    id, rejected_by = "pays_nobody", "TG501"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        return (Check(c.kind, c.description, c.passed and c.kind == "guard") for c in super().verify(start, said))


class PaysEverybody(Hotel):
    id, rejected_by = "pays_everybody", "TG501"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        return (Check(c.kind, c.description, c.passed or bool(said)) for c in super().verify(start, said))


class SaturatesOnOneLevel(Hotel):
    id, rejected_by = "saturates_on_one_level", "TG501"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        hard = len(self.rooms) > 3
        return (c for c in super().verify(start, said) if not (hard and "invoice" in c.description))


class PaysForTrying(Hotel):
    id, rejected_by = "pays_for_trying", "TG501"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from super().verify(start, said)
        yield Check.goal("the desk has given out the key", self.mine.key != "desk")
        yield Check.goal("the guest need not ask for the key again", self.mine.key == "guest")


class HardlyEverNeeded(Tau2Precondition):
    id, rejected_by = "hardly_ever_needed", "TG501"

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        made = super().generate(rng, level)
        while not made.requests[0].verdict(made).allowed and rng.random() < 0.97:
            made = super().generate(rng, level)
        return made


class OneFlightOnTheHardestLevel(Tau2StructuredData):
    id, rejected_by = "one_flight_on_the_hardest_level", "TG501"

    def ablated(self) -> Iterator[Call | Say]:
        return super().ablated() if len(self.flights) < 6 else super().oracle()


class PaysNobodyThatPlays(PaysNobody):
    id, rejected_by, given = "pays_nobody_that_plays", "TG502", ValidationInputs(policy="mixture:0.4")


class PaysEverybodyThatPlays(PaysEverybody):
    id, rejected_by, given = "pays_everybody_that_plays", "TG502", ValidationInputs(policy="mixture:0.4")


class PaysForTryingOnAllLevels(PaysForTrying):
    id, rejected_by, given = "pays_for_trying_on_all_levels", "TG502", ValidationInputs(policy="mixture:0.4")


MUTANTS = mutants(vars())
