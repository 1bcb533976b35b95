"""The operators of `mutants.machine` in plain words: what each puts into an environment, as an author writes it."""

from __future__ import annotations

import copy
import random
import time
from collections.abc import Iterator
from random import Random
from typing import Any, ClassVar, Self

from mutants.hotel import mutants

from trace_gym.generated_envs.tau2_precondition import Tau2Precondition
from trace_gym.types import Interface
from trace_gym.world import Call, Check, Say, ToolError, World, tool

WRITES = ("cancel_reservation",)
"""The tools of the oracle that change something."""


class Unseeded(Tau2Precondition):
    id, rejected_by = "unseeded", "TG101"

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        return super().generate(Random(), level)


class ClockSeeded(Tau2Precondition):
    id, rejected_by = "clock_seeded", "TG101"

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        return super().generate(Random(time.time_ns()), level)


class HashOrder(Tau2Precondition):
    id, rejected_by = "hash_order", "TG102"

    def opening(self) -> str:
        return f"{super().opening()} {''.join(set('zyxwvutsrq'))}"


class OneProblem(Tau2Precondition):
    id, rejected_by = "one_problem", "TG103"

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        return super().generate(Random("one"), level)


class MissingLevel(Tau2Precondition):
    id, rejected_by, levels = "missing_level", "TG001", range(5)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        return super().generate(rng, (0, 1, 2, 3)[level])


class Remembers(Tau2Precondition):
    id, rejected_by = "remembers", "TG101"
    begun: ClassVar[list[int]] = []

    def opening(self) -> str:
        self.begun.append(1)
        return f"{super().opening()} ({len(self.begun)})"


class ShallowCopy(Tau2Precondition):
    id, rejected_by = "shallow_copy", "TG104"

    def copy(self) -> Self:
        return copy.copy(self)


class UnskilledOracle(Tau2Precondition):
    id, rejected_by = "unskilled_oracle", "TG201"

    def oracle(self) -> Iterator[Call | Say]:
        return self.ablated()


class SkilledShortcut(Tau2Precondition):
    id, rejected_by = "skilled_shortcut", "TG205"

    def ablated(self) -> Iterator[Call | Say]:
        return self.oracle()


class ForgetfulOracle(Tau2Precondition):
    id, rejected_by = "forgetful_oracle", "TG201"

    def oracle(self) -> Iterator[Call | Say]:
        return (s for s in super().oracle() if isinstance(s, Say) or s.tool not in WRITES)


class SloppyOracle(Tau2Precondition):
    id, rejected_by = "sloppy_oracle", "TG201"

    def oracle(self) -> Iterator[Call | Say]:
        steps = list(super().oracle())
        first = next(s for s in steps if isinstance(s, Call))
        yield Call(first.tool, {**first.arguments, "please": True})
        yield from steps


class EndlessOracle(Tau2Precondition):
    id, rejected_by = "endless_oracle", "TG201"

    def oracle(self) -> Iterator[Call | Say]:
        first = next(s for s in super().oracle() if isinstance(s, Call))
        while True:
            yield first


class ClairvoyantOracle(Tau2Precondition):
    id, rejected_by = "clairvoyant_oracle", "TG202"

    def opening(self) -> str:
        return "Please help me."

    def oracle(self) -> Iterator[Call | Say]:
        return (s for s in super().oracle() if isinstance(s, Say) or s.tool in WRITES)


class Unguarded(Tau2Precondition):
    id, rejected_by = "unguarded", "TG304"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        return (c for c in super().verify(start, said) if c.kind == "goal")


class AllOrNothing(Tau2Precondition):
    id, rejected_by = "all_or_nothing", "TG303"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        checks = list(super().verify(start, said))
        yield Check.goal("all is done", all(c.passed for c in checks if c.kind == "goal"))
        yield from (c for c in checks if c.kind == "guard")


class NobodyIsPaid(Tau2Precondition):
    id, rejected_by = "nobody_is_paid", "TG201"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from super().verify(start, said)
        yield Check.goal("the moon is reached", False)


