"""What a language model might answer when it is asked for the base world of the depot."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from trace_gym.targets.user.world import TargetWorld, fresh
from trace_gym.world import Call, ToolError, tool

FREE_DAYS = 7
DAILY = 0.5


@dataclass(kw_only=True)
class ParcelDepotBase(TargetWorld):
    parcels: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def from_records(cls, shown: Sequence[tuple[Call, Any]]) -> Self:
        world = cls()
        for call, answer in shown:
            if call.tool == "get_parcel" and isinstance(answer, dict) and not world.whole(answer["parcel_id"]):
                world.parcels[answer["parcel_id"]] = fresh(answer)
            if call.tool == "find_parcels" and isinstance(answer, list):
                for found in answer:
                    world.parcels.setdefault(found["parcel_id"], {**found, "recipient": call.arguments["recipient"]})
        return world

    def knows(self, call: Call, shown: Sequence[tuple[Call, Any]]) -> bool:
        if call.tool == "find_parcels":
            return any(made == call for made, _ in shown)
        return self.whole(call.arguments.get("parcel_id", ""))

    @tool(kind="read")
    def find_parcels(self, recipient: str) -> list[dict[str, Any]]:
        found = [p for _, p in sorted(self.parcels.items()) if p["recipient"].lower() == recipient.lower()]
        return [{"parcel_id": p["parcel_id"], "status": p["status"]} for p in found]

    @tool(kind="read")
    def get_parcel(self, parcel_id: str) -> dict[str, Any]:
        return dict(self.parcel(parcel_id))

    @tool(kind="read")
    def storage_fee(self, parcel_id: str, extra_days: int = 0) -> dict[str, Any]:
        return {"parcel_id": parcel_id, "fee": self.fee(self.parcel(parcel_id)["days_stored"] + extra_days)}

    @tool(kind="write")
    def hand_over(self, parcel_id: str, paid: float) -> dict[str, Any]:
        return self.leave(parcel_id, {"status": "handed over", "paid": paid})

    @tool(kind="write")
    def send_back(self, parcel_id: str, reason: str) -> dict[str, Any]:
        return self.leave(parcel_id, {"status": "sent back", "reason": reason})

    def whole(self, parcel_id: str) -> bool:
        """Whether more of a parcel is known than a search shows."""
        return "days_stored" in self.parcels.get(parcel_id, {})

    def parcel(self, parcel_id: str) -> dict[str, Any]:
        if not self.whole(parcel_id):
            raise ToolError(f"there is no parcel {parcel_id[:40]}; find_parcels lists those of a recipient")
        return self.parcels[parcel_id]

    def fee(self, days: int) -> float:
        return DAILY * max(0, days - FREE_DAYS)

    def leave(self, parcel_id: str, change: dict[str, Any]) -> dict[str, Any]:
        if self.parcel(parcel_id)["status"] != "waiting":
            raise ToolError(f"parcel {parcel_id} is no longer here")
        self.parcels[parcel_id] = {**self.parcels[parcel_id], **change}
        return dict(self.parcels[parcel_id])
