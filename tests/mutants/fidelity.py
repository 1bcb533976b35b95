"""Mutants whose tool results differ from those of the target, with one defect each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mutants.hotel import Hotel, mutants

from trace_gym.generated_envs.tau2_precondition import Tau2Precondition
from trace_gym.generated_envs.tau2_structured_data import Tau2StructuredData
from trace_gym.generated_envs.tau2_tool_precision import Tau2ToolPrecision
from trace_gym.targets.tau2.records import Data
from trace_gym.validation.context import ValidationInputs
from trace_gym.world import ToolError, tool

RECORDED = Path(__file__).parents[1] / "data" / "recorded_desk.jsonl"
"""Eleven episodes in the airline base world, with read calls that display all records that their writes change."""


class LosesAField(Tau2Precondition):
    id, rejected_by = "loses_a_field", "TG411"

    @tool
    def get_reservation_details(self, reservation_id: str) -> Data:
        found: Data = super().get_reservation_details(reservation_id)
        return {k: v for k, v in found.items() if k != "insurance"}


class PricesAsText(Tau2StructuredData):
    id, rejected_by = "prices_as_text", "TG411"

    @tool
    def search_direct_flight(self, origin: str, destination: str, date: str) -> list[Data]:
        found: list[Data] = super().search_direct_flight(origin, destination, date)
        return [{**f, "prices": {c: f"${p}" for c, p in f["prices"].items()}} for f in found]


class TellsTheVerdict(Tau2Precondition):
    """A field that the target has not, and that says what to do."""

    id, rejected_by = "tells_the_verdict", "TG411"

    @tool
    def get_reservation_details(self, reservation_id: str) -> Data:
        found: Data = super().get_reservation_details(reservation_id)
        return {**found, "refundable": self.requests[0].verdict(self).allowed}


class ReportsErrorsAsRecords(Tau2Precondition):
    id, rejected_by = "reports_errors_as_records", "TG412"

    @tool
    def get_user_details(self, user_id: str) -> Data:
        if user_id not in self.users:
            return {"error": f"there is no customer {user_id!r}"}
        return super().get_user_details(user_id)


class ReturnsItsErrors(Hotel):
    id, rejected_by = "returns_its_errors", "TG412"

    def shown(self, room: str) -> Any:
        return super().shown(room) if room in self.rooms else f"No such room: {room}"


class RefusesInJson(Hotel):
    id, rejected_by = "refuses_in_json", "TG412"

    def handed(self, room: str) -> str:
        try:
            return super().handed(room)
        except ToolError as refusal:
            raise ToolError(json.dumps({"message": str(refusal)})) from None


class ChargesOneTraveller(Tau2ToolPrecision):
    id, rejected_by = "charges_one_traveller", "TG413"
    given = ValidationInputs(recordings=(str(RECORDED),))

    @tool(kind="write")
    def update_reservation_flights(self, reservation_id: str, cabin: str, flights: list[Data], payment_id: str) -> Data:
        made: Data = super().update_reservation_flights(reservation_id, cabin, flights, payment_id)
        made["payment_history"][-1]["amount"] //= len(made["passengers"]) or 1
        return made


class KeepsTheMoney(Tau2Precondition):
    id, rejected_by = "keeps_the_money", "TG413"
    given = ValidationInputs(recordings=(str(RECORDED),))

    @tool(kind="write")
    def cancel_reservation(self, reservation_id: str) -> Data:
        made: Data = super().cancel_reservation(reservation_id)
        made["payment_history"] = [p for p in made["payment_history"] if p["amount"] > 0]
        return made


class AnswersInWords(Tau2Precondition):
    id, rejected_by = "answers_in_words", "TG413"
    given = ValidationInputs(recordings=(str(RECORDED),))

    @tool(kind="write")
    def update_reservation_baggages(
        self, reservation_id: str, total_baggages: int, nonfree_baggages: int, payment_id: str
    ) -> Any:
        super().update_reservation_baggages(reservation_id, total_baggages, nonfree_baggages, payment_id)
        return f"{reservation_id} has {total_baggages} bags"


class BadAtSums(Tau2Precondition):
    id, rejected_by = "bad_at_sums", "TG413"
    given = ValidationInputs(recordings=(str(RECORDED),))

    @tool(kind="generic")
    def calculate(self, expression: str) -> str:
        return str(round(float(super().calculate(expression))))


MUTANTS = mutants(vars())
