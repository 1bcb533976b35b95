"""Mutants that reveal the answer or copy test tasks, with one defect each."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Self

from mutants.hotel import Hotel, mutants

from trace_gym.generated_envs.tau2_precondition import Tau2Precondition
from trace_gym.generated_envs.tau2_structured_data import Tau2StructuredData
from trace_gym.generated_envs.tau2_tool_precision import Tau2ToolPrecision
from trace_gym.targets.tau2.airline import SKILLS, ChangeFlights
from trace_gym.types import Interface
from trace_gym.validation.context import ValidationInputs

TASKS = Path(__file__).parents[1] / "data" / "foreign_tasks.json"
"""Two tasks of a fictitious benchmark."""


class OpeningTellsTheDecision(Tau2Precondition):
    id, rejected_by = "opening_tells_the_decision", "TG701"

    def opening(self) -> str:
        [request] = self.requests
        return super().opening() + (" It can be refunded." if request.verdict(self).allowed else " It is a trip.")


class PoliteWhenAllowed(Tau2Precondition):
    id, rejected_by = "polite_when_allowed", "TG701"

    def opening(self) -> str:
        [request] = self.requests
        return super().opening().replace("Please", "Kindly" if request.verdict(self).allowed else "Please", 1)


class OpeningNamesTheFlight(Tau2StructuredData):
    id, rejected_by = "opening_names_the_flight", "TG701"

    def opening(self) -> str:
        [request] = self.requests
        assert isinstance(request, ChangeFlights)
        return f"{super().opening()} I believe that is {request.choice(self, SKILLS)}."


class GuestKnowsTheBill(Hotel):
    id, rejected_by = "guest_knows_the_bill", "TG701"

    def opening(self) -> str:
        return f"{super().opening()} It should be {self.mine.due}."


class BlurtsTheMethod(Tau2ToolPrecision):
    id, rejected_by = "blurts_the_method", "TG701"

    def reply(self, text: str) -> str | None:
        [request] = self.requests
        known = {"other": f"Take {request.method}."}  # type: ignore[attr-defined]
        return known.get(self.hears(text)) or super().reply(text)


class SchemaNamesTheInvoice(Hotel):
    id, rejected_by = "schema_names_the_invoice", "TG701"

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        made = super().generate(rng, level)
        made.mine.invoice = "inv4242"
        return made

    @classmethod
    def interface(cls) -> Interface:
        made = super().interface().model_dump_json().replace("Number of the invoice.", "Its number, such as inv4242.")
        return Interface.model_validate_json(made)


class PolicyNamesTheAmount(Hotel):
    """You run a hotel desk. A guest gets the key once the invoice, such as one of 1250, is settled, and hears of it."""

    id, rejected_by = "policy_names_the_amount", "TG701"

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        made = super().generate(rng, level)
        made.mine.due = 1250
        return made


class HintNamesTheInvoice(Hotel):
    id, rejected_by = "hint_names_the_invoice", "TG702"

    def hint(self) -> str:
        return f"Settle {self.mine.invoice} before the key is handed over."


class HintTellsTheDecision(Tau2Precondition):
    id, rejected_by = "hint_tells_the_decision", "TG702"

    @property
    def hint(self) -> str:
        [request] = self.requests
        return "Go ahead." if request.verdict(self).allowed else "Read the rules again."


class BorrowedCustomer(Tau2Precondition):
    id, rejected_by = "borrowed_customer", "TG703"
    given = ValidationInputs(against=(str(TASKS),))

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        made: Self = super().generate(rng, level)
        mine, theirs = made.customer, json.loads(TASKS.read_text())[0]["user_id"]
        made.users = {theirs: {**made.users[mine], "user_id": theirs}}
        [booking] = made.reservations.values()
        booking["user_id"] = made.customer = theirs
        return made


class BorrowedWords(Tau2Precondition):
    id, rejected_by = "borrowed_words", "TG703"
    given = ValidationInputs(against=(str(TASKS),))

    def opening(self) -> str:
        words = json.loads(TASKS.read_text())[0]["instruction"].replace("You have", "I have")
        return f"{super().opening()} {words.partition(' as soon')[0]}."


class FewProblems(Tau2Precondition):
    id, rejected_by = "few_problems", "TG704"

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        made: Self = super().generate(Random(rng.randrange(10**6) % 200), level)
        return made


class DemoNowAndThen(Hotel):
    id, rejected_by = "demo_now_and_then", "TG704"

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        return super().generate(Random("demo") if rng.random() < 0.15 else rng, level)


MUTANTS = mutants(vars())
