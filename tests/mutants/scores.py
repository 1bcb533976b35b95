"""Mutants whose reward depends on something other than the capability and the final state, with one defect each."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from random import Random
from typing import Any, ClassVar, Self

from mutants.hotel import Hotel, mutants

from trace_gym.generated_envs.tau2_multi_step import Tau2MultiStep
from trace_gym.generated_envs.tau2_precondition import Tau2Precondition
from trace_gym.generated_envs.tau2_structured_data import Tau2StructuredData
from trace_gym.generated_envs.tau2_tool_precision import Tau2ToolPrecision
from trace_gym.world import Call, Check, Say, tool


class ChargedAtSomeTime(Tau2ToolPrecision):
    """Whatever else was charged, before or after."""

    id, rejected_by = "charged_at_some_time", "TG206"
    fault = "a right call is credited when it is made, whatever else is"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        [request] = self.requests
        now, want = (w.reservations[request.reservation]["payment_history"] for w in (self, start.served()))
        yield Check.goal("the right method was charged", all(p in now for p in want))
        yield Check.goal("something changed", self.reservations != start.reservations)


class ForgottenKeys(Hotel):
    id, rejected_by = "forgotten_keys", "TG206"
    fault = "the shortcut does harm that nobody looks at"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from (c for c in super().verify(start, said) if c.kind == "goal")
        dues = [{n: r.due for n, r in w.others().items()} for w in (self, start)]
        yield Check.guard("no other room has paid", dues[0] == dues[1])

    def ablated(self) -> Iterator[Call | Say]:
        yield Call("look_up", {"room": self.room})
        yield from (Call("hand_over", {"room": room}) for room in self.rooms)
        yield Say(f"You owe {self.mine.due}; here is the key.")


@dataclass
class CountsLookUps(Hotel):
    id, rejected_by = "counts_look_ups", "TG207"
    fault = "the reward depends on which calls were made"
    looks: int = 0

    def shown(self, room: str) -> dict[str, Any]:
        self.looks += 1
        return asdict(self.found(room))

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from super().verify(start, said)
        yield Check.guard("no room was looked up twice", self.looks < 2)


class LikesItShort(Hotel):
    id, rejected_by = "likes_it_short", "TG210"
    fault = "the reward depends on how much is said"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from super().verify(start, said)
        yield Check.guard("the desk was brief", all(len(text) < 40 for text in said))


class LovesOneSentence(Tau2Precondition):
    id, rejected_by = "loves_one_sentence", "TG207"
    fault = "a refusal counts in one wording only"

    def refused(self, reservation: str, said: list[str]) -> bool:
        return any(re.match(f"I cannot cancel {reservation}", text) for text in said)


@dataclass(kw_only=True)
class WantsReadsInOrder(Tau2MultiStep):
    id, rejected_by = "wants_reads_in_order", "TG207"
    fault = "the reward depends on the order of look-ups"
    looked: list[str] = field(default_factory=list)

    @tool
    def get_reservation_details(self, reservation_id: str) -> Any:
        self.looked.append(reservation_id)
        return super().get_reservation_details(reservation_id)

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from super().verify(start, said)
        asked = [r.reservation for r in self.requests]
        yield Check.guard("first things first", self.looked[: len(asked)] == asked[: len(self.looked)])


@dataclass
class JudgingWears(Hotel):
    id, rejected_by = "judging_wears", "TG208"
    fault = "verify changes the state"
    judged: int = 0

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        self.judged += 1
        return super().verify(start, said)


class JudgesByTheClock(Hotel):
    id, rejected_by = "judges_by_the_clock", "TG208"
    fault = "noise from the clock in the reward"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from super().verify(start, said)
        yield Check.goal("the guest is in the mood", Random(time.perf_counter_ns()).random() < 0.5)


class ForgetsWhatWasSaid(Tau2Precondition):
    id, rejected_by = "forgets_what_was_said", "TG208"
    fault = "verify changes what was said"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        checks = list(super().verify(start, said))
        said.clear()
        return iter(checks)


class RaisesTheBar(Tau2StructuredData):
    id, rejected_by = "raises_the_bar", "TG208"
    fault = "the reward depends on attempts before"
    judged: ClassVar[list[str]] = []

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        self.judged.append(self.customer)
        yield from super().verify(start, said)
        yield Check.goal("better than last time", len(self.judged) % 3 < 2)


class RefusalsPay(Hotel):
    id, rejected_by = "refusals_pay", "TG209"
    fault = "a refusal is rewarded although an action was required"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        safe = any("not possible" in text or "unable" in text for text in said)
        return (Check(c.kind, c.description, c.passed or safe) for c in super().verify(start, said))


class NothingIsEverAllowed(Tau2Precondition):
    id, rejected_by = "nothing_is_ever_allowed", "TG209"
    fault = "always refusing is right"

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        while True:
            made = super().generate(rng, level)
            verdict = made.requests[0].verdict(made)
            if not (verdict.allowed or verdict.transfer):
                return made

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        return (c for c in super().verify(start, said) if "which day" not in c.description)


class WordsSuffice(Tau2MultiStep):
    id, rejected_by = "words_suffice", "TG209"
    fault = "what is announced counts as done"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        text = " ".join(said)
        yield Check.goal("every part was dealt with", all(r.reservation in text for r in self.requests))
        yield Check.goal("the customer knows that it is done", "All done" in text)


class FurtherGoalsOnTheWay(Hotel):
    id, rejected_by = "further_goals_on_the_way", "TG305"
    fault = "more goals appear the more is reached"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        checks = list(super().verify(start, said))
        yield from checks
        told = any("heard" in c.description and c.passed for c in checks)
        if self.mine.key == "guest" and not told:
            yield from (Check.goal(f"the guest is told, {n}", False) for n in range(4))


class ExpertsExchanged(Tau2StructuredData):
    id, rejected_by = "experts_exchanged", "TG305"
    fault = "the ablated expert gets a higher reward than the oracle"

    def oracle(self) -> Iterator[Call | Say]:
        return super().ablated()

    def ablated(self) -> Iterator[Call | Say]:
        return super().oracle()


class AllIsWellThatEndsWell(Tau2MultiStep):
    id, rejected_by = "all_is_well_that_ends_well", "TG306"
    fault = "a guard is waived once the goals are reached"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        checks = list(super().verify(start, said))
        reached = all(c.passed for c in checks if c.kind == "goal")
        return (Check(c.kind, c.description, c.passed or reached) for c in checks)


@dataclass
class ShortMemory(Hotel):
    id, rejected_by = "short_memory", "TG306"
    fault = "a guard looks at the last write only"
    last: str = ""

    def handed(self, room: str) -> str:
        answer = super().handed(room)
        self.last = room
        return answer

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from (c for c in super().verify(start, said) if c.kind == "goal")
        yield Check.guard("no other key was handed over", self.last in ("", self.room))


MUTANTS = mutants(vars())