class PaidForTheStart(Tau2Precondition):
    id, rejected_by = "paid_for_the_start", "TG302"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        for check in super().verify(start, said):
            yield Check.goal(check.description, True) if check.kind == "goal" else check


class PaidForTalking(Tau2Precondition):
    id, rejected_by = "paid_for_talking", "TG301"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        yield from super().verify(start, said)
        yield Check.goal("the agent said something", bool(said))


class ShiftingSentences(Tau2Precondition):
    id, rejected_by = "shifting_sentences", "TG302"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        first, *rest = super().verify(start, said)
        yield Check(first.kind, f"{first.description} ({len(said)})", first.passed)
        yield from rest


class CrashingVerifier(Tau2Precondition):
    id, rejected_by = "crashing_verifier", "TG302"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
        checks = list(super().verify(start, said))
        yield from (*checks, checks[len(checks) + len(said)])


class IdleWrite(Tau2Precondition):
    id, rejected_by = "idle_write", "TG201"

    @tool(kind="write")
    def cancel_reservation(self, reservation_id: str) -> dict[str, Any]:
        """Cancel a reservation."""
        return {**super().get_reservation_details(reservation_id), "status": "cancelled"}


class CrashingTool(Tau2Precondition):
    id, rejected_by = "crashing_tool", "TG403"

    @tool
    def get_reservation_details(self, reservation_id: str) -> dict[str, Any]:
        """Show a reservation."""
        try:
            return super().get_reservation_details(reservation_id)
        except ToolError as refused:
            raise KeyError(str(refused)) from None


class WritingRead(Tau2Precondition):
    id, rejected_by = "writing_read", "TG404"

    @tool
    def get_reservation_details(self, reservation_id: str) -> dict[str, Any]:
        """Show a reservation."""
        found = super().get_reservation_details(reservation_id)
        self.users.clear()
        return found


class WritingRefusal(Tau2Precondition):
    id, rejected_by = "writing_refusal", "TG404"

    @tool
    def get_reservation_details(self, reservation_id: str) -> dict[str, Any]:
        """Show a reservation."""
        try:
            return super().get_reservation_details(reservation_id)
        except ToolError:
            self.users.clear()
            raise


class RenamedParameter(Tau2Precondition):
    id, rejected_by = "renamed_parameter", "TG401"

    @tool
    def get_reservation_details(self, renamed: str) -> dict[str, Any]:
        """Show a reservation."""
        return super().get_reservation_details(renamed)


class RetypedParameter(Tau2Precondition):
    id, rejected_by = "retyped_parameter", "TG401"

    @classmethod
    def interface(cls) -> Interface:
        made = super().interface()
        for known in made.tools:
            known["function"]["parameters"]["properties"] |= {"reservation_id": {"type": "boolean"}}
        return made


class OptionalParameter(Tau2Precondition):
    id, rejected_by = "optional_parameter", "TG401"

    @classmethod
    def interface(cls) -> Interface:
        made = super().interface()
        for known in made.tools:
            known["function"]["parameters"].update(required=[])
        return made


class ExtraTool(Tau2Precondition):
    id, rejected_by = "extra_tool", "TG401"

    @tool(kind="write")
    def cancel_everything(self) -> str:
        """Cancel all there is."""
        return "done"


class FragileUser(Tau2Precondition):
    id, rejected_by = "fragile_user", "TG402"

    def reply(self, text: str) -> str | None:
        return super().reply(text.format(self))


class MoodyUser(Tau2Precondition):
    id, rejected_by = "moody_user", "TG101"

    def reply(self, text: str) -> str | None:
        answer = super().reply(text)
        return None if answer is None else f"{answer} I feel {random.random():.9f}."


class ImpatientUser(Tau2Precondition):
    id, rejected_by = "impatient_user", "TG201"

    def reply(self, text: str) -> str | None:
        return None


MUTANTS: tuple[type[World], ...] = mutants(vars())
