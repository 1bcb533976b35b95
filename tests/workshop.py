"""A workshop with orders, made for the tests: tools with every kind of parameter, and one defect at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from typing import Any, Self

from trace_gym.targets.user.answers import refusal
from trace_gym.targets.user.world import TargetWorld, fresh, json_text
from trace_gym.types import Call
from trace_gym.world import ToolError, call_tool, tool

STATUS = ["open", "shipped", "cancelled"]
TEXT, FLAG = {"type": "string"}, {"type": "boolean"}
PARAMETERS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "list-orders": (
        {
            "status": {"enum": STATUS},
            "sort": {"enum": ["id", "price", "newest"]},
            "limit": {"type": "integer", "minimum": 1, "maximum": 9},
        },
        [],
    ),
    "get-order": ({"order_id": TEXT, "detailed": FLAG}, ["order_id"]),
    "quote": (
        {"weight": {"type": "number", "minimum": 0, "maximum": 50}, "zone": {"enum": ["near", "far"]}, "express": FLAG},
        ["weight", "zone"],
    ),
    "add-item": (
        {"order_id": TEXT, "item": TEXT, "count": {"type": "integer", "minimum": 1, "maximum": 9}},
        ["order_id", "item"],
    ),
    "set-status": ({"order_id": TEXT, "status": {"enum": STATUS}}, ["order_id", "status"]),
    "refund": ({"order_id": TEXT, "amount": {"type": "number", "minimum": 0}}, ["order_id", "amount"]),
    "add-note": ({"order_id": TEXT, "note": TEXT, "urgent": FLAG}, ["order_id", "note"]),
}
KINDS = {"list-orders": "read", "get-order": "read", "quote": "generic"}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f"{name.replace('-', ' ').capitalize()}.",
            "parameters": {"type": "object", "properties": properties, "required": required},
        },
    }
    for name, (properties, required) in PARAMETERS.items()
]
DEFECTS = {
    "refusal": ["accepts items for shipped orders", "refuses refunds of shipped orders", "accepts unknown orders"],
    "optional": [
        "ignores detailed",
        "ignores limit",
        "ignores express",
        "ignores count",
        "ignores urgent",
        "count is 2",
    ],
    "order": ["ignores sort by price", "newest is oldest", "new items come first", "does not sort by default"],
    "state": ["keeps the status", "keeps the paid amount", "forgets notes", "forgets new items", "keeps the price"],
    "rounding": ["rounds quotes half to even", "cuts quotes to cents", "cuts refunds to cents"],
}
"""Defects of a base world by class."""


def rows() -> list[dict[str, Any]]:
    prices, statuses = (40.5, 12.25, 99.0, 7.75, 63.1), ("open", "shipped", "open", "cancelled", "open")
    return [
        {"order_id": f"W-{731 + 61 * n % 200}", "status": status, "price": price, "paid": price, "day": 9 - 2 * n % 5}
        | {"items": [{"item": "hinge", "count": n + 1}], "notes": []}
        for n, (price, status) in enumerate(zip(prices, statuses, strict=True))
    ]


def cents(value: float, how: str = ROUND_HALF_UP) -> float:
    return float(Decimal(str(value)).quantize(Decimal("0.01"), how))


@dataclass(kw_only=True)
class WorkshopBase(TargetWorld):
    id = "workshop_base"
    target = "workshop"
    levels = range(1)
    defect = ""
    orders: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def from_records(cls, shown: Sequence[tuple[Call, Any]]) -> Self:
        world = cls()
        for call, answer in shown:
            if call.tool == "get-order" and isinstance(answer, dict) and "items" in answer:
                world.orders[answer["order_id"]] = fresh(answer)
        for row in rows():  # a base world whose records are complete
            world.orders.setdefault(row["order_id"], row)
        return world

    def knows(self, call: Call, shown: Sequence[tuple[Call, Any]]) -> bool:
        return True

    @tool(kind="read", name="list-orders")
    def list_orders(self, status: str = "", sort: str = "id", limit: int = 9) -> list[dict[str, Any]]:
        found = [row for row in self.orders.values() if status in ("", row["status"])]
        key = {"id": "order_id", "price": "price", "newest": "day"}[sort]
        key = "order_id" if self.defect == "ignores sort by price" and sort == "price" else key
        down = sort == "newest" and self.defect != "newest is oldest"
        if not (sort == "id" and self.defect == "does not sort by default"):
            found = sorted(found, key=lambda row: (row[key], row["order_id"]), reverse=down)
        short = [{name: row[name] for name in ("order_id", "status", "price")} for row in found]
        return short if self.defect == "ignores limit" else short[:limit]

    @tool(kind="read", name="get-order")
    def get_order(self, order_id: str, detailed: bool = False) -> dict[str, Any]:
        row = fresh(self.known(order_id))
        if detailed and self.defect != "ignores detailed":
            return dict(row)
        return {name: row[name] for name in ("order_id", "status", "price", "paid")}

    @tool(kind="generic")
    def quote(self, weight: float, zone: str, express: bool = False) -> dict[str, Any]:
        price = Decimal(str(weight)) * Decimal("1.15") + (3 if zone == "near" else 9)
        price *= Decimal("1.5") if express and self.defect != "ignores express" else 1
        if self.defect == "cuts quotes to cents":
            return {"price": int(price * 100) / 100}
        return {"price": cents(float(price), ROUND_HALF_EVEN if "half to even" in self.defect else ROUND_HALF_UP)}

    @tool(kind="write", name="add-item")
    def add_item(self, order_id: str, item: str, count: int = 1) -> dict[str, Any]:
        row = self.known(order_id)
        if row["status"] != "open" and not (row["status"] == "shipped" and "accepts items" in self.defect):
            raise ToolError(f"{order_id[:20]} is {row['status']}")
        count = 1 if self.defect == "ignores count" else count
        new, price = {"item": item, "count": count}, cents(row["price"] + 2.5 * count)
        items = [new, *row["items"]] if self.defect == "new items come first" else [*row["items"], new]
        if self.defect != "forgets new items":
            row["items"] = items
        if self.defect != "keeps the price":
            row["price"] = price
        return {"order_id": order_id, "items": fresh(items), "price": price}

    @tool(kind="write", name="set-status")
    def set_status(self, order_id: str, status: str) -> str:
        row = self.known(order_id)
        if row["status"] == "cancelled" or (row["status"], status) == ("shipped", "open"):
            raise ToolError(f"{order_id[:20]} is {row['status']}")
        if self.defect != "keeps the status":
            row["status"] = status
        return f"{order_id} is {status} now"

    @tool(kind="write")
    def refund(self, order_id: str, amount: float) -> dict[str, Any]:
        row = self.known(order_id)
        if amount > row["paid"] or (row["status"] == "shipped" and self.defect == "refuses refunds of shipped orders"):
            raise ToolError(f"only {row['paid']} were paid")
        paid = row["paid"] - amount
        paid = int(paid * 100) / 100 if self.defect == "cuts refunds to cents" else cents(paid)
        if self.defect != "keeps the paid amount":
            row["paid"] = paid
        return {"order_id": order_id, "paid": paid}

    @tool(kind="write", name="add-note")
    def add_note(self, order_id: str, note: str, urgent: bool = False) -> str:
        row = self.known(order_id)
        if self.defect != "forgets notes":
            text = f"!{note}" if urgent and self.defect != "ignores urgent" else note
            row["notes"] = [*row["notes"], text]
        return "noted"

    def known(self, order_id: str) -> dict[str, Any]:
        if order_id not in self.orders:
            if self.defect == "accepts unknown orders" and self.orders:
                return next(iter(self.orders.values()))
            raise ToolError(f"there is no order {order_id[:20]}")
        return self.orders[order_id]


class CountsTwo(WorkshopBase):
    """The defect of a wrong default."""

    @tool(kind="write", name="add-item")
    def add_item(self, order_id: str, item: str, count: int = 2) -> dict[str, Any]:
        return super().add_item(order_id, item, count)


def with_defect(defect: str) -> type[WorkshopBase]:
    WorkshopBase.defect = defect  # of the class, as worlds are pickled by the name of their class
    return CountsTwo if defect == "count is 2" else WorkshopBase


class Workshop(WorkshopBase):
    """The workshop itself."""

    defect = ""


class InProcess:
    """Return the response of an MCP server of the workshop, without a process."""

    def __init__(self) -> None:
        self.world = Workshop.from_records([])

    def tools(self) -> list[dict[str, Any]]:
        return [{**t["function"], "inputSchema": t["function"]["parameters"]} for t in TOOLS]

    def call(self, call: Call) -> str:
        try:
            result = call_tool(self.world, call.tool, call.arguments)
        except ToolError as error:
            return refusal(str(error))
        return result if isinstance(result, str) else json_text(result)


@contextmanager
def opened(place: str, seconds: float = 0) -> Iterator[InProcess]:
    yield InProcess()
