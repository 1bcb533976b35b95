"""Replay of recorded retail episodes: start states from tool results, and differences between tau-bench and tau2.

`results.RENAMES` lists the keys that tau-bench names differently. `DIFFERENCES` lists all other fields that differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Self

from trace_gym.targets.constants import frozen
from trace_gym.targets.tau2.generic import Data
from trace_gym.targets.tau2.recorded import ShownResults
from trace_gym.targets.tau2.retail_records import LATER
from trace_gym.types import Call
from trace_gym.world import World

_ID = "tau2's profiles carry their id"
_EMPTY = "tau-bench leaves out the fields of an order that are empty"
DIFFERENCES: Mapping[str, Mapping[str, str]] = frozen({
    "get_user_details": {"user_id": _ID},
    "modify_user_address": {"user_id": _ID},
    **{
        tool: dict.fromkeys(LATER, _EMPTY)
        for tool in (
            "get_order_details", "cancel_pending_order", "modify_pending_order_address",
            "modify_pending_order_payment", "modify_pending_order_items", "return_delivered_order_items",
            "exchange_delivered_order_items",
        )
    },
})  # fmt: skip
"""Mapping from tool to field to a description of how tau-bench differs from tau2.

The benchmarks also differ in calls that replace several items: tau-bench writes the price and the options of the new
variant into each item, whereas tau2 writes those of the last variant into all items.
"""


class RetailRecorded(World):
    """Methods of retail worlds for comparing the results of their tools with recorded episodes."""

    users: dict[str, Data]
    orders: dict[str, Data]
    products: dict[str, Data]

    @classmethod
    def from_records(cls, shown: ShownResults) -> Self:
        """Return a world with the records in tool results. If a record occurs more than once, use its first version."""
        tables: dict[str, dict[str, Data]] = {"users": {}, "orders": {}, "products": {}}
        for call, answer in shown:
            kind = call.tool.removeprefix("get_").removesuffix("_details")
            if f"{kind}s" in tables and isinstance(answer, dict):
                key = str(call.arguments.get(f"{kind}_id"))
                absent = dict.fromkeys(LATER) if kind == "order" else {f"{kind}_id": key}
                tables[f"{kind}s"].setdefault(key, deepcopy({**absent, **answer}))
        return cls(**tables)

    def knows(self, call: Call, shown: ShownResults) -> bool:
        """Return whether the records of this state suffice to compute the result of a recorded call."""
        given = call.arguments
        if call.tool in ("calculate", "transfer_to_human_agents"):
            return True
        if call.tool == "get_item_details":
            return any(given.get("item_id") in p["variants"] for p in self.products.values())
        if call.tool.startswith("get_"):
            return any(c == call for c, _ in shown)
        if call.tool.startswith("find_"):
            return any(c == call and answer in self.users for c, answer in shown)
        if "user_id" in given:
            return given["user_id"] in self.users
        if (order := self.orders.get(given.get("order_id", ""))) is None or order["user_id"] not in self.users:
            return False
        replaced = [i["product_id"] for i in order["items"] if i["item_id"] in given.get("item_ids", ())]
        return "new_item_ids" not in given or all(p in self.products for p in replaced)

    @classmethod
    def as_recorded(cls, call: Call, answer: Any, source: str) -> Any:
        """Return a result of tau-bench without the fields in `DIFFERENCES`, or a result of tau2 unchanged."""
        if not source.startswith("tau-bench") or not isinstance(answer, dict):
            return answer
        declared = set(DIFFERENCES.get(call.tool, {}))
        if call.tool == "modify_pending_order_items" and len(call.arguments.get("item_ids", ())) > 1:
            declared.add("items")
        # An optional field in `LATER` is compared only if tau-bench contains the field.
        return {k: v for k, v in answer.items() if k not in declared or (k in LATER and v is not None)}
