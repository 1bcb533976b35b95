"""Mutants whose problems have one structure or one answer, with one defect each."""

from __future__ import annotations

from random import Random
from typing import Self

from mutants.hotel import Hotel, mutants

from trace_gym.generated_envs.tau2_multi_step import Tau2MultiStep
from trace_gym.generated_envs.tau2_precondition import Tau2Precondition
from trace_gym.generated_envs.tau2_structured_data import Tau2StructuredData
from trace_gym.generated_envs.tau2_tool_precision import Tau2ToolPrecision
from trace_gym.targets.tau2.airline import SKILLS, ChangeFlights, records


class OneStructure(Tau2Precondition):
    """The same booking every time, under another id."""

    id, rejected_by = "one_structure", "TG801"

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        made: Self = super().generate(Random(level), level)
        [(old, booking)] = made.reservations.items()
        new = rng.choice(records.CODES)
        made.reservations = {new: {**booking, "reservation_id": new}}
        made.users[made.customer]["reservations"] = [new]
        made.requests[0].reservation = new
        made.wording = made.wording.replace(old, new)
        return made


class OtherNamesOnly(Hotel):
    id, rejected_by, alike = "other_names_only", "TG801", frozenset()


class OneSequence(Tau2Precondition):
    """Whatever is drawn, the look-up is followed by the cancellation."""

    id, rejected_by, levels = "one_sequence", "TG802", range(2)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        while True:
            made: Self = super().generate(rng, level)
            if made.requests[0].verdict(made).allowed:
                return made


class OneSequenceAtTheDesk(Hotel):
    id, rejected_by, alike = "one_sequence_at_the_desk", "TG802", frozenset({1})


class OneWording(Tau2MultiStep):
    id, rejected_by = "one_wording", "TG803"

    def opening(self) -> str:
        codes = " and ".join(r.reservation for r in self.requests[:2])
        return f"My id is {self.customer}. You know from my letter what is to be done with {codes}."


class FewWordings(Tau2Precondition):
    """A second wording, which one opening in twenty has."""

    id, rejected_by = "few_wordings", "TG803"

    def opening(self) -> str:
        rare = self.customer.endswith(str(records.USER_NUMBERS[0]))
        words = "Please cancel my trip, it is" if rare else "I am done with planning, so let us cancel"
        return f"{self.customer}: {words} {self.requests[0].reservation}."


class FirstFlightIsRight(Tau2StructuredData):
    id, rejected_by = "first_flight_is_right", "TG804"

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        made: Self = super().generate(rng, level)
        [request] = made.requests
        assert isinstance(request, ChangeFlights)
        best = request.choice(made, SKILLS)
        made.flights = {best: made.flights[best], **made.flights}
        return made


class MostlyRefused(Tau2Precondition):
    """Three draws must be allowed before one is granted."""

    id, rejected_by = "mostly_refused", "TG804"

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        for _ in range(4):
            made: Self = super().generate(rng, min(level, 2))
            if not made.requests[0].verdict(made).allowed:
                break
        return made


class NeverTheOneThatPaid(Tau2ToolPrecision):
    """The method that is meant is any but the one that had paid, so nobody need read which."""

    id, rejected_by = "never_the_one_that_paid", "TG705"

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        while True:
            made: Self = super().generate(rng, level)
            [booking] = made.reservations.values()
            if made.requests[0].method != booking["payment_history"][0]["payment_id"]:  # type: ignore[attr-defined]
                return made


class LargestFlightNumberIsRight(Tau2StructuredData):
    """The flight that fits has the largest number of all that are found, at any place of the list."""

    id, rejected_by = "largest_flight_number_is_right", "TG705"

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        while True:
            made: Self = super().generate(rng, level)
            [request] = made.requests
            assert isinstance(request, ChangeFlights)
            if request.choice(made, SKILLS) == max(n for n, f in made.flights.items() if request.date in f["dates"]):
                return made


MUTANTS = mutants(vars())
