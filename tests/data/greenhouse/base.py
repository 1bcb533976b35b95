"""Base world of the greenhouse: records and tools."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from trace_gym.targets.user.world import TargetWorld, fresh
from trace_gym.world import Call, ToolError, tool


@dataclass(kw_only=True)
class GreenhouseBase(TargetWorld):
    """Base world of the greenhouse: records and tools."""

    id = "greenhouse_base"
    capability = ""
    target = "greenhouse"
    levels = range(1)

    beds: dict[str, dict[str, Any]] = field(default_factory=dict)
    complete: bool = False
    """Whether all beds are known."""

    @classmethod
    def from_records(cls, shown: Sequence[tuple[Call, Any]]) -> Self:
        world = cls()
        for call, answer in shown:
            rows = answer if call.tool == "list-beds" and isinstance(answer, list) else []
            if call.tool == "get-bed" and isinstance(answer, dict) and "plants" in answer:
                rows = [{key: answer[key] for key in ("bed", "size", "plants")}]
            for row in rows:
                world.beds.setdefault(row["bed"], fresh(row))
            world.complete = world.complete or call.tool == "list-beds"
        return world

    def knows(self, call: Call, shown: Sequence[tuple[Call, Any]]) -> bool:
        if call.tool == "watering-days" or self.complete:
            return True
        return "bed" in call.arguments and call.arguments["bed"] in self.beds

    @tool(kind="read", name="list-beds")
    def list_beds(self) -> list[dict[str, Any]]:
        return [fresh(row) for row in self.beds.values()]

    @tool(kind="read", name="get-bed")
    def get_bed(self, bed: str, detailed: bool = False) -> dict[str, Any]:
        row = self.known(bed)
        shown = {"bed": bed, "size": row["size"], "free": self.free(row)}
        return {**shown, "plants": fresh(row["plants"])} if detailed else shown

    @tool(kind="read")
    def overview(self) -> str:
        sizes = [(name, row["size"], self.free(row)) for name, row in self.beds.items()]
        return "\n".join(f"{name}: {size - free} of {size} places taken" for name, size, free in sizes)

    @tool(kind="generic", name="watering-days")
    def watering_days(self, first: int, last: int = 7) -> str:
        days = [str(day) for day in range(max(first, -1000), min(last, 1000) + 1) if day % 3 == 0]
        return f"days {', '.join(days)}" if days else "no day"

    @tool(kind="write", name="sow-seed")
    def sow_seed(self, bed: str, plant: str, count: int = 1) -> dict[str, Any]:
        row = self.known(bed)
        if count > self.free(row):
            raise ToolError(f"{bed[:40]} has only {self.free(row)} free places")
        others = [old for old in row["plants"] if old["plant"] != plant]
        grown = sum(old["count"] for old in row["plants"] if old["plant"] == plant) + count
        names = [old["plant"] for old in row["plants"]]
        kept = [*others, {"plant": plant, "count": grown}]
        order = names if plant in names else [*names, plant]
        row["plants"] = sorted(kept, key=lambda one: order.index(one["plant"]))
        return dict(fresh(row))

    @tool(kind="write", name="clear-bed")
    def clear_bed(self, bed: str) -> str:
        if not (row := self.known(bed))["plants"]:
            raise ToolError(f"{bed[:40]} is empty already")
        row["plants"] = []
        return f"{bed} is empty now"

    def known(self, bed: str) -> dict[str, Any]:
        if bed not in self.beds:
            raise ToolError(f"there is no bed {bed[:40]}; list-beds shows those that there are")
        return self.beds[bed]

    def free(self, row: dict[str, Any]) -> int:
        return int(row["size"] - sum(one["count"] for one in row["plants"]))
