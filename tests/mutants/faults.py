"""Mutants of the hotel environment, with one defect each and the property that must reject it."""

from __future__ import annotations

import copy
import random
import time
from collections.abc import Iterator
from dataclasses import asdict
from random import Random
from typing import Any, ClassVar, Self

from mutants.hotel import Hotel, Room, mutants

from trace_gym.generated_envs.tau2_precondition import Tau2Precondition
from trace_gym.types import Interface
from trace_gym.world import Call, Check, Say, ToolError, tool


class NoSecondLevel(Hotel):
    id, rejected_by = "no_second_level", "TG001"

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        return super().generate(rng, {0: 0}[level])


class UncountedLevels(Hotel):
    id, rejected_by, levels = "uncounted_levels", "TG001", range(1, 3)


class GlobalRandom(Hotel):
    id, rejected_by = "global_random", "TG101"

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        made = super().generate(rng, level)
        made.mine.due = random.randrange(10, 10_000)
        return made


class RemembersAttempts(Hotel):
    id, rejected_by = "remembers_attempts", "TG101"
    attempts: ClassVar[list[str]] = []

    def opening(self) -> str:
        self.attempts.append(self.room)
        return f"{super().opening()} I ask for the {len(self.attempts)}. time."


class ChoiceOverSet(Hotel):
    id, rejected_by = "choice_over_set", "TG102"

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        made = super().generate(rng, level)
        made.room = next(iter(set(made.rooms)))
        return made


class LocalTime(Hotel):
    id, rejected_by = "local_time", "TG102"

    def opening(self) -> str:
        return f"{super().opening()} I came at {time.localtime(0).tm_hour}:{time.localtime(0).tm_min:02d}."


class OneProblem(Hotel):
    id, rejected_by = "one_problem", "TG103"

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        return super().generate(Random("the same"), level)


class SharedRecords(Hotel):
    id, rejected_by = "shared_records", "TG104"

    def copy(self) -> Self:
        return copy.copy(self)


class ForgetfulOracle(Hotel):
    id, rejected_by = "forgetful_oracle", "TG201"

    def oracle(self) -> Iterator[Call | Say]:
        return (step for step in super().oracle() if step != self.payment())


class TooFewTurns(Hotel):
    id, rejected_by, max_turns = "too_few_turns", "TG201", 3


class SloppyOracle(Hotel):
    id, rejected_by = "sloppy_oracle", "TG201"

    def oracle(self) -> Iterator[Call | Say]:
        yield Call("look_up", {"room": self.room, "please": True})
        yield from super().oracle()


class EndlessOracle(Hotel):
    id, rejected_by = "endless_oracle", "TG201"

    def oracle(self) -> Iterator[Call | Say]:
        while True:
            yield Call("look_up", {"room": self.room})


class ClairvoyantOracle(Hotel):
    id, rejected_by = "clairvoyant_oracle", "TG202"

    def oracle(self) -> Iterator[Call | Say]:
        return (step for step in super().oracle() if step != Call("look_up", {"room": self.room}))


class ForgottenGoal(Hotel):
    id, rejected_by = "forgotten_goal", "TG203"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        return (c for c in super().verify(start, said) if "invoice" in c.description or c.kind == "guard")


class IllegalOracle(Hotel):
    id, rejected_by = "illegal_oracle", "TG204"

    def oracle(self) -> Iterator[Call | Say]:
        look, pay, key, words = super().oracle()
        yield from (look, key, pay, words)


class NeedlessCapability(Hotel):
    id, rejected_by = "needless_capability", "TG205"

    def ablated(self) -> Iterator[Call | Say]:
        return self.oracle()


class PaidShortcut(Hotel):
    id, rejected_by = "paid_shortcut", "TG205"

    def ablated(self) -> Iterator[Call | Say]:
        look, pay, key, words = self.oracle()
        yield from (look, key, pay, words)


class PaysForTalk(Hotel):
    id, rejected_by = "pays_for_talk", "TG301"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from super().verify(start, said)
        yield Check.goal("the guest was spoken to", bool(said))


class AlwaysTrue(Hotel):
    id, rejected_by = "always_true", "TG302"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        return (Check(c.kind, c.description, True) for c in super().verify(start, said))


class ShiftingSentence(Hotel):
    id, rejected_by = "shifting_sentence", "TG302"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from super().verify(start, said)
        yield Check.goal(f"{sum(r.due for r in self.rooms.values())} is due in the house", True)


class AllOrNothing(Hotel):
    id, rejected_by = "all_or_nothing", "TG303"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield Check.goal("all is well", all(c.passed for c in super().verify(start, said)))


class ForgottenGuard(Hotel):
    id, rejected_by = "forgotten_guard", "TG304"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        return (c for c in super().verify(start, said) if c.kind == "goal")


class SilentSchema(Hotel):
    id, rejected_by = "silent_schema", "TG401"

    @classmethod
    def interface(cls) -> Interface:
        made = super().interface()
        [settle] = [t["function"] for t in made.tools if t["function"]["name"] == "settle"]
        settle["parameters"]["required"].remove("amount")
        return made


class UnknownTarget(Hotel):
    id, rejected_by, target = "unknown_target", "TG401", "hotel_bench"


class ForeignTool(Tau2Precondition):
    id, rejected_by = "foreign_tool", "TG401"
    fault = "a tool that the target does not have"

    @tool(kind="write")
    def pay_out(self, user_id: str) -> str:
        raise ToolError("there is nothing to pay out")


class RenamedCabin(Tau2Precondition):
    id, rejected_by = "renamed_cabin", "TG401"

    @classmethod
    def interface(cls) -> Interface:
        made: Interface = super().interface()
        return Interface.model_validate_json(made.model_dump_json().replace('"basic_economy"', '"basic"'))


class FragileReply(Hotel):
    id, rejected_by = "fragile_reply", "TG402"

    def reply(self, text: str) -> str | None:
        return super().reply(text.format())


class SpeaksInNumbers(Hotel):
    id, rejected_by = "speaks_in_numbers", "TG402"

    def reply(self, text: str) -> str | None:
        return len(text) if super().reply(text) else None  # type: ignore[return-value]


class NeedsTooMuch(Hotel):
    id, rejected_by = "needs_too_much", "TG205"

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        made = super().generate(rng, level)
        made.mine.due = 0 if level else made.mine.due
        return made

    def oracle(self) -> Iterator[Call | Say]:
        return super().oracle() if self.mine.due else self.ablated()

    def needs(self) -> frozenset[str]:
        return frozenset({self.capability})


class LeakyLookup(Hotel):
    id, rejected_by = "leaky_lookup", "TG403"

    def found(self, room: str) -> Room:
        return self.rooms[room]


class ReadThatWrites(Hotel):
    id, rejected_by = "read_that_writes", "TG404"

    def shown(self, room: str) -> dict[str, Any]:
        self.found(room).guest += "."
        return asdict(self.found(room))


class RefusalThatWrites(Hotel):
    id, rejected_by = "refusal_that_writes", "TG404"

    def paid(self, room: str, invoice: str, amount: int) -> str:
        if amount != self.found(room).due:
            self.found(room).due += 1
        return super().paid(room, invoice, amount)


MUTANTS = mutants(vars())
