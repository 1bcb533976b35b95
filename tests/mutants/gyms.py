"""Mutants that violate assumptions of libraries built on Gymnasium, with one defect each."""

from __future__ import annotations

import multiprocessing
import time
from dataclasses import asdict
from random import Random
from typing import Any, ClassVar, Self

from mutants.hotel import Hotel, mutants

from trace_gym.generated_envs.tau2_structured_data import Tau2StructuredData
from trace_gym.world import ToolError, tool

HUGE = ("TG0", "TG1", "TG2", "TG4", "TG9")
"""The only properties to check for mutants with megabytes of text, because the other properties would take hours."""


class OpensByTheClock(Hotel):
    id, rejected_by = "opens_by_the_clock", "TG901"
    fault = "the same seed is another problem"

    def opening(self) -> str:
        return f"{super().opening()} It is {time.perf_counter_ns()}."


class LongStory(Hotel):
    id, rejected_by = "long_story", "TG901"
    limited_to = HUGE
    fault = "the first observation is not in the observation space"

    def opening(self) -> str:
        return f"{super().opening()} {'And then? ' * 200_000}"


class OneTimetable(Tau2StructuredData):
    id, rejected_by = "one_timetable", "TG902"
    fault = "environments of one process share a table"
    timetable: ClassVar[dict[str, Any]] = {}

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        made: Self = super().generate(rng, level)
        cls.timetable = made.flights
        return made

    @tool
    def search_direct_flight(self, origin: str, destination: str, date: str) -> Any:
        self.flights, own = self.timetable, self.flights
        try:
            return super().search_direct_flight(origin, destination, date)
        finally:
            self.flights = own


class WaitsItsTurn(Hotel):
    id, rejected_by = "waits_its_turn", "TG902"
    fault = "an environment heeds how many steps others take"
    steps: ClassVar[list[str]] = []

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        cls.steps.clear()
        return super().generate(rng, level)

    def shown(self, room: str) -> dict[str, Any]:
        self.steps.append(room)
        return {**vars(self.found(room)), "asked": len(self.steps)}


class TellsOfTheJourney(Hotel):
    id, rejected_by = "tells_of_the_journey", "TG903"
    limited_to = HUGE
    fault = "the user's answer is outside the observation space"

    def reply(self, text: str) -> str | None:
        return super().reply(text) and "I came by train. " * 70_000


class ShowsTheWholeHouse(Hotel):
    id, rejected_by = "shows_the_whole_house", "TG903"
    limited_to = HUGE
    fault = "an answer is outside the observation space"

    def shown(self, room: str) -> dict[str, Any]:
        return {**vars(self.found(room)), "house": "room " * 250_000}


MUTANTS = mutants(vars())


class WorksAtHome(Hotel):
    """Refuses in a process that another one has started through `multiprocessing`."""

    id = "works_at_home"

    def shown(self, room: str) -> dict[str, Any]:
        if multiprocessing.parent_process() is not None:
            raise ToolError("the register is at the front desk")
        return asdict(self.found(room))
